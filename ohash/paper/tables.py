"""The numbers of a figure, and the claims, as tables of text; and the same in LaTeX (booktabs), with the BibTeX."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ohash.models import registry as methods
from ohash.paper.cost_claims import seconds_per_pair
from ohash.paper.figures import Figure
from ohash.paper.findings import Finding
from ohash.paper.measurements import Measurements, MissingCellError, SeedResult
from ohash.paper.settings import Setting
from ohash.streams import registry as datasets
from ohash.tables import bibliography, escape_latex, to_latex


@dataclass(frozen=True)
class Table:
    """A header and rows of text."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def latex(self) -> str:
        """A table in the style of the LaTeX package booktabs."""
        rows = [tuple(map(escape_latex, row)) for row in self.rows]
        return to_latex(tuple(map(escape_latex, self.header)), [rows], caption=escape_latex(self.title))


def figure_table(measured: Measurements, figure: Figure) -> Table:
    """One row a dataset and method, one column a value of the varied parameter; mean ± sd over seeds."""
    cells = measured.cells(figure)
    columns = list(dict.fromkeys(where.x for where in cells))
    rows = []
    for setting in figure.settings():
        for method in dict.fromkeys(where.method for where in cells if where.setting == setting.key):
            texts = [_cell(measured, figure, setting, method, x) for x in columns]
            rows.append((setting.title, methods.find(method).title, *texts))
    what = {"5": "cumulative similarity loss", "7": "µs a pair"}.get(figure.key, "mAP on test queries")
    header = ("data", "method", *(f"{figure.varies} = {x:g}" if not isinstance(x, str) else x for x in columns))
    return Table(f"{figure.title} ({what}; {figure.place})", header, tuple(rows))


def claims_table(findings: Sequence[Finding]) -> Table:
    """One row a claim and dataset."""
    rows = []
    for found in findings:
        for at, part in enumerate(found.parts or (None,)):
            verdict = f"{found.verdict} ({found.reason})" if found.reason else found.verdict
            first = (found.claim.text, found.claim.place, verdict) if at == 0 else ("", "", "")
            found_here = None if part is None else part.effect
            effect = ("–", "") if found_here is None else (str(found_here), found_here.interval)
            said = ("", "", "") if part is None else (part.setting, part.what or part.note, part.verdict)
            rows.append((*first, said[0], said[1], *effect, said[2]))
    header = (
        "claim", "place", "verdict", "data", "what was compared", "effect and interval", "kind of interval", "there"
    )  # fmt: skip
    return Table("The claims of the paper and what was measured", header, tuple(rows))


def bibtex(measured: Measurements) -> str:
    """The paper, every method and every dataset of the figures."""
    from ohash.paper.figures import FIGURES  # noqa: PLC0415

    wheres = [where for figure in FIGURES.values() for where in measured.cells(figure)]
    entries = [methods.find("oh").bibtex]
    entries += [methods.find(key).bibtex for key in dict.fromkeys(where.method for where in wheres)]
    known = {one.key: one.dataset for figure in FIGURES.values() for one in figure.settings()}
    entries += [datasets.find_dataset(known[key]).bibtex for key in dict.fromkeys(where.setting for where in wheres)]
    return bibliography(entries)


def _cell(measured: Measurements, figure: Figure, setting: Setting, method: str, x: Any) -> str:
    try:
        seeds = measured.seeds(figure.key, setting, method, x)
        values = _values(measured, figure, setting, method, x, seeds)
    except MissingCellError:
        return "–"
    digits = ",.0f" if figure.key == "5" else ".3g" if figure.key == "7" else ".3f"
    spread = f" ± {np.std(values, ddof=1):{digits}}" if len(values) > 1 else ""
    return f"{np.mean(values):{digits}}{spread}"


def _values(
    measured: Measurements, figure: Figure, setting: Setting, method: str, x: Any, seeds: list[SeedResult]
) -> list[float]:
    if figure.key == "5":
        return [seed.number("cum_R") for seed in seeds]
    if figure.key == "7":
        return [1e6 * value for value in seconds_per_pair(measured, setting, method, x)]
    return [seed.score() for seed in seeds]
