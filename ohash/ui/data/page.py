"""The Data page: choose a dataset, look at its items, see what "similar" means for it, and use it."""

import streamlit as st

from ohash.core.rows import gather
from ohash.engine.narrative import amount
from ohash.engine.params import OWN
from ohash.plots import data as charts
from ohash.streams import registry as datasets
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.overview import Overview, SimilarityExamples, draw_examples, item_label, make_overview
from ohash.streams.similarity import TOP_K
from ohash.streams.summary import Summary, summarize
from ohash.ui.data import actions
from ohash.ui.parts import catalogue, items, static_chart
from ohash.ui.session import access, view_state
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.router import went_back
from ohash.ui.workarounds.slots import distinct, on_choice, slot
from ohash.ui.workarounds.style import dark

SAMPLE_ROWS = SAMPLE_COLUMNS = 8
BY = {
    "label": "same label",
    "track": "views of one object",
    "metric": "nearest 5 %",
    "topk": f"nearest {TOP_K}",
    "pairs": "your pairs",
    "clicks": "clicked together",
}


def choose(session: Session) -> str:
    """The key of the dataset to show; "own:<fingerprint>" is one of the session's own."""
    titles = catalogue.titles(session)
    if went_back() and "dataset" in st.query_params:
        session.viewed_dataset = catalogue.key_of(st.query_params["dataset"], st.query_params.get("content", ""))
    live_key = catalogue.key_of(session.params.dataset, session.params.content)
    if session.viewed_dataset not in titles:
        session.viewed_dataset = live_key if live_key in titles else next(iter(titles))
        spec = datasets.lookup(live_key)
        if spec is not None and live_key not in titles:
            session.warnings.append(_why_not(spec))

    look = slot("look", session.viewed_dataset, tuple(titles))

    def pick(key: str) -> None:
        session.viewed_dataset = key

    st.selectbox(
        "Data set", look.options, look.index, key=look.key, format_func=lambda key: titles[key],
        on_change=on_choice(look, pick),
        help="The data sets available now. *All data sets* lists the others and how to get them.",
    )  # fmt: skip
    return session.viewed_dataset


def _why_not(spec: DatasetSpec) -> str:
    """Why a data set of a link cannot be shown; what is in a folder of the server is not for a visitor."""
    try:
        access.check_data(spec.key)
    except ValueError as problem:
        return f"{escape_markdown(problem)}."
    return f"{escape_markdown(spec.title)} {spec.status()}: {escape_markdown(spec.missing())}"


def query_of(key: str) -> dict[str, str]:
    """The address of a dataset; opened on Live, it starts a run with the defaults."""
    dataset, content = catalogue.split_key(key)
    return {"dataset": dataset, "content": content} if content else {"dataset": dataset}


def show_dataset(session: Session, key: str, dataset: Dataset) -> None:
    """Items, measurements, similarity and charts of one dataset."""
    try:
        _, overview, summary = _examine(_identity(key, dataset), dataset)
    except ValueError as error:
        st.error(f"{escape_markdown(error)}. Choose another data set.", icon=":material/error:")
        return
    if not summary.good:
        st.error(f"No run can start on these data: {escape_markdown(summary.problem)}.", icon=":material/error:")
    _head(session, key, dataset)
    left, right = st.columns([1.35, 1], gap="medium")
    with left:
        _samples(dataset, overview)
    with right:
        st.markdown("**Measured on the data**")
        st.html(items.facts_html(summary.lines()[1:]))
    _similarity(key, dataset)
    _charts(key, dataset, overview)


def _head(session: Session, key: str, dataset: Dataset) -> None:
    about = " · ".join(text for text in (dataset.cite, dataset.licence, dataset.note) if text)
    spec = datasets.lookup(key)
    by = view_state.view(f"by {key}")
    chosen = {"similar_by": by} if by in dataset.similarities[1:] else {}
    queries = f", and {amount(len(dataset.query_rows), 'query')}" if dataset.query_rows is not None else ""
    st.markdown(f"#### {escape_markdown(dataset.title)}: {len(dataset.documents):,} × {dataset.d:,}{queries}")
    if about:
        st.caption(escape_markdown(about))
    with st.container(horizontal=True, key="data_head", vertical_alignment="center"):
        if st.button("Watch OH learn this", type="primary", icon=":material/play_arrow:", key="watch"):
            actions.watch(session, key, **chosen)
        if st.button("Compare methods on this", icon=":material/compare_arrows:", key="compare_data"):
            actions.compare(session, key)
        if (dataset.pairs is not None or dataset.labels is not None) and st.button(
            "Learn or rotate?", icon=":material/balance:", key="advise_data"
        ):
            actions.advise(session, key)
        if dataset.presets and st.button("Use the paper's setting", icon=":material/article:", key="watch_paper"):
            actions.watch(session, key, **dataset.presets)
        if spec is not None and spec.bibtex:
            with st.popover("Cite", icon=":material/format_quote:"):
                st.code(spec.bibtex, language="bibtex")


def _samples(dataset: Dataset, overview: Overview) -> None:
    if dataset.thumbnails is not None or dataset.ids is not None or dataset.captions:
        st.markdown(f"**Sample {'items' if dataset.thumbnails is not None else 'names'}**")
        st.html(items.items_html(dataset, overview.examples))
        return
    rows = overview.examples[:: max(1, len(overview.examples) // SAMPLE_ROWS)][:SAMPLE_ROWS]
    few = min(SAMPLE_COLUMNS, dataset.d)
    st.markdown("**Sample rows**" + (f", first {few} of {dataset.d:,} columns" if few < dataset.d else ""))
    values = gather(dataset.X, rows)[:, :few]
    label_columns = int(dataset.labels is not None or dataset.tracks is not None)
    table = [
        [f"{row:,}", *[item_label(dataset, int(row))][:label_columns], *(f"{value:.3g}" for value in line)]
        for row, line in zip(rows, values, strict=True)
    ]
    header = ["row", *["label"][:label_columns], *(str(column) for column in range(few))]
    st.html(items.table_html(header, table, numbers=frozenset({0, *range(1 + label_columns, 1 + label_columns + few)})))


def _similarity(key: str, dataset: Dataset) -> None:
    st.markdown("##### What “similar” means here")
    by = dataset.similarities[0]
    others = [dataset.explain(name) for name in dataset.similarities]
    if len(others) > 1:
        by = st.segmented_control(
            "similar by", dataset.similarities, default=by, key=f"view_by {key}", required=True,
            label_visibility="collapsed", format_func=lambda name: BY[name],
            help=f"Two points are {'; or '.join(others)}.",
        ) or by  # fmt: skip
    try:
        _, examples = _examples(_identity(key, dataset), by, dataset)
    except ValueError as error:
        st.warning(f"No examples: {escape_markdown(error)}.", icon=":material/info:")
        return
    st.markdown(examples.sentence)
    st.html(items.pairs_html(dataset, examples, dark=dark()))


def _charts(key: str, dataset: Dataset, overview: Overview) -> None:
    left, right = st.columns([1, 1.2], gap="medium")
    tabulated = [charts.norms(overview)]
    with left:
        if len(overview.class_sizes):
            tabulated.insert(0, charts.class_balance(overview))
            static_chart.show(tabulated[0], "chart_classes", 230, charts.balance_figure(overview, dark=dark()))
        static_chart.show(tabulated[-1], "chart_norms", 230)
    with right:
        coloured = _coloured_classes(key, overview)
        chart = charts.projection(dataset, overview, coloured)
        drawing = charts.projection_figure(dataset, overview, coloured, dark=dark())
        static_chart.show(chart, "chart_plane", 440, drawing)
    with st.expander("Tables: the data behind these charts"):
        for chart in tabulated:
            st.caption(chart.title)
            st.dataframe(chart.table(), height=200, hide_index=True)


def _coloured_classes(key: str, overview: Overview) -> list[int]:
    """Classes drawn in colour: no more than there are distinct colours."""
    limit = len(charts.CLASS_ROLES)
    if not 1 < len(overview.classes) <= 60:
        return []
    if len(overview.classes) <= limit:
        return list(range(len(overview.classes)))
    names = list(distinct({str(at): escape_markdown(name) for at, name in enumerate(overview.classes)}).values())
    picked = st.pills(
        f"Classes in colour, at most {limit}", range(len(overview.classes)), selection_mode="multi",
        default=range(limit), format_func=names.__getitem__, key=f"view_classes {key}",
    )  # fmt: skip
    return sorted(picked)[:limit]


def _identity(key: str, dataset: Dataset) -> tuple[str, int]:
    """The cache key of a dataset: content for the user's own, else the object, which its entry keeps alive."""
    return (f"{key}:{dataset.metric}", 0) if key.startswith(f"{OWN}:") else (key, id(dataset))


@st.cache_resource(max_entries=16, show_spinner="Examining the data …")
def _examine(identity: tuple[str, int], _dataset: Dataset) -> tuple[Dataset | None, Overview, Summary]:
    summary = summarize(_dataset)
    return _dataset if identity[1] else None, make_overview(_dataset), summary


@st.cache_resource(max_entries=48, show_spinner="Drawing pairs …")
def _examples(identity: tuple[str, int], by: str, _dataset: Dataset) -> tuple[Dataset | None, SimilarityExamples]:
    return _dataset if identity[1] else None, draw_examples(_dataset, by)
