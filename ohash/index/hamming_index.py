"""HammingIndex: exact neighbours of binary codes, by a scan or by multi-index hashing, whichever is faster.

What a search has found, and how.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from ohash.core.codes import Codes
from ohash.evaluation.hamming_kernels import MIN, MIN_SUM, SUM
from ohash.evaluation.packed_codes import RULES, Combine, at_least, code_array
from ohash.index.bit_words import BitOrder, Words, check_order, exchange, ordered, to_bytes, to_words
from ohash.index.chooser import Chooser
from ohash.index.engine import UNLIMITED, Engine, Values
from ohash.index.export import Target, write
from ohash.index.scan import ROW_BITS
from ohash.runtime.archive import read_archive, write_archive

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Nearest:
    """The k nearest rows of every query, (queries, k), nearest first, equal distances by row.

    `by` is "scan" or "mih", whichever answered most queries; `why` says why.
    """

    indices: Indices
    distances: Indices
    by: str
    why: str


@dataclass(frozen=True, eq=False)
class Within:
    """All rows within a radius, nearest first, then by row; of query q: `indices[offsets[q] : offsets[q + 1]]`."""

    offsets: Indices
    indices: Indices
    distances: Indices
    by: str
    why: str

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> tuple[Indices, Indices]:
        """(rows, distances) of one query."""
        if not 0 <= query < len(self):
            raise IndexError(f"query must be in 0 to {len(self) - 1}, got {query}")
        some = slice(self.offsets[query], self.offsets[query + 1])
        return self.indices[some], self.distances[some]


@dataclass(frozen=True, eq=False)
class Updated:
    """What an update changed: bits that flipped, which bits (T, r) those were, and the tables that must be refilled."""

    bits_flipped: int
    bits: npt.NDArray[np.bool_]
    tables: int


Method = Literal["auto", "scan", "mih"]
FORMAT = 1
MOST = 2**31 - 1
ASKED = "as asked"


class HammingIndex:
    """Exact k-nearest and radius search over packed codes, one model (n, ceil(r/8)) or T of them (T, n, ceil(r/8)).

    T models are combined as in `ohash.mean_ap`: "min_sum" ranks by the least distance, then by the sum, "min" by the
    least alone, "sum" by the sum. Equal ones go by row. ``method="auto"`` takes the cheaper of a popcount scan and
    multi-index hashing; every result says which it was, and both find the same.

    Several threads may search at once; `add` and `update` want the index for themselves.

    >>> index = HammingIndex(np.uint8([[0b100], [0b111], [0b001], [0b011]]), r=3)
    >>> found = index.search(np.uint8([[0b011]]), k=3)
    >>> found.indices, found.distances, found.by, found.why
    (array([[3, 1, 2]]), array([[0, 1, 1]]), 'scan', '4 codes are too few for tables')
    >>> index.within(np.uint8([[0b011]]), radius=1, method="mih")[0]
    (array([3, 1, 2]), array([0, 1, 1]))
    """

    def __init__(self, codes: npt.ArrayLike, *, r: int | None = None, bitorder: BitOrder = "little") -> None:
        """`r` is needed where the last byte is not full and the codes do not remember their length.

        `bitorder` is that of the codes given here, and of all codes and queries given later.
        """
        self.bitorder = check_order(bitorder)
        words, self.r = to_words("codes", codes, r, self.bitorder)
        self._single = np.ndim(codes) == 2
        self._engine = Engine(words, self.r)
        self._chooser = Chooser(self._engine)
        self._fits(len(self))

    def __len__(self) -> int:
        """The number of rows."""
        return int(self._engine.n)

    def __repr__(self) -> str:
        """What it holds."""
        models = "" if self._single else f"{self.T} models, "
        return f"HammingIndex({len(self):,} codes, {models}{self.r} bits)"

    @property
    def T(self) -> int:
        """Models."""
        return len(self._engine.words)

    @property
    def codes(self) -> Codes:
        """All codes, packed as they came, (n, ceil(r/8)) or (T, n, ceil(r/8))."""
        return self._packed(self.bitorder)

    @property
    def nbytes(self) -> int:
        """Memory of the codes, and of the tables if look-ups have been of use."""
        return self._engine.nbytes

    # -- searching -------------------------------------------------------------------------------------------------

    def search(
        self, queries: npt.ArrayLike, k: int = 10, combine: Combine = "min_sum", method: Method = "auto"
    ) -> Nearest:
        """The k nearest rows of every query."""
        q, rule, step = self._asked(queries, combine, method)
        k = at_least("k", k, 1)
        if k > len(self):
            raise ValueError(f"k must be at most the number of codes, {len(self)}, got {k}")
        if method == "scan":
            found, looked_up, why = self._engine.scan(q, rule, step, k), 0, ASKED
        elif method == "mih":
            found, looked_up, why = self._engine.look_up(q, rule, step, k, UNLIMITED)[0], len(q), ASKED
        else:
            found, looked_up, why = self._chooser.nearest(q, rule, step, k)
        return Nearest(*_parted(found, step), _by(looked_up, len(q)), why)

    def within(
        self, queries: npt.ArrayLike, radius: int, combine: Combine = "min_sum", method: Method = "auto"
    ) -> Within:
        """All rows at distance `radius` or less of every query: of the least distance, or of the sum."""
        q, rule, step = self._asked(queries, combine, method)
        radius = min(at_least("radius", radius, 0), self.r * (self.T if rule == SUM else 1))
        parts: list[Values]
        if method == "scan":
            parts, looked_up, why = [self._engine.scan_ball(one, rule, step, radius) for one in q], 0, ASKED
        elif method == "mih":
            balls = [self._engine.look_up_ball(one, rule, step, radius, UNLIMITED)[0] for one in q]
            parts, looked_up, why = [ball for ball in balls if ball is not None], len(q), ASKED
        else:
            parts, looked_up, why = self._chooser.within(q, rule, step, radius)
        offsets = np.cumsum([0, *(len(part) for part in parts)])
        return Within(offsets, *_parted(np.concatenate(parts), step), _by(looked_up, len(q)), why)

    def _asked(self, queries: npt.ArrayLike, combine: str, method: str) -> tuple[Words, int, int]:
        """(queries (b, T, words), how models are combined, by how much the least distance counts more than the sum)."""
        if method not in ("auto", "scan", "mih"):
            raise ValueError(f"method must be 'auto', 'scan' or 'mih', got {method!r}")
        if combine not in RULES:
            raise ValueError(f"combine must be one of {', '.join(map(repr, RULES))}, got {combine!r}")
        rule = MIN if self.T == 1 else RULES[combine]
        words = self._own("queries", queries)
        return np.ascontiguousarray(words.transpose(2, 0, 1)), rule, self.T * self.r + 1 if rule == MIN_SUM else 1

    # -- changing --------------------------------------------------------------------------------------------------

    def add(self, codes: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Append rows; returns their numbers. Tables take them in a tenth at a time, until then they are scanned."""
        words = self._own("codes", codes)
        before = len(self)
        self._fits(before + words.shape[2])
        self._engine.append(words)
        self._chooser.forget()
        return np.arange(before, len(self))

    def update(self, codes: npt.ArrayLike, bits: npt.ArrayLike | None = None) -> Updated:
        """The same rows under a hash that has changed; only tables that hold a changed bit are filled again.

        `bits`, boolean (r,) or (T, r), says which bits may have changed, as `CodeTable.moved` does; the others are not
        looked at. Without it all are compared.
        """
        words = self._engine.words
        if code_array("codes", codes).shape[:2] != (self.T, len(self)):
            raise ValueError(f"codes must hold {self.T} x {len(self)} codes, as this index does, got {np.shape(codes)}")
        fresh = self._own("codes", codes)
        changed, flipped = exchange(words[..., : len(self)], fresh, self._flags(bits))
        if flipped:
            self._chooser.forget()
        return Updated(flipped, changed, self._engine.touched(changed))

    # -- keeping ---------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the codes to .npz without pickle; tables are filled again when they are wanted."""
        header = {"format": FORMAT, "what": "index", "r": self.r, "bitorder": self.bitorder}
        write_archive(path, header, {"codes": np.asarray(self._packed("little"))})

    @classmethod
    def load(cls, path: str | Path) -> "HammingIndex":
        """What `save` wrote; anything else is a ValueError."""
        header, arrays = read_archive(path, "index", FORMAT)
        try:
            bitorder = check_order(header["bitorder"])
            return cls(ordered(arrays["codes"], bitorder), r=header["r"], bitorder=bitorder)
        except Exception as error:
            raise ValueError(f"path must be a sound index, got {path}, which is damaged ({error!r})") from error

    def export(self, target: Target, folder: str | Path, bitorder: BitOrder | None = None) -> list[Path]:
        """Write the codes for "faiss", "pgvector" or "milvus" into a folder; `ohash.index.export` has the formats.

        Bytes for Milvus have the order of this index, unless told otherwise.
        """
        order = bitorder or (self.bitorder if target == "milvus" else "little")
        return write(self._packed("little"), target, folder, bitorder=order)

    def _packed(self, bitorder: BitOrder) -> Codes:
        packed = ordered(to_bytes(self._engine.words[..., : len(self)], self.r), bitorder)
        return Codes(packed[0] if self._single else packed, self.r, -1)

    # -- checks ----------------------------------------------------------------------------------------------------

    def _own(self, name: str, codes: npt.ArrayLike) -> Words:
        """Codes like those of this index, as words."""
        known = getattr(codes, "r", self.r)
        width = -(-self.r // 8)
        packed = code_array(name, codes)
        if known not in (self.r, -1) or (len(packed), packed.shape[2]) != (self.T, width):
            raise ValueError(
                f"{name} must be codes of {self.r} bits, uint8 of shape "
                f"{f'(n, {width})' if self.T == 1 else f'({self.T}, n, {width})'}, got "
                f"{f'{known} bits and ' if known > 0 else ''}shape {np.shape(codes)}; encode them with the same hasher"
            )
        return to_words(name, codes, self.r, self.bitorder)[0]

    def _flags(self, bits: npt.ArrayLike | None) -> npt.NDArray[np.bool_]:
        if bits is None:
            return np.ones((self.T, self.r), np.bool_)
        flags = np.asarray(bits)
        if flags.dtype != np.bool_ or flags.shape not in ((self.r,), (self.T, self.r)):
            raise ValueError(
                f"bits must be boolean of shape ({self.r},) or ({self.T}, {self.r}), got {flags.dtype} {flags.shape}"
            )
        return np.broadcast_to(flags, (self.T, self.r))

    def _fits(self, n: int) -> None:
        if n > MOST:
            raise ValueError(f"codes must be at most {MOST:,} rows, got {n:,}; split them over several indexes")


def _parted(values: Values, step: int) -> tuple[Values, Values]:
    """(rows, distances) of values key << 32 | row."""
    return values & ((1 << ROW_BITS) - 1), (values >> ROW_BITS) // step


def _by(looked_up: int, queries: int) -> str:
    return "mih" if 2 * looked_up >= queries else "scan"
