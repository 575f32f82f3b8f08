"""What HCOH, HMOH and OECC share: each class has a codeword, and a point pulls W towards the codeword of its label.

A class gets its codeword when it is first seen, a row of a Hadamard matrix (HCOH, HMOH) or a random word (OECC), and
keeps it; new classes never change earlier codewords.

In the kernels bits are independent of each other (except for boosting, where a bit's weight depends on earlier bits),
so each is projected and moved at once, while its w is in the cache.
"""

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Counts, Floats, Labels, Reals
from ohash.core.pair_projection import dot
from ohash.core.parameters import param
from ohash.models import supervision as labels
from ohash.models.learners import LinearLearner, PointLearner
from ohash.runtime.compile import inline, kernel

Words = npt.NDArray[np.int8]
SALT = 0xC0DE


def hadamard_words(r: int, seed: int, classes: int, start: int, count: int, mapping: str) -> Words:
    """Codewords start, start + 1, ... of r bits, (count, r).

    The first book is a Hadamard matrix of the least order 2^k >= max(classes, r), its rows in random order; a book that
    is used up is followed by one of twice the order. Order r itself has one constant column, which would be a bit that
    distinguishes no classes: it is replaced by balanced random signs. Any other order is mapped to r bits by signs of
    random projections ("lsh", the paper's way) or by r of its columns that are not constant ("columns").

    >>> B = hadamard_words(8, 0, 2, 0, 8, "lsh").astype(int)
    >>> np.array_equal(B[:, 1:] @ B[:, 1:].T, 8 * np.eye(8) - 1)
    True
    """
    order = 2 ** int(np.ceil(np.log2(max(classes, r, 2))))
    books, covered, generation = [], 0, 0
    while covered < start + count:
        book = _book(order, r, np.random.default_rng([SALT, seed, generation]), mapping)
        books.append(book)
        covered, order, generation = covered + len(book), 2 * order, generation + 1
    return np.concatenate(books)[start : start + count]


def _book(order: int, r: int, rng: np.random.Generator, mapping: str) -> Words:
    from scipy.linalg import hadamard  # noqa: PLC0415 (scanning the methods should load nothing heavy)

    rows = hadamard(order, np.int8)[rng.permutation(order)]
    if order == r:
        rows[:, 0] = rng.permutation(np.where(np.arange(order) % 2, 1, -1))
        return rows
    if mapping == "columns":
        return np.ascontiguousarray(rows[:, 1 + rng.choice(order - 1, r, replace=False)])
    projections = rows.astype(np.float64) @ rng.standard_normal((order, r))
    return np.where(projections >= 0, 1, -1).astype(np.int8)


def random_words(book: Words, r: int, seed: int, pool: int, count: int) -> Words:
    """`count` further codewords for a book (n, r): each is the word of a random pool farthest from all words in use.

    The pool is drawn again each time instead of being stored: the same seed gives the same pool.
    """
    words = np.random.default_rng([SALT, seed]).integers(0, 256, (pool, -(-r // 8)), np.uint8)
    if r % 8:
        words[:, -1] &= (1 << (r % 8)) - 1
    nearest = np.full(pool, r, np.int64)
    taken = np.packbits(book > 0, axis=1, bitorder="little")
    for word in taken:
        np.minimum(nearest, np.bitwise_count(words ^ word).sum(axis=1, dtype=np.int64), out=nearest)
    chosen = []
    for _ in range(count):
        best = words[int(np.argmax(nearest))]
        chosen.append(best)
        np.minimum(nearest, np.bitwise_count(words ^ best).sum(axis=1, dtype=np.int64), out=nearest)
    bits = np.unpackbits(np.array(chosen), axis=1, count=r, bitorder="little")
    return (2 * bits.astype(np.int8) - 1).astype(np.int8)


def new_classes(known: npt.NDArray[np.int64], labels: Labels) -> npt.NDArray[np.int64]:
    """Classes of `labels`, (n,) or flags (n, L), that are not known yet, in the order of their first point.

    >>> new_classes(np.array([2]), np.array([5, 2, 3, 5])).tolist()
    [5, 3]
    """
    given = labels if labels.ndim == 1 else np.nonzero(labels)[1]  # np.nonzero goes row by row
    values, first = np.unique(given, return_index=True)
    fresh = ~np.isin(values, known)
    return np.asarray(values[fresh][np.argsort(first[fresh])], np.int64)


def class_indices(known: npt.NDArray[np.int64], labels: Labels) -> npt.NDArray[np.int64]:
    """The index of each label in `known`."""
    order = np.argsort(known)
    return np.asarray(order[np.searchsorted(known, labels, sorter=order)], np.int64)


def targets(book: Words, known: npt.NDArray[np.int64], labels: Labels) -> tuple[Words, npt.NDArray[np.bool_]]:
    """(codewords (n, r), whether there is one): of several labels each bit's majority, in a tie the first label's."""
    if labels.ndim == 1:
        return book[class_indices(known, labels)], np.ones(len(labels), bool)
    has = np.asarray(labels.any(axis=1), bool)
    if not len(known):
        return np.ones((len(labels), book.shape[1]), np.int8), has
    flags = labels[:, known]
    votes = flags.astype(np.int64) @ book.astype(np.int64)
    first = known.argsort()[flags[:, known.argsort()].argmax(axis=1)]
    return np.where(votes > 0, 1, np.where(votes < 0, -1, book[first])).astype(np.int8), has


class CodewordLearner(PointLearner, LinearLearner):
    """A learner of labelled points with a growing codebook."""

    ARRAYS: ClassVar[tuple[str, ...]] = (*PointLearner.ARRAYS, "_book", "_classes", "_form")

    @property
    def book(self) -> npt.NDArray[np.int8]:
        """Codewords (classes seen, r)."""
        return self._book

    @property
    def classes(self) -> npt.NDArray[np.int64]:
        """The classes seen, in the order of the book."""
        return self._classes

    def _begin(self, d: int) -> None:
        super()._begin(d)
        self._book = np.zeros((0, self.r), np.int8)
        self._classes = np.zeros(0, np.int64)
        self._form = np.zeros(1, np.int64)

    def _words(self, count: int) -> Words:
        """The next codewords."""
        raise NotImplementedError

    def _step(self, rows: Reals, words: Words) -> None:
        """Learn rows (n, d) towards codewords (n, r), in order."""
        raise NotImplementedError

    def _check_labels(self, y: npt.ArrayLike | None, n: int) -> Array:
        checked, self._form[0] = labels.check(y, n, int(self._form[0]), type(self).__name__)
        fresh = new_classes(self._classes, checked)
        if len(fresh):
            self._book = np.concatenate([self._book, self._words(len(fresh))])
            self._classes = np.concatenate([self._classes, fresh])
        return checked

    def _learn_block(self, rows: Reals, labels: Any) -> None:
        words, has = targets(self._book, self._classes, labels)
        self._step(rows[has], words[has])
        self._clock[0] += len(rows) - int(has.sum())  # nothing is learnt from a point without labels


# The exponential loss of a point far on the wrong side would overflow; vectors of unit length never get here.
MAX_EXPONENT = 30.0


@inline
def _add(w: Reals, factor: float, x: Reals) -> None:
    f = w.dtype.type(factor)
    for c in range(w.shape[0]):
        w[c] += f * x[c]


@kernel
def learn_hcoh(Wt: Reals, bit_updates: Counts, clock: Counts, rows: Reals, words: Words, eta: float) -> None:
    """w_k -= eta (F_k - b_k)(1 - F_k²) x with F = tanh(Wᵀx): gradient of |F - b|²/2."""
    for t in range(rows.shape[0]):
        x = rows[t]
        moved = False
        for k in range(Wt.shape[0]):
            F = math.tanh(dot(Wt[k], x))
            step = eta * (words[t, k] - F) * (1.0 - F * F)
            if step != 0.0:
                _add(Wt[k], step, x)
                bit_updates[k] += 1
                moved = True
        clock[0] += 1
        clock[1] += moved


@kernel
def learn_hmoh(
    Wt: Reals, sums: Floats, bit_updates: Counts, clock: Counts, rows: Reals, words: Words, eta: float, every: bool
) -> None:
    """One perceptron per bit: where sgn(w_kᵀx) is not b_k, w_k += eta b_k x.

    `sums` adds up w_k after each of its mistakes, or after every point; bit_updates counts changes of the sum.
    """
    for t in range(rows.shape[0]):
        x = rows[t]
        moved = False
        for k in range(Wt.shape[0]):
            wrong = (dot(Wt[k], x) >= 0) != (words[t, k] > 0)
            if wrong:
                _add(Wt[k], eta * words[t, k], x)
            if wrong or every:
                _add(sums[k], 1.0, Wt[k])
                bit_updates[k] += 1
                moved = True
        clock[0] += 1
        clock[1] += moved


@kernel
def learn_oecc(
    Wt: Reals, bit_updates: Counts, clock: Counts, rows: Reals, words: Words, eta: float, boosted: bool
) -> None:
    """Hinge: where c_k w_kᵀx < 1, w_k += eta c_k x. Boosted: every bit, weighted by the exponential loss so far.

    Boosted: w_k += eta exp(-Σ_{q<k} c_q w_qᵀx) exp(-c_k w_kᵀx) c_k x, where this point has already moved the w_q.
    """
    for t in range(rows.shape[0]):
        x = rows[t]
        square = dot(x, x) if boosted else 0.0
        margins = 0.0  # of the bits before, after their steps
        moved = False
        for k in range(Wt.shape[0]):
            margin = words[t, k] * dot(Wt[k], x)
            step = 0.0
            if boosted:
                step = eta * math.exp(min(MAX_EXPONENT, -margins - margin))
                margins += margin + step * square
            elif margin < 1.0:
                step = eta
            if step != 0.0:
                _add(Wt[k], step * words[t, k], x)
                bit_updates[k] += 1
                moved = True
        clock[0] += 1
        clock[1] += moved


def expected_classes() -> int:
    """The parameter `classes` of a method with Hadamard codewords."""
    return param(
        2, symbol="c", title="expected classes", lo=1, hi=4096, slider=(2, 1024), scale="log",
        help="The first codebook has room for at least this many; it grows when more come.",
    )  # fmt: skip


def codeword_mapping() -> str:
    """The parameter `mapping` of a method with Hadamard codewords."""
    return param(
        "lsh", symbol="", title="codewords", choices=("lsh", "columns"),
        help="Where r is no power of two, or classes exceed r: signs of random projections of the Hadamard rows (the "
        "paper), or r of their columns.",
    )  # fmt: skip


class HadamardLearner(CodewordLearner):
    """A learner whose codewords are rows of Hadamard matrices; its parameters have `classes` and `mapping`."""

    def _words(self, count: int) -> Words:
        p = self.params
        return hadamard_words(p.r, p.seed, p.classes, len(self._book), count, p.mapping)
