"""What every method must do, as checks that say a mistake in one sentence: of the registry's methods, or of a file.

The tests run `CHECKS` on every method of ohash, ``python3 -m ohash check FILE`` on a user's own.
"""

import dataclasses
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ohash.core.codes import Codes
from ohash.models.base import HasherSpec, LinearHasher, OnlineHasher
from ohash.models.contract_cases import BITS, COLUMNS, PAIRS, ROWS, Case, ContractError, contents
from ohash.models.storage import FORMAT, save
from ohash.runtime.files import read_archive

SLOW = 500  # pairs or points per second of processor time
LEARNING_METHODS = {"pairs": "learn", "points": "learn_points", "chunks": "learn_points", "batch": "fit"}


def check_parameters(case: Case) -> None:
    """Every parameter is a `param` field, and out of range is refused."""
    spec = case.spec
    if not dataclasses.is_dataclass(spec.params):
        raise ContractError(f"Params must be a frozen dataclass, got {spec.params!r}", "Params")
    for field in dataclasses.fields(spec.params):
        if field.name not in spec.table:
            raise ContractError(
                f"{field.name} is a plain dataclass field: write {field.name}: ... = param(default, symbol=..., "
                "title=..., help=...), or it has no slider, no link and no option",
                field.name,
            )
    if "r" not in spec.table:
        raise ContractError(
            "Params has no r: the number of bits must be a parameter r of type int", spec.params.__name__
        )
    for row in spec.table.values():
        if np.isfinite(row.lo):
            try:
                spec.params(**{row.key: row.kind(row.lo - 1)})
            except ValueError:
                continue
            raise ContractError(
                f"{row.key} = {row.lo - 1:g} is accepted though it must be {row.allowed}: derive Params from "
                "Parameters, or call validate(self) in __post_init__",
                spec.params.__name__,
            )


def check_untrained_model(case: Case) -> None:
    """A model that has seen nothing can be saved, loaded and asked for its version."""
    model = case.build()
    if model.r != BITS:
        raise ContractError(f"r of a model built with r = {BITS} is {model.r}", "r")
    if not isinstance(model.version, int):
        raise ContractError(
            f"version must be an integer that rises with every change, got {model.version!r}", "version"
        )
    _save_and_load(case.spec, model)


def check_learning(case: Case) -> None:
    """Learning takes read-only rows, and reports one entry per pair."""
    spec, model = case.spec, case.build()
    called = LEARNING_METHODS.get(spec.consumes, "encode")
    if not callable(getattr(model, called, None)):
        raise ContractError(
            f"consumes={spec.consumes!r} needs a method {called}, which the class does not have", "HASHER"
        )
    trace = case.teach(model)
    if spec.consumes != "pairs":
        return
    for name in ("D_h", "updated"):
        column = getattr(trace, name, None)
        if column is None or len(np.asarray(column)) != PAIRS:
            got = "nothing" if column is None else f"shape {np.asarray(column).shape}"
            raise ContractError(f"learn must return a Trace whose {name} has one entry per pair, got {got}", called)
    D_h = np.asarray(trace.D_h)
    if D_h.min() < 0 or D_h.max() > BITS:
        raise ContractError(f"D_h must be a number of bits in [0, {BITS}], got {D_h.min()} to {D_h.max()}", called)
    if np.asarray(trace.updated).any() and model.version < 1:
        raise ContractError(
            "updated says that the hash has changed, but version has not risen: add 1 per change", called
        )


def check_codes(case: Case) -> None:
    """Codes (n, ceil(r/8)) of uint8 that know their hash, whose unused bits are 0."""
    model = case.trained()
    codes = model.encode(case.X)
    if not isinstance(codes, Codes):
        raise ContractError(
            f"encode must return ohash.core.codes.Codes(pack(bits), r, version), got {type(codes)}", "encode"
        )
    r = BITS if case.spec.hamming else codes.r
    shape = (ROWS, -(-r // 8))
    if codes.shape[-2:] != shape or codes.dtype != np.uint8:
        raise ContractError(
            f"encode must give packed codes of shape {shape} and type uint8 for {ROWS} rows and r = {r}, got "
            f"{codes.shape} and {codes.dtype}", "encode",
        )  # fmt: skip
    if (codes.r, codes.version) != (r, model.version):
        raise ContractError(
            f"codes must carry r = {r} and version {model.version}, got {codes.r} and {codes.version}", "encode"
        )
    if codes.hamming != case.spec.hamming:
        raise ContractError(
            f"codes must say hamming = {case.spec.hamming}, as the spec does: Codes(packed, r, version, hamming=...)",
            "encode",
        )
    if r % 8 and (np.asarray(codes)[..., -1] >> (r % 8)).any():
        raise ContractError("the unused bits of the last byte must be 0: use ohash.core.codes.pack", "encode")
    different = len(np.unique(np.asarray(codes).reshape(-1, shape[1]), axis=0))
    if different < 3:
        raise ContractError(f"{ROWS} rows in four groups get only {different} different codes", "encode")


def check_pure_encoding(case: Case) -> None:
    """The same rows get the same codes, alone or among others, and nothing changes."""
    model = case.trained()
    before, first = contents(model), model.encode(case.X)
    if contents(model) != before:
        raise ContractError("encode changes the state of the model; it must only read", "encode")
    if first.tobytes() != model.encode(case.X).tobytes():
        raise ContractError("encode gives different codes for the same rows the second time", "encode")
    if not np.array_equal(model.encode(case.X[10:20]), first[..., 10:20, :]):
        raise ContractError("encode gives a row a different code when other rows come with it", "encode")


def check_seed(case: Case) -> None:
    """A run can be repeated: whatever is random is drawn from `seed`."""
    one, other = (case.trained().encode(case.X).tobytes() for _ in range(2))
    if one != other:
        raise ContractError(
            "two models with the same seed give different codes: draw only from self._rng, or from seed", ""
        )


def check_saving(case: Case) -> None:
    """Saved and loaded, it goes on as if nothing had happened."""
    model = case.trained()
    back = _save_and_load(case.spec, model)
    if contents(back) != contents(model):
        raise ContractError(
            "a model that was saved and loaded has a different state: VALUES and ARRAYS must list all of it", "ARRAYS"
        )
    if back.encode(case.X).tobytes() != model.encode(case.X).tobytes():
        raise ContractError(
            f"a model that was saved and loaded gives different codes: {_lost_arrays(model, back)}", "ARRAYS"
        )
    names = _lost_arrays(model, back)
    case.learn_part(back, 0, None)
    case.learn_part(model, 0, None)
    if contents(back) != contents(model):
        raise ContractError(f"a model that was saved and loaded then learns differently: {names}", "ARRAYS")


def check_split_calls(case: Case) -> None:
    """The result depends on the order of the stream, never on how it is cut into calls."""
    if case.spec.consumes not in ("pairs", "points", "chunks"):
        return
    whole, cut = case.trained(), case.build()
    case.warm_up(cut)
    for start, stop in ((0, 1), (1, 70), (70, None)):
        case.learn_part(cut, start, stop)
    if whole.encode(case.X).tobytes() != cut.encode(case.X).tobytes():
        mean = "; self._mean must not change while it learns" if _moved_mean(whole, case) else ""
        raise ContractError(
            f"the codes depend on how the stream is cut into calls: the same {case.spec.consumes} in one call and in "
            f"three give different codes{mean}",
            LEARNING_METHODS[case.spec.consumes],
        )


def check_bad_rows(case: Case) -> None:
    """NaN and a wrong number of columns are a ValueError, and change nothing."""
    model = case.trained()
    before, bad = contents(model), case.X.copy()
    bad[3, 2] = np.nan
    for rows, what in ((bad, "NaN"), (case.X[:, :5], f"5 columns instead of {COLUMNS}")):
        try:
            model.encode(rows)
        except ValueError:
            continue
        raise ContractError(f"encode accepts rows with {what}: it must raise a ValueError", "encode")
    if contents(model) != before:
        raise ContractError("rows that are refused change the state of the model", "encode")


def check_half_spaces(case: Case) -> None:
    """With `linear`, bit k is 1 where w_k · x >= threshold_k."""
    if not case.spec.linear:
        return
    model = case.trained(dtype="float64")
    if not isinstance(model, LinearHasher):
        raise ContractError(
            "a linear method needs hyperplanes and bit_updates; if it is not one, write HASHER = HasherSpec(..., "
            "linear=False)",
            "",
        )
    Wt, threshold = model.hyperplanes
    if Wt.shape[1:] != (BITS, COLUMNS) or threshold.shape != Wt.shape[:2] or model.bit_updates.shape != Wt.shape[:2]:
        raise ContractError(
            f"hyperplanes must be of shapes (T, {BITS}, {COLUMNS}) and (T, {BITS}), and bit_updates (T, {BITS}), got "
            f"{Wt.shape}, {threshold.shape} and {model.bit_updates.shape}", "hyperplanes",
        )  # fmt: skip
    codes = np.asarray(model.encode(case.X)).reshape(len(Wt), ROWS, -1)
    signs = np.unpackbits(codes, axis=-1, count=BITS, bitorder="little")
    margins = np.einsum("nd,trd->tnr", case.X.astype(np.float64), Wt) - threshold[:, None]
    clear = np.abs(margins) > 1e-6
    if not np.array_equal(signs[clear] == 1, margins[clear] >= 0):
        raise ContractError(
            "encode and hyperplanes do not agree; if a bit is no half-space, write HASHER = HasherSpec(..., "
            "linear=False)",
            "encode",
        )


def check_speed(case: Case) -> None:
    """A stream of a few thousand pairs must not take minutes."""
    if case.spec.consumes not in ("pairs", "points", "chunks"):
        return
    model = case.trained()  # whatever is compiled or allocated once
    X, labels, i, j, s = case.sample
    start, n = time.process_time(), 0
    while n < 10 * PAIRS and time.process_time() - start < 2:
        if case.spec.consumes == "pairs":
            model.learn(X, i, j, s)
        else:
            model.learn_points(X, np.arange(PAIRS), labels[:PAIRS])
        n += PAIRS
    rate = n / max(time.process_time() - start, 1e-9)
    if rate < SLOW:
        raise ContractError(
            f"it learns {rate:,.0f} {'pairs' if case.spec.consumes == 'pairs' else 'points'} per second, so 20,000 "
            f"take {20_000 / rate:,.0f} s: move the loop into NumPy or a numba kernel",
            LEARNING_METHODS[case.spec.consumes],
        )


CHECKS: tuple[Callable[[Case], None], ...] = (
    check_parameters, check_untrained_model, check_learning, check_speed, check_codes,
    check_pure_encoding, check_seed, check_saving, check_split_calls, check_bad_rows,
    check_half_spaces,
)  # fmt: skip


# Checks that parameters other than the defaults cannot fail.
DEFAULTS_ONLY = (check_parameters, check_speed)
# What a check does with a model, for the sentence about an error in it.
CHECKED_WHEN: dict[Callable[[Case], None], str] = {
    check_parameters: "when its parameters are read",
    check_untrained_model: "before it has seen data",
    check_learning: "when it learns",
    check_codes: "when it encodes",
    check_pure_encoding: "when it encodes again",
    check_seed: "when it learns again",
    check_saving: "when it is saved, loaded, and learns more",
    check_split_calls: "when the stream comes in several calls",
    check_bad_rows: "when it is given bad rows",
    check_half_spaces: "when its hyperplanes are read",
    check_speed: "when it is timed",
}


def _lost_arrays(model: OnlineHasher, back: OnlineHasher) -> str:
    """Which arrays a saved model has lost, and where to name them."""
    names = [
        name for name, value in vars(model).items()
        if isinstance(value, np.ndarray) and not np.array_equal(value, vars(back).get(name, ()))
    ]  # fmt: skip
    listed = ", ".join(f'"{name}"' for name in names) or "every array it learns"
    base = type(model).__mro__[1].__name__
    return f"write ARRAYS = (*{base}.ARRAYS, {listed}), and make them in _begin(self, d)" if names else (
        f"ARRAYS must name {listed}, and VALUES every number"
    )  # fmt: skip


def _moved_mean(model: object, case: Case) -> bool:
    """Whether learning has moved the mean that is subtracted from the rows."""
    before = case.build()
    case.warm_up(before)
    return "_mean" in vars(model) and not np.array_equal(vars(before)["_mean"], vars(model)["_mean"])


def _save_and_load(spec: HasherSpec, model: OnlineHasher) -> OnlineHasher:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        save(model, path)
        header, arrays = read_archive(path, "model", FORMAT)
    return spec.restore(header["values"], arrays)  # not `load`: a file that is only checked is not registered
