"""Every known data set: where it comes from, whether it is available, and how to get it."""

import streamlit as st

from ohash.streams import registry as datasets
from ohash.streams.data_folder import DATA, data_folder
from ohash.streams.dataset import DatasetSpec
from ohash.ui.parts import items
from ohash.ui.parts.catalogue import GROUPS, by_group
from ohash.ui.session import view_state
from ohash.ui.session.access import is_owner
from ohash.ui.session.session import Session
from ohash.ui.workarounds.browser import listen
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import distinct

HEADER = ["data", "rows", "columns", "similar if", "licence", "availability"]
MAX_LISTED = 200


def show_all(session: Session) -> None:
    """The whole list, one table per group; a click on a row explores that data set."""
    available = [spec.key for spec in datasets.datasets().values() if not spec.missing()]

    def explore(row: int | None) -> None:
        if row is not None and row < len(available):
            session.viewed_dataset = available[row]
            view_state.show_data_part("look")

    listen(lambda _: None, explore)
    groups = by_group()
    titles = distinct({spec.key: spec.title for specs in groups.values() for spec in specs})
    for group, specs in groups.items():
        if not specs and group == "plugin":
            continue
        if group == "folder" and not is_owner():
            continue
        st.markdown(f"##### {GROUPS.get(group, group)}")
        if group == "folder":
            _show_folder(bool(specs))
        if specs:
            rows = [_row(spec, titles[spec.key]) for spec in specs[:MAX_LISTED]]
            opens = [available.index(spec.key) if spec.key in available else None for spec in specs[:MAX_LISTED]]
            st.html(
                items.table_html(HEADER, rows, numbers=frozenset({1, 2}), kind="ohash-list ohash-stack", opens=opens)
            )
        if len(specs) > MAX_LISTED:
            st.caption(f"and {len(specs) - MAX_LISTED:,} more")


def _show_folder(has_data: bool) -> None:
    folder = data_folder()
    if folder is None:
        st.markdown(
            f"No data folder is set. Start with `ohash-lab --data DIR`, or set `{DATA}=DIR`: every `.npy`, `.npz`, "
            "`.csv`, `.parquet`, `.fvecs`, `.mat` or `.hdf5` file in it is listed here, whatever its size."
        )
    elif not has_data:
        st.markdown(f"There are no readable files in `{folder}`.")
    else:
        st.caption(f"{escape_markdown(folder)}; new files appear when the page is reloaded.")


def _row(spec: DatasetSpec, title: str = "") -> list[str]:
    missing = spec.missing()
    availability = f"✓ available; {spec.size_note}" if spec.size_note else "✓ available"
    if missing and not is_owner():
        availability = "not on this server"  # the reason names folders
    elif missing:
        problem = "not installed" if spec.group == "package" else spec.status().removeprefix("is ")
        availability = f"{problem}: {missing}"
    rows, columns = (f"{spec.n:,}", f"{spec.d:,}") if spec.n else ("–", "–")
    return [title or spec.title, rows, columns, spec.task, spec.licence, availability]
