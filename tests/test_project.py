"""The promises of the project itself: layout, README, router, wheel, imports."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from ohash.streams.readers.source import UPLOAD

ROOT = Path(__file__).parents[1]
TOP = {"pyproject.toml", "README.md", "app.py", "ohash", "pages", "tests", "sample_data", "LICENSE"}


def tracked() -> set[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return set(listed.stdout.split("\n")) - {""}


def test_top_level_is_exactly_what_is_agreed() -> None:
    top = {name.partition("/")[0] for name in tracked()}
    assert {name for name in top if not name.startswith(".")} == TOP


def test_readme_first_screen_holds_both_commands() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:30])
    assert "python3 -m pip install -e . && python3 -m streamlit run app.py" in first_screen
    assert 'python3 -m pip install -e ".[test]" && python3 -m pytest' in first_screen


def test_the_readme_and_the_examples_keep_off_the_users_store(request: pytest.FixtureRequest) -> None:
    examples = [item for item in request.session.items if isinstance(item, pytest.DoctestItem)]
    assert all("own_home" in item.fixturenames for item in (*examples, request.node))


def test_readme_commands_exist() -> None:
    from ohash.cli.main import commands

    named = set(re.findall(r"`python3 -m ohash (\w[\w-]*)", (ROOT / "README.md").read_text()))
    assert named and named <= set(commands())


def test_app_only_routes() -> None:
    tree = ast.parse((ROOT / "app.py").read_text())
    imported = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {
        "streamlit",
        "ohash.ui.workarounds.router",
        "ohash.ui.server_start",
        "ohash.ui.session.access",
        "ohash.ui.workarounds.style",
    }
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]


@pytest.mark.parametrize("page", sorted((ROOT / "pages").glob("*.py")), ids=lambda page: page.name)
def test_pages_are_thin(page: Path) -> None:
    tree = ast.parse(page.read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert "numpy" not in page.read_text() and "session_state" not in page.read_text()
    assert len(page.read_text().splitlines()) <= 120


@pytest.mark.slow
def test_the_menu_waits_for_no_engine() -> None:
    code = "import sys, ohash.ui.workarounds.router, ohash.ui.workarounds.style; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert not {"numba", "pandas", "scipy", "ohash.engine"} & set(loaded.split())


def test_few_files_touch_session_state() -> None:
    users = {f.name for f in (ROOT / "ohash" / "ui").rglob("*.py") if "st.session_state" in f.read_text()}
    assert users == {"router.py", "tab.py", "view_state.py", "slots.py", "access.py"}


def test_work_on_all_cores_shares_one_pool() -> None:
    makers = {f.name for f in (ROOT / "ohash").rglob("*.py") if "ThreadPoolExecutor(" in f.read_text()}
    assert makers == {"threads.py", "method_run.py", "visitors.py"}  # the pool; fits that are waited for; a crowd


def test_every_pickle_free_load() -> None:
    for file in (ROOT / "ohash").rglob("*.py"):
        text = file.read_text()
        assert "allow_pickle=True" not in text and "pickle.load" not in text, file


def test_equations_named_in_the_interface_stand_in_the_core() -> None:
    core = "\n".join(f.read_text() for f in (ROOT / "ohash" / "core").glob("*.py"))
    shown = "\n".join(f.read_text() for f in (ROOT / "ohash" / "models").rglob("*.py"))
    equations = set(re.findall(r"Eq\. \(\d+\)", shown))
    missing = {eq for eq in equations if eq not in core} - {"Eq. (9)"}  # the refined loss is an option of the models
    assert equations and not missing


def test_engine_and_command_line_load_without_streamlit() -> None:
    code = (
        "import sys, ohash.cli.main as m; m.parser(); import ohash.engine.live.runner; "
        "heavy = {'streamlit', 'plotly', 'sklearn', 'pandas', 'faiss', 'dask', 'distributed'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_configuration_beside_the_script() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert config["browser"]["gatherUsageStats"] is False
    assert config["server"]["address"] == "localhost"
    assert config["server"]["enableXsrfProtection"] is True
    assert config["server"]["maxUploadSize"] * 2**20 == UPLOAD.size
    assert config["runner"]["postScriptGC"] is False
    assert config["global"]["minCachedMessageSize"] > 2**33  # no message refers to another
    assert config["client"]["showErrorDetails"] in ("none", False)


@pytest.mark.slow
def test_wheel_carries_the_dashboard_and_opens_it(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "-q", "-w", str(tmp_path)],
        check=True, cwd=ROOT,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for wanted in ("app.py", "pages/live.py", ".streamlit/config.toml", "sample_data/fashion_gist.npz"):
        assert f"ohash/_app/{wanted}" in names
    target = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(target)
    code = (
        "import ohash, ohash.cli.lab as lab; from ohash.streams.registry import load_by_key; "
        "print(lab.app_file()); print(load_by_key('fashion').n)"
    )
    environment = {**os.environ, "PYTHONPATH": str(target), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, cwd=tmp_path, env=environment, capture_output=True, text=True
    ).stdout.split()
    assert done == [str(target / "ohash" / "_app" / "app.py"), "2500"]
