"""OSH, online sketching hashing: PCA hashing of all points seen so far, from a small sketch (Leng et al., 2015).

The sketch is by Frequent Directions; FROSH (Chen et al., 2017) first compresses blocks by a fast random transform. Most
benchmarks call this method SketchHash, and mean online supervised hashing (here OECC) by OSH.
"""

from dataclasses import dataclass

import numpy as np

from ohash.core.arrays import Reals
from ohash.core.parameters import Parameters, bits_param, param, precision_param, seed_param
from ohash.models.base import Check, HasherSpec
from ohash.models.learners import LinearLearner
from ohash.models.online.sketching import SketchLearner


@dataclass(frozen=True)
class SketchHashParams(Parameters):
    """The benchmark's values: 200 rows, chunks of 50."""

    r: int = bits_param()
    rows: int = param(
        200, symbol="ℓ", title="rows of the sketch", lo=2, hi=16384, slider=(32, 1024), scale="log",
        help="Rows the sketch keeps; at least 2 r, at most 2 d are used.",
    )  # fmt: skip
    chunk: int = param(
        0, symbol="", title="points per chunk", lo=0, hi=100_000, slider=(0, 1000), step=1,
        help="W is recomputed after this many points; 0 = 50, or for FROSH the least power of two >= d.",
    )  # fmt: skip
    sketch: str = param(
        "fd", symbol="", title="sketch", choices=("fd", "frosh"),
        help="Frequent Directions on every point, or on chunks compressed by a random Hadamard transform (FROSH).",
    )  # fmt: skip
    dtype: str = precision_param()
    seed: int = seed_param("Draws the rotation. Same seed, same run.")


class SketchHash(SketchLearner, LinearLearner):
    """h = sgn(Rᵀ Vᵀ(x - mean)), V the top directions of the sketch, R a rotation drawn once."""

    key = "sketch_hash"
    Params = SketchHashParams
    params: SketchHashParams

    def _sizes(self, d: int) -> tuple[int, int, int]:
        p = self.params
        rows = min(max(p.rows, 2 * p.r), 2 * d)
        default = 50 if p.sketch == "fd" else 1 << (d - 1).bit_length()
        return d, p.chunk or default, rows + rows % 2

    def _prepare_centred(self, rows: Reals) -> None:
        """The warm-up's mean serves until the first chunk."""
        self._middle = np.asarray(rows.mean(axis=0), np.float64)
        self._clock[-1] += 1


HASHER = HasherSpec(
    hasher=SketchHash,
    title="OSH",
    aliases=("SketchHash", "online sketching hashing", "FROSH"),
    cite="Leng, Wu, Cheng, Bai, Lu: Online Sketching Hashing, CVPR 2015; "
    "Chen, King, Lyu: FROSH: FasteR Online Sketching Hashing, UAI 2017",
    bibtex="""@inproceedings{leng2015online,
  title     = {Online Sketching Hashing},
  author    = {Leng, Cong and Wu, Jiaxiang and Cheng, Jian and Bai, Xiao and Lu, Hanqing},
  booktitle = {IEEE Conference on Computer Vision and Pattern Recognition},
  year      = {2015},
  pages     = {2503--2511},
  doi       = {10.1109/CVPR.2015.7298865}
}

@inproceedings{chen2017frosh,
  title     = {{FROSH}: {F}aste{R} Online Sketching Hashing},
  author    = {Chen, Xixian and King, Irwin and Lyu, Michael R.},
  booktitle = {Conference on Uncertainty in Artificial Intelligence},
  year      = {2017}
}""",
    supervision="none",
    features="vectors",
    features_source="the sketch is of the centred data matrix",
    features_place="adapted from the authors' program: fcakir/mihash, online-hashing/+Methods/SketchHash.m",
    consumes="chunks",
    differs="The rotation is drawn once, and every new basis is turned towards the one before (orthogonal "
    "Procrustes), so that flipped bits mean a changed subspace; public implementations draw a new one per chunk. At "
    "least 2 r rows are sketched. Beyond d bits the d directions are spread over r bits by a random tight frame. "
    "With FROSH a chunk is a block. Elsewhere this method is called SketchHash, and OSH means online supervised "
    "hashing (here OECC).",
    checked=Check("Frequent Directions by singular values, row by row, in plain NumPy", "30 chunks", 1e-11),
)
