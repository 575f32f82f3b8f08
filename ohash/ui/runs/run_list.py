"""The table of runs, one row per run or per experiment; nothing is selected at first, and no selection moves."""

import hashlib
import time

import numpy as np
import pandas as pd
import streamlit as st

from ohash.plots.runs import differing_settings
from ohash.store.listing import LIVE, RunRow, truth_titles
from ohash.ui.parts.run_table import COLUMNS, COUNT, SCORE, run_frame
from ohash.ui.runs.filters import REMARKS, View
from ohash.ui.session.run_store import SessionRuns
from ohash.ui.session.session import Selection, Session

MORE_COLUMNS = {
    "created": st.column_config.DatetimeColumn(format="localized", width="medium"),
    "from": st.column_config.TextColumn(width="small"),
    "tags": st.column_config.TextColumn(width="medium"),
    "note": st.column_config.TextColumn(width="medium"),
    "key": st.column_config.TextColumn(width="medium", help="For `python3 -m ohash runs show KEY`."),
}
SHOWN_AT_FIRST = tuple(COLUMNS | {"method": None})
MAX_SETTINGS = 6
SPREAD = "{:.3f} ± {:.3f}"


def show_table(session: Session, view: View) -> list[RunRow]:
    """A sortable table; returns the selected runs, all seeds of a selected experiment."""
    if view.grouping == "seeds together":
        return _show_groups(session, view.lines)
    if view.grouping == "sweeps together":
        return _show_sweeps(session, view.lines)
    rows = {line.key: len(view.lines) - 1 - at for at, line in enumerate(view.lines)}
    frame = _full_frame(session, view)
    columns, with_settings = _choose_columns([str(name) for name in frame], view.remarks)
    shown = frame[columns].copy()
    if with_settings:
        shown = _with_settings(shown, view.lines)
    selected = _select(session, list(rows), rows, shown, "single")
    return [view.lines[len(view.lines) - 1 - row] for row in sorted(selected, reverse=True)]


def _with_settings(frame: pd.DataFrame, lines: list[RunRow]) -> pd.DataFrame:
    """The table with a column per parameter in which the listed runs differ, if they are few."""
    columns = {name: values for name, values in differing_settings(lines).items() if name not in ("n", *frame)}
    at = list(frame).index("changed from default") if "changed from default" in frame else len(frame.columns)
    for name, values in list(columns.items())[:MAX_SETTINGS]:
        mine = [values.get(line.key) for line in lines[::-1]]
        numbers = all(value is None or isinstance(value, int | float) for value in mine)
        frame.insert(at, name, mine if numbers else ["–" if value is None else str(value) for value in mine])
        at += 1
    return frame


def _choose_columns(every: list[str], remarks: tuple[str, ...]) -> tuple[list[str], bool]:
    """The columns to show, and whether the parameters that differ are columns, too; `remarks` are shown at first."""
    with st.popover("Columns", icon=":material/view_column:", key="runs_columns_open"):
        chosen = st.pills(
            "Columns", every, selection_mode="multi", label_visibility="collapsed",
            key="_".join(("runs_columns", *remarks)),  # another widget, so that the first remark is seen at once
            default=[name for name in every if name in (*SHOWN_AT_FIRST, *remarks)],
        )  # fmt: skip
        with_settings = st.toggle(
            "Parameters that differ", value=True, key="runs_settings",
            help=f"One column per parameter in which the listed runs differ, at most {MAX_SETTINGS}.",
        )  # fmt: skip
    return [name for name in every if name in chosen] or every[:1], with_settings


def _full_frame(session: Session, view: View) -> pd.DataFrame:
    frame, newest_first = run_frame(session, view.lines, view.numbers), view.lines[::-1]
    made = [time.localtime(line.created)[:6] if line.created else None for line in newest_first]
    for name in REMARKS:
        frame.insert(list(frame).index("changed from default"), name, [getattr(line, name) for line in newest_first])
    frame["created"] = [pd.NaT if at is None else pd.Timestamp(*at) for at in made]
    for name, values in (
        ("from", [line.origin for line in newest_first]),
        ("key", [line.key for line in newest_first]),
    ):
        frame[name] = values
    return frame


def _show_groups(session: Session, lines: list[RunRow]) -> list[RunRow]:
    groups: dict[tuple[str, str, str, int], list[RunRow]] = {}
    for line in lines[::-1]:
        groups.setdefault((line.method, line.data, line.group, line.pairs), []).append(line)
    members = list(groups.values())
    frame = pd.DataFrame(
        {
            "seeds": [len(runs) for runs in members],
            "method": [runs[0].method for runs in members],
            "data": [runs[0].data for runs in members],
            "changed from default": [runs[0].group or "nothing" for runs in members],
            "pairs": [runs[0].pairs for runs in members],
            **{
                f"{title} end": [_over_seeds([getattr(run, field) for run in runs]) for runs in members]
                for field, title in truth_titles(lines).items()
            },
            "recall@10 end": [_over_seeds([run.recall for run in runs]) for runs in members],
            "bits": [runs[0].bits for runs in members],
        }
    )
    rows = {",".join(run.key for run in runs): at for at, runs in enumerate(members)}
    selected = _select(session, list(rows), rows, frame, "groups")
    return [run for at in sorted(selected) for run in members[at]]


def _show_sweeps(session: Session, lines: list[RunRow]) -> list[RunRow]:
    """One row per sweep, or other origin; selecting one selects its runs."""
    groups: dict[str, list[RunRow]] = {}
    for line in lines[::-1]:
        groups.setdefault(line.origin, []).append(line)
    members = list(groups.values())
    frame = pd.DataFrame(
        {
            "from": list(groups),
            "runs": [len(runs) for runs in members],
            "method": [", ".join(dict.fromkeys(run.method for run in runs)) for runs in members],
            "data": [", ".join(dict.fromkeys(run.data for run in runs)) for runs in members],
        }
    )
    truths = truth_titles(lines)
    for field, title in truths.items():
        scores = [[getattr(run, field) for run in runs] for runs in members]
        unscored = {run.key for run in lines if getattr(run, field) is None}
        ranks = [[-1.0 if score is None else score for score in of_sweep] for of_sweep in scores]
        best = [int(np.argmax(one)) for one in ranks]
        frame[title] = [_over_seeds(one) for one in scores]
        frame[f"best {title}"] = [one[at] for one, at in zip(scores, best, strict=True)]
        names = ["–" if runs[at].key in unscored else runs[at].name for runs, at in zip(members, best, strict=True)]
        frame["best run" if len(truths) == 1 else f"best run by {title}"] = names
    rows = {",".join(run.key for run in runs): at for at, runs in enumerate(members)}
    selected = _select(session, list(rows), rows, frame, "sweeps")
    return [run for at in sorted(selected) for run in members[at]]


def _over_seeds(scores: list[float | None]) -> str:
    """Mean and standard deviation; of one run its score.

    >>> _over_seeds([0.5, 0.7]), _over_seeds([0.5]), _over_seeds([None])
    ('0.600 ± 0.141', '0.500', '–')
    """
    finite = np.array([score for score in scores if score is not None])
    if len(finite) > 1:
        return SPREAD.format(finite.mean(), finite.std(ddof=1))
    return f"{finite[0]:.3f}" if len(finite) else "–"


def _select(session: Session, keys: list[str], rows: dict[str, int], frame: pd.DataFrame, kind: str) -> list[int]:
    """The selected rows of the table. Its key changes with the list: a row number must not outlive its row."""
    listed = hashlib.sha256("\n".join((kind, *keys)).encode()).hexdigest()[:16]
    if session.selection.listed != listed:
        finished = SessionRuns(session).live_key()  # saved or pinned, a finished live run has a key of its own
        before = [finished if key == LIVE and LIVE not in rows else key for key in session.selection.keys]
        session.selection = Selection(listed, sorted(rows[key] for key in before if key in rows))
    config = COLUMNS | MORE_COLUMNS | {"seeds": COUNT, "best mAP": SCORE, "best hit@10": SCORE}
    if kind == "groups":  # mean ± spread is a text
        config |= dict.fromkeys(("mAP end", "hit@10 end", "recall@10 end"), st.column_config.TextColumn(width="small"))
    event = st.dataframe(
        frame, key=f"runs_{listed}", hide_index=True, column_config=config,
        on_select="rerun", selection_mode="multi-row",
        selection_default={"selection": {"rows": session.selection.first}},
        alt="The runs with their parameters and scores",
    )  # fmt: skip
    selected = [row for row in event["selection"]["rows"] if row < len(keys)]
    names = {row: key for key, row in rows.items()}
    session.selection.keys = [names[row] for row in sorted(selected, reverse=True)]
    return selected
