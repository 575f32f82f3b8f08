"""Measurements that a test makes up, and the claims that are judged by them."""

import zlib
from dataclasses import replace

import numpy as np

from ohash.paper.claims import CLAIMS
from ohash.paper.findings import Claim
from ohash.paper.measurements import Measurements, MissingCellError
from ohash.paper.protocol import QUICK
from ohash.store.store import Store


class FakeMeasurements(Measurements):
    """Made-up measurements: mAP by (figure, method, x)."""

    def __init__(self, values, **numbers):
        super().__init__(Store(), replace(QUICK, seeds=3))
        self.scores, self.numbers = values, numbers

    def seeds(self, figure, setting, method, x):
        if (figure, method, x) not in self.scores:
            raise MissingCellError("not measured")
        return [(figure, method, x, seed) for seed in range(3)]

    def has_run(self, figure, setting, method, x):
        return (figure, method, x) in self.scores

    def ap(self, seeds):
        rng = np.random.default_rng(zlib.crc32(repr(seeds[0][:3]).encode()))
        return [self.scores[seed[:3]] + rng.normal(0, 0.02, 200) for seed in seeds]

    def new_queries(self, setting, seed):
        return np.arange(200) % 2 == 0

    def best(self, figure, setting, choices):
        known = {choice: self.scores[figure, *choice] for choice in choices if (figure, *choice) in self.scores}
        if not known:
            raise MissingCellError("not measured")
        return max(known, key=known.get)


def claim(key) -> Claim:
    return next(one for one in CLAIMS if one.key == key)
