"""The first start on a machine: another process compiles, once, and whatever happens to it the run begins."""

import threading
from collections import OrderedDict

import pytest

from ohash.engine import world
from ohash.engine.live import warm_up
from ohash.engine.live.presets import PRESETS
from ohash.engine.live.runner import Runner
from ohash.engine.params import from_json
from ohash.runtime import kernel_cache
from ohash.runtime.worker import WorkerDiedError
from tests.engine.runs import small
from tests.engine.wait import PATIENCE, until


class Hired:
    """A worker that notes what it is asked."""

    fails = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nothing to close."""

    def call(self, task, values):
        self.asked.append((task, from_json(values["params"])))
        if self.fails is not None:
            raise self.fails


@pytest.fixture
def hired(monkeypatch):
    monkeypatch.setattr(warm_up, "Worker", Hired)
    monkeypatch.setattr(warm_up, "_ready", False)
    monkeypatch.setattr(Hired, "asked", [], raising=False)
    monkeypatch.setattr(kernel_cache, "is_cold", lambda: True)
    return Hired


def test_another_process_runs_the_first_preset_once(hired):
    for _ in range(2):
        warm_up.compile_in_worker()
    ((task, params),) = hired.asked
    assert task == "ohash.engine.tasks:run" and params == PRESETS[0].params().with_values(pairs=warm_up.FEW_PAIRS)


def test_nobody_is_asked_where_kernels_are_kept(hired, monkeypatch):
    monkeypatch.setattr(kernel_cache, "is_cold", lambda: False)
    warm_up.compile_in_worker()
    assert hired.asked == []


def test_the_run_begins_whatever_happens(hired, monkeypatch):
    monkeypatch.setattr(hired, "fails", WorkerDiedError("killed"))
    runner = Runner(small(pairs=50), first=warm_up.compile_in_worker).start()
    assert runner.finished.wait(PATIENCE) and runner.state == "done" and len(hired.asked) == 1


def test_a_warm_server_has_the_world_of_the_first_preset(hired, monkeypatch):
    monkeypatch.setattr(kernel_cache, "is_cold", lambda: False)
    monkeypatch.setattr(world, "_worlds", OrderedDict())
    warm_up.warm_up()
    (slot,) = world._worlds.values()
    assert world.world_of(PRESETS[0].params()) is slot.world and hired.asked == []


def test_a_cold_server_begins_to_compile_and_waits_for_nothing(hired, monkeypatch):
    let_go = threading.Event()
    monkeypatch.setattr(hired, "call", lambda self, *asked: (self.asked.append(asked), let_go.wait(PATIENCE)))
    warm_up.warm_up()
    assert not let_go.is_set()
    let_go.set()
    until(lambda: len(hired.asked) == 1)


def test_a_server_starts_whatever_is_wrong_with_the_first_preset(hired, monkeypatch):
    def broken(_):
        raise ValueError("the sample is not there")

    monkeypatch.setattr(kernel_cache, "is_cold", lambda: False)
    monkeypatch.setattr(warm_up, "Run", broken)
    warm_up.warm_up()
    assert hired.asked == []


def test_cold_is_when_no_kernel_is_kept(tmp_path, monkeypatch):
    package = tmp_path / "ohash"
    (package / "core" / "__pycache__").mkdir(parents=True)
    (package / "core" / "kernels.py").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache" / "core_1").mkdir(parents=True)
    (tmp_path / "cache" / "core_1" / "other.f-1.nbi").write_text("")
    assert kernel_cache.is_cold(package)
    (tmp_path / "cache" / "core_1" / "kernels.learn-1.nbi").write_text("")
    assert not kernel_cache.is_cold(package)
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    assert kernel_cache.is_cold(package)
    (package / "core" / "__pycache__" / "kernels.learn-1.nbi").write_text("")
    assert not kernel_cache.is_cold(package)


def test_cold_is_also_when_another_command_has_compiled_its_own_kernels_only(tmp_path, monkeypatch):
    """Or an update has made those stale that a run needs: the server would compile them before it answers anybody."""
    package, cache = tmp_path / "ohash", tmp_path / "cache"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    kernels = ("core/kernels", "evaluation/ranking_kernels", "index/multi_index_kernels")
    for folder, stem in (name.split("/") for name in kernels):
        (package / folder).mkdir(parents=True)
        (package / folder / f"{stem}.py").write_text("")
        (cache / f"{folder}_1").mkdir(parents=True)
    for folder, stem, cold in (("index", "multi_index_kernels", True), ("core", "kernels", True),
                               ("evaluation", "ranking_kernels", False)):  # fmt: skip
        (cache / f"{folder}_1" / f"{stem}.f-1.nbi").write_text("")
        assert kernel_cache.is_cold(package) is cold
