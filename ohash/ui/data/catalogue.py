"""Everything there is: datasets by where they come from, whether they are here, how to get them; and the box."""

from collections.abc import Callable

import streamlit as st

from ohash.engine.params import OWN
from ohash.streams import registry as datasets
from ohash.streams.data_folder import DATA, data_folder
from ohash.streams.dataset import DatasetSpec
from ohash.ui import items
from ohash.ui.session import Session
from ohash.ui.workarounds.slots import distinct, slot, when

GROUPS = {
    "embedded": "Built in: works offline, in a fresh clone",
    "synthetic": "Generated from a fixed seed",
    "package": "One package away",
    "paper": "The paper's four",
    "folder": "Your data folder",
    "plugin": "From your plugins",
}
HEADER = ["data", "rows", "columns", "similar if", "licence", "is it here"]
MOST = 200


def by_group() -> dict[str, list[DatasetSpec]]:
    """Cards in the order of the groups; a plugin may have brought a group of its own."""
    specs = list(datasets.datasets().values())
    order = [*GROUPS, *sorted({spec.group for spec in specs} - GROUPS.keys())]
    return {group: [spec for spec in specs if spec.group == group] for group in order}


def titles(session: Session) -> dict[str, str]:
    """What can be looked at now, the user's own first: key -> words."""
    found = {f"{OWN}:{content}": f"{own.title} · {own.n:,} × {own.d:,} · yours" for content, own in session.own.items()}
    for group in by_group().values():
        found |= {spec.key: f"{spec.title} · {spec.n:,} × {spec.d:,}" for spec in group if not spec.missing()}
    return distinct(found)


def choose(session: Session, name: str, dataset: str, content: str, picked: Callable[[str], None]) -> None:
    """The rail's box: the user's own data first, what is built in, the rest; short enough for 250 pixels."""
    words = {f"{OWN}:{key}": own.title for key, own in session.own.items()}
    for group, specs in by_group().items():
        here = [spec for spec in specs if not spec.missing()]
        words |= {spec.key: spec.title if group == "embedded" else f"{spec.title}, {spec.n:,}" for spec in here}
    current = dataset if dataset != OWN else f"{OWN}:{content}"
    if current not in words:
        words = {current: "data that are not here", **words}
    words = distinct(words)
    data = slot(name, current, tuple(words))
    st.selectbox(
        "Data", data.options, data.index, key=data.key, format_func=lambda key: words[key],
        on_change=when(data, picked), help="What is learnt. Your own vectors: bring them on the Data page.",
    )  # fmt: skip


def everything() -> None:
    """The whole list."""
    for group, specs in by_group().items():
        if not specs and group == "plugin":
            continue
        st.markdown(f"##### {GROUPS.get(group, group)}")
        if group == "folder":
            _folder_words(bool(specs))
        if specs:
            st.html(
                items.table_html(
                    HEADER, [_row(spec) for spec in specs[:MOST]], numbers=frozenset({1, 2}), kind="ohash-list"
                )
            )
        if len(specs) > MOST:
            st.caption(f"and {len(specs) - MOST:,} more")


def _folder_words(found: bool) -> None:
    folder = data_folder()
    if folder is None:
        st.markdown(
            f"No data folder is named. Start with `ohash-lab --data DIR`, or set `{DATA}=DIR`: every `.npy`, `.npz`, "
            "`.csv`, `.parquet`, `.fvecs`, `.mat` or `.hdf5` in it appears here, however large."
        )
    elif not found:
        st.markdown(f"Nothing readable lies in `{folder}`.")
    else:
        st.caption(f"{folder}; it is looked at again whenever this page is drawn.")


def _row(spec: DatasetSpec) -> list[str]:
    missing = spec.missing()
    here = f"✓ here; {spec.size_note}" if spec.size_note else "✓ here"
    if missing:
        here = f"{'not installed' if spec.group == 'package' else spec.status().removeprefix('is ')}: {missing}"
    rows, columns = (f"{spec.n:,}", f"{spec.d:,}") if spec.n else ("–", "–")
    return [spec.title, rows, columns, spec.task, spec.licence, here]
