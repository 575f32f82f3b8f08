"""Methods are found by scan and from plugins; importing ohash stays light."""

import inspect
import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import ohash
from ohash import models
from ohash.core.parameters import param
from ohash.models import contract, registry
from ohash.models.base import HasherSpec

HEAVY = ("sklearn", "pandas", "faiss", "dask", "distributed", "streamlit", "plotly", "scipy.spatial", "h5py", "pyarrow")

PLUGIN = '''
"""A method of the user's own: every code is the sign of the first r columns."""
from dataclasses import asdict, dataclass
from ohash.core.codes import Codes, pack
from ohash.core.parameters import param, validate
from ohash.models.base import HasherSpec

@dataclass(frozen=True)
class Params:
    r: int = param(8, symbol="r", title="bits", lo=1, hi=64, help="Bits.")
    def __post_init__(self):
        validate(self)

class FirstColumns:
    key = "FirstColumns"
    def __init__(self, params):
        self.params, self.version = params, 0
    @property
    def r(self):
        return self.params.r
    def encode(self, X):
        return Codes(pack(X[:, : self.r] >= 0), self.r, self.version)
    def state(self):
        return {"params": asdict(self.params)}, {}

HASHER = HasherSpec(
    key="FirstColumns", title="First columns", cite="nobody", bibtex="@misc{nobody}", supervision="none",
    consumes="nothing", params=Params, build=FirstColumns, aliases=("Mine",),
    restore=lambda values, arrays: FirstColumns(Params(**values["params"])),
)
'''

USE_PLUGIN = """
import numpy as np, ohash
import ohash
from ohash import models
from ohash.core.parameters import param
from ohash.models import contract, registry
spec = registry.find("FirstColumns")
assert registry.find("mine") is registry.find("first COLUMNS") is spec
model = spec.build(spec.params(r=9))
X = np.random.default_rng(0).normal(size=(5, 12))
ohash.save(model, "plugin.npz")
assert (ohash.load("plugin.npz").encode(X) == model.encode(X)).all()
print(",".join(sorted(registry.hashers())))
"""


def python(code, cwd, **env):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=os.environ | env, capture_output=True, text=True, check=False
    )


def test_the_scan_finds_every_method():
    specs = registry.hashers()
    assert {"oh", "mmoh", "lsh"} <= set(specs)
    assert all(isinstance(spec, HasherSpec) and spec.key == key for key, spec in specs.items())


@pytest.mark.parametrize("name", ["oh", "OH", "online hashing", "Online Hashing", "online-hashing"])
def test_methods_are_found_by_key_title_and_alias_in_any_case(name):
    assert registry.find(name).key == "oh"


def test_names_lead_to_one_method_only():
    names = [
        registry._normalise_name(name) for spec in registry.hashers().values() for name in {spec.key, *spec.aliases}
    ]
    assert len(names) == len(set(names))


def test_an_unknown_method_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"method must be one of .*lsh.*mmoh.*oh.*, got 'nosuch'"):
        registry.find("nosuch")


@pytest.mark.slow
def test_a_plugin_file_is_a_method_like_any_other(tmp_path):
    (tmp_path / "mine.py").write_text(PLUGIN)
    done = python(USE_PLUGIN, tmp_path, OHASH_PLUGINS="mine.py")
    assert done.returncode == 0, done.stderr
    assert {"FirstColumns", "oh"} <= set(done.stdout.strip().split(","))


@pytest.mark.slow
def test_several_plugins_are_separated_as_in_PATH(tmp_path):
    (tmp_path / "one.py").write_text(PLUGIN)
    (tmp_path / "two.py").write_text(PLUGIN.replace('"FirstColumns"', '"Other"').replace("Mine", "Yours"))
    done = python(
        "from ohash.models import registry; print(*registry.hashers())",
        tmp_path,
        OHASH_PLUGINS=f"one.py{os.pathsep}two.py",
    )
    assert {"FirstColumns", "Other"} <= set(done.stdout.split()), done.stderr


@pytest.mark.parametrize("content", ["missing", "duplicate", "folder", "text"])
@pytest.mark.slow
def test_bad_plugins_are_errors_that_name_them(tmp_path, content):
    name = "bad.txt" if content == "text" else "bad.py"
    if content == "folder":
        (tmp_path / name).mkdir()
    elif content != "missing":
        (tmp_path / name).write_text(PLUGIN.replace('key="FirstColumns"', 'key="oh"'))
    done = python("from ohash.models import registry; registry.hashers()", tmp_path, OHASH_PLUGINS=name)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    expected = (
        "ValueError: HASHER key 'oh' of bad.py is taken already by ohash.models.online.oh; choose another"
        if content == "duplicate"
        else f"ValueError: plugin must be a Python file (.py) that exists, got {name}"
    )
    assert last == expected


@pytest.fixture
def clean_registry(monkeypatch):
    monkeypatch.setenv(registry.PLUGINS, "")
    yield
    monkeypatch.undo()
    registry.plugin_modules.cache_clear()
    registry.hashers.cache_clear()


def test_add_plugin_holds_for_children_in_any_folder(tmp_path, monkeypatch, clean_registry):
    (tmp_path / "mine.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    registry.add_plugin("mine.py")
    assert registry.find("Mine").key == "FirstColumns"
    assert os.environ[registry.PLUGINS] == str((tmp_path / "mine.py").resolve())


def test_a_plugin_that_is_not_there_is_not_added(clean_registry):
    with pytest.raises(ValueError, match=r"plugin must be a Python file \(.py\) that exists, got nowhere.py"):
        registry.add_plugin("nowhere.py")
    assert os.environ[registry.PLUGINS] == ""
    assert "oh" in registry.hashers()


def test_a_plugin_that_declares_nothing_is_told_what_to_declare(tmp_path, clean_registry):
    (tmp_path / "idle.py").write_text("x = 1")
    registry.add_plugin(tmp_path / "idle.py")
    with pytest.raises(ValueError, match=r"idle\.py must define HASHER or DATASET, .* it defines neither"):
        registry.hashers()


def test_an_installed_plugin_that_declares_nothing_is_named(monkeypatch, clean_registry):
    idle = SimpleNamespace(name="idle", value="idle.methods", load=lambda: SimpleNamespace(__name__="idle.methods"))
    monkeypatch.setattr(registry.importlib.metadata, "entry_points", lambda group: [idle])
    registry.plugin_modules.cache_clear()
    with pytest.raises(ValueError, match=r"plugin idle = idle\.methods must define HASHER or DATASET"):
        registry.plugin_modules()


def test_a_plugin_that_fails_leaves_no_half_module(tmp_path, clean_registry):
    (tmp_path / "broken.py").write_text("x = 1\nraise RuntimeError('from the plugin')")
    registry.add_plugin(tmp_path / "broken.py")
    with pytest.raises(ValueError, match=r"broken\.py could not be imported: RuntimeError\('from the plugin'\)"):
        registry.hashers()
    assert "ohash_plugin_broken" not in sys.modules


def test_a_spec_without_class_or_build_says_what_is_missing():
    with pytest.raises(ValueError, match=r"HasherSpec must have hasher, or key, params and build; key is missing"):
        HasherSpec(title="x", cite="", bibtex="", supervision="none", consumes="nothing")


def test_models_offers_its_methods_by_name_and_refuses_others():
    assert models.param is param and models.load is ohash.load and models.HasherSpec is HasherSpec
    assert set(models.__all__) <= set(dir(models)) and all(hasattr(models, name) for name in models.__all__)
    with pytest.raises(AttributeError, match=r"ohash.models has no 'Nosuch'; its methods are AdaptHash, .*SketchHash"):
        _ = models.Nosuch
    with pytest.raises(AttributeError, match="has no attribute 'nosuch'"):
        _ = models.nosuch


def test_keys_are_unique():
    def module(name, *keys):
        return SimpleNamespace(__name__=name, THING=tuple(SimpleNamespace(key=key) for key in keys))

    assert list(
        registry.collect_specs([module("a", "x"), module("b", "y", "z"), SimpleNamespace(__name__="c")], "THING")
    ) == [
        "x",
        "y",
        "z",
    ]
    with pytest.raises(ValueError, match="THING key 'x' of b is taken already"):
        registry.collect_specs([module("a", "x"), module("b", "x")], "THING")


@pytest.mark.parametrize(
    "code", ["import ohash", "import ohash; ohash.models.ITQ(r=8)", "import ohash.models.registry as r; r.hashers()"]
)
def test_importing_ohash_is_light(tmp_path, code):
    probe = f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = python(probe, tmp_path, OHASH_PLUGINS="")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_a_subclass_may_add_keywords_of_its_own():
    class Scaled(models.OH):
        def __init__(self, scale=2.0, **keywords):
            super().__init__(**keywords)
            self.scale = scale

    class Named(models.ITQ):
        def __init__(self, name):
            super().__init__(r=8)

    assert (Scaled(scale=3, r=8).scale, Scaled(r=8).r, Named(name="a").r) == (3, 8, 8)
    assert Scaled(3.0, r=2, W=np.ones((4, 2))).d == 4
    for kind in (Scaled, Named):
        with pytest.raises(ValueError, match=f"{kind.__name__} has no parameter 'size'; its parameters are"):
            kind(size=1)
    assert list(inspect.signature(models.OH).parameters)[:4] == ["r", "alpha", "beta", "C"]
    assert models.OH(16, 1).params.alpha == 1


def test_codes_that_do_not_say_whether_their_bits_count_break_the_contract():
    numbers = replace(registry.hashers()["lsh"], hamming=False)
    with pytest.raises(contract.ContractError, match="codes must say hamming = False"):
        contract.check_codes(contract.Case(numbers))
