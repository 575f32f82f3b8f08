"""What a recording holds so that its page can take the run over: the run's own W, pairs and truth, where they fit."""

import base64
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from ohash.core.arrays import Array
from ohash.engine.moments import Moments
from ohash.engine.params import ExperimentParams, experiment
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.web.continuation import MAX_ROWS, MORE_PAIRS, ROOM, continuation
from ohash.web.recording import recording_page


@cache
def recorded(params: ExperimentParams) -> tuple[Run, list[Any]]:
    run, moments = Run(params), Moments()
    while not run.done:
        if run.t == 300 and not run.params.changes:
            run.set(beta=0.4)
        run.step(300 - run.t if run.t < 300 else 4096)
        moments.watch(run)
    return run, moments.with_curves(run)


def snapshots(params: ExperimentParams) -> list[Snapshot]:
    return [now for now, _ in recorded(params)[1]]


def unpacked(packed: dict[str, Any]) -> Array:
    return np.frombuffer(base64.b64decode(packed["data"]), packed["dtype"]).reshape(packed["shape"])


SHORT = experiment("digits", "oh", pairs=600, r=24, m=60, seed=3)


def test_it_holds_the_run_s_own_W_and_pairs() -> None:
    run, _ = recorded(SHORT)
    data = continuation(run, snapshots(SHORT))
    assert isinstance(data, dict)
    assert np.array_equal(unpacked(data["X"]), run.world.dataset.X) and data["X"]["dtype"] == "uint8"
    first, second = unpacked(data["pairs"]).astype(int)
    i, j, s = run.world.pairs(0, run.end + MORE_PAIRS)
    assert np.array_equal(first % MAX_ROWS, i) and np.array_equal(second, j)
    assert np.array_equal(first >= MAX_ROWS, s == 1)
    assert [one["t"] for one in data["weights"]] == run.schedule, "they are short, so that all fit"
    for one in data["weights"]:
        hasher = run.hasher if one["t"] == run.t else run.replay(one["t"])[0]
        assert np.array_equal(unpacked(one["W"])[0].T, hasher.W)  # type: ignore[attr-defined]
        assert one["beta"] == (0.4 if one["t"] >= 300 else 0.5) == run.params.model_at(one["t"]).beta


@pytest.mark.slow
def test_of_many_moments_those_are_kept_that_fit() -> None:
    params = experiment("digits", "oh", pairs=3000, r=128, seed=3)
    run, _ = recorded(params)
    data = continuation(run, snapshots(params))
    assert isinstance(data, dict)
    times = [one["t"] for one in data["weights"]]
    assert times[0] == 0 and times[-1] == run.t
    assert 4 <= len(times) < len(run.schedule)
    assert len(str(data)) < 1.02 * ROOM


@pytest.mark.parametrize(
    ("params", "word"),
    [
        (experiment("digits", "lsh", pairs=60), "LSH"),
        (experiment("digits", "oh", pairs=60, drift="rotate", drift_at=30), "changes"),
        (experiment("digits", "oh", pairs=60, center="running"), "moving mean"),
        (experiment("fashion", "oh", pairs=60), "MB"),
    ],
    ids=lambda value: value.method if isinstance(value, ExperimentParams) else value,
)
def test_it_says_why_it_cannot(params: ExperimentParams, word: str) -> None:
    run, shown = recorded(params)
    reason = continuation(run, snapshots(params))
    assert isinstance(reason, str) and word in reason and reason.endswith(".")
    page = recording_page(shown, run.world.dataset, {"run": "A run"}, more=reason)
    assert "cannot be taken over" in page and 'class="over"' not in page


def test_pairs_that_do_not_fit_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    run, moments = Run(experiment("blobs2d", "oh", pairs=10**9)), Moments()
    run.step(10)
    moments.watch(run)
    shown = [now for now, _ in moments.with_curves(run)]
    monkeypatch.setattr(run.world, "pairs", None)
    reason = continuation(run, shown)
    assert isinstance(reason, str) and re.search(r"would take 5,?33\d\.\d MB", reason), reason


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_says_that_float32_rounds_otherwise(dtype: str) -> None:
    params = experiment("digits", "oh", pairs=60, dtype=dtype)
    run, shown = recorded(params)
    page = recording_page(shown, run.world.dataset, {"run": "A run"}, more=continuation(run, snapshots(params)))
    assert ("The run computed in float32" in page) == (dtype == "float32")
