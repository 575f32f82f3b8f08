"""A method of one's own: the template runs as it is, and every mistake is one sentence with its line."""

import subprocess
import sys

import pytest

import ohash
from ohash.cli import check
from ohash.cli.main import main
from ohash.cli.new_method import template
from ohash.comparison.export import code_for as comparison_code
from ohash.comparison.params import build_comparison
from ohash.engine.export import code_for as run_code
from ohash.models import contract, registry
from ohash.plots.live import charts
from ohash.sweeps.specification import build_sweep
from ohash.sweeps.sweep import code_for as sweep_code
from tests.selection import alternate

RIGHT = template("mine")


@pytest.fixture
def own(tmp_path, no_plugins):
    return tmp_path / "mine.py"


@pytest.mark.slow
def test_the_template_is_short_checked_and_learns(own, capsys):
    assert main(["new-method", str(own)]) == 0
    assert "runs as it is" in capsys.readouterr().out
    assert own.read_text() == RIGHT and len(RIGHT.splitlines()) <= 39
    assert main(["check", str(own)]) == 0
    assert capsys.readouterr().out.strip().endswith(f"no mistake in {len(contract.CHECKS)} checks.")
    assert main(["new-method", str(own)]) == 2 and "exists already" in capsys.readouterr().err
    registry.add_plugin(own)
    *_, now = ohash.run(ohash.experiment("digits", "mine", r=32, pairs=1500))
    assert now.numbers["map"] > now.numbers["map_start"]
    for name in ("tau", "certificate", "loss"):
        chart = charts.CHARTS[name](now)
        assert "learns from pairs" in chart.title + chart.caption, "it learns, though it has no tau"
        assert "does not learn" not in chart.title + chart.caption


def test_code_for_a_comparison_and_a_run_names_the_file_of_the_method(own):
    own.write_text(RIGHT)
    registry.add_plugin(own)
    for code in (
        comparison_code(build_comparison("blobs2d", ("oh", "mine"), bits=8)),
        run_code(ohash.experiment("blobs2d", "mine", r=8)),
        sweep_code(build_sweep("mine", base={"dataset": "blobs2d", "method": "mine"}, grid={"eta": [0.1, 0.2]})),
    ):
        first, rest = code.split("import ohash\n")
        assert f'os.environ["OHASH_PLUGINS"] = os.pathsep.join([{str(own)!r}])' in first and "mine" in rest
    assert "OHASH_PLUGINS" not in comparison_code(build_comparison("blobs2d", ("oh", "lsh"), bits=8))


@pytest.mark.slow
def test_the_paper_page_has_it_among_every_method(own):
    assert registry.own_methods() == ()
    own.write_text(RIGHT)
    registry.add_plugin(own)
    sweep = "FIGURES['methods'].sweep(PROFILES['quick'])"
    code = f"from ohash.paper import *; print(*{{cell.params.method for cell in {sweep}.cells}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert registry.own_methods() == ("mine",) and {"mine", "oh"} <= set(done.stdout.split())
    own.write_text("import nothing_like_it")
    registry.plugin_modules.cache_clear()
    assert registry.own_methods() == (), "a broken plugin is reported where its method is asked for"


MISTAKES = [
    ("eta: float = param(0.05", "eta: float = (0.05", "Python cannot read this line"),
    ("    eta: float = param(", "    gamma: float = 0.5\n    eta: float = param(", "gamma is a plain dataclass field"),
    ("HASHER = HasherSpec", "METHOD = HasherSpec", "HASHER is missing"),
    ("import numpy as np", "import numpy_ as np", "cannot be imported: ModuleNotFoundError: No module named 'numpy_'"),
    ('key = "mine"', 'key = "oh"', "the key 'oh' belongs to another method"),
    (
        "self._Wt @ x_i[t], self._Wt @ x_j[t]",
        "self._Wt.T @ x_i[t], self._Wt @ x_j[t]",
        "mismatch in its core dimension",
    ),
    ("D_h[t] = differ.sum()", "D_h[t] = 99", "D_h must be a number of bits in [0, 11], got 99 to 99"),
    ("self._clock += (1, updated[t])", "self._clock += (1, 0)", "version has not risen"),
    ("f_i, f_j =", "sum(range(150_000))\n            f_i, f_j =", "pairs per second, so 20,000 take"),
    (
        "    def _learn_pair",
        "    def state(self):\n        return {'params': {}, 'W': self.W.tolist()}, {}\n\n    def _learn_pair",
        "a model that has seen no data cannot be saved and loaded: W does not exist yet",
    ),
    (
        "    def _learn_pair",
        "    def encode(self, X):\n        return super().encode(X)[:, :1]\n\n    def _learn_pair",
        "packed codes of shape (200, 2) and type uint8 for 200 rows and r = 11, got (200, 1)",
    ),
    (
        "f_i, f_j =",
        "self._Wt += np.random.normal(size=self._Wt.shape)\n            f_i, f_j =",
        "draw only from self._rng",
    ),
]


BEGIN = """    def _begin(self, d):
        super()._begin(d)
        self._v = np.zeros((self.r, d))

    def _learn_pair"""
MORE_MISTAKES = [
    (
        "_learn_pair_block",
        "_learn_pairs",
        "the class has no _learn_pair_block: write def _learn_pair_block(self, ",
    ),
    (
        "    def _learn_pair",
        "    def _setup(self):\n        super()._setup()\n        self._v = np.zeros((self.r, self.d))\n\n"
        "    def _learn_pair",
        "d is not known before data: make state that depends on it in _begin(self, d), not in _setup",
    ),
    (
        "self._Wt @ x_i[t], self._Wt @ x_j[t]",
        "self._Wt @ x_i[t] + x_i[t], self._Wt @ x_j[t]",
        "an error in _learn_pair_block when it learns: ValueError: operands could not be broadcast together with "
        "shapes (11,) (12,) ; here self._Wt is (11, 12), x_i and x_j (n, 12)",
    ),
    ("D_h[t] = differ.sum()", "raise KeyError('my bug')", "an error in _learn_pair_block when it learns: KeyError"),
    (
        "f_i, f_j =",
        "self._mean += 0.1 * x_i[t]\n            f_i, f_j =",
        "with center='frozen': the codes depend on how the stream is cut into calls",
    ),
    (
        "            self._Wt += self.params.eta",
        "            self._v = 0.9 * self._v + 0.01 * step\n            self._Wt += self._v\n"
        "            self._Wt += self.params.eta",
        'then learns differently: write ARRAYS = (*PairLearner.ARRAYS, "_v"), and make them in _begin(self, d)',
    ),
]


@pytest.mark.parametrize(("before", "after", "sentence"), alternate(MORE_MISTAKES))
def test_an_error_is_a_sentence_that_says_what_to_write(own, capsys, before, after, sentence):
    source = RIGHT.replace("    def _learn_pair", BEGIN) if "_v" in after and "_setup" not in after else RIGHT
    own.write_text(source.replace(before, after))
    assert main(["check", str(own)]) == 1
    out = capsys.readouterr().out
    assert out.count(sentence) == 1, out
    assert " cannot be checked" not in out


SLOW = "pairs per second, so 20,000 take"  # a method that is slow on purpose


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [pytest.param(*one, id=one[2][:24], marks=[pytest.mark.slow] * (one[2] == SLOW)) for one in MISTAKES],
)
def test_every_mistake_is_a_sentence_with_its_line(own, capsys, before, after, sentence):
    assert RIGHT.count(before) == 1
    own.write_text(RIGHT.replace(before, after))
    assert main(["check", str(own)]) == 1
    lines = capsys.readouterr().out.strip().splitlines()
    (line,) = [one for one in lines if sentence in one]
    number = int(line.removeprefix(f"{own}:").split(":")[0])
    text = own.read_text().splitlines()
    if "HASHER is missing" in sentence:
        assert number == len(text)
    elif "random" in after:
        assert text[number - 1].startswith("HASHER")
    else:
        near = {
            "D_h must": "def _learn",
            "version has": "def _learn",
            "pairs per": "def _learn",
            "packed": "def encode",
        }
        (wanted,) = [value for key, value in near.items() if sentence.startswith(key)] or [after.splitlines()[0]]
        wanted = "return {'params'" if "no data" in sentence else wanted
        assert wanted.strip() in text[number - 1], (number, line)


def test_a_mistake_is_printed_as_soon_as_it_is_known(own, capsys, monkeypatch):
    own.write_text(RIGHT)
    printed = []

    def mistakes(file):
        for line in (3, 7):
            yield line, "it is slow"
            printed.append(capsys.readouterr().out)

    monkeypatch.setattr(check, "mistakes_in", mistakes)
    assert main(["check", str(own)]) == 1
    assert printed == [f"{own}:{line}: it is slow.\n" for line in (3, 7)]
