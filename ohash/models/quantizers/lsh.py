"""LSH: sign random projections, the starting point of OH and the baseline of every comparison.

P[bits differ] = angle / pi. Independent of the data except for the mean that may be subtracted.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import Parameters, bits_param, centring_param, precision_param, seed_param
from ohash.models.base import PAPER, HasherSpec
from ohash.models.linear import DrawnHalfSpaces
from ohash.runtime.frames import Arrays, JsonObject


@dataclass(frozen=True)
class LSHParams(Parameters):
    """Bits, seed, precision."""

    r: int = bits_param()
    center: str = centring_param("none")
    dtype: str = precision_param()
    seed: int = seed_param("Draws W.")


class LSH(DrawnHalfSpaces):
    """h = sgn(Wᵀ(x - mean)), W ~ N(0, 1) drawn once.

    >>> LSH(r=12, seed=1).encode([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """

    key = "lsh"
    Params = LSHParams
    params: LSHParams
    ARRAYS = ("_W", "_mean")

    def _setup(self) -> None:
        super()._setup()
        self._mean: npt.NDArray[np.float64] = np.zeros(0)

    def _draw(self, d: int) -> npt.NDArray[np.float64]:
        """The first W of an OH with this seed."""
        self._mean = np.zeros(d)
        return np.random.default_rng(self.params.seed).standard_normal((d, self.r))

    def _set_mean(self, mean: npt.NDArray[np.float64], n: int) -> None:
        version = self._version + 1
        super()._set_mean(mean, n)
        self._mean, self._version = mean, version

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
        """Go on from a saved state."""
        super().resume(values, arrays)
        if arrays:
            W, self._W = self._W, np.zeros((0, 0))
            self._set_hash(W, self._mean)


class KernelLSH(LSH):
    """LSH on kernel features, "KLSH" as the Online Hashing paper uses the name; Kulis and Grauman's method is `klsh`.

    The feature map belongs to the experiment, so this is LSH under another name, to be run with kernel 'rbf'.
    """

    key = "kernel_lsh"


CHARIKAR = """@inproceedings{charikar2002similarity,
  title     = {Similarity Estimation Techniques from Rounding Algorithms},
  author    = {Charikar, Moses S.},
  booktitle = {ACM Symposium on Theory of Computing},
  year      = {2002},
  pages     = {380--388},
  doi       = {10.1145/509907.509965}
}"""

HASHER = (
    HasherSpec(
        hasher=LSH,
        title="LSH",
        aliases=("sign random projection",),
        cite="Charikar: Similarity estimation techniques from rounding algorithms, STOC 2002",
        bibtex=CHARIKAR,
        supervision="none",
        features="vectors",
        features_source="random hyperplanes keep the angles of the vectors",
        features_place="the abstract of the paper, on vectors and their angle; centring them is not from there",
        consumes="nothing",
        differs="As published; the mean of the warm-up may be subtracted first.",
    ),
    HasherSpec(
        hasher=KernelLSH,
        title="Kernel LSH (the paper's KLSH)",
        aliases=("rff_lsh", "lsh-k"),
        cite="Huang, Yang, Zheng: Online Hashing, TNNLS 2017 (as a baseline); Charikar, STOC 2002",
        bibtex=f"{PAPER}\n\n{CHARIKAR}",
        supervision="none",
        features="kernel",
        features_source="an RBF map",
        features_place="Online Hashing, Section VII-C",
        consumes="nothing",
        differs="The paper says only 'RBF kernel, W randomly sampled': read as LSH on the mapped features. Without "
        "a kernel it is LSH.",
    ),
)
