"""KSH: supervised hashing with kernels; bit by bit, codes whose inner products fit r times the similarity matrix.

On l labelled points with centred (kernel) features K (l, m) and S = r S0, S0 = ±1, every bit a is

1. the top generalised eigenvector of (KᵀSK, KᵀK), scaled to aᵀKᵀKa = l,
2. refined by minimising -φᵀSφ, φ = 2 sigmoid(Ka) - 1, with Nesterov's gradient steps and backtracking,
3. the better of both by hᵀSh, h = sgn(Ka); then hhᵀ, the part that is explained, is subtracted from S.

The variant "authors" is that of the authors' program; "refined" takes step 2 in coordinates where KᵀK = I, which needs
far fewer iterations, and keeps the step with the least cost. S is never formed: S0 = 2QQᵀ - 11ᵀ with Q the class
indicators, of which each row has one, so Sv costs O(l bits); without classes, QQᵀ is the sparse matrix of similar
points. K times a step is a sum of known products, so an iteration needs one product with K and one with Kᵀ.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.core.codes import sgn
from ohash.core.parameters import Parameters, bits_param, param, precision_param, seed_param
from ohash.models.base import Check, HasherSpec
from ohash.models.batch.sdh import indicator
from ohash.models.linear import FittedHalfSpaces
from ohash.models.supervision import SharedLabels, Similarity, SimilarityMatrix
from ohash.runtime import progress
from ohash.runtime.threads import one_blas_thread

RIDGE = 1e-3  # refined: times the mean eigenvalue of KᵀK; with 1e-6, as many labels as anchors are memorised
SINGULAR = 1e-10  # authors: least eigenvalue of KᵀK, times the largest; a ridge only where it is below
DOUBLINGS = 50  # of the Lipschitz guess, then backtracking gives up


@dataclass(frozen=True)
class KSHParams(Parameters):
    """Bits, labelled points, iterations, seed, precision."""

    r: int = bits_param()
    labelled: int = param(
        1000, symbol="l", title="labelled points", lo=2, hi=100_000, slider=(100, 4000), scale="log",
        help="A random sample of this size is learnt from; the paper uses 1,000 to 2,000.",
    )  # fmt: skip
    variant: str = param(
        "authors", symbol="", title="variant", choices=("authors", "refined"),
        help="As the authors' program, or with gradient steps in coordinates where the labelled features are white: "
        "faster, and usually stronger.",
    )  # fmt: skip
    iterations: int = param(
        500, symbol="", title="iterations", lo=0, hi=100_000, slider=(0, 500), step=10,
        help="Maximum number of gradient steps per bit; 0 keeps the spectral solution.",
    )  # fmt: skip
    tolerance: float = param(
        0.01, symbol="", title="tolerance", lo=0, hi=1e6, slider=(1e-4, 1), scale="log",
        help="A bit is done when a step changes the cost by no more than this times l. The authors: 0.01.",
    )  # fmt: skip
    dtype: str = precision_param()
    seed: int = seed_param("Draws the labelled sample and the signs of the bits.")


class Residual:
    """S = r S0 - Σ hhᵀ as an operator; S0_ij = +1 where i and j are similar, else -1."""

    def __init__(self, similarity: Similarity, r: int) -> None:
        """Points of one label each need only their indicators, all others the pairs that are similar."""
        from scipy.sparse import csr_array  # noqa: PLC0415

        self.factors: tuple[Any, ...]  # their product is the matrix of similar points
        if isinstance(similarity, SharedLabels) and (similarity.Q.sum(axis=1) == 1).all():
            self.factors = csr_array(similarity.Q), csr_array(similarity.Q.T)
        else:
            self.factors = (csr_array(similarity.matrix(), dtype=np.float64),)
        self.r, self.bits = r, 0
        self._H = np.empty((r, similarity.n))

    @property
    def H(self) -> Floats:
        """The bits that were explained, (l, bits)."""
        return self._H[: self.bits].T

    def times(self, V: Floats) -> Floats:
        """S V for a vector or a matrix of columns."""
        similar = V
        for factor in reversed(self.factors):
            similar = factor @ similar
        return np.asarray(self.r * (2 * similar - V.sum(axis=0)) - self.H @ (self.H.T @ V))

    def explain(self, h: Floats) -> None:
        """Subtract hhᵀ from S."""
        self._H[self.bits] = h
        self.bits += 1


def _cost(Ka: Floats, S: Residual) -> float:
    """-φᵀSφ, φ = 2 sigmoid(Ka) - 1 = tanh(Ka / 2)."""
    phi = np.tanh(0.5 * Ka)
    return -float(phi @ S.times(phi))


def _cost_and_gradient(Ka: Floats, K: Floats, S: Residual) -> tuple[float, Floats]:
    """The cost and its gradient -Kᵀ[(Sφ) ∘ (1 - φ²)]."""
    phi = np.tanh(0.5 * Ka)
    S_phi = S.times(phi)
    return -float(phi @ S_phi), -(K.T @ (S_phi * (1 - phi**2)))


def refine(a: Floats, K: Floats, S: Residual, iterations: int, tolerance: float) -> tuple[Floats, Floats]:
    """Minimise the cost from a: (the last step, the one with the least cost).

    Nesterov's accelerated gradient; the Lipschitz guess is doubled until a step holds.
    """
    lipschitz = 1.0
    Ka = K @ a
    before, Kbefore, momentum, momentum_before = a, Ka, 1.0, 0.0
    cost = _cost(Ka, S)
    best, best_cost = a, cost
    for _ in range(iterations):
        ahead = (momentum_before - 1) / momentum
        v, Kv = a + ahead * (a - before), Ka + ahead * (Ka - Kbefore)
        cost_v, gradient = _cost_and_gradient(Kv, K, S)
        square, Kgradient = float(gradient @ gradient), K @ gradient
        for _ in range(DOUBLINGS + 1):
            Kstep = Kv - Kgradient / lipschitz
            cost_step = _cost(Kstep, S)
            if cost_step <= cost_v - square / (2 * lipschitz):
                break
            lipschitz *= 2
        else:
            break
        before, Kbefore, a, Ka = a, Ka, v - gradient / lipschitz, Kstep
        momentum_before, momentum = momentum, (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        change, cost = abs(cost_step - cost), cost_step
        if cost < best_cost:
            best, best_cost = a, cost
        if change <= tolerance * len(K) or square == 0:
            break
    return a, best


def spectral(white: Floats, M: Floats) -> Floats:
    """The top eigenvector of M = KᵀSK for white K (KᵀK = I), scaled to ||Ka||² = l."""
    from scipy.linalg import eigh  # noqa: PLC0415

    a: Floats = eigh(0.5 * (M + M.T), subset_by_index=(len(M) - 1, len(M) - 1))[1][:, 0]
    length = float(np.square(white @ a).sum())
    return a * np.sqrt(len(white) / length) if length > 0 else a


class KSH(FittedHalfSpaces):
    """h = sgn(Aᵀ(x - mean)), x the kernel features."""

    key = "ksh"
    Params = KSHParams
    params: KSHParams

    def _setup(self) -> None:
        super()._setup()
        self.agreement: Floats = np.empty((0, 2))

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None) -> Self:
        """Fit from scratch; `agreement` then holds hᵀSh of the spectral and of the kept solution, (r, 2)."""
        X = self._rows(X, "float64")
        self._fit(X, SharedLabels(indicator(y, len(X), "KSH")))
        return self

    def fit_similar(self, X: npt.ArrayLike, similar: npt.ArrayLike) -> None:
        """Fit to rows whose similarity is given by a boolean matrix (n, n)."""
        X = self._rows(X, "float64")
        self._fit(X, SimilarityMatrix(similar, len(X)))

    def _fit(self, X: Floats, similarity: Similarity) -> None:
        mean, rng = X.mean(axis=0), np.random.default_rng(self.params.seed)
        sample = rng.permutation(len(X))[: self.params.labelled]
        with one_blas_thread():
            A = self._bits(X[sample] - mean, Residual(similarity.subset(sample), self.r), rng)
        self._set_hash(A, mean)

    def _bits(self, K: Floats, S: Residual, rng: np.random.Generator) -> Floats:
        """A (m, r), bit by bit."""
        m, p = K.shape[1], self.params
        as_authors = p.variant == "authors"
        gram = K.T @ K
        gram += _ridge(gram, as_authors) * np.eye(m)
        whiten = np.linalg.inv(np.linalg.cholesky(gram)).T  # whitenᵀ gram whiten = I
        white = K @ whiten
        M = white.T @ S.times(white)
        features, from_white = (K, whiten) if as_authors else (white, np.eye(m))
        A = np.empty((m, self.r))
        self.agreement = np.empty((self.r, 2))
        for k in range(self.r):
            a = spectral(white, M) * rng.choice([-1.0, 1.0])  # the sign of an eigenvector is arbitrary
            a = from_white @ a
            last, best = refine(a, features, S, p.iterations, p.tolerance)
            refined = last if as_authors else best
            h, h_refined = (sgn(features @ solution).astype(np.float64) for solution in (a, refined))
            before, after = self.agreement[k] = [float(bits @ S.times(bits)) for bits in (h, h_refined)]
            if after > before or (after == before and not as_authors):
                a, h = refined, h_refined
            self.agreement[k, 1] = self.agreement[k].max()
            A[:, k] = a
            S.explain(h)
            M -= np.outer(white.T @ h, h @ white)
            progress.report_step(k + 1, self.r)
        return A if as_authors else np.asarray(whiten @ A)


def _ridge(gram: Floats, as_authors: bool) -> float:
    """What is added to the diagonal of KᵀK so that it can be inverted."""
    mean = float(np.trace(gram)) / len(gram)
    if not as_authors:
        return RIDGE * mean or 1.0
    values = np.linalg.eigvalsh(gram)
    return 0.0 if values[0] > SINGULAR * values[-1] else SINGULAR * float(values[-1]) or 1.0


HASHER = HasherSpec(
    hasher=KSH,
    title="KSH",
    aliases=("supervised hashing with kernels",),
    cite="Liu, Wang, Ji, Jiang, Chang: Supervised hashing with kernels, CVPR 2012",
    bibtex="""@inproceedings{liu2012supervised,
  title     = {Supervised Hashing with Kernels},
  author    = {Liu, Wei and Wang, Jun and Ji, Rongrong and Jiang, Yu-Gang and Chang, Shih-Fu},
  booktitle = {IEEE Conference on Computer Vision and Pattern Recognition},
  year      = {2012}
}""",
    supervision="labels",
    features="kernel",
    features_source="its hash functions are sums over m anchors of a kernel",
    features_place="the authors' program: ColumbiaDVMM/Supervised-Hashing-with-Kernels, KSH_demo.m, on 300 anchors",
    consumes="batch",
    pairwise=True,
    differs="Without labels it takes a matrix of which points of a sample are similar. The anchors are those of the "
    "experiment's feature map, the same for every method; without a kernel KSH is linear. KᵀK gets a ridge only where "
    "it cannot be inverted. The variant 'refined' is not the published method, and is often stronger: gradient steps "
    "in coordinates where the labelled features are white, the step with the least cost instead of the last, a ridge "
    "of 0.001 of the mean eigenvalue of KᵀK; with a tolerance of 0.1 it takes a fraction of the time.",
    checked=Check(
        "the authors' optimisation, rewritten with S as a matrix (variant 'authors', up to the signs of the bits)",
        "one fit",
        1e-11,
    ),
)
