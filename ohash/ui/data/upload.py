"""Upload your own data: vectors, optional queries, labels and pairs, and the distance to use."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Protocol

import streamlit as st

from ohash.engine.export import PLACEHOLDER_FILES, Files
from ohash.engine.params import OWN
from ohash.streams.dataset import METRICS, Dataset, Metric
from ohash.streams.readers import picture_files
from ohash.streams.readers.own_data import DataOptions, dataset_from_sources
from ohash.streams.readers.picture_files import SUFFIXES
from ohash.streams.readers.source import UPLOAD, Source
from ohash.streams.readers.two_sides import two_sides_from_sources
from ohash.streams.summary import Summary
from ohash.ui.data import actions
from ohash.ui.parts import items
from ohash.ui.session import access, own_data, uploads, view_state
from ohash.ui.session.limits import MAX_UPLOADS_OF_VISITOR_MB
from ohash.ui.session.own_data import check_data
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown
from ohash.ui.workarounds.slots import distinct, once_per_press

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
FOLDER = "All pictures in a folder and in the folders inside it, whose names become labels; other files are left out."
EXAMPLE = """np.save("x.npy", X)    # vectors, one row per item: this alone is enough
np.save("y.npy", y)    # optional: one label per row, as numbers or text
pd.DataFrame({"i": clicked, "j": together_with}).to_csv("clicks.csv", index=False)    # optional: row numbers or ids"""


# To read a file may take several times the memory that it keeps: of a class that uploads at once, most wait a moment.
READERS = threading.BoundedSemaphore(2)


class File(Protocol):
    """A file sent by a browser."""

    @property
    def name(self) -> str:
        """Its name on the user's machine."""

    @property
    def file_id(self) -> str:
        """Different for every upload."""

    def getvalue(self) -> bytes:
        """Its content."""


def read(
    vectors: File, labels: File | None, pairs: File | None, metric: Metric | None, queries: File | None = None
) -> tuple[Dataset, Summary]:
    """A dataset from uploads, checked; ValueError says what is wrong. Without a metric, the file decides.

    With queries, the vectors are documents, and pairs are of a query and a document.
    """
    if queries is not None and labels is not None:
        raise ValueError(
            f"{labels.name} must be left out: documents and queries are similar by pairs or clicks, or by distance"
        )
    files = [vectors, labels, pairs, queries]
    sources = [None if file is None else Source.upload(file.name, file.getvalue()) for file in files]
    extras = [word for word, file in (("queries", queries), ("labels", labels), ("pairs", pairs)) if file is not None]
    assert sources[0] is not None
    title = " with ".join([sources[0].name, *([" and ".join(extras)] if extras else [])])
    ids = tuple("" if file is None else file.file_id for file in files)
    try:
        return _read(ids, title, metric, sources)
    except MemoryError:
        raise ValueError(f"{sources[0].name} does not fit into the memory of this server; take fewer rows") from None


def read_pictures(files: Sequence[File]) -> tuple[Dataset, Summary]:
    """A dataset of uploaded pictures, with a progress bar while they are described; ValueError says what is wrong."""
    title = _title_of([file.name for file in files])
    read = _place_of(tuple(file.file_id for file in files))
    if not read:
        place = st.empty()

        def progress(done: int, total: int) -> None:
            place.progress(done / total, f"Describing your pictures by GIST-512: {done:,} of {total:,}.")

        try:
            place.progress(0.0, "Reading your pictures.")
            dataset = picture_files.read_pictures([(file.name, file.getvalue()) for file in files], title, progress)
            read.append((dataset, _check(dataset)))
        finally:
            place.empty()
    return read[0]


def _title_of(names: Sequence[str]) -> str:
    """The only file, the folder that all come from, or the first of them and how many more there are.

    >>> _title_of(["pets.zip"]), _title_of(["pets/cats/1.png", "pets/dogs/1.png"]), _title_of(["1.png", "2.png"])
    ('pets.zip', 'pets', '1.png and 1 more')
    """
    folders = {PurePosixPath(name).parts[0] if len(PurePosixPath(name).parts) > 1 else "" for name in names}
    if len(names) == 1 or len(folders) > 1 or folders == {""}:
        return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more"
    return folders.pop()


@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def _place_of(ids: tuple[str, ...]) -> list[tuple[Dataset, Summary]]:
    """Where the dataset of some pictures is kept; a cached function cannot show its progress."""
    return []


def names_of(
    vectors: File, labels: File | None, pairs: File | None, metric: Metric | None, queries: File | None = None
) -> Files:
    """The files, as generated code opens them."""
    label_file, pair_file, query_file = (None if file is None else file.name for file in (labels, pairs, queries))
    return Files(vectors.name, label_file, pair_file, metric, query_file)


@st.cache_resource(scope="session", max_entries=1, show_spinner="Reading and checking the file …")
def _read(
    ids: tuple[str, ...], title: str, metric: Metric | None, _sources: list[Source | None]
) -> tuple[Dataset, Summary]:
    with READERS:
        return _parse(title, metric, _sources)


def _parse(title: str, metric: Metric | None, sources: list[Source | None]) -> tuple[Dataset, Summary]:
    vectors, labels, pairs, queries = sources
    assert vectors is not None
    if queries is not None:
        dataset = two_sides_from_sources(vectors, queries, pairs, limits=UPLOAD, metric=metric, title=title, key="own")
        return dataset, _check(dataset)
    options = DataOptions(title=title, metric=metric)
    dataset = dataset_from_sources(vectors, labels, pairs, limits=UPLOAD, key="own", options=options)
    return dataset, _check(dataset)


def _check(dataset: Dataset) -> Summary:
    """The summary of what was read; ValueError if it is of no use, or finds no room: then no cache keeps it."""
    summary = check_data(dataset)
    uploads.reserve(dataset)
    return summary


def panel(session: Session) -> None:
    """The files, a distance, and what was read."""
    linked = own_data.experiment_of_link(session)
    wanted = "" if linked is None else linked.content
    request = st.empty()
    if wanted and wanted not in session.own:
        title = uploads.name_of(wanted)
        file = f"the file {title}" if title else "an uploaded file"
        request.info(
            f"The link you opened needs {escape_markdown(file)} with fingerprint {escape_markdown(wanted)}. Upload "
            "that file here, with its labels or pairs if it had any.",
            icon=":material/link:",
        )
    limit = st.get_option("server.maxUploadSize")
    names = "" if access.is_class() else "; only their names are kept"
    larger = f"Files larger than {limit} MB can be opened from a shell: `ohash-lab vectors.npy`."
    if not access.is_owner():
        limit_of_visitor = MAX_UPLOADS_OF_VISITOR_MB
        larger = f"A file that is larger than {limit} MB, or takes your total above {limit_of_visitor} MB, is refused."
    st.markdown(
        "Your data stay in the memory of this server, for this browser only, until it is restarted or newer uploads "
        f"take their place{names}. No file is ever unpickled. {larger}"
    )
    first, second, third = st.columns(3)
    vectors = first.file_uploader("Vectors or documents", key="upload_vectors", help=VECTORS)
    queries = second.file_uploader("Queries (optional)", key="upload_queries", help=QUERIES)
    pairs = third.file_uploader("Pairs or clicks (optional)", key="upload_pairs", help=PAIRS)
    first, second, third = st.columns(3)
    labels = first.file_uploader("Labels (optional)", key="upload_labels", help=LABELS)
    pictures = second.file_uploader(
        "Or pictures", key="upload_pictures", help=PICTURES, accept_multiple_files=True,
        type=["zip", *(suffix[1:] for suffix in SUFFIXES)],
    )  # fmt: skip
    folder = third.file_uploader(
        "Or a folder of pictures", key="upload_folder", help=FOLDER, accept_multiple_files="directory",
        type=[suffix[1:] for suffix in SUFFIXES],
    )  # fmt: skip
    pictures = folder or pictures
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
            dataset, summary = read_pictures(pictures)
            files = PLACEHOLDER_FILES
        else:
            dataset, summary = read(vectors, labels, pairs, metric, queries)
            files = names_of(vectors, labels, pairs, metric, queries)
    except ValueError as error:
        st.error(f"{escape_markdown(error)}.".replace("..", "."), icon=":material/error:")
        _list_uploads(session)
        return
    content = own_data.add(session, dataset, files)
    st.success(
        f"{escape_markdown(summary.lines()[0])}. You can now choose it on Live and Compare.",
        icon=":material/check_circle:",
    )
    if content == wanted:
        request.info("This is the file your link needs.", icon=":material/link:")
    other = next((one for one in METRICS if replace(dataset, metric=one).fingerprint() == wanted), dataset.metric)
    if wanted not in ("", *session.own) and other == dataset.metric:
        st.info(
            f"This is not what your link needs: its fingerprint is {content}; vectors, labels or pairs differ.",
            icon=":material/link_off:",
        )
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
            "Explore",
            icon=":material/visibility:",
            key="look_upload",
            on_click=once_per_press(_explore),
            args=(session, content),
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
