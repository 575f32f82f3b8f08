"""Runs as a table, one row per run."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from ohash.store.listing import RunRow, truth_titles
from ohash.ui.session.session import Session

SCORE = st.column_config.NumberColumn(format="%.3f", width="small")
WIDE_SCORE = st.column_config.NumberColumn(format="%.3f", width=112)
COUNT = st.column_config.NumberColumn(format="localized", width="small")
COLUMNS = {
    "run": st.column_config.NumberColumn(width=48, help="Saved runs come first, then the runs of this tab."),
    "data": st.column_config.TextColumn(width="medium"),
    "changed from default": st.column_config.TextColumn(width="medium"),
    "pairs": COUNT, "bits": COUNT, "mAP start": SCORE, "mAP end": SCORE, "hit@10 start": WIDE_SCORE,
    "hit@10 end": SCORE, "recall@10 start": WIDE_SCORE, "recall@10 end": WIDE_SCORE, "pair AUC": SCORE,
    "state": st.column_config.TextColumn(width=130),
}  # fmt: skip


def number_runs(lines: Sequence[RunRow]) -> dict[str, int]:
    """The number of each run, from 1, by its key: filters must not change what a run is called."""
    return {line.key: at for at, line in enumerate(lines, 1)}


def run_frame(session: Session, lines: list[RunRow], numbers: dict[str, int] | None = None) -> pd.DataFrame:
    """One row per run, the newest first; `numbers` are those of the runs among all, where `lines` are only some."""
    numbers = numbers or number_runs(lines)
    lines = lines[::-1]
    return pd.DataFrame(
        {
            "run": [numbers[line.key] for line in lines],
            "method": [line.method for line in lines],
            "data": [line.data for line in lines],
            "changed from default": [line.changed_settings or "nothing" for line in lines],
            "pairs": [line.pairs for line in lines],
            **{
                f"{title} {when}": [getattr(line, field + end) for line in lines]
                for field, title in truth_titles(lines).items()
                for when, end in (("start", "_start"), ("end", ""))
            },
            "recall@10 start": [line.recall_start for line in lines],
            "recall@10 end": [line.recall for line in lines],
            "pair AUC": [line.auc for line in lines],
            "bits": [line.bits for line in lines],
            "state": [_state(session, line) for line in lines],
        }
    )


def _state(session: Session, line: RunRow) -> str:
    return f"{line.state}, pinned" if session.pinned == line.key else line.state
