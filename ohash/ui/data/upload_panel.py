"""Upload data of one's own: vectors, if there are any labels or pairs, and the distance that counts."""

from dataclasses import replace

import streamlit as st

from ohash.engine.params import OWN
from ohash.streams.dataset import METRICS
from ohash.ui import items
from ohash.ui import view_state as memory
from ohash.ui.data import own_data as yours
from ohash.ui.data import page as data
from ohash.ui.data import upload
from ohash.ui.session import Session
from ohash.ui.workarounds.messages import plain
from ohash.ui.workarounds.slots import once

AS_SAID = "file"
DISTANCES: dict[str, str] = {
    AS_SAID: "as the file says",
    "l2": "Euclidean (L2)",
    "cosine": "cosine: only directions count",
    "dot": "dot product: long rows are near to all",
}
VECTORS = "One row an item: .npy, .npz, .csv, .tsv, .parquet, .fvecs, .bvecs, .mat or .hdf5. A bare matrix is enough."
LABELS = "One label a row, numbers or texts, or 0/1 flags with one column a label."
SAID = "An ann-benchmarks .hdf5 names its distance, as in glove-100-angular.hdf5; where a file says nothing, it is L2."
PAIRS = "Rows i, j that belong together (clicks); a third column s = 1 or -1 for similar or not, a fourth for the time."

EXAMPLE = """np.save("x.npy", X)    # vectors, one row an item: this alone is enough
np.save("y.npy", y)    # optional: one label a row, numbers or texts
pd.DataFrame({"i": clicked, "j": together_with}).to_csv("clicks.csv", index=False)    # optional: row numbers or ids"""


def panel(session: Session) -> None:
    """Three files, a distance, and what came of it."""
    linked = yours.wanted(session)
    wanted = "" if linked is None else linked.content
    asked = st.empty()
    if wanted and wanted not in session.own:
        asked.info(
            f"The link you opened needs data of somebody's own: fingerprint {plain(wanted)}. Upload that file here, "
            "with its labels or pairs if it had some.",
            icon=":material/link:",
        )
    most = st.get_option("server.maxUploadSize")
    st.markdown(
        "Your vectors stay on this server, in this session, and are gone with it. Nothing is ever unpickled. A file of "
        f"more than {most} MB opens from a shell: `ohash-lab vectors.npy`."
    )
    first, second, third = st.columns(3)
    vectors = first.file_uploader("Vectors", key="upload_vectors", help=VECTORS)
    labels = second.file_uploader("Labels (optional)", key="upload_labels", help=LABELS)
    pairs = third.file_uploader("Pairs or clicks (optional)", key="upload_pairs", help=PAIRS)
    chosen = st.segmented_control(
        "Distance of the vectors", tuple(DISTANCES), default=AS_SAID, required=True, key="view_metric",
        format_func=lambda name: DISTANCES[name], help=SAID,
    )  # fmt: skip
    metric = next((one for one in METRICS if one == chosen), None)
    if vectors is None:
        if labels is not None or pairs is not None:
            st.info("Labels and pairs belong to vectors: upload those too.", icon=":material/upload_file:")
        else:
            st.code(EXAMPLE, language="python")
        _mine(session)
        return
    try:
        dataset, found = upload.read(vectors, labels, pairs, metric)
    except ValueError as error:
        st.error(f"{plain(error)}.".replace("..", "."), icon=":material/error:")
        _mine(session)
        return
    content = yours.add(session, dataset, upload.names_of(vectors, labels, pairs, metric))
    st.success(
        f"{found.lines()[0]}. It is now among the data sets of Live and Compare.", icon=":material/check_circle:"
    )
    if content == wanted:
        asked.info("This is the file your link needs.", icon=":material/link:")
    other = next((one for one in METRICS if replace(dataset, metric=one).fingerprint() == wanted), dataset.metric)
    if other != dataset.metric:
        st.info(f"This is the file your link needs, with the distance {other}: choose that.", icon=":material/link:")
    st.html(items.facts_html(found.lines()[1:]))
    with st.container(horizontal=True):
        offer = "Run what the link says" if content == session.params.content else "Watch OH learn this"
        compared = session.comparison is not None and content == session.comparison.content
        if st.button(offer, type="primary", icon=":material/play_arrow:", key="watch_upload"):
            data.watch(session, f"{OWN}:{content}")
        also = "Compare as the link says" if compared else "Compare methods on it"
        if st.button(also, icon=":material/compare_arrows:", key="compare_upload"):
            data.compare(session, f"{OWN}:{content}")
        st.button(
            "Look at it", icon=":material/visibility:", key="look_upload", on_click=once(_look), args=(session, content)
        )


def _mine(session: Session) -> None:
    if not session.own:
        return
    st.markdown("##### Yours, in this session")
    rows = [[own.title, f"{own.n:,}", f"{own.d:,}", content] for content, own in session.own.items()]
    st.html(items.table_html(["data", "rows", "columns", "fingerprint"], rows, numbers=frozenset({1, 2})))


def _look(session: Session, content: str) -> None:
    session.looking = f"{OWN}:{content}"
    memory.show_part("look")
