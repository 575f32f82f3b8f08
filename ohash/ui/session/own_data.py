"""The user's own data in a session: uploads, and the file the server was started with (``ohash-lab x.npy``)."""

import os
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from ohash.advice.params import AdviceParams
from ohash.comparison.params import Comparison
from ohash.engine.export import PLACEHOLDER_FILES, Files
from ohash.engine.params import OWN, ExperimentParams, experiment
from ohash.models.registry import plugin_modules
from ohash.streams import registry as datasets
from ohash.streams.dataset import METRICS, Dataset
from ohash.streams.readers.own_data import open_files
from ohash.streams.readers.two_sides import open_two_sides
from ohash.streams.summary import Summary, summarize
from ohash.ui.session import access, uploads
from ohash.ui.session.session import Session
from ohash.ui.workarounds.markdown import escape_markdown

MAX_DATASETS = 4
Named = ExperimentParams | Comparison | AdviceParams  # what a link can name
# Set by ohash-lab: vectors, their labels, pairs among them, their distance, and the queries that search them.
FILES = ("OHASH_FILE", "OHASH_LABELS", "OHASH_PAIRS")
METRIC = "OHASH_METRIC"
QUERIES = "OHASH_QUERIES"
OWNERS_FILE = "The file that this server was started with cannot be opened; whoever started it sees why."


def dataset_of(session: Session, params: Named) -> Dataset | None:
    """The session's own data if the experiment uses them, else None."""
    if params.dataset != OWN:
        access.check_data(params.dataset)
        return None
    if params.content not in session.own:
        name = uploads.name_of(params.content)
        raise ValueError(
            f"This link needs an uploaded file{f', {name}' if name else ''} (fingerprint "
            f"{params.content or 'missing'}); upload that file on the Data page, or choose another data set"
        )
    return session.own[params.content]


def similar_by(session: Session) -> str:
    """What the live experiment calls similar; "" where its data cannot be had."""
    chosen = session.params.stream.similar_by
    if chosen != "auto":
        return chosen
    try:
        dataset = dataset_of(session, session.params) or datasets.load_by_key(session.params.dataset)
    except ValueError:
        return ""
    return dataset.similarities[0]


def experiment_of_link(session: Session) -> Named | None:
    """The experiment, comparison or question of the opened link, if it uses somebody's own data."""
    for named in (session.advice, session.comparison, session.params):
        if named is not None and named.dataset == OWN and named.content:
            return named
    return None


def missing(session: Session) -> Named | None:
    """What the opened link names, if the data that it needs have not been uploaded yet."""
    named = experiment_of_link(session)
    return None if named is None or named.content in session.own else named


def files_of(session: Session, content: str) -> Files:
    """The files that code must open to load the user's own data again; a visitor sees no folder of the server."""
    files = session.files.get(content, PLACEHOLDER_FILES)
    return files if access.is_owner() else Files._make(name and Path(name).name for name in files)


def hide_folders() -> Callable[[str], str]:
    """What takes the folders of plugins out of generated code, for a visitor; to be called while a page is drawn."""
    files = [] if access.is_owner() else [Path(str(module.__file__)) for module in plugin_modules()]

    def hide(text: str) -> str:
        for file in files:
            text = text.replace(repr(str(file.resolve())), repr(file.name))
        return text

    return hide


def add(session: Session, dataset: Dataset, files: Files = PLACEHOLDER_FILES) -> str:
    """Keep uploaded data for this session; returns their fingerprint."""
    key = dataset.fingerprint()
    if files != command_line_files():
        uploads.reserve(dataset)
    session.files[key] = files
    named = (session.params, session.comparison, session.advice)
    used = {key, *(one.content for one in named if one is not None)}
    unused = [content for content in session.own if content not in used]
    for content in unused[: max(0, len(session.own) + 1 - MAX_DATASETS)]:
        del session.own[content]
        session.files.pop(content, None)
    session.own[key] = dataset
    if files != command_line_files() and uploads.keep(key, dataset, files):
        uploads.remember_name(key, dataset.title)
    return key


def restore(session: Session) -> None:
    """After a reload: the data of the link, if this browser has uploaded them since the server was started."""
    named = missing(session)
    upload = None if named is None else uploads.find_upload(named.content)
    if named is not None and upload is not None:
        session.own[named.content], session.files[named.content] = upload


def add_command_line_data(session: Session, *, first: bool) -> None:
    """Add the file the server was started with; if `first`, make it the experiment of the session."""
    own, problem = load_command_line_data()
    if own is not None:
        add(session, own, command_line_files())
        if first:
            session.params, session.preset = experiment(own), ""
    elif problem:
        session.warnings.append(escape_markdown(problem) if access.is_owner() else OWNERS_FILE)


def check_data(dataset: Dataset) -> Summary:
    """The summary of a dataset; ValueError if no run can start on it."""
    summary = summarize(dataset)
    if not summary.good:
        raise ValueError(f"{dataset.title} can be read, but no run can start on it: {summary.problem}")
    return summary


def command_line_files() -> Files:
    """The files this server was started with; the first is "" if there are none."""
    vectors, *others = (os.environ.get(variable, "").strip() for variable in (*FILES, METRIC, QUERIES))
    return Files(vectors, *(name or None for name in others))


def load_command_line_data() -> tuple[Dataset | None, str]:
    """The dataset this server was started with, or None; and what is wrong with it."""
    given = command_line_files()
    if not given.vectors:
        return None, ""
    names = (given.vectors, given.labels, given.pairs, *([given.queries] if given.queries else []))
    try:
        files = [*(Path(name) for name in names if name), Path(given.vectors).with_suffix(".toml")]
        stamps = tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)
        return _open(names, stamps, given.metric), ""
    except (ValueError, OSError) as error:
        return None, str(error)


@st.cache_resource(max_entries=1, show_spinner="Opening your file …")
def _open(names: tuple[str | None, ...], stamps: tuple[int, ...], metric: str | None) -> Dataset:
    vectors, labels, pairs, *queries = names
    assert vectors is not None
    wanted = next((known for known in METRICS if known == metric), None)
    if queries and queries[0]:
        dataset = open_two_sides(vectors, queries[0], pairs, wanted, key="own")
    else:
        dataset = open_files(vectors, labels, pairs, wanted, key="own")
    check_data(dataset)
    return dataset
