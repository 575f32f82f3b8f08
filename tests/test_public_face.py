"""One public face: what `import ohash` offers is listed here, works, and is all that generated code uses."""

import ast
import html.parser
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ohash
from ohash.comparison.export import code_for as comparison_code
from ohash.comparison.params import build_comparison
from ohash.engine.export import code_for as run_code
from ohash.sweeps.specification import build_sweep
from ohash.sweeps.sweep import code_for as sweep_code

ROOT = Path(__file__).parents[1]
FACE = {
    "MMOH", "OH", "Change", "Comparison", "ComparisonSnapshot", "Dataset", "ExperimentParams", "FeatureMap",
    "HammingIndex", "History", "KernelWarning", "Run", "Runner", "Snapshot", "Store", "Sweep", "SweepResults",
    "UncentredWarning",
    "compare", "datasets", "exact_neighbours", "experiment", "follow", "gist512", "load", "load_dataset", "load_model",
    "mean_ap", "methods", "metrics", "models", "pair_stream", "playground", "recall_at_k", "retrieval", "run", "save",
    "save_model", "sweep", "verdict",
}  # fmt: skip
PACKAGES = {
    "core", "runtime", "models", "streams", "evaluation", "index", "engine", "store", "comparison", "sweeps",
    "advice", "production", "paper", "plots", "web", "ui", "cli", "table_files", "repr_html", "number_formats",
}  # fmt: skip


def names_used(code: str) -> set[str]:
    """What code takes from ohash; importing from inside the package would show as a dotted module."""
    tree = ast.parse(code)
    modules = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    inside = {name for name in modules if name.startswith("ohash.")}
    attributes = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ohash"
    }
    return inside | attributes


def test_the_face_is_what_is_listed() -> None:
    assert set(ohash.__all__) == FACE
    assert {name for name in dir(ohash) if not name.startswith("_")} - PACKAGES <= FACE


@pytest.mark.parametrize("name", sorted(FACE))
def test_every_name_of_the_face_is_there_and_explained(name: str) -> None:
    assert getattr(ohash, name).__doc__


@pytest.mark.parametrize("name", sorted(FACE - {"metrics", "models"}))
def test_help_names_the_kind_of_array_and_not_what_numpy_makes_of_it(name: str) -> None:
    offered = getattr(ohash, name)
    if not (isinstance(offered, type) and issubclass(offered, Warning)):
        assert "_NestedSequence" not in str(inspect.signature(offered))


def test_the_aliases_are_the_same() -> None:
    assert ohash.load is ohash.load_model and ohash.save is ohash.save_model


def test_the_lists_of_methods_and_data_sets_can_be_read_in_a_shell() -> None:
    assert repr(ohash.methods()["itq"]) == "HasherSpec('itq', 'ITQ', consumes='batch')"
    assert repr(ohash.datasets()["digits"]) == "DatasetSpec('digits', 'Digits, 8 x 8 pixels', 1,797 x 64)"


def test_metrics_say_how_each_number_is_shown() -> None:
    assert {"map", "recall_at_k", "pair_auc", "learn_seconds"} <= ohash.metrics.keys()
    for key, metric in ohash.metrics.items():
        assert metric.key == key and metric.label and metric.help.endswith(".") and metric.lo < metric.hi
    assert (ohash.metrics["map_at_k"].name(10), ohash.metrics["learn_seconds"].better) == ("mAP@10 (min)", "lower")


@pytest.mark.parametrize("use", [ohash.experiment, ohash.load_dataset, lambda key: ohash.compare(key, ["oh", "lsh"])])
def test_a_misspelt_dataset_is_named_at_once(use: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match=r"got 'digitz' \(did you mean 'digits'\?\)"):
        use("digitz")


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: ohash.run("digits"), ValueError, "params must be those of experiment"),  # type: ignore[arg-type]
        (lambda: ohash.run(ohash.experiment("digits"), every=0), ValueError, "every must be a number of pairs >= 1"),
        (lambda: ohash.experiment("digits", "ihq"), ValueError, r"got 'ihq' \(did you mean 'itq'\?\); one of your own"),
        (lambda: ohash.models.Itq, AttributeError, r"no 'Itq' \(did you mean 'ITQ'\?\)"),
        (lambda: ohash.models.itq, AttributeError, r"no attribute 'itq' \(did you mean 'ITQ'\?\)"),
        (lambda: ohash.models.ITQ(r=8).encode([[0.0, 1.0]]), ValueError, r"^the hash does not .* call fit\(X\)$"),
    ],
    ids=["run", "every", "method", "class", "key", "unfitted"],
)
def test_a_mistake_is_named_at_once_with_its_remedy(
    use: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        use()


def test_a_sweep_of_a_misspelt_dataset_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"got 'digitz' \(did you mean 'digits'\?\)"):
        ohash.sweep(base={"dataset": "digitz"}, grid={"C": [0.1, 1.0]}, store=tmp_path)


def test_importing_ohash_is_light() -> None:
    code = "import sys, ohash; print({'numba', 'scipy', 'pandas', 'sklearn', 'streamlit', 'plotly'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
def test_every_method_is_a_class_of_models_at_once() -> None:
    code = (
        "import ohash; print(ohash.models.ITQ(r=8).r); "
        "print(ohash.models.HashingEstimator(method='itq', r=8).get_params()['r'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["8", "8"]


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'learn_everything'"):
        _ = ohash.learn_everything


@pytest.mark.parametrize(
    "code",
    [
        run_code(ohash.experiment("digits", "oh", r=8, pairs=60, m=20, changes=[(30, "C", 0.5)])),
        comparison_code(build_comparison("digits", ("oh:C=1", "lsh"), (0, 1), bits=8, pairs=60, m=20, sweep=False)),
        sweep_code(build_sweep("C", base={"dataset": "blobs2d", "r": 8, "pairs": 60}, grid={"C": [0.1]}, seeds=1)),
    ],
    ids=["run", "comparison", "sweep"],
)
def test_generated_code_uses_the_face_alone_and_runs(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert names_used(code) <= FACE
    exec(compile(code, "generated", "exec"), {})
    assert re.search(r"mAP 0\.\d{3}", capsys.readouterr().out)


def test_the_readme_uses_the_face_alone() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    lines = [line[4:] for block in blocks for line in block.splitlines() if line.startswith((">>> ", "... "))]
    assert lines and names_used("\n".join(lines)) <= FACE


class Wellformed(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("br", "img", "rect", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.slow
def test_a_run_and_a_comparison_show_themselves_in_a_notebook() -> None:
    *_, now = ohash.run(ohash.experiment("digits", "oh", r=8, pairs=300, m=20))
    results = ohash.compare("digits", ["oh", "lsh"], bits=8, pairs=300, m=20, sweep=False)
    for shown, words in ((now, ("OH on digits", "300 pairs", "mAP")), (results, ("OH (8 bits): mAP", "LSH"))):
        text = shown._repr_html_()
        assert all(word in text for word in words) and text.count("<polyline") == 2
        page = Wellformed()
        page.feed(text)
        assert not page.open
