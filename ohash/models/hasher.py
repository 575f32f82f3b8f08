"""The class every method derives from: parameters by keyword, saving and restoring, all or nothing, notebook card.

A method lists what it must remember: VALUES are attributes stored as JSON, ARRAYS attributes stored as arrays. In a
file their names have no leading underscore.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.core.arrays import Array
from ohash.core.codes import Codes
from ohash.core.features import FeatureMap
from ohash.core.parameters import unknown_parameter, values_by_name
from ohash.models import registry
from ohash.models.storage import save
from ohash.repr_html import bars_html, card_html
from ohash.runtime.frames import Arrays, Frame, JsonObject


class Hasher:
    """A method with its parameters, built from keywords: ``ITQ(r=32, seed=1)``; or from a params object."""

    key: str
    Params: ClassVar[type]
    VALUES: ClassVar[tuple[str, ...]] = ("_version",)
    ARRAYS: ClassVar[tuple[str, ...]] = ()
    params: Any
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **options: object) -> None:
        """Show the parameters of the method as the signature of its class."""
        super().__init_subclass__(**options)
        if not hasattr(cls, "Params") or not {"Params", "__init__"} & set(vars(cls)):
            return
        written = list(inspect.signature(cls.__init__).parameters.values())[1:]
        either, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in written):
            declared = [
                inspect.Parameter(field.name, keyword, default=field.default, annotation=field.type)
                for field in fields(cls.Params)
            ]
            if "Params" not in vars(cls):  # the keywords go to the constructor of the base
                declared = [one.replace(kind=keyword) for one in cls.__signature__.parameters.values()]
            own = {one.name: one for one in written if one.kind in (either, keyword)}
            declared = [one for one in declared if one.name not in own]
            written = sorted([*declared, *own.values()], key=lambda one: one.kind)
        cls.__signature__ = inspect.Signature(written)

    def __new__(cls, *args: object, **keywords: object) -> Self:
        """Refuse a keyword that the method does not have, before a constructor that is spelt out does."""
        parameters = inspect.signature(cls).parameters
        for name in keywords:
            if name not in parameters:
                raise unknown_parameter(cls.__name__, name, list(parameters))
        return super().__new__(cls)

    def __init__(self, params: object = None, /, **keywords: object) -> None:
        """Validate the keywords (see `Params`); the number of columns is known when the first data come."""
        if params is not None and (keywords or not isinstance(params, self.Params)):
            raise TypeError(
                f"{type(self).__name__} takes keywords or one {self.Params.__name__}, got {params!r}"
                + (" and keywords" if keywords else "")
            )
        self.params = self.Params(**keywords) if params is None else params
        self.feature_map: FeatureMap | None = None
        self._version = 0
        self._d: int | None = None
        self._setup()

    def _setup(self) -> None:
        """Set the attributes of a model that has seen nothing."""

    @classmethod
    def from_params(cls, params: object) -> Self:
        """A new model with these parameters."""
        return cls(**values_by_name(params))

    @classmethod
    def restore(cls, values: JsonObject, arrays: Arrays) -> Self:
        """The model whose `state` this was."""
        model = cls.from_params(cls.Params(**values["params"]))
        model.resume(values, arrays)
        return model

    @property
    def r(self) -> int:
        """Bits of a code."""
        return int(self.params.r)

    @property
    def d(self) -> int | None:
        """Columns of X, known once data have been seen."""
        return self._d

    @property
    def version(self) -> int:
        """How often the hash has changed."""
        return self._version

    def encode(self, X: npt.ArrayLike) -> Codes:
        """Packed codes (n, ceil(r/8)) of the rows of X."""
        raise NotImplementedError

    def _rows(self, X: npt.ArrayLike, dtype: str) -> Array:
        """X checked, in this precision."""
        return validation.finite("X", validation.cast(validation.matrix("X", X, d=self.d), dtype))

    # -- saving ----------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write everything needed to go on as if nothing had happened to `path`: .npz without pickle."""
        save(self, path)

    def state(self) -> Frame:
        """Parameters and plain values for JSON; everything learnt as arrays, none before the first data."""
        values = {"params": asdict(self.params)} | {_key(name): getattr(self, name) for name in self.VALUES}
        return values, {} if self._d is None else {_key(name): getattr(self, name) for name in self.ARRAYS}

    def resume(self, values: JsonObject, arrays: Arrays) -> None:
        """Go on from a saved state."""
        for name in self.VALUES:
            setattr(self, name, values[_key(name)])
        if arrays:
            for name in self.ARRAYS:
                setattr(self, name, np.array(arrays[_key(name)], order="C"))

    @contextmanager
    def _all_or_nothing(self, *, undo: bool = False) -> Iterator[None]:
        """Whatever goes wrong inside, or if `undo`: the model is as it was, bit for bit, in the same arrays."""
        before = {name: (value, _copy(value)) for name, value in vars(self).items()}
        done = False
        try:
            yield
            done = not undo
        finally:
            if not done:
                for name, (value, content) in before.items():
                    setattr(self, name, value)
                    if isinstance(value, np.ndarray):
                        value[...] = content
                    elif isinstance(value, np.random.Generator):
                        value.bit_generator.state = content

    def __repr__(self) -> str:
        """The class with the parameters that are not the defaults."""
        given = (
            f"{field.name}={getattr(self.params, field.name)!r}"
            for field in fields(self.params)
            if getattr(self.params, field.name) != field.default
        )
        return f"{type(self).__name__}({', '.join(given)})"

    # -- notebooks -------------------------------------------------------------------------------------------------

    def _facts(self) -> list[str]:
        """What a notebook shows of the model beside its title."""
        size = f"{self.r} bits" if self.d is None else f"{self.d} columns → {self.r} bits"
        return [size]

    def _bars(self) -> tuple[str, npt.NDArray[np.float64]]:
        """(what they are, one number per bit) for the picture; none by default."""
        return "", np.zeros(0)

    def _repr_html_(self) -> str:
        spec = registry.hashers().get(self.key)
        title = spec.title if spec else type(self).__name__
        return card_html(title, self._facts(), bars_html(*self._bars(), max_bars=256))


def _key(name: str) -> str:
    return name.removeprefix("_")


def _copy(value: object) -> Any:
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    return value.copy() if isinstance(value, np.ndarray) else value
