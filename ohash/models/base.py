"""What a hashing method is: the protocol it follows, the columns it reports, and the card it is listed by.

A method is one file in this folder (or a user's plugin) that defines ``HASHER = HasherSpec(...)``. The engine calls
what the method says it consumes:

========== =================================================================================
consumes   called
========== =================================================================================
"nothing"  only ``encode``
"pairs"    ``learn(X, i, j, s)``: rows i, j of X and s in {-1, +1}, strictly in order
"points"   ``learn_points(X, i, y)``: rows i of X, in order, with labels y (None if unlabelled)
"chunks"   ``learn_points`` too; the method gathers its own chunks
"batch"    ``fit(X, y)``: all that has arrived, at once
========== =================================================================================
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ohash.core.codes import Codes
from ohash.core.parameters import Parameter, table

Consumes = Literal["nothing", "pairs", "points", "chunks", "batch"]
Supervision = Literal["none", "pairs", "labels"]
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Trace:
    """Columns, one entry a pair: facts only. A method without l or tau has no such column rather than zeros."""

    D_h: npt.NDArray[np.int64]
    updated: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.D_h)

    def columns(self) -> Arrays:
        """All columns by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@runtime_checkable
class OnlineHasher(Protocol):
    """What every method offers, whatever it consumes. `key` is the one it is registered under."""

    key: str

    @property
    def r(self) -> int:
        """Bits of a code."""

    @property
    def version(self) -> int:
        """Rises whenever the hash changes; codes carry the version that made them."""

    def encode(self, X: npt.NDArray[Any]) -> Codes:
        """Packed codes of mapped rows, (n, ceil(r/8)) or (T, n, ceil(r/8)); pure."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What `ohash.save` stores: plain values for JSON, and arrays."""


@runtime_checkable
class LinearHasher(OnlineHasher, Protocol):
    """A method whose bits are half-spaces: bit k of model m is 1 where Wt[m, k] · x >= threshold[m, k].

    Its code table can be kept up to date column by column: `bit_updates` says how often each w_k has moved.
    """

    @property
    def hyperplanes(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """(Wt (T, r, d), threshold (T, r)), read-only."""

    @property
    def bit_updates(self) -> npt.NDArray[np.int64]:
        """(T, r) how often each projection vector has moved."""


@runtime_checkable
class AsymmetricHasher(OnlineHasher, Protocol):
    """A method with a distance of its own: items are what it keeps of them, a query stays a float vector.

    The engine ranks by it wherever a ranking is judged or shown.
    """

    def quantise(self, X: npt.NDArray[Any]) -> Any:
        """What is stored of mapped rows: their codes, and whatever else an item takes."""

    def estimate_distances(self, queries: npt.NDArray[Any], stored: Any) -> npt.NDArray[np.float32]:
        """Estimated distances of mapped queries to stored items, (queries, items); small is near."""


class PairHasher(OnlineHasher, Protocol):
    """A method that learns from pairs."""

    def learn(self, X: npt.NDArray[Any], i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> Trace:
        """Learn a batch of pairs strictly in order."""


class PointHasher(OnlineHasher, Protocol):
    """A method that learns from points, labelled or not, one by one or in chunks of its own."""

    def learn_points(self, X: npt.NDArray[Any], i: npt.ArrayLike, y: npt.ArrayLike | None) -> None:
        """Learn rows i of X in order."""


class BatchHasher(OnlineHasher, Protocol):
    """A method that is fitted to all data at once."""

    def fit(self, X: npt.NDArray[Any], y: npt.ArrayLike | None) -> None:
        """Fit from scratch."""


@dataclass(frozen=True)
class HasherSpec:
    """The card of a method: how it is named, cited, supervised, tuned, built and brought back from a file.

    `asymmetric`: it ranks by a distance of its own (`AsymmetricHasher`). `hamming`: the Hamming distance of its codes
    means something. `needs`: a package it cannot do without, an optional extra of the same name. `kernel_features`: it
    is meant for kernel features although it learns from nothing. `reference`: it is there to be compared with, not to
    be used. `pairwise`: a batch method that takes a matrix of similarities too (`fit_similar`), where no labels say
    what is similar.
    """

    key: str
    title: str
    cite: str
    bibtex: str
    supervision: Supervision
    consumes: Consumes
    params: type
    build: Callable[[Any], OnlineHasher]
    restore: Callable[[dict[str, Any], Arrays], OnlineHasher]
    aliases: tuple[str, ...] = ()
    differs: str = ""
    linear: bool = True
    asymmetric: bool = False
    hamming: bool = True
    needs: str = ""
    kernel_features: bool = False
    reference: bool = False
    pairwise: bool = False

    @property
    def raw(self) -> bool:
        """Whether it suits the vectors themselves: without supervision a kernel only takes the distance away."""
        return self.supervision == "none" and not self.kernel_features

    @property
    def missing(self) -> str:
        """How to get what the method needs and is not here; "" if all is."""
        return f"pip install ohash[{self.needs}]" if self.needs and find_spec(self.needs) is None else ""

    @property
    def table(self) -> dict[str, Parameter]:
        """The declared parameters."""
        return table(self.params)
