"""The recorded reproduction: what is written is read again, own runs take its place, and what ships is complete."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from ohash.cli import paper as cli
from ohash.cli.main import main
from ohash.evaluation.significance import few_seeds_margin
from ohash.paper import figures
from ohash.paper.claims import CLAIMS, record_intervals
from ohash.paper.figures import FIGURES
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import FULL, PROFILES, QUICK
from ohash.paper.provenance import figure_commits, sources
from ohash.paper.recorded_results import SEVERAL, Recording, read_recording, thin_curve, write_recording
from ohash.paper.settings import EMBEDDED, TEXTS
from ohash.plots.paper import charts
from ohash.store.store import Store
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor

TINY = replace(QUICK, bits=(8, 16), timed_bits=(8, 64), pairs=300)
SHARING = replace(TINY, bits=(8, 64))  # T = 4 is also a cell of figures 6 and 8
DIGITS = EMBEDDED[3]


@pytest.fixture(scope="module")
def run_store(tmp_path_factory):
    """Figure 3 on digits, run with few pairs."""
    folder = tmp_path_factory.mktemp("recording")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "settings", lambda: (DIGITS,))
        SweepExecution(FIGURES["3"].sweep(TINY), Store(folder), InlineExecutor()).run()
        yield Store(folder)


@pytest.fixture
def recording(run_store, tmp_path):
    assert write_recording(run_store, TINY, tmp_path / "paper.parquet") == 4
    return read_recording(tmp_path / "paper.parquet")


@pytest.mark.slow
def test_a_recording_gives_what_the_store_gave(run_store, recording, tmp_path):
    own = Measurements(run_store, TINY)
    recorded = Measurements(Store(tmp_path / "empty"), TINY, recording)
    assert recorded.counts() == (0, 4) and own.counts() == (4, 0)
    for T in (1, 4):
        (mine,), (theirs,) = (one.seeds("3", DIGITS, "mmoh", T) for one in (own, recorded))
        assert theirs.recorded and theirs.score() == mine.score() and theirs.number("updated") == mine.number("updated")
        np.testing.assert_allclose(recorded.ap([theirs])[0], own.ap([mine])[0], atol=1e-5)
    claim = next(one for one in CLAIMS if one.key == "T-labels")
    verdicts = [judge_claim(claim, one, [DIGITS]) for one in (own, recorded)]
    assert verdicts[0].verdict == verdicts[1].verdict
    assert verdicts[0].parts[0].effect.value == pytest.approx(verdicts[1].parts[0].effect.value, abs=1e-5)
    assert recording.text.startswith("recorded on 20") and "cores" in recording.text


def test_own_runs_take_the_place_of_recorded_ones_and_disagreements_are_found(run_store, recording):
    both = Measurements(run_store, TINY, recording)
    assert both.counts() == (4, 0) and [one.gap for one in both.repetitions()] == [0] * 4
    key = both.seeds("3", DIGITS, "mmoh", 4)[0].key
    row = recording._rows[key]
    values = row["values"].replace('"scores/test": {"map": 0', '"scores/test": {"map": 1')
    other = {**recording._rows, key: {**row, "values": values}}
    repeated = Measurements(run_store, TINY, Recording(recording.made, other)).repetitions()
    (difference,) = (one for one in repeated if one.differs)
    assert difference.point.x == 4 and difference.recorded == pytest.approx(difference.own + 1)


def test_own_points_are_drawn_over_the_recorded_ones(run_store, recording, tmp_path):
    keys = {T: Measurements(run_store, TINY).seeds("3", DIGITS, "mmoh", T)[0].key for T in (1, 4)}
    row = recording._rows[keys[4]]
    values = json.loads(row["values"])
    values["scores/test"]["map"] = 0.01
    lower = {**row, "values": json.dumps(values)}
    changed = Recording(recording.made, {**recording._rows, keys[4]: lower})
    some = Store(tmp_path / "some")
    for key in keys.values():
        some.save(key, *run_store.frame(key))
    both = Measurements(some, TINY, changed)
    (chart,) = charts(both, FIGURES["3"])
    before = next(one for one in chart.series if one.name.endswith("as recorded") and one.kind == "points")
    own = next(one for one in chart.series if one.name == DIGITS.title and one.kind == "points")
    assert list(before.x) == [1, 4] and list(own.x) == [1, 2, 3, 4], "where own runs stand; the others are recorded"
    assert before.y[0] == own.y[0] and before.y[1] == 0.01 < own.y[3] and before.opacity < own.opacity
    assert "as recorded, under your own runs" in chart.caption and chart.y.lo <= before.y[1]
    alone = Measurements(Store(tmp_path / "empty"), TINY, changed)
    for measured in (alone, Measurements(run_store, TINY)):
        (chart,) = charts(measured, FIGURES["3"])
        assert "as recorded" not in chart.caption + "".join(one.name for one in chart.series)
    seed, (old,) = both.seeds("3", DIGITS, "mmoh", 4)[0], both.replaced_seeds("3", DIGITS, "mmoh", 4)
    assert both.arrays(seed) is not both.arrays(old), "of one key, but two runs"


@pytest.mark.parametrize(("gap", "expected"), [
    (0.009, "Yours agree with the recording: no mAP differs by more than 0.01."),
    (0.032, "more than 0.01 mAP, none by more than a change of seed may. In float32, rounding on another machine "
            "can send a run down another path. On average yours are 0.008 higher."),
    (-0.032, "On average yours are 0.008 lower."),
    (0.1, "1 of yours differs from the recording by more than 0.01 mAP, and by more than a change of seed may."),
])  # fmt: skip
def test_only_a_difference_that_no_seed_explains_is_beyond_noise(run_store, recording, gap, expected):
    key, rows = next(iter(recording._rows)), dict(recording._rows)
    values = json.loads(rows[key]["values"])
    values["scores/test"]["map"] -= gap
    rows[key] = {**rows[key], "values": json.dumps(values)}
    origins = sources(Measurements(run_store, TINY, Recording(recording.made, rows)), [FIGURES["3"]])
    assert origins.text.endswith(expected) and origins.beyond_noise == (abs(gap) > few_seeds_margin(1))
    assert len(origins.differing) == (abs(gap) > 0.01)


def test_cells_that_were_not_run_again_are_taken_over(run_store, recording, tmp_path):
    before = {"cpu": "another, old", "commit": "abc; def", "date": "2020-01-02 to 2020-01-03"}
    earlier = Recording(recording.made | before, recording._rows)
    path = tmp_path / "again.parquet"
    assert write_recording(Store(tmp_path / "empty"), TINY, path, earlier) == 4
    assert read_recording(path).made == earlier.made and read_recording(path)._rows == recording._rows
    read_recording.cache_clear()
    part = Recording(earlier.made, dict([*list(recording._rows.items())[1:], ("unknown", {})]))
    values = {key: {**run_store.frame(key)[0], "created": 1.8e9} for key in recording._rows}
    some = Store(tmp_path / "some")
    for key in list(recording._rows)[:2]:
        some.save(key, values[key], run_store.frame(key)[1])
    assert write_recording(some, TINY, path, part) == 4
    made = read_recording(path).made
    assert made["cpu"] == f"another, old; {recording.made['cpu']}" and made["numpy"] == recording.made["numpy"]
    assert made["date"].startswith("2020-01-02 to 20") and made["commit"].startswith("abc; def")
    assert read_recording(path).values(recording._rows) == recording.values(recording._rows)


def test_where_a_recording_was_made_is_told_once_and_in_a_few_words(recording):
    made = {"cpu": "arm; arm n1; x86", "cores": "2", "ohash": "1; 2", "commit": "abc; unknown; def", "date": "today"}
    text = (
        "recorded on today (arm n1 and x86, 2 cores; ohash 1 and 2, 2 commits from abc to def, some experiments "
        "of an unknown commit; which experiment is of which was not kept)"
    )
    assert Recording(made, {}).text == text


def test_a_cell_keeps_its_commit_and_old_ones_stay_without(run_store, recording, tmp_path):
    key, *others = recording._rows
    (frame, arrays) = run_store.frame(key)
    new = Store(tmp_path / "new")
    new.save(key, {**frame, "environment": {**frame["environment"], "commit": "abc123"}}, arrays)
    old = {
        name: {part: value for part, value in row.items() if part != "commit"} for name, row in recording._rows.items()
    }
    path = tmp_path / "both.parquet"
    assert write_recording(new, TINY, path, Recording(recording.made | {"commit": "first; second"}, old)) == 4
    both = read_recording(path)
    read_recording.cache_clear()
    assert [both.commit(name) for name in (key, *others)] == ["abc123", "", "", ""]
    assert all({**old[name], "commit": None} == both._rows[name] for name in others), "they stay as they are"
    assert "3 commits from first to abc123; which experiment is of which is known for 1 of 4)" in both.text
    expected = figure_commits(Measurements(Store(tmp_path / "empty"), TINY, both), FIGURES["3"])
    assert expected == "3 at an unknown commit; 1 at commit abc123"
    whole = Recording(both.made, {name: {**row, "commit": "abc123"} for name, row in both._rows.items()})
    assert "3 commits from first to abc123; each experiment has its own)" in whole.text
    (origins,) = sources(differing(run_store, both, [key]), [FIGURES["3"]]).differing
    assert origins.endswith(" recorded at commit abc123")


def test_what_ships_says_which_of_its_commits_are_clean_changed_and_unknown():
    recording = read_recording()
    listed = recording.made["commit"].split("; ")
    clean = [name for name in listed if name != "unknown" and not name.endswith("+")]
    assert f"{len(clean)} commits from {clean[0]} to {clean[-1]}" in recording.text
    assert ("one with uncommitted changes (8d790d0d8ba2+)" in recording.text) == ("8d790d0d8ba2+" in listed)
    assert ("some experiments of an unknown commit" in recording.text) == ("unknown" in listed)


def differing(run_store, recording, keys, profile=TINY):
    """The same runs and a recording that has a mAP larger by one for these cells."""
    rows = dict(recording._rows)
    for key in keys:
        values = rows[key]["values"].replace('"scores/test": {"map": 0', '"scores/test": {"map": 1')
        rows[key] = {**rows[key], "values": values}
    return Measurements(run_store, profile, Recording(recording.made, rows))


def test_a_cell_that_several_figures_share_differs_once(run_store, recording):
    key = Measurements(run_store, TINY).seeds("3", DIGITS, "mmoh", 4)[0].key
    measured = differing(run_store, recording, [key], SHARING)
    having = [point.figure for one in FIGURES.values() for point, cells in measured.cells(one).items()
              if key in {cell.key for cell in cells}]  # fmt: skip
    assert having == ["3", "6", "8"] and measured.counts() == (4, 0)
    assert sum(one.differs for one in measured.repetitions()) == 1
    origins = sources(measured, [FIGURES["3"]])
    assert "1 of yours differs" in origins.text and len(origins.differing) == 1
    assert origins.differing[0].startswith("figure 3, MMOH at 4 on") and ", seed 0: " in origins.differing[0]


@pytest.mark.slow
def test_the_terminal_says_what_was_recorded_and_where_own_runs_differ(run_store, recording, monkeypatch, capsys):
    monkeypatch.setitem(PROFILES, "quick", TINY)
    command = ["paper", "3", "--only-report", "--recorded", "--store"]

    def text_of(known, store):
        monkeypatch.setattr(cli, "read_recording", lambda: known)
        assert main([*command, str(store.folder)]) == 0
        return " ".join(capsys.readouterr().out.split())

    nowhere = Store(run_store.folder / "empty")
    text = text_of(recording, nowhere)
    assert f"No experiment was run here: all 4 were {recording.text}" in text and "4 of 4 cells (4 recorded)" in text
    part = Recording(recording.made, recording._rows)
    text = text_of(part, run_store)
    assert "4 experiments were run here" in text and "Yours agree with the recording" in text
    assert "4 of 4 cells (4 run here)" in text
    key = next(iter(recording._rows))
    text = text_of(differing(run_store, recording, [key]).recording, run_store)
    assert "1 of yours differs from the recording by more than 0.01 mAP" in text
    assert re.search(r"figure 3, MMOH at \d on digits, seed 0: 0\.\d+ here, 1\.\d+ recorded", text)


def test_an_interval_is_known_by_its_numbers_and_new_ones_are_added(run_store, recording, tmp_path):
    path = tmp_path / "known.parquet"
    write_recording(run_store, TINY, path)
    assert read_recording(path).intervals == {}
    record_intervals(path, TINY)
    kept = read_recording(path)
    assert kept._rows == recording._rows and kept.made == recording.made
    claim = next(one for one in CLAIMS if one.key == "T-labels")
    false = dict.fromkeys(kept.intervals, (0.7, 0.8))
    measured = Measurements(Store(tmp_path / "empty"), TINY, replace(kept, intervals=false))
    effect = judge_claim(claim, measured, [DIGITS]).parts[0].effect
    assert (effect.low, effect.high) == (0.7 - few_seeds_margin(1), 0.8 + few_seeds_margin(1)), "it is taken from there"
    own = Measurements(run_store, TINY, replace(kept, intervals=false))
    exact = Measurements(run_store, TINY)
    first, second = (judge_claim(claim, one, [DIGITS]) for one in (own, exact))
    assert first == second and len(own.intervals) == len(false) + 1, "own runs have other numbers, so their own"


def test_curves_are_thinned_and_histograms_kept_whole():
    many = np.arange(300)
    assert len(thin_curve("columns/pairs", many)) == 100 and thin_curve("columns/pairs", many)[-1] == 299
    np.testing.assert_array_equal(thin_curve("totals/ratio", many), many)


def test_one_processor_is_named_once(recording):
    names = "aarch64, implementer 0x41, part 0xd0c", "aarch64 neoverse-n1", "other"
    made = {**recording.made, "cpu": SEVERAL.join(names)}
    assert "(aarch64 neoverse-n1 and other, " in Recording(made, recording._rows).text


def test_without_a_file_there_is_no_recording(tmp_path):
    assert read_recording(tmp_path / "none.parquet") is None


def test_what_ships_has_every_cell_of_the_full_profile():
    recording = read_recording()
    assert recording is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "settings", lambda: (*EMBEDDED, *TEXTS))
        wanted = {cell.key for figure in FIGURES.values() for cell in figure.sweep(FULL).cells}
        texts = {cell.key for cell in FIGURES["texts"].sweep(FULL).cells}
    missing = wanted - set(recording.values(wanted))
    assert not missing, f"{len(missing)} cells; record again: python3 -m ohash paper --profile full --record FILE"
    known = {recording.commit(key) for key in texts}
    assert known and all(re.fullmatch("[0-9a-f]{12}", commit) for commit in known), "of clean commits that are known"
