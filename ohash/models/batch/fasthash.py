"""FastHash: bits by graph cuts, then boosted trees that predict them; bit by bit.

1. Bits z of the training points minimise Σ a_ij z_i z_j over listed pairs, where a_ij = ½[cost of equal - cost of
   differing bits] given the bits before: similar pairs cost D², dissimilar ones max(0, r/2 - D)². Blocks of mutually
   similar points, whose a_ij <= 0, are optimised exactly by a minimum cut, all others fixed, block by block
   (`block_cuts`).
2. Boosted trees are fitted to z (`boosted_trees`); the bits they actually give enter the costs of the next bit.

Costs are multiplied by 8, which makes every a_ij an integer.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Floats, Integers, Rows
from ohash.core.codes import Codes, pack
from ohash.core.parameters import Parameters, bits_param, param, seed_param
from ohash.models.base import Check, HasherSpec
from ohash.models.batch.block_cuts import Blocks
from ohash.models.batch.boosted_trees import QuantisedFeatures, Tree, boost
from ohash.models.batch.sdh import indicator
from ohash.models.hasher import Hasher
from ohash.models.supervision import SharedLabels, Similarity, SimilarityMatrix
from ohash.runtime import progress
from ohash.runtime.compile import kernel
from ohash.runtime.frames import Arrays, Frame, JsonObject


@kernel
def votes(
    X: Floats, feature: Integers, threshold: Floats, left: Integers, right: Integers, value: Floats, roots: Integers,
    bit: Integers, sums: Floats,
) -> None:  # fmt: skip
    """sums[i, bit[t]] += the leaf of x_i in tree t; a leaf has feature -1, and x <= threshold goes left."""
    for i in range(X.shape[0]):
        for t in range(roots.shape[0]):
            node = roots[t]
            while feature[node] >= 0:
                node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
            sums[i, bit[t]] += value[node]


TREE_ARRAYS = ("feature", "threshold", "left", "right", "value", "roots", "bit", "base")


@dataclass(frozen=True)
class FastHashParams(Parameters):
    """Bits, training points, pairs, sweeps, trees, seed."""

    r: int = bits_param()
    labelled: int = param(
        5000, symbol="l", title="labelled points", lo=2, hi=1_000_000, slider=(500, 50_000), scale="log",
        help="At most this many points, a random sample, are learnt from.",
    )  # fmt: skip
    neighbours: int = param(
        50, symbol="", title="pairs per point", lo=1, hi=1000, slider=(10, 200), step=10,
        help="Similar points listed for each point, and as many dissimilar ones; the paper says 100 are enough.",
    )  # fmt: skip
    sweeps: int = param(
        2, symbol="", title="sweeps", lo=1, hi=20, slider=(1, 4), step=1, help="Passes over the blocks for one bit.",
    )  # fmt: skip
    trees: int = param(
        50, symbol="", title="trees per bit", lo=1, hi=1000, slider=(10, 200), step=10,
        help="Rounds of boosting for one bit; the paper uses 200.",
    )  # fmt: skip
    depth: int = param(
        4, symbol="", title="tree depth", lo=1, hi=16, slider=(1, 8), step=1, help="The paper uses 4.",
    )  # fmt: skip
    seed: int = seed_param("Draws sample, pairs and blocks.")


class Pairs:
    """The listed pairs as a symmetric sparse matrix (CSR), `similar` for every entry, and blocks that cover all points.

    Within a block no listed pair is dissimilar, so its bits can be optimised exactly.
    """

    def __init__(self, similarity: Similarity, neighbours: int, rng: np.random.Generator) -> None:
        """List `neighbours` similar points of each point, and as many dissimilar ones."""
        n = self.n = similarity.n
        edges = []
        for i in range(n):
            shared = similarity.row(i)
            for some in (np.flatnonzero(shared), np.flatnonzero(~shared)):
                others = some[some != i]
                if len(others):
                    edges.append(np.stack([np.full(min(neighbours, len(others)), i), _draw(others, neighbours, rng)]))
        listed = np.concatenate(edges, axis=1) if edges else np.zeros((2, 0), np.int64)
        once = np.unique(listed.min(axis=0) * n + listed.max(axis=0))
        rows, columns = np.concatenate([once // n, once % n]), np.concatenate([once % n, once // n])
        order = np.argsort(rows * n + columns)
        self.rows, self.indices = rows[order], columns[order]
        self.indptr = np.searchsorted(self.rows, np.arange(n + 1))
        self.similar = similarity.pairs(self.rows, self.indices)
        self.blocks = Blocks(self.indptr, self.indices, self._cover(rng))

    def _cover(self, rng: np.random.Generator) -> list[Rows]:
        covered = np.zeros(self.n, bool)
        blocks = []
        for i in rng.permutation(self.n):
            if covered[i]:
                continue
            block, refused = [i], np.zeros(self.n, bool)
            for candidate in (i, *self._neighbours(i, similar=True)):
                if candidate != i:
                    if refused[candidate]:
                        continue
                    block.append(candidate)
                refused[self._neighbours(candidate, similar=False)] = True
            covered[block] = True
            blocks.append(np.array(block, np.int64))
        return blocks

    def _neighbours(self, i: int, *, similar: bool) -> Rows:
        mine = slice(self.indptr[i], self.indptr[i + 1])
        return np.asarray(self.indices[mine][self.similar[mine] == similar])

    def costs(self, D: Rows, r: int) -> Rows:
        """8 a_ij for every entry: D are the distances of its two points in the bits before."""
        half = 0.5 * r
        equal = np.where(self.similar, D**2, np.maximum(0, half - D) ** 2)
        differ = np.where(self.similar, (D + 1) ** 2, np.maximum(0, half - D - 1) ** 2)
        return np.asarray(np.rint(4 * (equal - differ)), np.int64)

    def energy(self, a: Rows, z: Rows) -> int:
        """Σ a_ij z_i z_j over pairs."""
        return int((a * z[self.rows] * z[self.indices]).sum()) // 2


class FastHash(Hasher):
    """h_k = sgn of boosted trees."""

    key = "fasthash"
    Params = FastHashParams
    params: FastHashParams
    VALUES = ("_version", "_d")

    def _setup(self) -> None:
        self.trees: Arrays = {}
        self.energies: list[int] = []

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike | None) -> Self:
        """Fit from scratch; `energies` then holds Σ a_ij z_i z_j (times 8) of each bit before and after every sweep."""
        X = self._rows(X, "float64")
        self._fit(X, SharedLabels(indicator(y, len(X), "FastHash")))
        return self

    def fit_similar(self, X: npt.ArrayLike, similar: npt.ArrayLike) -> None:
        """Fit to rows whose similarity is given by a boolean matrix (n, n)."""
        X = self._rows(X, "float64")
        self._fit(X, SimilarityMatrix(similar, len(X)))

    def _fit(self, X: npt.NDArray[np.float64], similarity: Similarity) -> None:
        p = self.params
        rng = np.random.default_rng(p.seed)
        sample = rng.permutation(len(X))[: p.labelled]
        X, pairs = X[sample], Pairs(similarity.subset(sample), p.neighbours, rng)
        grown: list[tuple[float, list[Tree]]] = []
        quantised = QuantisedFeatures.from_matrix(X)
        D = np.zeros(len(pairs.rows), np.int64)
        self.energies = []
        for k in range(self.r):
            a, z = pairs.costs(D, self.r), np.ones(len(X), np.int64)
            self.energies.append(pairs.energy(a, z))
            for _ in range(p.sweeps):
                pairs.blocks.settle(a, z, rng.permutation(len(pairs.blocks)))
                self.energies.append(pairs.energy(a, z))
            grown.append(self._grow(quantised, z, k))
            fitted = np.where(_vote(X, _flatten([grown[-1]]), 1)[:, 0] >= 0, 1, -1)
            D += fitted[pairs.rows] != fitted[pairs.indices]
            progress.report_step(k + 1, self.r)
        self._version += bool(self.trees)
        self._d, self.trees = X.shape[1], _flatten(grown)

    def _grow(self, quantised: QuantisedFeatures, z: Rows, k: int) -> tuple[float, list[Tree]]:
        """(base, trees) that predict bit k."""
        if (z == z[0]).all():
            return float(z[0]), []
        p = self.params
        return boost(quantised, z, p.trees, p.depth, np.random.default_rng((p.seed, k)))

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8))."""
        return Codes(pack(self.sums(X) >= 0), self.r, self.version)

    def sums(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The sums of the trees (n, r), whose signs are the bits."""
        if not self.trees:
            raise ValueError("fasthash has no trees yet: call fit(X, y) first")
        return _vote(self._rows(X, "float64"), self.trees, self.r)

    def state(self) -> Frame:
        """For `ohash.save`: the trees as plain arrays."""
        return super().state()[0], dict(self.trees)

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
        """Go on from a saved state."""
        super().resume(values, arrays)
        self.trees = {name: np.array(arrays[name]) for name in TREE_ARRAYS} if arrays else {}


def _draw(others: Rows, wanted: int, rng: np.random.Generator) -> Rows:
    return others if len(others) <= wanted else rng.choice(others, wanted, replace=False)


def _flatten(grown: list[tuple[float, list[Tree]]]) -> Arrays:
    """All trees of all bits in flat arrays."""
    trees = [tree for _, of_bit in grown for tree in of_bit]
    sizes = [len(tree.feature) for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if trees else np.zeros(0, np.int64)
    left = _join([tree.left for tree in trees], np.int64) + np.repeat(roots, sizes)
    return {
        "feature": _join([tree.feature for tree in trees], np.int64),
        "threshold": _join([tree.threshold for tree in trees], np.float64),
        "left": left, "right": left + 1,
        "value": _join([tree.value for tree in trees], np.float64),
        "roots": roots, "bit": np.repeat(np.arange(len(grown)), [len(of_bit) for _, of_bit in grown]),
        "base": np.array([base for base, _ in grown]),
    }  # fmt: skip


def _join(parts: list[Array], kind: type) -> Array:
    return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)


def _vote(X: npt.NDArray[np.float64], trees: Arrays, r: int) -> npt.NDArray[np.float64]:
    """The sums of the trees, (n, r)."""
    sums = np.tile(trees["base"], (len(X), 1))
    t = trees
    votes(X, t["feature"], t["threshold"], t["left"], t["right"], t["value"], t["roots"], t["bit"], sums)
    assert sums.shape == (len(X), r)
    return sums


HASHER = HasherSpec(
    hasher=FastHash,
    title="FastHash",
    aliases=("fast supervised hashing",),
    cite="Lin, Shen, Shi, van den Hengel, Suter: Fast supervised hashing with decision trees, CVPR 2014",
    bibtex="""@inproceedings{lin2014fast,
  title     = {Fast Supervised Hashing with Decision Trees for High-Dimensional Data},
  author    = {Lin, Guosheng and Shen, Chunhua and Shi, Qinfeng and van den Hengel, Anton and Suter, David},
  booktitle = {IEEE Conference on Computer Vision and Pattern Recognition},
  year      = {2014}
}""",
    supervision="labels",
    features="given",
    features_source="trees compare single features with thresholds, which needs no normalisation",
    features_place="the authors' program, in a copy: fasthash_demo.m",
    consumes="batch",
    pairwise=True,
    linear=False,
    differs="Without labels it takes a matrix of which points of a sample are similar. Trees are boosted for the "
    "logistic loss in steps of 0.1, 50 per bit, instead of AdaBoost with 200; in a trial with 50 trees on tracks "
    "AdaBoost reached half of the mAP. Like the authors', they are grown on features quantised once (to at most 256 "
    "values), each from a random choice of them (a tenth, 32 at least) and from the points that are not yet well "
    "learnt (99 % of the weight). 50 similar and 50 dissimilar points are listed for each point.",
    checked=Check(
        "the cuts by scipy's maximum flow and the trees node by node, in plain NumPy",
        "one fit",
        1e-12,
        "the sums of the trees agree",
    ),
)
