"""Drift detectors against literal twins, and what they do with and without a drift."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ohash.core.parameters import parameter_table
from ohash.evaluation.drift_detectors import ADWIN, ADWINParams, DriftMonitor, PageHinkley, PageHinkleyParams
from ohash.evaluation.drift_detectors.monitor import MAX_ALARMS

KINDS = pytest.mark.parametrize("make", [PageHinkley, ADWIN])


def page_hinkley(values, delta, threshold, memory, warm_up, floor):
    """The recursion of the module's docstring, in floats of Python."""
    alarms, n, mean, variance, walk = [], 0, 0.0, 0.0, 0.0
    for t, x in enumerate(values):
        if n >= warm_up:
            walk = max(0.0, walk + (x - mean) / max(floor, math.sqrt(variance)) - delta)
        n += 1
        w = 1 / min(n, memory)
        mean, variance = (1 - w) * mean + w * x, (1 - w) * (variance + w * (x - mean) ** 2)
        if walk > threshold:
            alarms.append(t)
            n, mean, variance, walk = 0, 0.0, 0.0, 0.0
    return alarms


def adwin(values, delta):
    """A list of buckets, each a list of its values, oldest first; means and variances by NumPy."""
    alarms, window, block = [], [], []
    for t, x in enumerate(values):
        block.append(x)
        if len(block) < 32:
            continue
        window.append(block)
        block = []
        size = 32
        while sum(len(b) == size for b in window) > 5:
            first = next(k for k, b in enumerate(window) if len(b) == size)
            window[first : first + 2] = [window[first] + window[first + 1]]
            size *= 2
        risen = False
        while True:
            cuts = []
            everything = np.concatenate(window)
            for k in range(1, len(window)):
                old, new = np.concatenate(window[:k]), np.concatenate(window[k:])
                m = 1 / (1 / len(old) + 1 / len(new))
                log = math.log(2 / (delta / math.log(len(everything))))
                epsilon = math.sqrt(2 / m * everything.var() * log) + 2 / (3 * m) * log
                cuts.append((abs(new.mean() - old.mean()) / epsilon, k, new.mean() > old.mean()))
            if not cuts or max(cuts)[0] <= 1:
                break
            _, k, rises = max(cuts)
            risen |= bool(rises)
            window = window[k:]
        if risen:
            alarms.append(t)
    return alarms, [len(b) for b in window]


def moving(seed, n=3000):
    """Values whose mean and spread change at random places."""
    rng = np.random.default_rng(seed)
    pieces = []
    while sum(map(len, pieces)) < n:
        level, size = rng.random(), int(rng.integers(50, 800))
        pieces.append(np.clip(rng.normal(level, 0.3 * rng.random(), size), 0, 1))
    return np.concatenate(pieces)[:n]


@pytest.mark.parametrize("seed", range(6))
def test_page_hinkley_equals_its_literal_twin(seed):
    values = moving(seed)
    for given_ in (
        {},
        {"threshold": 5.0, "warm_up": 10, "memory": 50},
        {"delta": 0.5, "floor": 0.2, "threshold": 20.0},
    ):
        detector = PageHinkley(**given_)
        assert detector.update(values) == page_hinkley(values.tolist(), **vars(detector.params))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("delta", [0.002, 0.3])
def test_adwin_equals_its_literal_twin(seed, delta):
    values = moving(seed, 2000)
    detector = ADWIN(delta=delta)
    alarms, sizes = adwin(values.tolist(), delta)
    assert detector.update(values) == alarms
    assert len(detector) == sum(sizes)
    held = values[: len(values) // 32 * 32][-len(detector) :]
    assert detector.mean == pytest.approx(held.mean())


def test_a_rise_that_uncovers_a_fall_is_an_alarm_all_the_same():
    """Noise hides that the new level is falling; once the rise has cut it off, a second cut goes the other way."""
    values = np.concatenate([np.tile([0.0, 1.0], 32), np.full(32, 0.82), np.full(64, 0.66)])
    detector = ADWIN(delta=0.3)
    assert detector.update(values) == adwin(values.tolist(), 0.3)[0] == [159]
    assert len(detector) == 64 and detector.mean == pytest.approx(0.66), "both cuts were made"


def test_the_twins_have_something_to_say():
    assert sum(len(PageHinkley().update(moving(seed))) for seed in range(6)) >= 6
    assert sum(len(ADWIN().update(moving(seed, 2000))) for seed in range(4)) >= 4


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(0, 1500), max_size=8))
def test_chunks_and_saved_states_change_nothing(seed, cuts):
    values = moving(seed, 1500)
    for make in (PageHinkley, ADWIN):
        whole, alarms, detector = make().update(values), [], make()
        for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), len(values)], strict=True):
            alarms += detector.update(values[start:stop])
            again = make()
            again.restore(detector.state())
            detector = again
        assert alarms == whole


def rising(seed, before, after, at=5000, n=8000):
    rng = np.random.default_rng(seed)
    return (rng.random(n) < np.where(np.arange(n) < at, before, after)).astype(float)


@KINDS
@pytest.mark.parametrize(("before", "after"), [(0.01, 0.1), (0.1, 0.3), (0.4, 0.7)])
def test_a_rise_is_noticed_soon_and_with_few_echoes(make, before, after):
    """An echo: a block that saw both worlds stays in the window and sets the alarm off again."""
    alarms = [make().update(rising(seed, before, after)) for seed in range(20)]
    assert all(5000 <= places[0] < 6200 for places in alarms)
    assert sum(map(len, alarms)) <= 22


@KINDS
@pytest.mark.parametrize("share", [0.002, 0.02, 0.1, 0.5])
def test_alarms_are_rare_while_nothing_happens(make, share):
    """At most 1 in 500,000 values: the rate promised is far lower, the bound leaves room for the seeds."""
    values = [(np.random.default_rng(seed).random(50_000) < share).astype(float) for seed in range(10)]
    assert sum(len(make().update(one)) for one in values) <= 1


@KINDS
def test_a_falling_loss_is_learning_and_no_alarm(make):
    rng = np.random.default_rng(0)
    falling = 0.05 + 0.5 * np.exp(-np.arange(30_000) / 3000)
    for _ in range(5):
        assert make().update((rng.random(len(falling)) < falling).astype(float)) == []


def test_memory_of_adwin_does_not_grow():
    detector = ADWIN()
    detector.update((np.random.default_rng(0).random(300_000) < 0.2).astype(float))
    state = detector.state()
    assert len(detector) > 250_000
    assert state["filled"].max() <= 5
    assert state["filled"].sum() < 80
    assert sum(value.nbytes for value in state.values()) < 6000


def test_the_monitor_tells_a_wrong_pair_from_a_large_loss():
    monitor = DriftMonitor(r=32)
    rng = np.random.default_rng(0)
    wrong = rng.random(8000) < 0.2
    R = np.where(wrong, 2.0, 0.0)
    R[5000:] *= 8  # as many wrong pairs as before, but each far worse
    for start in range(0, 8000, 700):
        monitor.update(R[start : start + 700])
    assert monitor.alarms["page_hinkley_wrong"] == monitor.alarms["adwin_wrong"] == ()
    for name in ("page_hinkley_R", "adwin_R"):
        assert [5000 <= place < 5500 for place in monitor.alarms[name]] == [True]


def test_a_monitor_goes_on_from_its_saved_state_and_forgets_on_reset():
    R = np.concatenate([np.zeros(2000), np.full(2000, 5.0), np.zeros(2000), np.full(2000, 5.0)])
    whole, first = DriftMonitor(8), DriftMonitor(8)
    whole.update(R)
    first.update(R[:3333])
    again = DriftMonitor(8)
    again.restore(first.state())
    again.update(R[3333:])
    assert again.alarms == whole.alarms
    assert all(len(found) >= 1 for found in whole.alarms.values())
    calm = DriftMonitor(8)
    calm.update(R[:2000])
    calm.reset()
    calm.update(R[2000:4000])
    assert not any(calm.alarms.values())


def test_only_the_latest_alarms_are_kept():
    monitor = DriftMonitor(8)
    monitor._alarms["adwin_R"] = list(range(MAX_ALARMS))
    monitor.update(np.repeat([0.0, 8.0], 512))
    assert len(monitor.alarms["adwin_R"]) == MAX_ALARMS
    assert monitor.alarms["adwin_R"][0] == 1
    assert monitor.alarms["adwin_R"][-1] == 543


def test_a_loss_beyond_r_counts_as_one():
    """The R of several models is a sum and may exceed r."""
    monitor = DriftMonitor(4)
    monitor.update(np.full(100, 11.0))
    assert monitor.detectors["adwin_R"].mean == 1.0


@KINDS
@pytest.mark.parametrize("bad", [[0.5, np.nan], [-0.1], [1.5], [[0.5]], [np.inf]])
def test_bad_values_are_named(make, bad):
    with pytest.raises(ValueError, match=r"values must be a vector of losses in \[0, 1\]"):
        make().update(bad)


@KINDS
def test_nothing_is_fine(make):
    assert make().update([]) == []


def test_knobs_are_declared_and_checked():
    assert list(parameter_table(PageHinkleyParams)) == ["delta", "threshold", "memory", "warm_up", "floor"]
    assert list(parameter_table(ADWINParams)) == ["delta"]
    with pytest.raises(ValueError, match=r"threshold must be"):
        PageHinkley(threshold=0)
    with pytest.raises(ValueError, match=r"delta must be a number in \(0, 1\]"):
        ADWIN(delta=0)
