"""Results as plain values that JSON holds exactly, and where two of them differ.

A float is written with the digits that bring it back bit for bit; an array of more than a few values is its shape, its
type, the SHA-256 of its little-endian bytes, and the first, the last and the mean value.
"""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

FEW = 8
NEAR = 0.03
# What is compared on another machine: keys of values between 0 and 1 that say how good a code is.
SCORE = re.compile(r"(map|recall|precision|hit|mrr|ap$|validation|test$)")
# What near ties may decide otherwise there: what was learnt, counted or chosen, and what is drawn of it.
DECIDED = frozenset(
    {"alarms", "best", "bit_updates", "charts", "chosen", "codes", "encoded", "findings", "health", "model",
     "recent", "selections", "totals", "trials"}
)  # fmt: skip
FLOAT = re.compile(r"\d*\.\d|\d ?\\?%")


def plain(value: Any) -> Any:
    """Only dicts with text keys, lists, text, numbers, truth values and None."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    raise TypeError(f"{type(value)} has no plain form")


def differences(recorded: Any, found: Any, *, exact: bool, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Where two plain values differ, in order, in words: bit for bit, or as far as another machine can agree."""
    if not exact and path and path[-1].partition("/")[0] in DECIDED:
        return
    if isinstance(recorded, dict) and isinstance(found, dict):
        if recorded.keys() != found.keys():
            gone, new = (", ".join(sorted(a.keys() - b.keys())) for a, b in ((recorded, found), (found, recorded)))
            yield _told(path, f"also {gone or 'nothing'}", f"also {new or 'nothing'}")
        elif not exact and "sha256" in recorded:
            yield from _arrays_apart(recorded, found, path)
        else:
            for key, value in recorded.items():
                yield from differences(value, found[key], exact=exact, path=(*path, key))
    elif isinstance(recorded, list) and isinstance(found, list):
        if len(recorded) != len(found):
            yield _told(path, f"{len(recorded)} values", f"{len(found)} values")
        else:
            for at, (one, other) in enumerate(zip(recorded, found, strict=True)):
                yield from differences(one, other, exact=exact, path=(*path, str(at)))
    elif not (_same(recorded, found) if exact else _near(recorded, found, path)):
        yield _told(path, repr(recorded), repr(found))


def _array(values: np.ndarray[Any, Any]) -> Any:
    if values.dtype.kind in "OUS":
        return [str(value) for value in values.ravel()]
    if values.ndim == 1 and len(values) <= FEW and values.dtype.kind != "f":
        return values.tolist()
    if values.ndim == 1 and len(values) <= FEW and values.dtype == np.float64:
        return values.tolist()
    little = np.array(values, dtype=values.dtype.newbyteorder("<"), order="C")
    if little.dtype.kind == "f":
        little[np.isnan(little)] = np.nan  # one NaN for all
    flat = little.ravel().astype(np.float64)
    known = flat[np.isfinite(flat)]
    return {
        "shape": list(values.shape),
        "dtype": values.dtype.name,
        "sha256": hashlib.sha256(little.tobytes()).hexdigest(),
        "first": flat[0].item() if len(flat) else None,
        "last": flat[-1].item() if len(flat) else None,
        "mean": math.fsum(known) / len(known) if len(known) else None,
    }


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one.hex() == other.hex()  # NaN equals NaN, and 0.0 is not -0.0
    return type(one) is type(other) and bool(one == other)


def _near(one: Any, other: Any, path: tuple[str, ...]) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one == other or bool(FLOAT.search(one))
    if not (isinstance(one, float) and isinstance(other, float)):
        return _same(one, other)
    if not _is_score(path):
        return True
    return abs(one - other) <= NEAR or (math.isnan(one) and math.isnan(other))


def _is_score(path: tuple[str, ...]) -> bool:
    named = [key for key in path if not key.isdigit()]
    return bool(named) and SCORE.match(named[-1]) is not None


def _arrays_apart(recorded: dict[str, Any], found: dict[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    kinds = [[one["shape"], one["dtype"]] for one in (recorded, found)]
    if kinds[0] != kinds[1]:
        yield _told(path, str(kinds[0]), str(kinds[1]))
    elif _is_score(path):
        for key in ("last", "mean"):
            one, other = recorded[key], found[key]
            if isinstance(one, float) and isinstance(other, float) and abs(one - other) > NEAR:
                yield _told((*path, key), repr(one), repr(other))


def _told(path: tuple[str, ...], recorded: str, found: str) -> str:
    return f"{' / '.join(path)}: recorded {recorded[:300]}, found {found[:300]}"
