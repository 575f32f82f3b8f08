"""What can be chosen: data sets, the user's own and those installed, and methods with what they learn from."""

from collections.abc import Callable

import streamlit as st

from ohash.comparison.results import supervision_text
from ohash.engine.params import OWN
from ohash.models.base import HasherSpec
from ohash.models.registry import ABSENT
from ohash.streams import registry as datasets
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.feature_cache import report_progress_to
from ohash.ui.parts.notices import show_error
from ohash.ui.session import access
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import distinct, on_choice, slot

GROUPS = {
    "embedded": "Built in: available offline",
    "synthetic": "Generated from a fixed seed",
    "package": "From an optional package",
    "paper": "The paper's four data sets",
    "pictures": "From pictures in your data folder",
    "folder": "Your data folder",
    "plugin": "From your plugins",
}


def by_group() -> dict[str, list[DatasetSpec]]:
    """Data sets in the order of the groups, without those a visitor may not use; a plugin may have added a group."""
    owner = access.is_owner()
    specs = [spec for spec in datasets.datasets().values() if owner or spec.group not in access.OWNERS_ONLY]
    order = [*GROUPS, *sorted({spec.group for spec in specs} - GROUPS.keys())]
    return {group: [spec for spec in specs if spec.group == group] for group in order}


def titles(session: Session) -> dict[str, str]:
    """The data sets available now, the user's own first: key -> title."""
    available = {
        f"{OWN}:{content}": f"{own.title} · {own.n:,} × {own.d:,} · uploaded" for content, own in session.own.items()
    }
    current, listed = datasets.lookup(session.params.dataset), by_group()
    unlisted = [current] if current is not None and datasets.family_of(current.key) else []
    for group in (unlisted, *listed.values()):
        installed = [spec for spec in group if not spec.missing()]
        available |= {spec.key: spec.title + (f" · {spec.n:,} × {spec.d:,}" if spec.n else "") for spec in installed}
    return distinct(available)


def key_of(dataset: str, content: str) -> str:
    """The key of a data set in `titles`: "own:<fingerprint>" for the session's own.

    >>> key_of("digits", ""), key_of("own", "1f")
    ('digits', 'own:1f')
    """
    return dataset if dataset != OWN else f"{OWN}:{content}"


def split_key(key: str) -> tuple[str, str]:
    """The inverse of `key_of`: the dataset and, of the session's own, its fingerprint.

    >>> split_key("digits"), split_key("own:1f")
    (('digits', ''), ('own', '1f'))
    """
    return (OWN, key.removeprefix(f"{OWN}:")) if key.startswith(f"{OWN}:") else (key, "")


def choose(session: Session, name: str, dataset: str, content: str, on_pick: Callable[[str], None]) -> None:
    """The select box of the rail: own data first, then what is built in, then the rest; titles fit 250 pixels."""
    short = {key_of(OWN, content): own.title for content, own in session.own.items()}
    for group, specs in by_group().items():
        installed = [spec for spec in specs if not spec.missing()]
        without_size = {spec.key for spec in installed if group == "embedded" or not spec.n}
        short |= {spec.key: spec.title + ("" if spec.key in without_size else f", {spec.n:,}") for spec in installed}
    current = key_of(dataset, content)
    if current not in short:
        unlisted = datasets.lookup(dataset)  # of a family
        short = {current: "not available here" if unlisted is None else unlisted.title, **short}
    short = distinct(short)
    data = slot(name, current, tuple(short))
    st.selectbox(
        "Data", data.options, data.index, key=data.key, format_func=lambda key: short[key],
        on_change=on_choice(data, on_pick),
        help="The data set to learn from. You can upload your own vectors on the Data page.",
    )  # fmt: skip


def load(session: Session, key: str) -> Dataset | None:
    """The dataset; a first load may compute descriptors, with a progress bar. None after an error message."""
    dataset, content = split_key(key)
    if dataset == OWN:
        return session.own[content]
    place = st.empty()

    def progress(done: int, total: int) -> None:
        place.progress(done / total, f"Computing descriptors, once: {done:,} of {total:,} images.")

    try:
        access.check_data(dataset)
        with st.spinner("Loading …"), report_progress_to(progress):
            return datasets.load_by_key(key)
    except ValueError as error:
        show_error(f"{error}. Choose another data set, or see All data sets")
        return None
    finally:
        place.empty()


def describe_supervision(title: str, spec: HasherSpec) -> str:
    """A method's title, what it learns from, and the package it needs if that is missing."""
    needs = f" · needs {spec.needs}" if spec.missing else ""
    return f"{title} · {supervision_text(spec.supervision)}{needs}"


def with_absent(text: str) -> str:
    """The help of a list of methods: `text`, and which methods are not in the list and why."""
    return "\n\n".join([text, *(escape_markdown(str(absent)) for absent in ABSENT)])


def show_card(spec: HasherSpec) -> None:
    """Where a method comes from, what it was made for, how it differs from the original, what it was compared with."""
    differs = f"Differs from the original: {spec.differs}" if spec.differs else ""
    for text in (f"{spec.cite}." if spec.cite else "", f"Made for {spec.features_text}.", differs, spec.checked_text):
        if text:
            st.caption(escape_markdown(text))
