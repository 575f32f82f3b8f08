"""What an address shows, read by the code under test: the only file here that imports from `ohash`.

One function per page: it reads the address as the page does and gives two nested structures, `numbers`, which must
never change, and `texts`, which may be reworded on purpose. Numbers may hold arrays. CPU and wall time and what
describes the machine are left out of both.
"""

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import parse_qs, parse_qsl, urlsplit

import numpy as np
import pyarrow.parquet as pq
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash import table_files
from ohash.comparison import export as report
from ohash.comparison.fairness import fairness
from ohash.comparison.runner import compare
from ohash.comparison.verdict import verdict
from ohash.engine import export
from ohash.engine.narrative import headline, title_of
from ohash.engine.params import ExperimentParams, protocol
from ohash.engine.run import Run
from ohash.engine.run_health import findings, health
from ohash.engine.snapshot import Snapshot
from ohash.paper import figures as paper_figures
from ohash.paper.claims import CLAIMS
from ohash.paper.figures import FIGURES
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import PROFILES, QUICK, Profile
from ohash.paper.settings import EMBEDDED
from ohash.paper.tables import bibtex, claims_table, figure_table
from ohash.plots import compare as compare_charts
from ohash.plots import data as data_charts
from ohash.plots import paper as paper_charts
from ohash.plots import sweeps as sweep_charts
from ohash.plots.live import charts as live_charts
from ohash.store import listing as runs
from ohash.store.store import Store
from ohash.streams import registry as datasets
from ohash.streams.overview import draw_examples, make_overview
from ohash.streams.summary import summarize
from ohash.sweeps.execution import SweepExecution
from ohash.sweeps.executors import InlineExecutor
from ohash.sweeps.results import best_points, collect_points
from ohash.sweeps.results import to_csv as sweep_csv
from ohash.sweeps.sweep import Sweep

Words = dict[str, Any]
Numbers = dict[str, Any]


class PageResults(NamedTuple):
    """What an address shows."""

    numbers: Numbers
    texts: Words


# Columns, keys and charts that hold times.
TIMES = ("cpu", "seconds", "cost", "encode_p", "scan_p")
STEP = 4096
NEWER = ("queries/test",)  # arrays that cells have kept since the recording


def live(address: str) -> PageResults:
    """The run of a Live link to its end, kept in a store and read back as the Runs page does."""
    named, link = _named(address)
    run = _finished(named.params)
    now = run.snapshot("done")
    numbers, texts = _run(run, now)
    kept, kept_texts = _kept(now)
    numbers |= {"link": link, "key": named.params.key(), "kept": kept}
    texts |= {"warnings": list(named.warnings), "kept": kept_texts}
    return PageResults(numbers, texts)


def comparison(address: str) -> PageResults:
    """The end of a comparison: every track, length and trial, the verdict, the files."""
    named, link = _named(address)
    snapshot = compare(named.comparison)
    rows = report.result_rows(snapshot)
    charts = {name: draw(snapshot) for name, draw in compare_charts.CHARTS.items() if "CPU" not in name}
    drawn, words = _charts(charts.values())
    exported = json.loads(report.to_json(snapshot))
    results_csv, results_header = _csv(table_files.rows_to_csv(rows))
    curves_csv, curves_header = _csv(table_files.to_csv(report.columns(snapshot)))
    numbers = {
        "link": link,
        "key": named.comparison.key(),
        "chosen": [named.comparison.experiment(entry).to_query() for entry in snapshot.entries],
        "state": snapshot.state,
        "end": snapshot.end,
        "tracks": [
            {
                "entry": result.entry, "seed": result.seed, "t": result.t, "state": result.state, "bits": result.bits,
                "bytes": result.bytes, "chosen": result.params.key(), "checkpoints": _timeless(result.checkpoints),
                "record": _fields(result.record), "reranked": result.reranked,
            }
            for result in snapshot.results
        ],
        "references": [_fields(one) | {"map": one.mean("map")} for one in snapshot.references],
        "costs": [
            None if cost is None else {"bits": cost.bits, "bytes": cost.bytes, "recomputed": cost.recomputed}
            for cost in snapshot.costs
        ],
        "lengths": [_fields(one) for one in snapshot.lengths],
        "trials": [{"entry": one.entry, "values": dict(one.values), "truth": one.truth} for one in snapshot.trials],
        "ground": {name: value for name, value in vars(snapshot.setup).items() if name not in ("title", "notes")},
        "ceilings": list(snapshot.ceilings),
        "results": [
            {key: value for key, value in _timeless(row).items() if key not in ("method", "error")} for row in rows
        ],
        "results_csv": results_csv,
        "curves_csv": curves_csv,
        "by_bits": [{key: value for key, value in one.items() if key != "method"} for one in exported["by_bits"]],
        "charts": drawn,
    }  # fmt: skip
    texts = {
        "warnings": list(named.warnings),
        "names": list(snapshot.names),
        "errors": [result.error for result in snapshot.results],
        "missing": list(snapshot.missing),
        "title": snapshot.setup.title,
        "notes": list(snapshot.setup.notes),
        "verdict": [[one.topic, one.text] for one in verdict(snapshot)],
        "fairness": fairness(snapshot),
        "results_csv": results_header,
        "curves_csv": curves_header,
        "json": sorted(exported),
        "methods_in_force": exported["methods_in_force"],
        "latex": report.to_latex(snapshot),
        "bibtex": report.to_bibtex(snapshot),
        "code": report.code_for(named.comparison),
        "charts": words,
    }
    return PageResults(numbers, texts)


def data(address: str) -> PageResults:
    """A look at a dataset: summary, overview, every meaning of "similar", the charts."""
    key, link = _app(_looked_at, address)
    dataset = datasets.load_by_key(key)
    described, seen = summarize(dataset), make_overview(dataset)
    meanings = {name: draw_examples(dataset, name) for name in dataset.similarities}
    coloured = list(range(min(len(seen.classes), len(data_charts.CLASS_ROLES))))
    drawn, words = _charts(
        [data_charts.class_balance(seen), data_charts.norms(seen), data_charts.projection(dataset, seen, coloured)]
    )
    summary = _fields(described)
    summary["loudest"] = summary.pop("dominant_column")  # as it was called when the links were recorded
    norms = _fields(seen.norms)
    norms |= {"least": norms.pop("smallest"), "most": norms.pop("largest")}
    numbers = {
        "link": link,
        "dataset": key,
        "fingerprint": dataset.fingerprint(),
        "good": described.good,
        "summary": {name: value for name, value in summary.items() if name not in ("title", "note", "problem")},
        "sizes": seen.class_sizes,
        "norms": norms,
        "sampled": seen.sampled,
        "projection": _fields(seen.projection),
        "shown": seen.examples,
        "meanings": {
            name: {"share": one.share, "similar": one.similar, "dissimilar": one.dissimilar}
            for name, one in meanings.items()
        },
        "charts": drawn,
    }
    texts = {
        "lines": described.lines(),
        "about": [dataset.title, dataset.cite, dataset.licence, dataset.note],
        "classes": list(seen.classes),
        "meanings": {name: one.sentence for name, one in meanings.items()},
        "charts": words,
    }
    return PageResults(numbers, texts)


def sweep(address: str) -> PageResults:
    """A shared sweep, carried out in a store of its own: cells, points, the best, the table."""
    chosen, link = _app(_shared_sweep, address)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        SweepExecution(chosen, store, InlineExecutor()).run()
        cells, notes = _cells(chosen, store)
        points = collect_points(chosen, store)
        best = best_points(chosen, store, points)
        table, header = _csv(sweep_csv(chosen, store))
    measures = [name for name in sweep_charts.MEASURES if not name.startswith(TIMES)]
    axes = chosen.axes
    along = [key for key, values in axes.items() if sweep_charts.numeric(values)]
    charts: list[Any] = [sweep_charts.lines(chosen, points, name, key) for name in measures for key in along]
    if len(axes) == 2:
        charts += [sweep_charts.heat(chosen, points, name, *axes) for name in measures]
    drawn, words = _charts(charts)
    numbers = {
        "link": json.loads(link["spec"]),
        "key": chosen.key,
        "axes": axes,
        "cells": cells,
        "points": [
            {
                "at": dict(point.at), "cells": [cell.key for cell in point.cells], "failed": point.failed,
                "mean": {name: point.mean(name) for name in measures},
                "sd": {name: point.sd(name) for name in measures},
            }
            for point in points
        ],
        "best": [
            {
                "chosen": dict(one.point.at), "validation": one.validation, "test": one.test, "test_sd": one.test_sd,
                "queries": one.queries, "seeds": one.seeds, "waiting": one.waiting, "lost": one.lost_runs,
            }
            for one in best
        ],
        "csv": table,
        "charts": drawn,
    }  # fmt: skip
    texts = {
        "name": chosen.name,
        "notes": notes,
        "best": [[one.group, one.queries_text, one.test_text] for one in best],
        "csv": header,
        "charts": words,
    }
    return PageResults(numbers, texts)


def paper(address: str) -> PageResults:
    """Some figures of the paper in a very small profile on one dataset, what the claims say of them, the protocol."""
    small = SMALL[parse_qs(urlsplit(address).query)["profile"][0]]
    setting = next(one for one in EMBEDDED if one.key == small.setting)
    figures = [FIGURES[key] for key in small.figures]
    with (
        patch.dict(PROFILES, {small.profile.key: small.profile}),
        patch.object(paper_figures, "settings", lambda: (setting,)),
        tempfile.TemporaryDirectory() as folder,
    ):
        key, link = _app(_paper_profile, address)
        profile, store = PROFILES[key], Store(folder)
        measured = Measurements(store, profile)
        sweeps = {figure.key: figure.sweep(profile) for figure in figures}
        for one in sweeps.values():
            SweepExecution(one, store, InlineExecutor()).run()
        cells = {name: _cells(one, store)[0] for name, one in sweeps.items()}
        finding = [judge_claim(claim, measured, (setting,)) for claim in CLAIMS if claim.key != "search"]  # a timing
        tables = [figure_table(measured, figure) for figure in figures]
        drawn, words = _charts(chart for figure in figures for chart in paper_charts.charts(measured, figure))
        texts: Words = {
            "latex": [table.latex() for table in tables],
            "claims": [
                [one.claim.text, one.claim.place, one.claim.test, one.held_text, one.interval, one.reason]
                for one in finding
            ],
            "claims_latex": claims_table(finding).latex(),
            "bibtex": bibtex(measured),
            "parts": [[[part.what, part.reason] for part in one.parts] for one in finding],
            "charts": words,
        }
    params = protocol(setting.dataset, pairs=300)
    run = _finished(params)
    protocol_numbers, texts["protocol"] = _run(run, run.snapshot("done"))
    numbers = {
        "link": link,
        "sweeps": {name: one.key for name, one in sweeps.items()},
        "cells": cells,
        "findings": {
            one.claim.key: {
                "verdict": one.verdict,
                "parts": [
                    {"verdict": part.verdict, "effect": None if part.effect is None else _effect(part.effect)}
                    for part in one.parts
                ],
            }
            for one in finding
        },
        "charts": drawn,
        "protocol": {"link": params.to_query(), **protocol_numbers},
    }
    return PageResults(numbers, texts)


PAGES: dict[str, Callable[[str], PageResults]] = {
    "live": live, "comparison": comparison, "data": data, "sweep": sweep, "paper": paper,
}  # fmt: skip


class Small(NamedTuple):
    """A profile of the paper's figures that takes seconds."""

    profile: Profile
    setting: str
    figures: tuple[str, ...]


LIGHTER = {
    "ksh": {"labelled": 100, "iterations": 5},
    "fasthash": {"labelled": 100, "trees": 2, "neighbours": 5, "sweeps": 1},
}
SMALL = {
    "tiny-digits": Small(
        replace(QUICK, key="tiny-digits", title="Tiny", pairs=300, bits=(16, 64), lighter=LIGHTER),
        "digits", ("2", "4", "kernel"),
    ),
    "tiny-patches": Small(
        replace(
            QUICK, key="tiny-patches", title="Tiny", pairs=300, bits=(16, 48), lighter=LIGHTER, seeds=2,
        ),
        "patches", ("3", "8"),
    ),
}  # fmt: skip


# -- how a page reads its address: scripts that Streamlit runs, so all they need is imported inside ------------------


def _experiment_or_comparison() -> None:
    import streamlit as st  # noqa: TID251

    from ohash.ui.session import address

    named = address.read()
    address.write(named.params or named.comparison)  # type: ignore[arg-type]
    st.session_state["read"] = named


def _looked_at() -> None:
    import streamlit as st  # noqa: TID251

    from ohash.ui.data import page
    from ohash.ui.session import address, tab

    key = page.choose(tab.current_session())
    address.write_query(page.query_of(key))
    st.session_state["read"] = key


def _shared_sweep() -> None:
    from urllib.parse import parse_qs, urlsplit

    import streamlit as st  # noqa: TID251

    from ohash.ui.sweeps.sharing import decode, link_to, shared_sweep

    sweep = shared_sweep()
    spec = parse_qs(urlsplit(link_to(sweep)).query)["spec"][0]
    st.query_params.from_dict({"spec": decode(spec).to_json()})  # not squeezed: zlib may differ
    st.session_state["read"] = sweep


def _paper_profile() -> None:
    import streamlit as st  # noqa: TID251

    from ohash.ui import paper

    st.session_state["read"] = paper.choose().key


def _app(script: Callable[[], None], address: str) -> tuple[Any, dict[str, str]]:
    """What a script reads in an address, and the address it writes."""
    app = AppTest.from_function(script, default_timeout=60)
    for key, value in parse_qsl(urlsplit(address).query):
        app.query_params[key] = [*app.query_params.get(key, []), value]
    app.run()
    if app.exception:
        raise AssertionError(f"{address}: {app.exception[0].stack_trace}")
    written = app.query_params.items()  # a value is a list where the script has written nothing
    return app.session_state["read"], {key: one if isinstance(one, str) else one[-1] for key, one in written}


def _named(address: str) -> tuple[Any, dict[str, str]]:
    return _app(_experiment_or_comparison, address)


# -- parts ---------------------------------------------------------------------------------------------------------


def _finished(params: ExperimentParams) -> Run:
    run = Run(params)
    while not run.done:
        run.step(STEP)
    return run


def _run(run: Run, now: Snapshot) -> tuple[Numbers, Words]:
    scores, ap, *_ = run.checkpoints.evaluate_on("test")
    charts = {name: draw(now) for name, draw in live_charts.CHARTS.items() if not name.startswith(TIMES)}
    drawn, words = _charts(charts.values())
    summary = export.summary(now)
    state, arrays = run.hasher.state()
    history_csv, history_header = _csv(table_files.to_csv(now.columns))
    checkpoints_csv, checkpoints_header = _csv(table_files.to_csv(now.checkpoints))
    parquet = pq.read_table(io.BytesIO(export.to_parquet(now.checkpoints)))
    numbers = {
        "t": now.t, "state": now.state, "similar_by": now.similar_by, "database_seen": now.database_seen,
        "numbers": _timeless(now.numbers),
        "columns": _timeless(now.columns),
        "checkpoints": _timeless(now.checkpoints),
        "recent": now.recent, "totals": now.totals, "alarms": now.alarms,
        "bit_updates": now.bit_updates, "selections": now.selections,
        "class_map": now.class_map, "bit_ones": now.bit_ones,
        "test": scores, "test_ap": ap,
        "model": {"plain": state, "arrays": arrays},
        "codes": run.checkpoints.codes,
        "encoded": run.model().encode(run.Z[:100]),
        "health": health(now),
        "charts": drawn,
        "history_csv": history_csv,
        "checkpoints_csv": checkpoints_csv,
        "parquet": _timeless({name: parquet[name].to_numpy() for name in parquet.column_names}),
        "summary": {name: summary[name] for name in ("params", "query", "state", "pairs", "alarms")}
        | {"numbers": _timeless(summary["numbers"])},
    }  # fmt: skip
    texts = {
        "title": title_of(now.params),
        "notes": list(now.notes),
        "headline": headline(now, now.params, now.state),
        "health": [[one.title, one.value, one.advice] for one in findings(now)],
        "code": export.code_for(now.params),
        "history_csv": history_header,
        "checkpoints_csv": checkpoints_header,
        "summary": sorted(summary),
        "charts": words,
    }
    return numbers, texts


def _kept(now: Snapshot) -> tuple[Numbers, Words]:
    with tempfile.TemporaryDirectory() as folder:
        key = Store(folder).save_snapshot(now)
        store = Store(folder)
        (line,), again = store.list(), store.get(key)
    table, header = _csv(runs.to_csv([(line, again)]))
    (exported,) = json.loads(runs.to_json([(line, again)]))
    words = ("method", "data", "changed_settings")
    of_clicks = ("hits_start", "hits") if line.hits is None else ()  # on labels they are as if there were none
    numbers = {
        "line": {name: value for name, value in _fields(line).items() if name not in (*words, *of_clicks, "created")},
        "columns": _timeless(again.columns), "checkpoints": _timeless(again.checkpoints),
        "numbers": _timeless(again.numbers), "recent": again.recent, "totals": again.totals,
        "alarms": again.alarms, "class_map": again.class_map,
        "link": again.params.to_query(), "csv": table, "json": _timeless(exported["numbers"]),
    }  # fmt: skip
    return numbers, {"line": [getattr(line, name) for name in (*words, "name")], "csv": header}


def _cells(chosen: Sweep, store: Store) -> tuple[list[Numbers], list[list[str]]]:
    """Every cell of a sweep as it is kept."""
    cells, notes = [], []
    for cell in chosen.cells:
        values, arrays = store.frame(cell.key)
        cells.append(
            {
                "key": cell.key, "at": dict(cell.at), "link": cell.params.to_query(), "state": values["state"],
                "t": values["t"], "fingerprint": values["fingerprint"], "state_bytes": values["state_bytes"],
                "numbers": _timeless(values["numbers"]), "alarms": values["alarms"],
                "validation": values["scores/validation"], "test": values["scores/test"],
                "arrays": {name: array for name, array in arrays.items() if "/cpu" not in name and name not in NEWER},
            }
        )  # fmt: skip
        notes.append(values["notes"])
    return cells, notes


def _effect(effect: Any) -> Numbers:
    return {name: getattr(effect, name) for name in ("value", "low", "high", "unit", "seeds")}


def _charts(charts: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """What is drawn, and the words around it."""
    drawn, words = [], []
    for chart in charts:
        if hasattr(chart, "z"):
            drawn.append({"z": chart.z})
            words.append([chart.title, chart.x_label, chart.y_label, chart.value, chart.caption, chart.alt])
            continue
        drawn.append(
            {
                "series": [{"x": one.x, "y": one.y, "spread": one.spread} for one in chart.series],
                "marks": [mark.at for mark in chart.marks],
            }
        )
        names = [f"{one.name} | {one.label}" for one in chart.series] + [mark.label for mark in chart.marks]
        words.append([chart.title, chart.x.name, chart.y.name, *names, chart.caption, chart.alt])
    return drawn, words


def _csv(text: str) -> tuple[list[Any], list[str]]:
    """Columns of numbers by their place, and header and columns of words; those of times are left out."""
    header, *rows = csv.reader(io.StringIO(text))
    numbers: list[Any] = []
    words: list[str] = []
    for name, column in zip(header, zip(*rows, strict=True), strict=True):
        if name.startswith(TIMES):
            continue
        try:
            numbers.append(np.array([float(cell or "nan") for cell in column]))
            words.append(name)
        except ValueError:
            words.append(", ".join([f"{name}:", *dict.fromkeys(column)]))
    return numbers, words


def _timeless(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not name.startswith(TIMES)}


def _fields(found: Any) -> dict[str, Any]:
    return {} if found is None else {name: getattr(found, name) for name in found.__dataclass_fields__}
