"""Every LaTeX table of ohash is compiled by a real TeX, and none is wider than the page."""

import os
import shutil
import subprocess

import pytest

from ohash.comparison.export import to_latex as comparison_latex
from ohash.paper.claims import CLAIMS
from ohash.paper.figures import FIGURES
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import PROFILES
from ohash.paper.recorded_results import read_recording
from ohash.paper.tables import claims_table, data_table, figure_table
from ohash.store.store import Store
from ohash.sweeps.report import to_latex as sweep_latex
from ohash.sweeps.results import Point
from ohash.sweeps.specification import build_sweep
from ohash.table_files import escape_latex, to_latex
from tests.comparison.snapshots import snapshot

pytestmark = pytest.mark.slow
DOCUMENT = r"""\documentclass[a4paper,10pt]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs,array,amsmath,longtable}
\begin{document}
%s
\end{document}
"""


def need_tex():
    """Skip without a TeX; in CI, which installs one, that is a failure."""
    if shutil.which("pdflatex") is None:
        missing = pytest.fail if os.environ.get("OHASH_CI") else pytest.skip
        missing("there is no TeX here: apt-get install texlive-latex-recommended")


@pytest.fixture
def compiled(tmp_path):
    """Compile a table; the log of TeX."""
    need_tex()

    def compile_table(name, text):
        (tmp_path / f"{name}.tex").write_text(DOCUMENT % text)
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"],
            cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:]
        too_wide = [
            line for line in done.stdout.splitlines() if line.startswith("Overfull \\hbox") and width(line) > 10
        ]
        assert "Float too large" not in done.stdout, f"{name} is longer than a page"
        assert not too_wide, (name, too_wide, text[:1500])

    return compile_table


def width(line):
    """Points beyond the margin, of a line like "Overfull \\hbox (12.3pt too wide) in ..."."""
    return float(line.split("(")[1].split("pt")[0])


def test_comparisons_and_sweeps(compiled):
    compiled(
        "compare", comparison_latex(snapshot({"oh": 0.7, "mmoh": 0.6, "itq": 0.5, "sketch_hash": 0.4}, seeds=(0, 1)))
    )
    sweep = build_sweep(
        "β & C_1 (50 %)", base={"dataset": "digits"}, grid={"beta": [0.3, 0.5], "kernel": ["rbf", "none"]}
    )
    points = [Point(at, tuple(cells), ({"map": 0.5, "recall_10": 0.4},)) for at, cells in sweep.by_point()]
    compiled("sweep", sweep_latex(sweep, points))


def test_names_from_files_and_links_are_only_text(compiled):
    hostile = '[1ex] *x* <b>|\\input{/etc/passwd}\n\n"two" 50 % $ & # _ ~ ^'
    sweep = build_sweep(hostile, base={"dataset": "digits"}, grid={"kernel": ["rbf"]})
    points = [Point(at, tuple(cells), ({"map": 0.5, "recall_10": 0.4},)) for at, cells in sweep.by_point()]
    compiled("caption", sweep_latex(sweep, points))
    for name in (hostile, "*", "[x]", "犬 🐕 собака\x07", "déjà Łódź “mAP” — 5 €"):
        cell = escape_latex(name)
        compiled("cells", to_latex((cell, "mAP"), [[(cell, "0.5"), (cell, "0.4")]], caption=cell))


def test_tables_fit_into_a_two_column_article(tmp_path):
    need_tex()
    tables = {
        "compare": comparison_latex(snapshot({"oh": 0.7, "mmoh": 0.6, "itq": 0.5, "sketch_hash": 0.4}, seeds=(0, 1)))
    }
    for name, grid in (("both", {"noise": [0.1, 0.2]}), ("column", {})):
        sweep = build_sweep(base={"dataset": "digits", "r": 32}, grid={"method": ["mmoh", "sketch_hash"], **grid})
        numbers = tuple({"map": 0.5 + at, "recall_10": 0.4 - at, "bits": 128.0 if grid else 32.0} for at in (0.0, 0.1))
        tables[name] = sweep_latex(sweep, [Point(at, tuple(cells), numbers) for at, cells in sweep.by_point()])
    assert [name for name, text in tables.items() if r"\begin{table*}" in text] == ["compare", "both"]
    for name, text in tables.items():
        document = "\n".join(line for line in DOCUMENT.splitlines() if "geometry" not in line)
        (tmp_path / f"{name}.tex").write_text(document.replace("a4paper,10pt", "twocolumn") % text)
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"],
            cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0 and "Overfull" not in done.stdout, (name, done.stdout[-1500:])


def test_every_table_of_the_paper_page(compiled, tmp_path):
    measured = Measurements(Store(tmp_path / "store"), PROFILES["full"], read_recording())
    compiled("data", data_table(measured, list(FIGURES.values())).latex())
    for key, figure in FIGURES.items():
        compiled(f"figure-{key}", figure_table(measured, figure).latex())
    findings = [judge_claim(claim, measured) for claim in CLAIMS if claim.figures]
    compiled("claims", claims_table(findings).latex())
