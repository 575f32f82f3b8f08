"""The Data page: choose a dataset, look at it, see what "similar" means on it, and send it to Live."""

from typing import Any

import streamlit as st

from ohash.core.rows import gather
from ohash.engine.params import OWN, experiment
from ohash.plots import data as charts
from ohash.streams import registry as datasets
from ohash.streams.dataset import SIMILARITY_TEXTS, Dataset
from ohash.streams.feature_cache import report_progress_to
from ohash.streams.overview import Overview, SimilarityExamples, draw_examples, item_label, make_overview
from ohash.streams.similarity import TOP_K
from ohash.streams.summary import Summary, summarize
from ohash.ui import items, state
from ohash.ui import view_state as memory
from ohash.ui.compare import comparisons
from ohash.ui.data import catalogue
from ohash.ui.session import Session
from ohash.ui.workarounds import static_chart as still
from ohash.ui.workarounds.messages import plain
from ohash.ui.workarounds.slots import slot, when
from ohash.ui.workarounds.style import dark

# Values of a row shown as numbers.
FEW = 8
BY = {
    "label": "same label",
    "track": "views of one thing",
    "metric": "nearest 5 %",
    "topk": f"nearest {TOP_K}",
    "pairs": "your pairs",
    "clicks": "clicked together",
}


def choose(session: Session) -> str:
    """The key of the dataset to look at; "own:<fingerprint>" is one of the session's own."""
    titles = catalogue.titles(session)
    here = session.params.dataset if session.params.dataset != OWN else f"{OWN}:{session.params.content}"
    if session.looking not in titles:
        session.looking = here if here in titles else next(iter(titles))
        spec = datasets.datasets().get(here)
        if spec is not None and here not in titles:
            session.warnings.append(f"{plain(spec.title)} {spec.status()}: {plain(spec.missing())}")

    look = slot("look", session.looking, tuple(titles))

    def picked(key: str) -> None:
        session.looking = key

    st.selectbox(
        "Look at", look.options, look.index, key=look.key, format_func=lambda key: titles[key],
        on_change=when(look, picked),
        help="What is here now. How to get the rest: Everything there is.",
    )  # fmt: skip
    return session.looking


def query_of(key: str) -> dict[str, str]:
    """The address of a look at a dataset; who goes on to Live from there begins with its defaults."""
    dataset, content = split(key)
    return {"dataset": dataset, "content": content} if content else {"dataset": dataset}


def split(key: str) -> tuple[str, str]:
    """The dataset and, of the session's own, which.

    >>> split("digits"), split("own:1f")
    (('digits', ''), ('own', '1f'))
    """
    return (OWN, key.removeprefix(f"{OWN}:")) if key.startswith(f"{OWN}:") else (key, "")


def load(session: Session, key: str) -> Dataset | None:
    """The dataset; a first look may compute descriptors, with a progress bar. None after a message."""
    dataset, content = split(key)
    if dataset == OWN:
        return session.own[content]
    place = st.empty()

    def progress(done: int, in_all: int) -> None:
        place.progress(done / in_all, f"Descriptors of {done:,} of {in_all:,} pictures: computed once, then kept.")

    try:
        with st.spinner("Loading …"), report_progress_to(progress):
            return datasets.load_by_key(key)
    except ValueError as error:
        st.error(f"{plain(error)}. Pick another data set, or see Everything there is.", icon=":material/error:")
        return None
    finally:
        place.empty()


def look(session: Session, key: str, dataset: Dataset) -> None:
    """Everything about one dataset."""
    try:
        _, seen, found = _looked_at(_identity(key, dataset), dataset)
    except ValueError as error:
        st.error(f"{plain(error)}. Pick another data set.", icon=":material/error:")
        return
    if not found.good:
        st.error(f"No run can start on these data: {plain(found.problem)}.", icon=":material/error:")
    _head(session, key, dataset)
    left, right = st.columns([1.35, 1], gap="medium")
    with left:
        _shown(dataset, seen)
    with right:
        st.markdown("**What was measured**")
        st.html(items.facts_html(found.lines()[1:]))
    _similar(key, dataset)
    _charts(key, dataset, seen)


def watch(session: Session, key: str, **values: Any) -> None:
    """Begin this dataset on Live and go there; data that a link has asked for, as that link says."""
    dataset, content = split(key)
    try:
        linked = dataset == OWN and session.params.content == content and not values
        params = session.params if linked else experiment(dataset, "oh", content=content, **values)
        session.playing = True
        state.commit(session, params)
    except ValueError as error:
        st.error(f"The run could not start: {plain(error)}.", icon=":material/error:")
        return
    st.switch_page("pages/live.py")


def compare(session: Session, key: str) -> None:
    """Begin a comparison on this dataset and go there."""
    dataset, content = split(key)
    known = session.comparison
    linked = known is not None and dataset == OWN and known.content == content
    try:
        comparisons.choose(
            session, known if known is not None and linked else comparisons.usual(session, dataset, content)
        )
    except ValueError as error:
        st.error(f"The comparison could not start: {plain(error)}.", icon=":material/error:")
        return
    st.switch_page("pages/compare.py")


def _head(session: Session, key: str, dataset: Dataset) -> None:
    about = " · ".join(text for text in (dataset.cite, dataset.licence, dataset.note) if text)
    spec = datasets.datasets().get(key)
    by = memory.view(f"by {key}")
    chosen = {"similar_by": by} if by in dataset.similarities[1:] else {}
    st.markdown(f"#### {dataset.title}: {dataset.n:,} × {dataset.d:,}")
    if about:
        st.caption(about)
    with st.container(horizontal=True, key="data_head", vertical_alignment="center"):
        if st.button("Watch OH learn this", type="primary", icon=":material/play_arrow:", key="watch"):
            watch(session, key, **chosen)
        if st.button("Compare methods on this", icon=":material/compare_arrows:", key="compare_data"):
            compare(session, key)
        if dataset.presets and st.button("With the paper's setting", icon=":material/article:", key="watch_paper"):
            watch(session, key, **dataset.presets)
        if spec is not None and spec.bibtex:
            with st.popover("Cite", icon=":material/format_quote:"):
                st.code(spec.bibtex, language="bibtex")


def _shown(dataset: Dataset, seen: Overview) -> None:
    if dataset.thumbnails is not None or dataset.ids is not None:
        st.markdown("**Some of the items**" if dataset.thumbnails is not None else "**Some of the names**")
        st.html(items.items_html(dataset, seen.examples))
        return
    rows = seen.examples[:: max(1, len(seen.examples) // FEW)][:FEW]
    few = min(FEW, dataset.d)
    st.markdown("**Some of the rows**" + (f", the first {few} of {dataset.d:,} columns" if few < dataset.d else ""))
    values = gather(dataset.X, rows)[:, :few]
    known = int(dataset.labels is not None or dataset.tracks is not None)
    table = [
        [f"{row:,}", *[item_label(dataset, int(row))][:known], *(f"{value:.3g}" for value in line)]
        for row, line in zip(rows, values, strict=True)
    ]
    header = ["row", *["label"][:known], *(str(column) for column in range(few))]
    st.html(items.table_html(header, table, numbers=frozenset({0, *range(1 + known, 1 + known + few)})))


def _similar(key: str, dataset: Dataset) -> None:
    st.markdown("##### What “similar” means here")
    by = dataset.similarities[0]
    others = [SIMILARITY_TEXTS[name] for name in dataset.similarities]
    if len(others) > 1:
        by = st.segmented_control(
            "similar by", dataset.similarities, default=by, key=f"view_by {key}", required=True,
            label_visibility="collapsed", format_func=lambda name: BY[name],
            help=f"Two points are {'; or '.join(others)}.",
        ) or by  # fmt: skip
    try:
        _, found = _meaning(_identity(key, dataset), by, dataset)
    except ValueError as error:
        st.warning(f"No examples: {plain(error)}.", icon=":material/info:")
        return
    st.markdown(found.sentence)
    st.html(items.pairs_html(dataset, found, dark=dark()))


def _charts(key: str, dataset: Dataset, seen: Overview) -> None:
    left, right = st.columns([1, 1.2], gap="medium")
    drawn = [charts.norms(seen)]
    with left:
        if len(seen.class_sizes):
            drawn.insert(0, charts.class_balance(seen))
            still.show(drawn[0], "chart_classes", 230, charts.balance_figure(seen, dark=dark()))
        still.show(drawn[-1], "chart_norms", 230)
    with right:
        coloured = _coloured(key, seen)
        chart = charts.projection(dataset, seen, coloured)
        still.show(chart, "chart_plane", 440, charts.projection_figure(dataset, seen, coloured, dark=dark()))
    with st.expander("These charts as numbers"):
        for one in drawn:
            st.caption(one.title)
            st.dataframe(one.table(), height=200, hide_index=True)


def _coloured(key: str, seen: Overview) -> list[int]:
    """Classes that stand out in the plane: no more than there are colours that stay apart."""
    most = len(charts.CLASS_ROLES)
    if not 1 < len(seen.classes) <= 60:
        return []
    if len(seen.classes) <= most:
        return list(range(len(seen.classes)))
    picked = st.pills(
        f"Classes in colour, at most {most}", range(len(seen.classes)), selection_mode="multi", default=range(most),
        format_func=lambda c: seen.classes[c], key=f"view_classes {key}",
    )  # fmt: skip
    return sorted(picked)[:most]


def _identity(key: str, dataset: Dataset) -> tuple[str, int]:
    """What a cached look is known by: content for the user's own, else the object, which its entry keeps alive."""
    return (f"{key}:{dataset.metric}", 0) if key.startswith(f"{OWN}:") else (key, id(dataset))


@st.cache_resource(max_entries=16, show_spinner="Looking at the data …")
def _looked_at(identity: tuple[str, int], _dataset: Dataset) -> tuple[Dataset | None, Overview, Summary]:
    found = summarize(_dataset)
    return _dataset if identity[1] else None, make_overview(_dataset), found


@st.cache_resource(max_entries=48, show_spinner="Drawing pairs …")
def _meaning(identity: tuple[str, int], by: str, _dataset: Dataset) -> tuple[Dataset | None, SimilarityExamples]:
    return _dataset if identity[1] else None, draw_examples(_dataset, by)
