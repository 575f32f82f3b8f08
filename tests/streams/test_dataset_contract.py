"""Every registered dataset keeps what its card declares; one that is not installed says how to get it."""

import re
from pathlib import Path

import numpy as np
import pytest

from ohash.engine.params import protocol
from ohash.models.registry import add_plugin, plugin_modules
from ohash.streams.data_split import split
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.pairs import pair_stream
from ohash.streams.registry import find_dataset, load_by_key, named_datasets
from ohash.streams.similarity import NAMES, make_similarity
from ohash.streams.summary import summarize

# Only these may take more than a moment; GIST of 70,000 pictures is tried in tests marked slow.
SLOW = {
    "fashion-mnist-gist",
    "mnist-gist",
    "mnist5k-gist",
    "cifar10-gist",
    "phototourism",
    "phototourism-m50",
    "viewpoints",
}
GROUPS = {"synthetic", "embedded", "package", "paper", "pictures"}
FAMILIES = ["playground-xor-7", f"playground-points-0{'ii0jjj1hh2k' * 4}-2{'0abc3def' * 6}"]  # which are not listed
KEYS = [pytest.param(key, marks=pytest.mark.slow) if key in SLOW else key for key in [*named_datasets(), *FAMILIES]]


@pytest.fixture(params=KEYS)
def spec(request: pytest.FixtureRequest) -> DatasetSpec:
    return find_dataset(request.param)


@pytest.fixture
def dataset(spec: DatasetSpec) -> Dataset:
    how = spec.missing()
    if how:
        pytest.skip(f"not installed: {how}")
    return load_by_key(spec.key)


@pytest.mark.parametrize("key", named_datasets())
def test_card(key: str) -> None:
    spec = named_datasets()[key]
    assert spec.key == key
    assert spec.title
    assert spec.task
    assert spec.licence
    assert spec.cite
    assert spec.n > 0
    assert spec.d > 0
    assert spec.group in GROUPS
    assert spec.similar_by in NAMES
    assert spec.similar_share is not None
    assert re.match(r"@\w+\{\w+,\n.*\n\}$", spec.bibtex, re.DOTALL)
    if spec.group == "paper":
        assert {"r", "alpha", "beta", "C", "sigma", "similar_by"} <= set(spec.presets)
        assert protocol(key).dataset == (spec.paper_key or key)


@pytest.mark.parametrize("key", named_datasets())
def test_a_missing_one_says_how_to_get_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OHASH_DATA", raising=False)
    how = named_datasets()[key].missing()
    if not how:
        pytest.skip("installed")
    with pytest.raises(ValueError, match=f"dataset '{key}' is not here: .*(put|install|rebuild)"):
        load_by_key(key)


def test_sizes_are_as_declared(spec: DatasetSpec, dataset: Dataset) -> None:
    assert dataset.key == spec.key
    assert dataset.title == spec.title
    assert (dataset.n, dataset.d) == (spec.n, spec.d)
    assert (dataset.licence, dataset.cite) == (spec.licence, spec.cite)
    assert dataset.kernel == spec.kernel
    assert spec.metric in ("", dataset.metric)
    if dataset.class_names:
        assert dataset.labels is not None
        assert set(np.unique(dataset.labels)) == set(range(len(dataset.class_names)))
    if dataset.thumbnails is not None:
        assert dataset.thumbnails.dtype == np.uint8


def test_values_are_finite(dataset: Dataset) -> None:
    for start in range(0, dataset.n, 10_000):
        assert np.isfinite(dataset.X[start : start + 10_000]).all()


def test_loading_again_gives_the_same(spec: DatasetSpec, dataset: Dataset) -> None:
    assert spec.load().fingerprint() == dataset.fingerprint()


@pytest.mark.parametrize("train", ["database", "disjoint"])
def test_splits_are_disjoint(dataset: Dataset, train: str) -> None:
    parts = split(dataset, 3, train=train)
    assert (len(parts.validation), len(parts.test)) == dataset.queries
    searched = [parts.database, parts.validation, parts.test]
    searched += [parts.train] if train == "disjoint" else []
    joined = np.concatenate(searched)
    assert len(np.unique(joined)) == len(joined)
    assert joined.max() < dataset.n


def test_the_similar_share_is_as_declared(spec: DatasetSpec, dataset: Dataset) -> None:
    assert dataset.similarities[0] == spec.similar_by
    measured = make_similarity(dataset, split(dataset, 0), spec.similar_by).natural_share
    if isinstance(spec.similar_share, tuple):
        assert spec.similar_share[0] <= measured <= spec.similar_share[1]
    else:
        assert measured == pytest.approx(spec.similar_share, rel=0.05)


def test_a_stream_can_be_drawn(dataset: Dataset) -> None:
    if dataset.n > 100_000:
        pytest.skip("the radii of half a million points are not for a quick test")
    i, j, s = pair_stream(dataset, seed=1).take(0, 200)
    assert set(s.tolist()) == {-1, 1}
    assert (i != j).all()


def test_a_summary_can_be_made(dataset: Dataset) -> None:
    summary = summarize(dataset)
    assert summary.good
    assert len(summary.lines()) >= 4


def test_scanning_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from ohash.streams.registry import datasets; datasets(); "
        "print([m for m in ('sklearn', 'pandas', 'pyarrow', 'h5py', 'PIL', 'skimage', 'scipy.io') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


PLUGIN = """
import numpy as np
from ohash.streams.dataset import Dataset, DatasetSpec

def load():
    return Dataset(key="mine", title="Mine", X=np.eye(30), labels=np.arange(30) % 3, queries=(3, 3))

DATASET = DatasetSpec(
    key="mine", title="Mine", task="same", n=30, d=30, licence="CC0", cite="me", load=load, similar_share=0.31
)
"""


def test_a_dataset_of_a_plugin_is_found_also_after_the_others_were_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OHASH_PLUGINS", "")
    assert "mine" not in named_datasets()
    (tmp_path / "mine.py").write_text(PLUGIN)
    add_plugin(tmp_path / "mine.py")
    try:
        assert load_by_key("mine").n == find_dataset("mine").n == 30
        assert (find_dataset("mine").group, find_dataset("mine").bibtex) == ("plugin", "")
    finally:
        monkeypatch.undo()
        plugin_modules.cache_clear()
    assert "mine" not in named_datasets()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("n=30, d=30", "n=31, d=30"), "dataset 'mine' must have the 31 rows of 30 .* gave 30 of 30"),
        (("n=30, d=30", "n=30, d=8"), "dataset 'mine' must have the 30 rows of 8 .* gave 30 of 30"),
        (("return Dataset", "return dict"), "'mine' must return a Dataset, got dict"),
        (("n=30, d=30", "n=30, d=30, metric='dot'"), "'mine' must have the distance .* 'dot', its load gave 'l2'"),
    ],
)
def test_a_plugin_that_does_not_keep_what_its_card_declares_is_named(
    wrong: tuple[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OHASH_PLUGINS", "")
    (tmp_path / "mine.py").write_text(PLUGIN.replace(*wrong))
    add_plugin(tmp_path / "mine.py")
    try:
        with pytest.raises(ValueError, match=words):
            load_by_key("mine")
    finally:
        monkeypatch.undo()
        plugin_modules.cache_clear()
