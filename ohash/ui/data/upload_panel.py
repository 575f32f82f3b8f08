"""Upload your own data: vectors, optional queries, labels and pairs, and the distance to use."""

from dataclasses import replace

import streamlit as st

from ohash.engine.export import PLACEHOLDER_FILES
from ohash.engine.params import OWN
from ohash.streams.dataset import METRICS
from ohash.streams.readers.picture_files import SUFFIXES
from ohash.ui.data import actions, upload
from ohash.ui.parts import items
from ohash.ui.session import own_data, view_state
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import distinct, once

FROM_FILE = "file"
DISTANCES: dict[str, str] = {
    FROM_FILE: "as given in the file",
    "l2": "Euclidean (L2)",
    "cosine": "cosine (ignores length)",
    "dot": "dot product (favours long vectors)",
}
VECTORS = "One row per item: .npy, .npz, .csv, .tsv, .parquet, .fvecs, .bvecs, .mat or .hdf5. A plain matrix is enough."
QUERIES = (
    "If queries are not items themselves: their vectors, from the same model. The vectors on the left are then the "
    "documents, and only those are searched."
)
LABELS = "One label per row, as numbers or text, or 0/1 flags with one column per label."
DISTANCE = "An ann-benchmarks .hdf5 file names its distance, as in glove-100-angular.hdf5. Without a name, L2 is used."
PAIRS = (
    "Rows i, j that belong together, such as clicks. A third column may hold s = 1 (similar) or -1 (dissimilar), a "
    "fourth the time. With queries: query, item, and label or time; or judgements query-id, corpus-id, score."
)
PICTURES = (
    "A zip of pictures, or several pictures at once: they are described by GIST-512, and the gallery shows them. "
    "Folders in a zip become labels."
)
EXAMPLE = """np.save("x.npy", X)    # vectors, one row per item: this alone is enough
np.save("y.npy", y)    # optional: one label per row, as numbers or text
pd.DataFrame({"i": clicked, "j": together_with}).to_csv("clicks.csv", index=False)    # optional: row numbers or ids"""


def panel(session: Session) -> None:
    """The files, a distance, and what was read."""
    linked = own_data.experiment_of_link(session)
    wanted = "" if linked is None else linked.content
    request = st.empty()
    if wanted and wanted not in session.own:
        known = own_data.name_of(wanted)
        file = f"the file {known}" if known else "an uploaded file"
        request.info(
            f"The link you opened needs {escape_markdown(file)} with fingerprint {escape_markdown(wanted)}. Upload "
            "that file here, with its labels or pairs if it had any.",
            icon=":material/link:",
        )
    limit = st.get_option("server.maxUploadSize")
    st.markdown(
        "Your data stay in the memory of this server, for this browser only, until it is restarted or newer uploads "
        "take their place; only their names are kept. No file is ever unpickled. Files larger than "
        f"{limit} MB can be opened from a shell: `ohash-lab vectors.npy`."
    )
    first, second, third = st.columns(3)
    vectors = first.file_uploader("Vectors or documents", key="upload_vectors", help=VECTORS)
    queries = second.file_uploader("Queries (optional)", key="upload_queries", help=QUERIES)
    pairs = third.file_uploader("Pairs or clicks (optional)", key="upload_pairs", help=PAIRS)
    first, second, _ = st.columns(3)
    labels = first.file_uploader("Labels (optional)", key="upload_labels", help=LABELS)
    pictures = second.file_uploader(
        "Or pictures", key="upload_pictures", help=PICTURES, accept_multiple_files=True,
        type=["zip", *(suffix[1:] for suffix in SUFFIXES)],
    )  # fmt: skip
    chosen = st.segmented_control(
        "Distance", tuple(DISTANCES), default=FROM_FILE, required=True, key="view_metric",
        format_func=lambda name: DISTANCES[name], help=DISTANCE,
    )  # fmt: skip
    metric = next((one for one in METRICS if one == chosen), None)
    if vectors is None and not pictures:
        if queries is not None:
            st.info("Queries need documents to search: upload those, too.", icon=":material/upload_file:")
        elif labels is not None or pairs is not None:
            st.info("Labels and pairs need vectors: upload those, too.", icon=":material/upload_file:")
        else:
            st.code(EXAMPLE, language="python")
        _list_uploads(session)
        return
    try:
        if vectors is None:
            dataset, summary = upload.read_pictures(pictures)
            files = PLACEHOLDER_FILES
        else:
            dataset, summary = upload.read(vectors, labels, pairs, metric, queries)
            files = upload.names_of(vectors, labels, pairs, metric, queries)
    except ValueError as error:
        st.error(f"{escape_markdown(error)}.".replace("..", "."), icon=":material/error:")
        _list_uploads(session)
        return
    content = own_data.add(session, dataset, files)
    st.success(f"{summary.lines()[0]}. You can now choose it on Live and Compare.", icon=":material/check_circle:")
    if content == wanted:
        request.info("This is the file your link needs.", icon=":material/link:")
    other = next((one for one in METRICS if replace(dataset, metric=one).fingerprint() == wanted), dataset.metric)
    if other != dataset.metric:
        st.info(
            f"This is the file your link needs, but with the distance {other}: choose that distance.",
            icon=":material/link:",
        )
    st.html(items.facts_html(summary.lines()[1:]))
    with st.container(horizontal=True):
        run_linked = content == session.params.content
        compare_linked = session.comparison is not None and content == session.comparison.content
        run_label = "Run the linked experiment" if run_linked else "Watch OH learn this"
        compare_label = "Run the linked comparison" if compare_linked else "Compare methods on this"
        if st.button(run_label, type="primary", icon=":material/play_arrow:", key="watch_upload"):
            actions.watch(session, f"{OWN}:{content}")
        if st.button(compare_label, icon=":material/compare_arrows:", key="compare_upload"):
            actions.compare(session, f"{OWN}:{content}")
        if (dataset.pairs is not None or dataset.labels is not None) and st.button(
            "Learn or rotate?", icon=":material/balance:", key="advise_upload"
        ):
            actions.advise(session, f"{OWN}:{content}")
        st.button(
            "Explore", icon=":material/visibility:", key="look_upload", on_click=once(_explore), args=(session, content)
        )


def _list_uploads(session: Session) -> None:
    if not session.own:
        return
    st.markdown("##### Uploaded in this session")
    titles = distinct({content: own.title for content, own in session.own.items()})
    rows = [[titles[content], f"{own.n:,}", f"{own.d:,}", content] for content, own in session.own.items()]
    st.html(items.table_html(["data", "rows", "columns", "fingerprint"], rows, numbers=frozenset({1, 2})))


def _explore(session: Session, content: str) -> None:
    session.viewed_dataset = f"{OWN}:{content}"
    view_state.show_data_part("look")
