"""What a hashing method is: the protocols it follows, the columns it reports, and the spec it is registered by.

A method is one file in `online`, `batch` or `quantizers`, or a user's plugin, that defines
``HASHER = HasherSpec(...)``. The engine calls what the method says it consumes:

========== =================================================================================
consumes   called
========== =================================================================================
"nothing"  only ``encode``
"pairs"    ``learn(X, i, j, s)``: rows i, j of X and s in {-1, +1}, strictly in order
"points"   ``learn_points(X, i, y)``: rows i of X, in order, with labels y (None if unlabelled)
"chunks"   ``learn_points`` too; the method gathers its own chunks
"batch"    ``fit(X, y)``: all rows that have arrived, at once
========== =================================================================================
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib.util import find_spec
from types import NoneType
from typing import Any, Literal, NoReturn, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Bytes, Floats, Numbers, Reals, Singles
from ohash.core.codes import Codes
from ohash.core.features import FeatureMap
from ohash.core.parameters import Parameter, parameter_table
from ohash.runtime.frames import Arrays, Frame, JsonObject

PAPER = """@article{huang2017online,
  title   = {Online Hashing},
  author  = {Huang, Long-Kai and Yang, Qiang and Zheng, Wei-Shi},
  journal = {IEEE Transactions on Neural Networks and Learning Systems},
  year    = {2017},
  doi     = {10.1109/TNNLS.2017.2689242}
}"""
Consumes = Literal["nothing", "pairs", "points", "chunks", "batch"]
Supervision = Literal["none", "pairs", "labels"]
# Similarities that labels or tracks define, or that are not known yet.
BY_LABEL = ("label", "track", "auto", "")
Features = Literal["kernel", "vectors", "given", "distance"]
FEATURES_TEXTS: dict[Features, str] = {
    "kernel": "kernel features (RBF similarities to anchors)",
    "vectors": "the vectors, centred and scaled to unit length",
    "given": "the vectors as given",
    "distance": "the vectors as given, in the data's own distance",
}


@dataclass(frozen=True)
class Trace:
    """Columns with one entry per pair. A method without a loss or a step size has no such column, rather than zeros."""

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
    """What every method offers, whatever it consumes. `key` is the key it is registered under."""

    key: str

    @property
    def r(self) -> int:
        """Bits of a code."""

    @property
    def version(self) -> int:
        """Rises whenever the hash changes; codes carry the version that made them."""

    def encode(self, X: Numbers) -> Codes:
        """Packed codes of mapped rows, (n, ceil(r/8)) or (T, n, ceil(r/8)); pure."""

    def state(self) -> Frame:
        """What `ohash.save` stores: plain values for JSON, and arrays."""


@runtime_checkable
class LinearHasher(OnlineHasher, Protocol):
    """A method whose bits are half-spaces: bit k of model m is 1 where Wt[m, k] · x >= threshold[m, k].

    Its code table can be updated bit by bit: `bit_updates` says how often each w_k has moved.
    """

    @property
    def hyperplanes(self) -> tuple[Reals, Floats]:
        """(Wt (T, r, d), threshold (T, r)), read-only."""

    @property
    def bit_updates(self) -> npt.NDArray[np.int64]:
        """(T, r) how often each projection vector has moved."""


@runtime_checkable
class AsymmetricHasher(OnlineHasher, Protocol):
    """A method with its own distance: items are stored in quantised form, a query stays a float vector.

    The engine ranks by this distance wherever a ranking is evaluated or shown.
    """

    def quantise(self, X: Numbers) -> Any:
        """What is stored of mapped rows: their codes, and whatever else the distance needs."""

    def estimate_distances(self, queries: Numbers, stored: Any) -> npt.NDArray[np.float32]:
        """Estimated distances from mapped queries to stored items, (queries, items); smaller is nearer."""


@runtime_checkable
class PairHasher(OnlineHasher, Protocol):
    """A method that learns from pairs."""

    def learn(self, X: Numbers, i: npt.ArrayLike, j: npt.ArrayLike, s: npt.ArrayLike) -> Trace:
        """Learn a batch of pairs strictly in order."""


@runtime_checkable
class PointHasher(OnlineHasher, Protocol):
    """A method that learns from points, labelled or not, one by one or in chunks."""

    def learn_points(self, X: Numbers, i: npt.ArrayLike, y: npt.ArrayLike | None) -> None:
        """Learn rows i of X in order."""


@runtime_checkable
class BatchHasher(OnlineHasher, Protocol):
    """A method that is fitted to all data at once."""

    def fit(self, X: Numbers, y: npt.ArrayLike | None) -> Self:
        """Fit from scratch."""


class SimilarityHasher(BatchHasher, Protocol):
    """A batch method that can also be fitted to a matrix of similarities; its spec says `pairwise`."""

    def fit_similar(self, X: Numbers, similar: Array) -> None:
        """Fit from scratch to the similarities of the rows of X."""


class DecodingHasher(AsymmetricHasher, Protocol):
    """A method whose codes are numbers rather than bits; its spec says that it is not `hamming`."""

    def decode(self, codes: Bytes) -> Singles:
        """The vectors that codes stand for."""


class MappedHasher(OnlineHasher, Protocol):
    """A method with the feature map it learnt on, ready for raw vectors."""

    feature_map: FeatureMap | None


@dataclass(frozen=True)
class Check:
    """What an implementation was compared with: `against`, over `steps`, and the largest `deviation` of its W.

    The deviation is relative to the largest entry of W; `compared` names what stands for W in a method without one. A
    test measures it, and fails if it is larger than stated: `python3 -m tests.models.trajectories` prints the table.
    """

    against: str
    steps: str
    deviation: float
    compared: str = "W agrees"

    def __str__(self) -> str:
        """One sentence for a card."""
        return (
            f"Compared with {self.against}: over {self.steps}, {self.compared} to {self.deviation:.0e}, "
            "relative to the largest entry."
        )


def any_columns(params: Any, d: int) -> None:
    """Stands for a method that has codes of vectors with any number of columns."""


def _absent(*_: object) -> NoReturn:
    """Stands for what HasherSpec takes from the class."""
    raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class HasherSpec:
    """The registered description of a method: its names, citation, supervision, parameters, and how to build it.

    `hasher` is the class; `key`, `params` (a frozen dataclass of `param` fields), `build` (from a params object) and
    `restore` (from a saved state) are taken from it. A method that does not derive from `ohash.models.hasher.Hasher`
    gives `key`, `params` and `build` itself, and `restore` unless its objects have ``resume(values, arrays)``.

    `asymmetric`: it ranks by its own distance (`AsymmetricHasher`). `hamming`: the Hamming distance of its codes is
    a distance of the items, so that codes alone can be searched. `features`: what it was made for; `features_source`:
    why, and `features_place`: where that stands, or that the place is not known. `checked`: see `Check`.
    `check_columns` refuses, with a ValueError that names what is possible, parameters that give no codes of vectors
    with d columns, d after the feature map.
    """

    title: str
    cite: str
    bibtex: str
    supervision: Supervision
    consumes: Consumes
    hasher: type[Any] | None = None
    key: str = ""
    params: type = NoneType
    build: Callable[[Any], OnlineHasher] = _absent
    restore: Callable[[JsonObject, Arrays], OnlineHasher] = _absent
    aliases: tuple[str, ...] = ()
    differs: str = ""
    checked: Check | None = None
    linear: bool = True
    asymmetric: bool = False
    hamming: bool = True
    needs: str = ""
    features: Features = "vectors"
    features_source: str = ""
    features_place: str = ""
    reference: bool = False
    pairwise: bool = False
    check_columns: Callable[[Any, int], None] = any_columns

    def __post_init__(self) -> None:
        """Take from the class what is not given."""
        own: JsonObject = {"restore": self._restore}
        if self.hasher is not None:
            own = {
                "key": self.hasher.key, "params": self.hasher.Params, "build": self.hasher.from_params,
                "restore": self.hasher.restore,
            }  # fmt: skip
        absent = {"key": "", "params": NoneType, "build": _absent, "restore": _absent}
        for name, nothing in absent.items():
            if getattr(self, name) == nothing:
                if name not in own:
                    raise ValueError(f"HasherSpec must have hasher, or key, params and build; {name} is missing")
                object.__setattr__(self, name, own[name])

    def __repr__(self) -> str:
        """One line: `ohash.methods()` lists them all."""
        return f"HasherSpec({self.key!r}, {self.title!r}, consumes={self.consumes!r})"

    def _restore(self, values: JsonObject, arrays: Arrays) -> OnlineHasher:
        model: Any = self.build(self.params(**values["params"]))
        model.resume(values, arrays)
        return model  # type: ignore[no-any-return]

    def supervision_by(self, similar_by: str) -> Supervision:
        """What it learns from where this says what is similar: without labels, which pairs of a sample are."""
        return "pairs" if self.pairwise and similar_by not in BY_LABEL else self.supervision

    def check_data(self, params: Any, d: int, metric: str) -> None:
        """Refuse data that the method has no codes of: d columns after the feature map, and their distance."""
        if self.asymmetric and metric == "dot":
            raise ValueError(
                f"{self.title} estimates the L2 distance or cosine of vectors, got data whose distance is the dot "
                "product; use --metric cosine (or l2), or a method with Hamming distance"
            )
        self.check_columns(params, d)

    @property
    def features_text(self) -> str:
        """The features it was made for, why, and where that stands."""
        why = f": {self.features_source}" if self.features_source else ""
        return FEATURES_TEXTS[self.features] + why + (f" ({self.features_place})" if self.features_place else "")

    @property
    def checked_text(self) -> str:
        """What the implementation was compared with, as a sentence."""
        return str(self.checked or "Not compared step by step with another implementation.")

    @property
    def missing(self) -> str:
        """How to install what the method needs and lacks; "" if nothing is missing."""
        return f"pip install ohash[{self.needs}]" if self.needs and find_spec(self.needs) is None else ""

    @property
    def table(self) -> dict[str, Parameter]:
        """The declared parameters."""
        return parameter_table(self.params)
