"""Where pairs come from: a source reads them in order and says where it stands, so that a follower can go on there.

A position is plain JSON. It is saved with the model in one file, and a source that is put back to it gives exactly the
pairs that come after it.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ohash.runtime.frames import JsonObject

Triples = npt.NDArray[np.int64]  # (n, 3): i, j, s
Ends = npt.NDArray[np.int64]
Position = JsonObject
NO_TRIPLES: Triples = np.empty((0, 3), np.int64)
POLL = 0.2  # seconds between two looks at a file that has not grown
READ_BYTES = 2**20
DIGITS = set(b"0123456789-,\n")
FIRST_BYTES = 256  # of a file, by which it is recognised


@dataclass(frozen=True, eq=False)
class Batch:
    """Pairs in order, the position after them, how many lines or messages are no pairs, and whether it has ended."""

    triples: Triples
    position: Position
    skipped: int = 0
    ended: bool = False


class PairSource(Protocol):
    """A stream of pairs that can be put back to a position."""

    def seek(self, position: Position) -> None:
        """Go on after this position; an empty one is the beginning."""

    def read(self, count: int, timeout: float) -> Batch:
        """At most `count` pairs; fewer after `timeout` seconds or at the end."""


class FileSource:
    """A file that grows, with one pair per line: ``i,j,s``, or ``i,j`` for clicks, which are similar.

    A line without its end is not there yet. A first line of names is left out; other lines that are not numbers are
    counted and skipped.
    """

    def __init__(self, path: str | Path, *, wait: bool = True) -> None:
        """With ``wait=False`` the end of the file is the end of the stream."""
        self._path, self._wait = Path(path), wait
        self._offset = 0
        self._rest = b""
        self._triples, self._ends = NO_TRIPLES, np.empty(0, np.int64)  # pairs not given out, and where their lines end
        self._bad = np.empty(0, np.int64)  # where lines end that are no pairs
        self._read_up_to = 0
        self._path.stat()  # it must be there

    def seek(self, position: Position) -> None:
        """The file must still begin as it did."""
        self._offset = int(position.get("offset", 0))
        if position and position["first"] != self._first(int(position["known"])):
            raise ValueError(f"{self._path} is not the file that was followed before: its first bytes differ")
        if self._offset > self._path.stat().st_size:
            raise ValueError(f"{self._path} is shorter than what was read of it, {self._offset} bytes: was it cut off?")
        self._read_up_to = self._offset
        self._rest, self._triples = b"", NO_TRIPLES
        self._ends = self._bad = np.empty(0, np.int64)

    def read(self, count: int, timeout: float) -> Batch:
        """Wait for lines until there are `count` pairs."""
        limit = time.monotonic() + timeout
        ended = False
        while len(self._triples) < count:
            if self._fill():
                continue
            ended = not self._wait
            if ended or time.monotonic() > limit:
                break
            time.sleep(min(POLL, timeout))
        taken, self._triples = self._triples[:count], self._triples[count:]
        ends, self._ends = self._ends[:count], self._ends[count:]
        if len(ends):
            self._offset = int(ends[-1])
        skipped = int(np.searchsorted(self._bad, self._offset))  # the lines before the last pair given out
        self._bad = self._bad[skipped:]
        length = min(FIRST_BYTES, self._offset)
        position = {"offset": self._offset, "known": length, "first": self._first(length)}
        return Batch(taken, position, skipped, ended and not len(self._triples))

    def _fill(self) -> bool:
        """Read more; False if there is nothing new."""
        start = self._read_up_to - len(self._rest)
        with self._path.open("rb") as file:
            file.seek(self._read_up_to)
            block = file.read(READ_BYTES)
        if not block:
            return False
        self._read_up_to += len(block)
        whole, newline, self._rest = (self._rest + block).rpartition(b"\n")
        if newline:
            triples, ends, bad = parse_lines(whole + newline, first=start == 0)
            self._triples = np.concatenate([self._triples, triples])
            self._ends = np.concatenate([self._ends, start + ends])
            self._bad = np.concatenate([self._bad, start + bad])
        return True

    def _first(self, count: int) -> str:
        with self._path.open("rb") as file:
            return hashlib.sha256(file.read(count)).hexdigest()


def parse_lines(text: bytes, *, first: bool = False) -> tuple[Triples, Ends, Ends]:
    r"""(pairs, where their lines end, where lines end that are no pairs) of whole lines; `first` may be names.

    >>> parse_lines(b"i,j,s\n1,2,-1\noops\n3,4\n", first=True)
    (array([[ 1,  2, -1],
           [ 3,  4,  1]]), array([13, 22]), array([18]))
    """
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    commas = text.count(b",")
    width = commas // len(ends) + 1
    if width in (2, 3) and commas == len(ends) * (width - 1) and not set(text) - DIGITS:
        flat = np.fromstring(text.replace(b"\n", b",").rstrip(b","), np.int64, sep=",")
        if len(flat) == width * len(ends):  # every line is a pair: the usual case, without a loop
            return _check_signs(flat.reshape(-1, width), ends)
    rows, kept, bad = [], [], []
    for at, line in enumerate(text.split(b"\n")[:-1]):
        try:
            numbers = [int(word) for word in line.split(b",")]
            if len(numbers) not in (2, 3):
                raise ValueError
        except ValueError:
            if line.strip() and not (first and at == 0):
                bad.append(ends[at])
            continue
        rows.append((*numbers, 1)[:3])
        kept.append(ends[at])
    triples, good, signs = _check_signs(np.array(rows, np.int64).reshape(-1, 3), np.array(kept, np.int64))
    return triples, good, np.sort(np.concatenate([np.array(bad, np.int64), signs]))


def _check_signs(numbers: Triples, ends: Ends) -> tuple[Triples, Ends, Ends]:
    """The lines with s = ±1, where they end, and where the others end; without s all are similar."""
    if numbers.shape[1] == 2:
        numbers = np.column_stack([numbers, np.ones(len(numbers), np.int64)])
    good = np.abs(numbers[:, 2]) == 1
    return numbers[good], ends[good], ends[~good]


class IteratorSource:
    """Any iterable of (i, j, s), or a function from a number of pairs to an iterator of the pairs after them.

    An iterable is started anew and its first pairs are passed over, so it must give the same pairs again.
    """

    def __init__(self, pairs: Iterable[tuple[int, int, int]] | Callable[[int], Iterator[tuple[int, int, int]]]) -> None:
        """Nothing is read yet."""
        self._pairs = pairs
        self._iterator: Iterator[tuple[int, int, int]] = iter(())
        self._count = 0

    def seek(self, position: Position) -> None:
        """Skip what was read before."""
        self._count = int(position.get("pairs", 0))
        if callable(self._pairs):
            self._iterator = self._pairs(self._count)
        else:
            self._iterator = islice(iter(self._pairs), self._count, None)

    def read(self, count: int, timeout: float) -> Batch:
        """Take `count` of them, however long that lasts."""
        triples = np.array(list(islice(self._iterator, count)), np.int64).reshape(-1, 3)
        self._count += len(triples)
        ended = len(triples) < count
        triples, _, bad = _check_signs(triples, np.arange(len(triples)))
        return Batch(triples, {"pairs": self._count}, len(bad), ended)
