"""The results of a comparison as rows, files, LaTeX and BibTeX."""

import csv
import io
import json
import re

import pytest

from ohash.comparison.export import columns, result_rows, to_bibtex, to_json, to_latex
from ohash.comparison.results import ComparisonSnapshot, EvaluationSetup, MethodResult
from ohash.table_files import to_csv
from tests.comparison.snapshots import snapshot


def test_rows_of_results():
    rows = result_rows(snapshot({"oh": 0.7, "itq": 0.55}))
    assert [row["method"] for row in rows] == ["OH", "ITQ", "float vectors (reference)"]
    assert rows[1]["map_minus_first"] == pytest.approx(-0.15, abs=0.02)
    assert rows[0]["map_minus_floats"] == pytest.approx(0.2, abs=0.02)
    assert rows[2]["bits"] == 32 * 512


def test_files():
    now = snapshot({"oh": 0.7, "sdh": 0.8, "itq": 0.55}, seeds=(0, 1))
    table = list(csv.DictReader(io.StringIO(to_csv(columns(now)))))
    assert len(table) == 3 * 2 * 3
    assert {row["method"] for row in table} == {"OH", "SDH", "ITQ"}
    whole = json.loads(to_json(now))
    assert whole["query"] == now.comparison.to_query()
    assert whole["results"][0]["map"] == pytest.approx(now.score(0, "map"))
    assert whole["verdict"]


def in_bold(text):
    """Who has the best mAP of its group."""
    rows = [line.split(" & ") for line in text.splitlines() if " & " in line]
    return [cells[0] for cells in rows if cells[3].startswith(r"\textbf{")]


def test_latex_ranks_only_within_one_supervision():
    text = to_latex(snapshot({"oh": 0.7, "mlh": 0.6, "sdh": 0.8, "ksh": 0.9, "itq": 0.55, "lsh": 0.4}))
    assert text.count(r"\midrule") == 4  # none, pairs, labels, the reference
    assert in_bold(text) == ["ITQ", "OH", "KSH"]
    assert text.count("{") == text.count("}")
    assert r"\toprule" in text and r"\bottomrule" in text


def test_latex_praises_no_reference_and_nobody_who_is_alone():
    assert in_bold(to_latex(snapshot({"oh": 0.7, "float": 0.9, "random_codes": 0.8, "itq": 0.5, "lsh": 0.4}))) == [
        "ITQ"
    ]
    assert in_bold(to_latex(snapshot({"oh": 0.7, "sdh": 0.8, "float": 0.9, "itq": 0.5}))) == []


def test_latex_compares_only_codes_of_equal_bytes():
    now = snapshot({"itq": 0.5, "lsh": 0.4, "int8": 0.9})
    large = tuple(
        MethodResult(**{**vars(one), "bytes": 512, "bits": 4096}) if one.entry == 2 else one for one in now.results
    )
    assert in_bold(to_latex(now)) == ["int8"]
    assert in_bold(to_latex(ComparisonSnapshot(**{**vars(now), "results": large}))) == ["ITQ"]


def test_latex_writes_a_spread_as_it_writes_the_score():
    cells = [
        line.split(" & ")[3] for line in to_latex(snapshot({"oh": 0.7}, seeds=(0, 1))).splitlines() if " & " in line
    ]
    assert re.fullmatch(r"\.\d{3} \$\\pm\$ \.\d{3}", cells[1])


def test_latex_survives_any_title():
    now = snapshot({"oh": 0.7})
    odd = ComparisonSnapshot(
        **{**vars(now), "setup": EvaluationSetup(r"50% of a_b & c\d^2 #1 {x}", 10, 5, "l2", "label", 5, 100, True)}
    )
    caption = next(line for line in to_latex(odd).splitlines() if line.startswith(r"\caption"))
    assert r"50\% of a\_b \& c\textbackslash{}d\textasciicircum{}2 \#1 \{x\}" in caption


def test_bibtex_names_each_source_once():
    text = to_bibtex(snapshot({"oh": 0.7, "mmoh": 0.8, "itq": 0.5, "kernel_lsh": 0.4, "lsh": 0.4}))
    assert text.count("@article{huang2017online") == text.count("charikar2002") == 1
    assert "gong" in text.lower()
