"""The numbers of a figure and the claims as tables of text and LaTeX (booktabs), and the BibTeX of their sources."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ohash.core.parameters import Value
from ohash.engine.judge import MAX_QUERIES
from ohash.models import registry as methods
from ohash.paper.cost_claims import seconds_per_pair
from ohash.paper.figures import FIGURES, Figure
from ohash.paper.findings import Finding
from ohash.paper.measurements import Measurements, MissingCellError, SeedResult
from ohash.paper.new_data_claims import new_ap
from ohash.paper.protocol import learns_from, needs_labels, variant_title
from ohash.paper.settings import EMBEDDED, LABELLED, PAPER_KINDS, TEXTS, Kind, Setting, stand_ins_text
from ohash.streams import registry as datasets
from ohash.table_files import bibliography, escape_latex, to_latex

LINE = 80  # letters that fit on a line of a table, about
MAX_TEXT_LENGTH = 40  # a longer text counts as this long when columns share the line
# In a table that shares the line: shares of its width that a letter and the gap between two columns take.
LETTER, COLUMN_GAP = 0.0105, 0.014
SIMILAR: dict[Kind, str] = {
    "tracks": "one track", "labels": "the same label", "nearest": "either is among the other's nearest 10",
    "clicks": "one depends on or recommends the other",
}  # fmt: skip
MAX_ROWS = 30  # more go on over several pages
NARROW = "% \\usepackage{array}\n\\small\\setlength{\\tabcolsep}{3pt}"


@dataclass(frozen=True)
class Table:
    """A header and rows of text."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def latex(self) -> str:
        r"""A table in the style of the LaTeX package booktabs, no wider than a page: long texts are wrapped."""
        rows = [tuple(map(escape_latex, row)) for row in self.rows]
        header = tuple(map(escape_latex, self.header))
        long = len(rows) > MAX_ROWS
        text = to_latex(header, [rows], caption=escape_latex(self.title), align=self._columns(), long=long)
        if not long:
            return text.replace(r"\centering", rf"\centering{NARROW}", 1) if self._wide else text
        text = f"% \\usepackage{{longtable}}\n{text}"
        return f"{{{NARROW}\n{text}}}\n" if self._wide else text

    @property
    def _texts(self) -> list[tuple[str, ...]]:
        return list(zip(self.header, *self.rows, strict=True))

    @property
    def _wide(self) -> bool:
        return sum(max(map(len, column)) for column in self._texts) > LINE

    def _columns(self) -> str:
        """Left for words, right for numbers; where they do not fit on the line, each has room for its longest word."""
        words = [max(len(word) for text in column for word in [*text.split(), ""]) for column in self._texts]
        room = 1 - COLUMN_GAP * len(words) - LETTER * sum(words)
        wishes = [
            max(0, min(max(map(len, column)), MAX_TEXT_LENGTH) - least)
            for column, least in zip(self._texts, words, strict=True)
        ]
        parts = []
        for column, least, wish in zip(self._texts, words, wishes, strict=True):
            number = bool(column[1:]) and all(text[:1] in "+-0123456789–" for text in column[1:] if text)
            share = LETTER * least + max(0.0, room) * wish / max(1, sum(wishes))
            side = r">{\raggedleft\arraybackslash}" if number else r">{\raggedright\arraybackslash}"
            parts.append(rf"{side}p{{{share:.3f}\linewidth}}" if self._wide else "r" if number else "l")
        return "".join(parts)


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


def _column(figure: Figure, x: Value) -> str:
    if figure.varies in ("pairs", "drift_at"):
        return f"{'after' if figure.varies == 'pairs' else 'change after'} {x:,} pairs"
    return x if isinstance(x, str) else f"{figure.varies} = {x:g}"


def _methods_by_data(measurements: Measurements, figure: Figure) -> Table:
    """One column per data set, one row per method and score: first how well it follows the truth, then the distance."""
    settings, rows = measurements.settings(figure), []
    truths = dict.fromkeys(
        f"{one.truth_title} of clicks" if one.kind == "clicks" else one.truth_title for one in settings
    )
    truth = "; ".join(truths)
    for score in (truth, "recall@10"):
        for method in figure.all_methods:
            spec = methods.find(method)
            texts = [
                _cell(measurements, figure, one, method, method, one.truth if score == truth else "recall_10")
                for one in settings
            ]
            learns = learns_from_text(method, settings)
            how = {"batch": "all at once", "nothing": "nothing to learn"}.get(spec.consumes, "online")
            rows.append((variant_title(method), learns, how, bytes_text(measurements, figure, method), score, *texts))
    what = f"{truth}, then recall@10 by the original distance, on test queries"
    header = ("method", "learns from", "learns", "bytes per item", "score", *(setting.title for setting in settings))
    return Table(f"{figure.title} ({what}; {figure.place})", header, tuple(rows))


def learns_from_text(method: str, settings: Sequence[Setting]) -> str:
    """What a method learns from; where it is not the same on all data, on which it is what.

    >>> learns_from_text("ksh", EMBEDDED), learns_from_text("ksh", TEXTS), learns_from_text("itq", EMBEDDED)
    ('labels; on Fashion by distance: pairs of a sample', 'pairs of a sample', 'no labels')
    """
    words = {"none": "no labels"} | ({"pairs": "pairs of a sample"} if methods.find(method).pairwise else {})
    able = [one for one in settings if one.kind in LABELLED or not needs_labels(method)]
    titles: dict[str, list[str]] = {}
    for setting in able or settings:
        source = learns_from(method, [setting])
        titles.setdefault(words.get(source, source), []).append(setting.title)
    if not titles:
        return words.get(learns_from(method, EMBEDDED), methods.find(method).supervision)
    first, *others = sorted(titles, key=lambda source: -len(titles[source]))
    return "; ".join([first, *(f"on {', '.join(titles[source])}: {source}" for source in others)])


def bytes_text(measurements: Measurements, figure: Figure, method: str) -> str:
    """Bytes per item of a method in a figure of all methods: once, or of each data set if they differ."""
    each = []
    for setting in measurements.settings(figure):
        try:
            each.append(f"{measurements.seeds(figure.key, setting, method, method)[0].bytes:,}")
        except MissingCellError:
            each.append("–")
    texts = dict.fromkeys(text for text in each if text != "–")
    return "; ".join(each) if len(texts) > 1 else "".join(texts) or "–"


def data_table(measurements: Measurements, figures: Sequence[Figure]) -> Table:
    """The data of the paper, and what stands in for them here."""
    rows = []
    for setting in dict.fromkeys(setting for figure in figures for setting in measurements.settings(figure)):
        data = measurements.dataset(setting)
        validation, test = data.queries
        size, queries = f"{data.n:,} × {data.d}", f"{validation} + {test}"
        if setting.kind == "clicks":
            queries = f"up to {MAX_QUERIES:,} + {MAX_QUERIES:,}, of later clicks"
        rows.append((
            setting.paper or "–", data.title, _data_role(setting), setting.difference(data.n) or "–", size, queries,
            SIMILAR.get(setting.kind) or data.explain(setting.similar_by).removeprefix("similar if "),
        ))  # fmt: skip
    header = (
        "the paper's data", "here", "role", "what differs", "rows × columns", "validation + test queries",
        "similar means",
    )  # fmt: skip
    return Table("Data of the paper and of this reproduction", header, tuple(rows))


def _data_role(setting: Setting) -> str:
    if not setting.paper:
        return setting.role
    return "the paper's own data" if setting.real else "yours, in its place" if setting.content else "stands in for it"


def coverage_text(measurements: Measurements) -> str:
    """Which embedded data sets the figures cover, and which of them no claim; "" for the user's own data."""
    if measurements.own is not None:
        return ""
    pictures = "; ".join(dict.fromkeys(datasets.find_dataset(one.dataset).title for one in EMBEDDED))
    specs = [datasets.find_dataset(one.dataset) for one in TEXTS]
    texts = "; ".join(f"{spec.title} ({spec.task})" for spec in specs)
    return (
        f"All embedded data sets are in the figures. The pictures stand in for the paper's data: {pictures}. Only in "
        f"“{FIGURES['texts'].title}”: {texts}. They are texts and stand in for none of the paper's data, and what is "
        "similar in them is none of the paper's three: one track, one label, or among the nearest 5 %. So no claim is "
        "judged on them."
    )


def stand_ins(measurements: Measurements, figure: Figure) -> str:
    """The data of a figure, each with the data of the paper that it is or stands for, as a sentence."""
    return stand_ins_text(measurements.settings(figure))


def not_drawn_text(measurements: Measurements, figures: Iterable[Figure]) -> str:
    """The figures that cannot be drawn for these data, each with what it needs; "" if there are none."""
    missing = [one for one in figures if not measurements.settings(one) and set(one.only) & set(PAPER_KINDS)]
    parts = [f"{one.key} needs {one.needs}" for one in missing]
    return f"Not drawn for these data: figure {'; figure '.join(parts)}." if parts else ""


def methods_table(figures: Sequence[Figure]) -> Table:
    """Every method: the features it was made for, how it differs from the original, what it was checked against."""
    rows = []
    for key in dict.fromkeys(method for figure in figures for method in figure.all_methods):
        spec = methods.find(key)
        is_own = key in methods.own_methods()
        differs = spec.differs or ("It is your own." if is_own else "As published.")
        rows.append((variant_title(key) if is_own else spec.title, spec.features_text, differs, spec.checked_text))
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
            setting, what, verdict_text = (
                ("", "", "") if part is None else (part.setting, part.what or part.note, part.verdict_text)
            )
            rows.append((*claim, setting, what, *size, verdict_text))
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
    dataset_of = {one.key: one.dataset for figure in FIGURES.values() for one in measurements.settings(figure)}
    if measurements.own is None:
        entries += [
            datasets.find_dataset(dataset_of[key]).bibtex for key in dict.fromkeys(point.setting for point in points)
        ]
    return bibliography(entries)


def _cell(
    measurements: Measurements, figure: Figure, setting: Setting, method: str, x: Value, score: str = "map"
) -> str:
    try:
        seeds = measurements.seeds(figure.key, setting, method, x)
        values = _values(measurements, figure, setting, method, x, seeds, score)
    except MissingCellError:
        return "–"
    digits = ",.0f" if figure.key == "5" else ".3g" if figure.key == "7" else ".3f"
    spread = f" ± {np.std(values, ddof=1):{digits}}" if len(values) > 1 else ""
    return f"{np.mean(values):{digits}}{spread}"


def _values(
    measurements: Measurements,
    figure: Figure,
    setting: Setting,
    method: str,
    x: Value,
    seeds: list[SeedResult],
    score: str,
) -> list[float]:
    if figure.key == "5":
        return [seed.number("cum_R") for seed in seeds]
    if figure.key == "7":
        return [1e6 * value for value in seconds_per_pair(measurements, setting, method, int(x))]
    if figure.key == "arrival":
        return [float(np.nanmean(ap)) for ap in new_ap(measurements, setting, seeds)]
    return [seed.score(score) for seed in seeds]
