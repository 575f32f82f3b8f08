"""One declared parameter table per method: validation, sliders, tooltips, links and documentation all read it.

A method's parameters are a frozen dataclass, derived from `Parameters`, whose fields are made by `param`, or by
`bits_param`, `centring_param`, `precision_param` and `seed_param`, which most have. Ranges are stated nowhere else.
"""

import dataclasses
import difflib
import math
import numbers
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

Scale = Literal["linear", "log"]
Value = bool | int | float | str  # of a parameter; the `kind` of its row says which
Settings = dict[str, Any]  # values of parameters by key: each has the type that its row declares
T = TypeVar("T")
FrozenSettings = tuple[tuple[str, Any], ...]  # the same, hashable
DRAWN_DIGITS = 3  # of a number drawn at random


@dataclass(frozen=True)
class Parameter:
    """One row of the table. `lo` and `hi` bound what is accepted, `slider` what a slider offers.

    `alias` is a name for the value `lo` where that is not meant as a number: "auto", "natural"; `lo` is then accepted
    even if it is open. `tex` is the equation
    the parameter appears in. `active_if` names another parameter, and its values with which this one has an effect. A
    `default` of None depends on other parameters.
    """

    key: str
    kind: type
    default: Any
    symbol: str
    title: str
    help: str
    eq: str = ""
    lo: float = -math.inf
    hi: float = math.inf
    lo_open: bool = False
    scale: Scale = "linear"
    slider: tuple[float, float] | None = None
    step: float | None = None
    choices: tuple[str, ...] = ()
    live: bool = False
    alias: str = ""
    tex: str = ""
    active_if: tuple[str, ...] = ()

    def is_active(self, values: Mapping[str, object]) -> bool:
        """Whether it has an effect, given the values of the other parameters.

        >>> Parameter("sigma", float, 0.0, "σ", "width", "", active_if=("kernel", "rbf")).is_active({"kernel": "none"})
        False
        """
        return not self.active_if or values.get(self.active_if[0]) in self.active_if[1:]

    @property
    def allowed(self) -> str:
        """What is accepted, in words.

        >>> Parameter("beta", float, 0.5, "β", "ratio", "", lo=0, hi=1, lo_open=True).allowed
        'a number in (0, 1]'
        >>> Parameter("sigma", float, 0.0, "σ", "width", "", lo=0, hi=1_000_000, alias="auto").allowed
        "a number in [0, 1000000] or 'auto'"
        """
        if self.kind is bool:
            return "true or false"
        if self.choices:
            return "one of " + ", ".join(repr(choice) for choice in self.choices)
        noun = "an integer" if self.kind is int else "a number"
        lo, hi = (_format_bound(bound) for bound in (self.lo, self.hi))
        if self.lo == -math.inf and self.hi == math.inf:
            return noun
        if self.hi == math.inf:
            return f"{noun} {'>' if self.lo_open else '>='} {lo}"
        alias = f" or {self.alias!r}" if self.alias else ""
        return f"{noun} in {'(' if self.lo_open else '['}{lo}, {hi}]{alias}"

    def convert(self, value: object) -> Any:
        """The value in this parameter's type, or a ValueError that says what is allowed."""
        if self.alias and isinstance(value, str) and value == self.alias:
            return self.kind(self.lo)
        if self.kind is bool:
            if isinstance(value, bool):
                return value
        elif self.kind is str:
            if isinstance(value, str) and (not self.choices or value in self.choices):
                return value
        elif not isinstance(value, bool) and isinstance(value, numbers.Real) and _is_finite(value):
            number = float(value)
            above = number > self.lo or (number == self.lo and (not self.lo_open or bool(self.alias)))
            if above and number <= self.hi and (self.kind is float or number.is_integer()):
                return self.kind(value)
        got = value.item() if isinstance(value, np.generic) else value
        default = "" if self.default is None else f"; the default is {self.default!r}"
        raise ValueError(f"{self.key} must be {self.allowed}, got {got!r}{default}")

    def parse(self, text: str) -> Any:
        """A value from a query string or a command line."""
        value: Any = text
        if self.kind is bool:
            value = {"1": True, "true": True, "0": False, "false": False}.get(text.strip().lower(), text)
        elif self.kind is not str:
            try:
                value = int(text) if self.kind is int and text.strip().lstrip("+-").isdecimal() else float(text)
            except ValueError:
                value = text
        return self.convert(value)

    def format(self, value: Value) -> str:
        """The shortest text that `parse` turns back into `value`."""
        if self.kind is bool:
            return "1" if value else "0"
        if self.kind is float:
            return repr(float(value)).removesuffix(".0")
        return str(value)


def param(
    default: T,
    *,
    symbol: str,
    title: str,
    help: str,  # noqa: A002
    eq: str = "",
    lo: float = -math.inf,
    hi: float = math.inf,
    lo_open: bool = False,
    scale: Scale = "linear",
    slider: tuple[float, float] | None = None,
    step: float | None = None,
    choices: tuple[str, ...] = (),
    live: bool = False,
    alias: str = "",
    tex: str = "",
    active_if: tuple[str, ...] = (),
) -> T:
    """A dataclass field that is a row of the parameter table; `live` parameters may change during a run."""
    row = {
        "symbol": symbol,
        "title": title,
        "help": help,
        "eq": eq,
        "lo": lo,
        "hi": hi,
        "lo_open": lo_open,
        "scale": scale,
        "slider": slider,
        "step": step,
        "choices": choices,
        "live": live,
        "alias": alias,
        "tex": tex,
        "active_if": active_if,
    }
    return dataclasses.field(default=default, metadata={"parameter": row})


def bits_param(
    default: int = 48,
    *,
    hi: int = 8192,
    slider: tuple[float, float] = (8, 1024),
    help: str = "Length of a code.",  # noqa: A002
) -> int:
    """r, the bits of a code."""
    return param(default, symbol="r", title="bits", lo=1, hi=hi, slider=slider, scale="log", help=help)


def centring_param(default: str, help: str = "Subtract the warm-up's mean.") -> str:  # noqa: A002
    """Whether the mean of the warm-up is subtracted."""
    return param(default, symbol="μ", title="centring", choices=("none", "frozen"), help=help)


def precision_param(help: str = "Precision.") -> str:  # noqa: A002
    """The floating-point type that a method computes in."""
    return param("float32", symbol="", title="precision", choices=("float32", "float64"), help=help)


def seed_param(help: str) -> int:  # noqa: A002
    """The seed of what a method draws."""
    return param(0, symbol="", title="seed", lo=0, hi=2**32 - 1, help=help)


def parameter_table(params: object) -> dict[str, Parameter]:
    """The declared rows of a params dataclass (or of an instance of it), by key, in order."""
    return dict(_rows_of(params if isinstance(params, type) else type(params)))


def values_by_name(params: Any) -> Settings:
    """The fields of a params dataclass as a person writes them: "auto" where that is what the number stands for."""
    rows = parameter_table(params)
    values = {field.name: getattr(params, field.name) for field in dataclasses.fields(params)}
    return {
        key: rows[key].alias if key in rows and rows[key].alias and value == rows[key].lo else value
        for key, value in values.items()
    }


def table_with_defaults(params: object) -> dict[str, Parameter]:
    """The rows of an instance with its own values as the defaults, whatever the class declares."""
    values = {key: (row, getattr(params, key)) for key, row in parameter_table(params).items()}
    return {
        key: row if value == row.default else dataclasses.replace(row, default=value)
        for key, (row, value) in values.items()
    }


@cache
def _rows_of(params: type) -> dict[str, Parameter]:
    rows = {}
    for field in dataclasses.fields(params):
        row = field.metadata.get("parameter")
        if row is not None:
            kind = {"int": int, "float": float, "str": str, "bool": bool}[_type_name(field.type)]
            rows[field.name] = Parameter(key=field.name, kind=kind, default=field.default, **row)
    return rows


def validate(params: object) -> None:
    """Validate every declared field in place; call it from ``__post_init__`` of the frozen dataclass."""
    for key, row in parameter_table(params).items():
        object.__setattr__(params, key, row.convert(getattr(params, key)))


class Parameters:
    """The base of a frozen dataclass of parameters: its declared fields are validated whenever one is made."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]  # which every derived dataclass has

    def __post_init__(self) -> None:
        """Validate."""
        validate(self)


def draw(row: Parameter, rng: np.random.Generator) -> Any:
    """A random value of a parameter: uniform on the scale of its slider, rounded to a few digits."""
    if row.kind is bool:
        return bool(rng.integers(2))
    if row.choices:
        return row.choices[int(rng.integers(len(row.choices)))]
    assert row.slider is not None
    lo, hi = row.slider
    if row.scale == "log":
        value = float(np.exp(rng.uniform(np.log(max(lo, 1e-12)), np.log(hi))))
    else:
        value = float(rng.uniform(lo, hi))
    value = float(f"{value:.{DRAWN_DIGITS}g}")
    return row.convert(round(value)) if row.kind is int else row.convert(min(max(value, lo), hi))


def did_you_mean(name: str, known: Collection[str], limit: int = 1) -> str:
    """The known names nearest to one that is not known, as a question in brackets; empty if none is near.

    >>> did_you_mean("betta", ["alpha", "beta"]), did_you_mean("c", ["C", "beta"]), did_you_mean("x", ["beta"])
    (" (did you mean 'beta'?)", " (did you mean 'C'?)", '')
    """
    by_lower = {one.lower(): one for one in known}
    near = [by_lower[one] for one in difflib.get_close_matches(name.lower(), by_lower, limit)]
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def unknown_parameter(owner: str, name: str, known: Collection[str]) -> ValueError:
    """The error for a parameter that `owner` does not have.

    >>> str(unknown_parameter("OH", "betta", ["C", "beta"]))
    "OH has no parameter 'betta' (did you mean 'beta'?); its parameters are C, beta"
    """
    hint = did_you_mean(name, known)
    return ValueError(f"{owner} has no parameter {name[:40]!r}{hint}; its parameters are {', '.join(known)}")


def _type_name(annotation: str | type) -> str:
    return annotation if isinstance(annotation, str) else annotation.__name__


def _format_bound(bound: float) -> str:
    """Every digit of an integer, the shortest form of any other number."""
    return str(int(bound)) if math.isfinite(bound) and float(bound).is_integer() else f"{bound:g}"


def _is_finite(value: numbers.Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond 1e308
        return False


def format_value(row: Parameter, value: object) -> str:
    """A value as a widget shows it.

    >>> format_value(Parameter("sigma", float, 0.0, "σ", "width", "", lo=0, alias="auto"), 0.0)
    'auto'
    >>> format_value(Parameter("pairs", int, 100, "n", "pairs", ""), 10**7)
    '10,000,000'
    """
    if row.alias and value == row.lo:
        return row.alias
    if row.kind is bool:
        return "on" if value else "off"
    if row.kind is int:
        return f"{value:,}"
    return str(value) if row.kind is str else f"{value:,g}"
