"""Code for a sweep repeats it: the same experiments, the same numbers, with the public face only."""

import re

import numpy as np
import pytest

import ohash
from ohash.engine.export import Files
from ohash.store.store import Store
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.results import collect_points
from ohash.sweeps.saving import save_own_data, with_own_data
from ohash.sweeps.specification import build_sweep
from ohash.sweeps.sweep import code_for
from tests.selection import first

BASE = {"dataset": "blobs2d", "r": 8, "m": 16, "pairs": 150, "judged_at": "ends"}
SWEEPS = {
    "grid": build_sweep("beta", base=BASE, grid={"beta": [0.25, 0.5]}, seeds=2),
    "cases": build_sweep("methods", base=BASE, cases=[{"method": "oh"}, {"method": "lsh"}], seeds=(3, 7)),
    "one point": build_sweep('a "quoted" name', base=BASE),
}


@pytest.mark.parametrize("name", first(SWEEPS))
def test_code_for_a_sweep_repeats_it(name, tmp_path, monkeypatch, capsys):
    sweep, known = SWEEPS[name], Store(tmp_path / "known")
    SweepExecution(sweep, known, InlineExecutor()).run()
    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "again"))
    names: dict[str, object] = {}
    exec(code_for(sweep), names)
    results = names["results"]
    assert results.sweep == sweep and results.sweep.key == sweep.key
    expected = collect_points(sweep, known)
    assert [point.mean() for point in results.points] == [point.mean() for point in expected]
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(expected)
    assert all(f"mAP {point.mean():.3f}" in line for point, line in zip(expected, printed, strict=True))


def test_code_for_a_sweep_on_own_data_loads_them(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.normal(size=(200, 6)).astype(np.float32))
    monkeypatch.chdir(tmp_path)
    data = ohash.load_dataset("x.npy")
    sweep = with_own_data(build_sweep("mine", base={"r": 8, "pairs": 150}, grid={"beta": [0.25, 0.5]}), data)
    known = Store(tmp_path / "known")
    save_own_data(known, data)
    SweepExecution(sweep, known, InlineExecutor()).run()
    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "again"))
    names: dict[str, object] = {}
    exec(code_for(sweep, Files("x.npy")), names)
    assert names["results"].sweep.cells == sweep.cells
    assert [point.mean() for point in names["results"].points] == [
        point.mean() for point in collect_points(sweep, known)
    ]


def test_code_for_a_sweep_uses_public_names_only():
    for sweep in SWEEPS.values():
        code = code_for(sweep)
        used = set(re.findall(r"ohash\.(\w+)", code))
        assert used and used <= set(ohash.__all__)
        assert re.findall(r"^(?:import|from) .*", code, re.M) == ["import ohash"]
