"""Pairs for `ohash/web/step.js`, and digests of what the literal reference makes of them.

The reference takes minutes for all settings, so its results over 20,000 pairs are kept as digests:
`python3 -m tests.browser.step_pairs` writes them anew. Points and W use uniform numbers only, which are the same bits
on every machine.
"""

import hashlib
import json
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.core.reference import Reference, hash_code

PAIRS, POINTS, D = 20_000, 40, 3
DIGESTS = Path(__file__).with_name("step_digests.json")


class Setting(NamedTuple):
    r: int
    T: int
    alpha: int
    C: float

    @property
    def name(self) -> str:
        return f"r={self.r} T={self.T} alpha={self.alpha} C={self.C:g}"

    @property
    def beta(self) -> float:
        """Dissimilar codes must be able to differ in more than alpha bits."""
        return 1.0 if self.r == 3 else 0.45


# C = 0.01 clips nearly every update, C = 1000 none.
SETTINGS = [Setting(*values) for values in product((3, 8, 16, 48), (1, 4), (0, 2), (0.01, 1000.0))]


class Stream(NamedTuple):
    """Pairs of a few points that come again and again, one in ten with the wrong answer: bits tie all the time."""

    W: np.ndarray
    X: np.ndarray
    i: np.ndarray
    j: np.ndarray
    s: np.ndarray

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name).tolist() for name in ("X", "i", "j", "s")} | {
            "W": self.W.transpose(0, 2, 1).tolist()
        }


def stream(setting: Setting) -> Stream:
    rng = np.random.default_rng(setting.r * 100 + setting.T)
    W = 4 * rng.random((setting.T, D, setting.r)) - 2
    labels = rng.integers(0, 4, POINTS)
    X = (2 * rng.random((4, D)) - 1)[labels] + rng.random((POINTS, D)) - 0.5
    i = rng.integers(0, POINTS, PAIRS)
    j = (i + rng.integers(1, POINTS, PAIRS)) % POINTS
    s = np.where((labels[i] == labels[j]) != (rng.random(PAIRS) < 0.1), 1, -1)
    return Stream(W, X, i, j, s)


def reference_results(setting: Setting, pairs: int = PAIRS) -> dict[str, np.ndarray]:
    """R and tau (pairs, T), W (T, r, d) and the codes of all points (T, n, r) in the end."""
    W, X, i, j, s = stream(setting)
    model = Reference(W, alpha=setting.alpha, beta=setting.beta, C=setting.C)
    columns = model.learn(X, i[:pairs], j[:pairs], s[:pairs])
    codes = np.array([[hash_code(one, x) for x in X] for one in model.W], dtype=np.float64)
    return {"R": columns["R"], "tau": columns["tau"], "W": model.W.transpose(0, 2, 1), "codes": codes}


def digest(results: dict[str, np.ndarray]) -> str:
    parts = [np.ascontiguousarray(results[name], dtype="<f8").tobytes() for name in ("R", "tau", "W", "codes")]
    return hashlib.sha256(b"".join(parts)).hexdigest()


if __name__ == "__main__":
    recorded = {}
    for setting in SETTINGS:
        recorded[setting.name] = digest(reference_results(setting))
        print(setting.name, recorded[setting.name], flush=True)
        DIGESTS.write_text(json.dumps(recorded, indent=1) + "\n")
