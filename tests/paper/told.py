"""Measurements that a test makes up, and the claims they are put to."""

import zlib
from dataclasses import replace

import numpy as np

from ohash.paper.claims import CLAIMS
from ohash.paper.findings import Claim
from ohash.paper.measurements import Measurements, MissingCellError
from ohash.paper.protocol import QUICK
from ohash.store.store import Store


class Told(Measurements):
    """What a test says was measured: mAP by (figure, method, x)."""

    def __init__(self, values, **numbers):
        super().__init__(Store(), replace(QUICK, seeds=3))
        self.told, self.said = values, numbers

    def seeds(self, figure, setting, method, x):
        if (figure, method, x) not in self.told:
            raise MissingCellError("not told")
        return [(figure, method, x, seed) for seed in range(3)]

    def has_run(self, figure, setting, method, x):
        return (figure, method, x) in self.told

    def ap(self, seeds):
        rng = np.random.default_rng(zlib.crc32(repr(seeds[0][:3]).encode()))
        return [self.told[seed[:3]] + rng.normal(0, 0.02, 200) for seed in seeds]

    def new_queries(self, setting, seed):
        return np.arange(200) % 2 == 0

    def best(self, figure, setting, choices):
        known = {choice: self.told[figure, *choice] for choice in choices if (figure, *choice) in self.told}
        if not known:
            raise MissingCellError("not told")
        return max(known, key=known.get)


def claim(key) -> Claim:
    return next(one for one in CLAIMS if one.key == key)
