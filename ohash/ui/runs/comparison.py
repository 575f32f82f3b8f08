"""The selected runs in one chart each, the parameters that differ, and the difference of two of them."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from ohash.core.parameters import Settings
from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.snapshot import Snapshot
from ohash.plots.runs import MAX_RUNS, differing_settings, overlay
from ohash.store.listing import RunRow, differences
from ohash.ui.parts import static_chart
from ohash.ui.parts.run_table import number_runs
from ohash.ui.session.run_store import Run

LONGEST_NAME = 42


def compare(lines: list[RunRow], runs: Sequence[Run], *, more: bool = False) -> None:
    """Curves of a truth score and recall@10, and what differs; `more` runs are selected that have no curves here.

    hit@10 is drawn if all are on clicks, else mAP.
    """
    if not runs:
        if not more:
            st.markdown("Select rows to compare their curves.")
        return
    numbers = number_runs(lines)
    differing = differing_settings([line for line, _ in runs])
    named = [(f"{numbers[line.key]} · {_shorten(_name(line, differing))}", now) for line, now in runs]
    if len(runs) == 2:
        st.markdown(difference_text(*named[0], *named[1]))
    static_chart.show_linked(
        overlay(named, _truth([now for _, now in runs])), overlay(named, "recall_10"), "overlay", 520
    )
    if len({truth_column(now.similar_by) for _, now in runs}) > 1:
        st.caption("Runs on clicks have no mAP: select only these to see their hit@10.")
    if len(named) > MAX_RUNS:
        st.caption(f"Only the first {MAX_RUNS} of {len(named)} selected runs are drawn.")
    if len(runs) > 1:
        _show_differences(named)


def _truth(runs: Sequence[Snapshot]) -> str:
    truths = {truth_column(now.similar_by) for now in runs}
    return truths.pop() if len(truths) == 1 else "map"


def _name(line: RunRow, differing: dict[str, Settings]) -> str:
    """The method, and the parameters in which the selected runs differ; of one run, what was changed."""
    settings = [
        f"{name} = {values[line.key]}"
        for name, values in differing.items()
        if line.key in values and name not in ("method", "data")
    ]
    return ", ".join([line.method, *settings]) if settings else line.name


def difference_text(one: str, first: Snapshot, other: str, second: Snapshot) -> str:
    """How far two runs are apart, with an interval that treats their queries as independent: it is rather too wide."""
    if first.params.dataset != second.params.dataset or first.params.run.judged_by != second.params.run.judged_by:
        return "The two runs used different data or queries, so their scores are not compared."
    if first.t != second.t:
        return f"The two runs have learnt {first.t:,} and {second.t:,} pairs, so their scores are not compared."
    if truth_column(first.similar_by) != truth_column(second.similar_by):
        return "The two runs were judged by different scores, which are not compared."
    parts, truth = [], _truth([first, second])
    for title, column in ((TRUTH_SCORES[truth], truth), ("recall@10", "recall_10")):
        a, b = first.numbers.get(column, math.nan), second.numbers.get(column, math.nan)
        errors = [now.numbers.get(f"{column}_error", math.nan) for now in (first, second)]
        if math.isfinite(a) and math.isfinite(b):
            sure = f" ± {math.hypot(*errors):.3f}" if all(map(math.isfinite, errors)) else ""
            parts.append(f"{title} {a - b:+.3f}{sure}")
    return f"**{one}** minus **{other}**: {', '.join(parts)} on {first.params.run.judged_by} queries." if parts else ""


def _show_differences(named: list[tuple[str, Snapshot]]) -> None:
    different = differences([now.params for _, now in named])
    if not different:
        st.markdown("The selected runs have the same parameters.")
        return
    st.markdown("**Parameters that differ**")
    columns = {name: [values[at] for values in different.values()] for at, (name, _) in enumerate(named)}
    st.dataframe(
        pd.DataFrame({"parameter": list(different), **columns}), hide_index=True, key="run_differences",
        alt="Parameters that differ between the selected runs",
    )  # fmt: skip


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
