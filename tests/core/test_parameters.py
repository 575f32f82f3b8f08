"""The parameter table: what it declares is what it accepts, and what it writes it reads."""

import math
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
import pytest

from ohash.core.features import FeatureParams
from ohash.core.parameters import Parameter, param, parameter_table, validate
from ohash.models import registry

TABLES = {"features": FeatureParams} | {key: spec.params for key, spec in registry.hashers().items()}
ROWS = [
    pytest.param(row, id=f"{name}.{key}")
    for name, params in TABLES.items()
    for key, row in parameter_table(params).items()
]


@pytest.mark.parametrize("name", TABLES)
def test_every_field_is_declared_and_the_defaults_are_allowed(name):
    assert [field.name for field in fields(TABLES[name])] == list(parameter_table(TABLES[name]))
    made = TABLES[name]()
    for key, row in parameter_table(made).items():
        assert getattr(made, key) == row.default == row.convert(row.default)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_says_what_it_is(row):
    assert row.title and row.help and row.kind in (int, float, str, bool)
    if row.kind in (int, float) and row.slider:
        lo, hi = row.slider
        assert row.lo <= lo < hi <= row.hi
        assert row.convert(row.kind(hi)) == hi
        assert lo > 0 or row.scale == "linear", "a log slider cannot start at 0"


@pytest.mark.parametrize("row", ROWS)
def test_what_is_written_is_read(row):
    values = [row.default, *row.choices]
    if row.kind is bool:
        values = [True, False]
    if row.kind in (int, float):
        values += [row.hi] if math.isfinite(row.hi) else []
        values += [] if row.lo_open or row.lo == -math.inf else [row.lo]
    if row.kind is float and row.hi >= 1:
        values += [value for value in (0.1 + 0.2, 1 / 3, 1e-5, 1.0) if row.lo < value <= row.hi]
    for value in values:
        read = row.parse(row.format(value))
        assert read == value and type(read) is row.kind


@pytest.mark.parametrize("row", ROWS)
def test_what_is_not_allowed_is_refused_by_name(row):
    bad = [None, [], object(), float("nan"), math.inf, -math.inf, b"x", 1j, 10**400]
    if row.kind is not str or row.choices:
        bad += ["banana", ""]
    if row.kind is not bool:
        bad += [True]
    if row.kind is int:
        bad += [row.default + 0.5, row.hi + 1, row.lo - 1]
    if row.kind is float:
        bad += [math.nextafter(row.hi, math.inf), math.nextafter(row.lo, -math.inf)] + (
            [row.lo] if row.lo_open and not row.alias else []
        )
    if row.kind is str:
        bad += [0, 1.5]
    for value in bad:
        with pytest.raises(ValueError, match="must be") as raised:
            row.convert(value)
        message = str(raised.value)
        assert message.startswith(f"{row.key} must be {row.allowed}, got {value!r}")
        assert message.endswith(f"the default is {row.default!r}")


def test_numbers_of_every_kind_become_pythons_own():
    row = Parameter("k", int, 1, "k", "k", "k", lo=0, hi=100)
    for value in (3, 3.0, np.int64(3), np.uint8(3), np.float32(3), Fraction(3)):
        assert row.convert(value) == 3 and type(row.convert(value)) is int
    real = Parameter("x", float, 1.0, "x", "x", "x")
    for value in (2, 2.0, np.float16(2), Fraction(2)):
        assert type(real.convert(value)) is float


def test_the_words_for_an_interval():
    def words(**bounds):
        return Parameter("x", float, 1.0, "x", "x", "x", **bounds).allowed

    assert words(lo=0, hi=1, lo_open=True) == "a number in (0, 1]"
    assert words(lo=0, hi=1) == "a number in [0, 1]"
    assert words(lo=0) == "a number >= 0" and words(lo=0, lo_open=True) == "a number > 0" and words() == "a number"
    assert Parameter("b", bool, True, "", "", "").allowed == "true or false"


def test_texts_of_a_query_string():
    rows = parameter_table(FeatureParams)
    assert [rows["center_input"].parse(text) for text in ("1", "true", "TRUE", "0", "false")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert rows["m"].parse("2e2") == 200 and isinstance(rows["m"].parse("2e2"), int)
    for row, text in ((rows["m"], "12.5"), (rows["m"], "1e400"), (rows["center_input"], "yes"), (rows["sigma"], "inf")):
        with pytest.raises(ValueError, match=f"{row.key} must be"):
            row.parse(text)


def test_check_converts_in_place_and_table_skips_what_is_not_declared():
    @dataclass(frozen=True)
    class Mine:
        n: int = param(4, symbol="n", title="n", help="n", lo=1, hi=9)
        note: str = "free"

        def __post_init__(self):
            validate(self)

    assert list(parameter_table(Mine)) == ["n"]
    assert type(Mine(n=np.int32(5)).n) is int
    with pytest.raises(ValueError, match=r"n must be an integer in \[1, 9\], got 10; the default is 4"):
        Mine(n=10)


def test_a_word_may_stand_for_the_value_that_is_no_number():
    assert FeatureParams(sigma="auto") == FeatureParams(sigma=0)  # type: ignore[arg-type]
    row = parameter_table(FeatureParams)["sigma"]
    assert row.parse("auto") == 0 and "or 'auto'" in row.allowed
    with pytest.raises(ValueError, match=r"sigma must be a number in .0, 1000000. or 'auto', got 'half'"):
        row.convert("half")
    with pytest.raises(ValueError, match="got -1;"):
        row.convert(np.int64(-1))
