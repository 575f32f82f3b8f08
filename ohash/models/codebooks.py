"""Codewords for classes as they are first seen: rows of Hadamard matrices (HCOH, HMOH), or random words (OECC).

A class keeps its codeword for ever; further classes never change those before.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.int8]
SALT = 0xC0DE


def hadamard_words(r: int, seed: int, classes: int, start: int, count: int, mapping: str) -> Words:
    """Codewords start, start + 1, ... of r bits, (count, r).

    The first book is a Hadamard matrix of the least order 2^k >= max(classes, r), its rows in random order; a book that
    is used up is followed by one of twice the order. Order r itself has one constant column, which would be a bit that
    tells no class apart: it is replaced by balanced random signs. Any other order is mapped to r bits by signs of
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
    """`count` further codewords for a book (n, r): of a pool of random words always the one farthest from all taken.

    The pool is drawn again each time instead of being kept: the same seed gives the same pool.
    """
    words = np.random.default_rng([SALT, seed]).integers(0, 256, (pool, -(-r // 8)), np.uint8)
    if r % 8:
        words[:, -1] &= (1 << (r % 8)) - 1
    nearest = np.full(pool, r, np.int64)
    taken = np.packbits(book > 0, axis=1, bitorder="little")
    for word in taken:
        np.minimum(nearest, np.bitwise_count(words ^ word).sum(axis=1, dtype=np.int64), out=nearest)
    found = []
    for _ in range(count):
        best = words[int(np.argmax(nearest))]
        found.append(best)
        np.minimum(nearest, np.bitwise_count(words ^ best).sum(axis=1, dtype=np.int64), out=nearest)
    bits = np.unpackbits(np.array(found), axis=1, count=r, bitorder="little")
    return (2 * bits.astype(np.int8) - 1).astype(np.int8)


def new_classes(known: npt.NDArray[np.int64], labels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Classes of `labels`, (n,) or flags (n, L), that are not known yet, in the order of their first point.

    >>> new_classes(np.array([2]), np.array([5, 2, 3, 5])).tolist()
    [5, 3]
    """
    given = labels if labels.ndim == 1 else np.nonzero(labels)[1]  # np.nonzero goes row by row
    values, first = np.unique(given, return_index=True)
    fresh = ~np.isin(values, known)
    return np.asarray(values[fresh][np.argsort(first[fresh])], np.int64)


def places(known: npt.NDArray[np.int64], labels: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The place of each label in `known`."""
    order = np.argsort(known)
    return np.asarray(order[np.searchsorted(known, labels, sorter=order)], np.int64)


def targets(book: Words, known: npt.NDArray[np.int64], labels: npt.NDArray[Any]) -> tuple[Words, npt.NDArray[np.bool_]]:
    """(codewords (n, r), whether there is one): of several labels each bit's majority, in a tie the first label's."""
    if labels.ndim == 1:
        return book[places(known, labels)], np.ones(len(labels), bool)
    has = np.asarray(labels.any(axis=1), bool)
    if not len(known):
        return np.ones((len(labels), book.shape[1]), np.int8), has
    flags = labels[:, known]
    votes = flags.astype(np.int64) @ book.astype(np.int64)
    first = known.argsort()[flags[:, known.argsort()].argmax(axis=1)]
    return np.where(votes > 0, 1, np.where(votes < 0, -1, book[first])).astype(np.int8), has
