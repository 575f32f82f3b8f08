"""HammingIndex: exact neighbours of binary codes, by a scan or by multi-index hashing, whichever is faster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Rows
from ohash.core.codes import Codes
from ohash.evaluation.hamming_kernels import MIN, MIN_SUM, SUM
from ohash.evaluation.packed_codes import COMBINE_RULES, Combine, code_array
from ohash.index.bit_words import (
    BitOrder,
    Words,
    check_bitorder,
    codes_from_words,
    reorder_bits,
    replace_bits,
    words_from_codes,
)
from ohash.index.export import accepted_bitorder, write_codes
from ohash.index.planner import SearchPlanner
from ohash.index.scan import ROW_BITS
from ohash.index.searcher import UNLIMITED, Searcher, Values
from ohash.runtime.files import read_archive, write_archive


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The k nearest rows of every query, (queries, k), nearest first, equal distances by row.

    `by` is "scan" or "mih", whichever answered most queries; `why` gives the reason.
    """

    indices: Rows
    distances: Rows
    by: str
    why: str


@dataclass(frozen=True, eq=False)
class RadiusResult:
    """All rows within a radius, nearest first, then by row; of query q: `indices[offsets[q] : offsets[q + 1]]`."""

    offsets: Rows
    indices: Rows
    distances: Rows
    by: str
    why: str

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> tuple[Rows, Rows]:
        """(rows, distances) of one query."""
        if not 0 <= query < len(self):
            raise IndexError(f"query must be in 0 to {len(self) - 1}, got {query}")
        some = slice(self.offsets[query], self.offsets[query + 1])
        return self.indices[some], self.distances[some]


@dataclass(frozen=True, eq=False)
class UpdateResult:
    """What an update changed: how many bits flipped, in which of the (T, r), and how many tables must be refilled."""

    bits_flipped: int
    bits: npt.NDArray[np.bool_]
    tables: int


Method = Literal["auto", "scan", "mih"]
FORMAT = 1
MAX_ROWS = 2**31 - 1
REQUESTED = "as requested"


class HammingIndex:
    """Exact k-nearest and radius search over packed codes, one model (n, ceil(r/8)) or T of them (T, n, ceil(r/8)).

    T models are combined as in `ohash.mean_ap`: "min_sum" ranks by the least distance, then by the sum, "min" by the
    least alone, "sum" by the sum; ties are ordered by row. ``method="auto"`` takes the cheaper of a popcount scan and
    multi-index hashing; every result says which it was, and both give the same rows.

    Several threads may search at once, but not while `add` or `update` runs.

    >>> index = HammingIndex(np.uint8([[0b100], [0b111], [0b001], [0b011]]), r=3)
    >>> result = index.search(np.uint8([[0b011]]), k=3)
    >>> result.indices, result.distances, result.by, result.why
    (array([[3, 1, 2]]), array([[0, 1, 1]]), 'scan', '4 codes are too few for tables')
    >>> index.within(np.uint8([[0b011]]), radius=1, method="mih")[0]
    (array([3, 1, 2]), array([0, 1, 1]))
    """

    def __init__(self, codes: npt.ArrayLike, *, r: int | None = None, bitorder: BitOrder = "little") -> None:
        """`r` is needed where the last byte is not full and the codes do not remember their length.

        `bitorder` is that of the codes given here, and of all codes and queries given later.
        """
        self.bitorder = check_bitorder(bitorder)
        words, self.r = words_from_codes("codes", codes, r, self.bitorder)
        self._single = np.ndim(codes) == 2
        self._searcher = Searcher(words, self.r)
        self._planner = SearchPlanner(self._searcher)
        self._check_size(len(self))

    def __len__(self) -> int:
        """The number of rows."""
        return int(self._searcher.n)

    def __repr__(self) -> str:
        """What it holds."""
        models = "" if self._single else f"{self.T} models, "
        return f"HammingIndex({len(self):,} codes, {models}{self.r} bits)"

    @property
    def T(self) -> int:
        """Models."""
        return len(self._searcher.words)

    @property
    def codes(self) -> Codes:
        """All codes, packed as they were given, (n, ceil(r/8)) or (T, n, ceil(r/8))."""
        return self._pack(self.bitorder)

    @property
    def nbytes(self) -> int:
        """Memory of the codes, and of the tables if look-ups have been used."""
        return self._searcher.nbytes

    # -- searching -------------------------------------------------------------------------------------------------

    def search(
        self, queries: npt.ArrayLike, k: int = 10, combine: Combine = "min_sum", method: Method = "auto"
    ) -> SearchResult:
        """The k nearest rows of every query."""
        q, rule, step = self._prepare_queries(queries, combine, method)
        k = validation.integer("k", k, 1)
        if k > len(self):
            raise ValueError(f"k must be at most the number of codes, {len(self)}, got {k}")
        if method == "scan":
            values, looked_up, why = self._searcher.scan(q, rule, step, k), 0, REQUESTED
        elif method == "mih":
            values, looked_up, why = self._searcher.look_up(q, rule, step, k, UNLIMITED)[0], len(q), REQUESTED
        else:
            values, looked_up, why = self._planner.nearest(q, rule, step, k)
        return SearchResult(*_rows_and_distances(values, step), _method_used(looked_up, len(q)), why)

    def within(
        self, queries: npt.ArrayLike, radius: int, combine: Combine = "min_sum", method: Method = "auto"
    ) -> RadiusResult:
        """All rows at distance `radius` or less of every query: of the least distance, or of the sum."""
        q, rule, step = self._prepare_queries(queries, combine, method)
        radius = min(validation.integer("radius", radius, 0), self.r * (self.T if rule == SUM else 1))
        parts: list[Values]
        if method == "scan":
            parts, looked_up, why = [self._searcher.scan_radius(one, rule, step, radius) for one in q], 0, REQUESTED
        elif method == "mih":
            balls = [self._searcher.look_up_radius(one, rule, step, radius, UNLIMITED)[0] for one in q]
            parts, looked_up, why = [ball for ball in balls if ball is not None], len(q), REQUESTED
        else:
            parts, looked_up, why = self._planner.within(q, rule, step, radius)
        offsets = np.cumsum([0, *(len(part) for part in parts)])
        return RadiusResult(
            offsets, *_rows_and_distances(np.concatenate(parts), step), _method_used(looked_up, len(q)), why
        )

    def _prepare_queries(self, queries: npt.ArrayLike, combine: str, method: str) -> tuple[Words, int, int]:
        """(queries (b, T, words), how models are combined, factor of the least distance over the sum in a key)."""
        if method not in ("auto", "scan", "mih"):
            raise ValueError(f"method must be 'auto', 'scan' or 'mih', got {method!r}")
        if combine not in COMBINE_RULES:
            raise ValueError(f"combine must be one of {', '.join(map(repr, COMBINE_RULES))}, got {combine!r}")
        rule = MIN if self.T == 1 else COMBINE_RULES[combine]
        words = self._as_words("queries", queries)
        return np.ascontiguousarray(words.transpose(2, 0, 1)), rule, self.T * self.r + 1 if rule == MIN_SUM else 1

    # -- changing --------------------------------------------------------------------------------------------------

    def add(self, codes: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Append rows; return their numbers. They are scanned until a tenth is new, then the tables are rebuilt."""
        words = self._as_words("codes", codes)
        before = len(self)
        self._check_size(before + words.shape[2])
        self._searcher.append(words)
        self._planner.reset()
        return np.arange(before, len(self))

    def update(self, codes: npt.ArrayLike, bits: npt.ArrayLike | None = None) -> UpdateResult:
        """Codes of the same rows under a changed hash; only tables over a changed bit are filled again.

        `bits`, boolean (r,) or (T, r), says which bits may have changed, as `CodeTable.moved` does; the others are
        ignored. Without it all are compared.
        """
        words = self._searcher.words
        if code_array("codes", codes).shape[:2] != (self.T, len(self)):
            raise ValueError(f"codes must hold {self.T} x {len(self)} codes, as this index does, got {np.shape(codes)}")
        fresh = self._as_words("codes", codes)
        changed, flipped = replace_bits(words[..., : len(self)], fresh, self._flags(bits))
        if flipped:
            self._planner.reset()
        return UpdateResult(flipped, changed, self._searcher.mark_stale(changed))

    # -- files -----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the codes to .npz without pickle; tables are filled again when needed."""
        header = {"format": FORMAT, "what": "index", "r": self.r, "bitorder": self.bitorder}
        write_archive(path, header, {"codes": np.asarray(self._pack("little"))})

    @classmethod
    def load(cls, path: str | Path) -> HammingIndex:
        """What `save` wrote; anything else is a ValueError."""
        header, arrays = read_archive(path, "index", FORMAT)
        try:
            bitorder = check_bitorder(header["bitorder"])
            return cls(reorder_bits(arrays["codes"], bitorder), r=header["r"], bitorder=bitorder)
        except Exception as error:
            raise ValueError(f"path must be an intact index, got {path}, which is damaged ({error!r})") from error

    def export(self, target: str, folder: str | Path, bitorder: BitOrder | None = None) -> list[Path]:
        """Write the codes for a search engine, such as "faiss" or "pgvector", and a page with the statements to run.

        `ohash.index.export` has the formats. Where there is a choice, bytes have the bit order of this index.
        """
        order = bitorder or accepted_bitorder(self.bitorder, target)
        return write_codes(self._pack("little"), target, folder, bitorder=order)

    def _pack(self, bitorder: BitOrder) -> Codes:
        packed = reorder_bits(codes_from_words(self._searcher.words[..., : len(self)], self.r), bitorder)
        return Codes(packed[0] if self._single else packed, self.r, -1)

    # -- checks ----------------------------------------------------------------------------------------------------

    def _as_words(self, name: str, codes: npt.ArrayLike) -> Words:
        """Codes of the same length and number of models as this index, as words."""
        own_r = getattr(codes, "r", self.r)
        width = -(-self.r // 8)
        packed = code_array(name, codes)
        if own_r not in (self.r, -1) or (len(packed), packed.shape[2]) != (self.T, width):
            raise ValueError(
                f"{name} must be codes of {self.r} bits, uint8 of shape "
                f"{f'(n, {width})' if self.T == 1 else f'({self.T}, n, {width})'}, got "
                f"{f'{own_r} bits and ' if own_r > 0 else ''}shape {np.shape(codes)}; encode them with the same hasher"
            )
        return words_from_codes(name, codes, self.r, self.bitorder)[0]

    def _flags(self, bits: npt.ArrayLike | None) -> npt.NDArray[np.bool_]:
        if bits is None:
            return np.ones((self.T, self.r), np.bool_)
        flags = np.asarray(bits)
        if flags.dtype != np.bool_ or flags.shape not in ((self.r,), (self.T, self.r)):
            raise ValueError(
                f"bits must be boolean of shape ({self.r},) or ({self.T}, {self.r}), got {flags.dtype} {flags.shape}"
            )
        return np.broadcast_to(flags, (self.T, self.r))

    def _check_size(self, n: int) -> None:
        if n > MAX_ROWS:
            raise ValueError(f"codes must be at most {MAX_ROWS:,} rows, got {n:,}; split them over several indexes")


def _rows_and_distances(values: Values, step: int) -> tuple[Values, Values]:
    """(rows, distances) of values key << 32 | row."""
    return values & ((1 << ROW_BITS) - 1), (values >> ROW_BITS) // step


def _method_used(looked_up: int, queries: int) -> str:
    return "mih" if 2 * looked_up >= queries else "scan"
