"""What a recording holds so that its page can go on with the run: vectors, feature map, pairs, W at some moments.

The page computes in float64, as the package does with `dtype="float64"`: a run in float32 goes on from its own W, and
rounds less from there. The pairs are those of the run, and some more after them.
"""

import base64
import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from ohash.core.arrays import Array
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.models.online.oh_params import OHParams
from ohash.models.online.passive_aggressive import PassiveAggressive
from ohash.runtime.frames import JsonObject

ROOM = 1_900_000  # bytes of text, beside charts and pictures of about 1 MB
MORE_PAIRS = 10_000  # after the last one of the run
MIN_KEPT_W = 4  # moments with their W; from the nearest of them the page learns the pairs up to any other again
MAX_ROWS = 2**15  # a row and the sign of the pair share 16 bits
PAIR_BYTES = 4  # two rows
CURVE = 400  # points of the recorded loss


def continuation(run: Run, moments: Sequence[Snapshot]) -> JsonObject | str:
    """The data for the page, at most `ROOM` bytes of text; or a sentence that says why there are none."""
    reason = _obstacle(run)
    if reason:
        return reason
    last = max(run.end, run.t) + MORE_PAIRS
    last = last if run.world.length is None else min(last, run.world.length)
    data = {
        "X": _packed(_compact(run.world.dataset.X)),
        "map": _map(run),
        "changes": [[change.at, change.name, change.value] for change in run.params.changes],
        "alpha": cast(OHParams, run.params.model).alpha,
        "truth": _truth(run),
        "moments": [[now.t, now.numbers["cum_R"]] for now in moments],
        "curves": _curves(moments[-1]),
    }
    # A run may have 10^9 pairs: they are drawn only if there is room for them.
    size, each = _text_bytes(data) + _base64_bytes(PAIR_BYTES * last), _text_bytes(_weights(run, run.t))
    fewest, count = min(len(moments), MIN_KEPT_W), (ROOM - size) // each
    if count < fewest:
        needed = (size + fewest * each) / 1e6
        return f"vectors, pairs and W would take {needed:.1f} MB, and there is room for {ROOM / 1e6:.1f} MB."
    weights = [_weights(run, t) for t in _spread([now.t for now in moments], count)]
    return data | {"pairs": _packed(_pairs(run, last)), "weights": weights}


def _obstacle(run: Run) -> str:
    """Why a page cannot do what this run does; empty if it can."""
    if not isinstance(run.hasher, PassiveAggressive):
        return f"{run.spec.title} is not computed in a page; OH and MMOH are."
    params = run.hasher.params
    if params.center not in ("none", "frozen") or params.select != "smallest" or params.rounds != 1:
        return "a page computes Algorithm 1 as the paper has it, without a moving mean, other bits or more rounds."
    if run.world.drift.boundaries:
        return "the world of this run changes, and the page would need it as it is after each change."
    return "" if run.world.dataset.n <= MAX_ROWS else f"the data have more than {MAX_ROWS:,} rows."


def _spread(times: list[int], count: int) -> list[int]:
    """At most so many of the moments, as evenly over the pairs as they are; the first and the last always."""
    if len(times) <= count:
        return times
    wanted = np.linspace(times[0], times[-1], count)
    places = np.searchsorted(times, wanted, side="right") - 1
    return [times[place] for place in sorted({*places.tolist(), len(times) - 1})]


def _weights(run: Run, t: int) -> JsonObject:
    """W, β and C before pair t."""
    hasher = run.hasher if t == run.t else run.kept_states.hasher_before(t, run)
    assert isinstance(hasher, PassiveAggressive)
    W = hasher.W[None] if hasher.W.ndim == 2 else hasher.W  # (T, d, r)
    in_force = cast(OHParams, run.params.model_at(t))
    return {"t": t, "W": _packed(W.transpose(0, 2, 1)), "beta": in_force.beta, "C": in_force.C or hasher.C}


def _map(run: Run) -> JsonObject:
    feature_map = run.world.feature_map
    assert feature_map.mean is not None
    assert isinstance(run.hasher, PassiveAggressive)
    rbf = feature_map.params.kernel == "rbf"
    return {
        "mean": _packed(feature_map.mean),
        "normalize": feature_map.params.normalize,
        "anchors": run.world.warm_rows[: feature_map.params.m].tolist() if rbf else None,
        "sigma": feature_map.sigma if rbf else None,
        "mapped_mean": _packed(run.hasher.mean) if run.hasher.params.center == "frozen" else None,
    }


def _pairs(run: Run, last: int) -> Array:
    """(2, pairs): rows i, with MAX_ROWS added for a similar pair, and rows j."""
    i, j, s = run.world.pairs(0, last)
    return np.stack([i + MAX_ROWS * (s == 1), j]).astype("<u2")


def _truth(run: Run) -> JsonObject | None:
    """Queries, database and what is relevant, if mAP is that of fresh codes of the whole database."""
    judge, choice = run.checkpoints.judge, run.params.run
    if choice.database != "full" or choice.reencode != "checkpoint" or isinstance(judge.relevant, list):
        return None
    relevant = judge.relevant if judge.relevant.dtype != bool else np.packbits(judge.relevant, 1, bitorder="little")
    rows = {"queries": judge.queries.astype("<u2"), "database": judge.database.astype("<u2"), "relevant": relevant}
    return {name: _packed(array) for name, array in rows.items()}


def _curves(now: Snapshot) -> dict[str, list[list[float]]]:
    pairs, loss = now.columns["pairs"], now.columns["cum_R"]
    rows = np.linspace(0, max(0, len(pairs) - 1), min(CURVE, len(pairs))).round().astype(int)
    curves = {"loss": [pairs[rows].tolist(), loss[rows].tolist()]}
    scored = np.isfinite(now.checkpoints["map"])
    return curves | {"score": [now.checkpoints[name][scored].tolist() for name in ("pairs", "map")]}


def _compact(X: Array) -> Array:
    """The same numbers in fewer bytes where they are small whole numbers, as pixels are."""
    X = np.asarray(X)
    small = X.astype(np.uint8) if X.size and X.min() >= 0 and X.max() <= 255 else X
    return small if np.array_equal(small, X) else X


def _packed(array: Array) -> JsonObject:
    array = np.ascontiguousarray(array)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode()}


def _base64_bytes(size: int) -> int:
    return 4 * math.ceil(size / 3)


def _text_bytes(value: object) -> int:
    """About as many bytes as its JSON has."""
    if isinstance(value, dict):
        return sum(len(key) + 6 + _text_bytes(one) for key, one in value.items())
    if isinstance(value, list):
        return sum(1 + _text_bytes(one) for one in value)
    return len(value) if isinstance(value, str) else len(str(value))
