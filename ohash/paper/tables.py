"""The numbers of a figure and the claims as tables of text and LaTeX (booktabs), and the BibTeX of their sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ohash.models import registry as methods
from ohash.paper.cost_claims import seconds_per_pair
from ohash.paper.figures import FIGURES, Figure, variant_title
from ohash.paper.findings import Finding
from ohash.paper.measurements import Measurements, MissingCellError, SeedResult
from ohash.paper.new_data_claims import new_ap
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


def figure_table(measurements: Measurements, figure: Figure) -> Table:
    """One row per data set and method, one column per value of the varied parameter; mean ± sd over seeds."""
    if figure.varies == "method":
        return _methods_by_data(measurements, figure)
    cells = measurements.cells(figure)
    columns = list(dict.fromkeys(point.x for point in cells))
    rows = []
    for setting in measurements.settings(figure):
        for method in dict.fromkeys(point.method for point in cells if point.setting == setting.key):
            texts = [_cell(measurements, figure, setting, method, x) for x in columns]
            rows.append((setting.title, variant_title(method), *texts))
    what = {"5": "cumulative similarity loss", "7": "µs per pair", "arrival": "on test queries of the new ones"}.get(
        figure.key, "mAP on test queries"
    )
    header = ("data", "method", *(_column(figure, x) for x in columns))
    return Table(f"{figure.title} ({what}; {figure.place})", header, tuple(rows))


def _column(figure: Figure, x: Any) -> str:
    if figure.varies in ("pairs", "drift_at"):
        return f"{'after' if figure.varies == 'pairs' else 'change after'} {x:,} pairs"
    return x if isinstance(x, str) else f"{figure.varies} = {x:g}"


def _methods_by_data(measurements: Measurements, figure: Figure) -> Table:
    """One row per method, one column per data set."""
    settings, rows = measurements.settings(figure), []
    for method in figure.methods:
        spec = methods.find(method)
        texts = [_cell(measurements, figure, setting, method, method) for setting in settings]
        learns = {"none": "no labels", "pairs": "pairs", "labels": "labels"}[spec.supervision]
        how = {"batch": "all at once", "nothing": "nothing to learn"}.get(spec.consumes, "online")
        rows.append((variant_title(method), learns, how, *texts))
    header = ("method", "learns from", "learns", *(setting.title for setting in settings))
    return Table(f"{figure.title} (mAP on test queries; {figure.place})", header, tuple(rows))


def data_table(measurements: Measurements, figures: Sequence[Figure]) -> Table:
    """The data of the paper, and what stands in for them here."""
    rows = []
    for setting in dict.fromkeys(setting for figure in figures for setting in measurements.settings(figure)):
        data = measurements.dataset(setting)
        validation, test = data.queries
        what = (
            "the paper's own data" if setting.real else "yours, in its place" if setting.content else "stands in for it"
        )
        similar = {"tracks": "one track", "metric": "among the nearest 5 %", "labels": "the same label"}[setting.kind]
        rows.append((setting.paper, data.title, what, f"{data.n:,} × {data.d}", f"{validation} + {test}", similar))
    header = ("the paper's data", "here", "", "rows × columns", "validation + test queries", "similar means")
    return Table("Data of the paper and of this reproduction", header, tuple(rows))


def methods_table(figures: Sequence[Figure]) -> Table:
    """Every method: the features it was made for, how it differs from the original, what it was checked against."""
    rows = []
    for key in dict.fromkeys(method for figure in figures for method in figure.methods):
        spec = methods.find(key)
        rows.append((spec.title, spec.features_text, spec.differs or "As published.", str(spec.checked or "–")))
    return Table("Methods", ("method", "features", "differs from the original", "checked"), tuple(rows))


def claims_table(findings: Sequence[Finding]) -> Table:
    """One row per claim and data set."""
    rows = []
    for finding in findings:
        for at, part in enumerate(finding.parts or (None,)):
            verdict = f"{finding.verdict} ({finding.reason})" if finding.reason else finding.verdict
            claim = (finding.claim.text, finding.claim.place, verdict) if at == 0 else ("", "", "")
            effect = None if part is None else part.effect
            size = ("–", "") if effect is None else (str(effect), effect.interval)
            setting, what, here = (
                ("", "", "") if part is None else (part.setting, part.what or part.note, part.verdict_text)
            )
            rows.append((*claim, setting, what, *size, here))
    header = (
        "claim", "place", "verdict", "data", "what was compared", "effect and interval", "kind of interval",
        "verdict on these data",
    )  # fmt: skip
    return Table("The claims of the paper and what was measured", header, tuple(rows))


def bibtex(measurements: Measurements) -> str:
    """The paper, and every method and data set of its figures."""
    points = [point for figure in FIGURES.values() for point in measurements.cells(figure)]
    entries = [methods.find("oh").bibtex]
    entries += [methods.find(key).bibtex for key in dict.fromkeys(point.method.partition("@")[0] for point in points)]
    known = {one.key: one.dataset for figure in FIGURES.values() for one in measurements.settings(figure)}
    if measurements.own is None:
        entries += [
            datasets.find_dataset(known[key]).bibtex for key in dict.fromkeys(point.setting for point in points)
        ]
    return bibliography(entries)


def _cell(measurements: Measurements, figure: Figure, setting: Setting, method: str, x: Any) -> str:
    try:
        seeds = measurements.seeds(figure.key, setting, method, x)
        values = _values(measurements, figure, setting, method, x, seeds)
    except MissingCellError:
        return "–"
    digits = ",.0f" if figure.key == "5" else ".3g" if figure.key == "7" else ".3f"
    spread = f" ± {np.std(values, ddof=1):{digits}}" if len(values) > 1 else ""
    return f"{np.mean(values):{digits}}{spread}"


def _values(
    measurements: Measurements, figure: Figure, setting: Setting, method: str, x: Any, seeds: list[SeedResult]
) -> list[float]:
    if figure.key == "5":
        return [seed.number("cum_R") for seed in seeds]
    if figure.key == "7":
        return [1e6 * value for value in seconds_per_pair(measurements, setting, method, x)]
    if figure.key == "arrival":
        return [float(np.nanmean(ap)) for ap in new_ap(measurements, setting, seeds)]
    return [seed.score() for seed in seeds]
