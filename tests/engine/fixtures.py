"""A dataset small enough to be judged in a millisecond, and few checkpoints."""

import numpy as np
import pytest

from ohash.engine import checkpoints
from ohash.engine.live.runner import Runner
from ohash.store.store import Store
from ohash.streams import registry
from ohash.streams.dataset import Dataset, DatasetSpec
from tests.engine.runs import small, straight


def load_tiny():
    rng = np.random.default_rng(3)
    labels = np.arange(240) % 6
    X = 0.8 * rng.normal(size=(240, 8)) + 1.5 * rng.normal(size=(6, 8))[labels]
    return Dataset(
        key="tiny", title="Tiny", X=X.astype(np.float32), labels=labels, superclasses=labels % 3, queries=(12, 16)
    )


TINY = DatasetSpec(key="tiny", title="Tiny", task="same blob", n=240, d=8, licence="", cite="", load=load_tiny)


@pytest.fixture(autouse=True, scope="session")
def tiny():
    registry.named_datasets()["tiny"] = TINY
    yield
    registry.named_datasets().pop("tiny", None)


@pytest.fixture
def few_checkpoints(monkeypatch):
    monkeypatch.setattr(checkpoints, "REGULAR", 8)


@pytest.fixture
def runner_of():
    """Runners that are stopped whatever happens."""
    made = []

    def make(params, *args, **more):
        made.append(Runner(params, *args, **more))
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture(scope="module")
def picture():
    return straight(small(pairs=400)).snapshot("done")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "home")
