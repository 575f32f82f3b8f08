"""Every known data set: where it comes from, whether it is available, and how to get it."""

import streamlit as st

from ohash.streams.data_folder import DATA, data_folder
from ohash.streams.dataset import DatasetSpec
from ohash.ui.parts import items
from ohash.ui.parts.catalogue import GROUPS, by_group

HEADER = ["data", "rows", "columns", "similar if", "licence", "availability"]
MAX_LISTED = 200


def show_all() -> None:
    """The whole list, one table per group."""
    for group, specs in by_group().items():
        if not specs and group == "plugin":
            continue
        st.markdown(f"##### {GROUPS.get(group, group)}")
        if group == "folder":
            _show_folder(bool(specs))
        if specs:
            rows = [_row(spec) for spec in specs[:MAX_LISTED]]
            st.html(items.table_html(HEADER, rows, numbers=frozenset({1, 2}), kind="ohash-list"))
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
        st.caption(f"{folder}; new files appear when the page is reloaded.")


def _row(spec: DatasetSpec) -> list[str]:
    missing = spec.missing()
    availability = f"✓ available; {spec.size_note}" if spec.size_note else "✓ available"
    if missing:
        problem = "not installed" if spec.group == "package" else spec.status().removeprefix("is ")
        availability = f"{problem}: {missing}"
    rows, columns = (f"{spec.n:,}", f"{spec.d:,}") if spec.n else ("–", "–")
    return [spec.title, rows, columns, spec.task, spec.licence, availability]
