"""What a server remembers of uploads: the data of each browser while it lives, and the names of files for ever.

A reload opens a new session. The data are found again by their fingerprint and by the browser that uploaded them, so
that a link alone gives nobody else's data away.
"""

import json
import threading
from collections import OrderedDict
from pathlib import Path
from weakref import WeakKeyDictionary

import streamlit as st

from ohash.engine.export import Files
from ohash.runtime.files import home, write_file
from ohash.streams.dataset import Dataset
from ohash.ui.session import access
from ohash.ui.session.limits import MAX_UPLOADS_MB
from ohash.ui.workarounds.browser import browser_token

MOST_KEPT = 8
MOST_NAMES = 1000
MOST_BYTES = MAX_UPLOADS_MB * 10**6  # of all uploads that anybody uses now
_lock = threading.Lock()


def reserve(dataset: Dataset) -> None:
    """Count an upload against what the server may hold; ValueError if it does not fit."""
    with _lock:
        sizes = _sizes()
        used = sum(size for other, size in list(sizes.items()) if other is not dataset)
        if used + dataset.X.nbytes > MOST_BYTES:
            raise ValueError(
                f"{dataset.title} needs {dataset.X.nbytes / 1e6:,.0f} MB, and this server holds {used / 1e6:,.0f} of "
                f"{MOST_BYTES / 1e6:,.0f} MB of uploads; upload fewer rows, or try again when others have left"
            )
        sizes[dataset] = dataset.X.nbytes


def keep(content: str, dataset: Dataset, files: Files) -> bool:
    """Keep the data for this browser; returns whether they are new."""
    owner = browser_token()
    with _lock:
        kept = _uploads()
        new = (owner, content) not in kept
        if owner:
            kept[owner, content] = dataset, files
            kept.move_to_end((owner, content))
            while len(kept) > MOST_KEPT:
                kept.popitem(last=False)
    return new


def find_upload(content: str) -> tuple[Dataset, Files] | None:
    """The data that this browser has uploaded before."""
    owner = browser_token()
    return _uploads().get((owner, content)) if owner else None


def remember_name(content: str, title: str) -> None:
    """Write down what a file is called; a disk that cannot be written to forgets it, and so does a class."""
    if access.is_class():
        return
    with _lock:
        names = {**_names(), content: title}
        few = dict(list(names.items())[-MOST_NAMES:])
        try:
            _file().parent.mkdir(parents=True, exist_ok=True)
            write_file(_file(), json.dumps(few))
        except OSError:
            return


def name_of(content: str) -> str:
    """The name of a file that was uploaded here once; "" if it is not known."""
    return _names().get(content, "")


def _names() -> dict[str, str]:
    try:
        names = json.loads(_file().read_text())
    except (OSError, ValueError):
        return {}
    return {str(key): str(title) for key, title in names.items()} if isinstance(names, dict) else {}


def _file() -> Path:
    return home() / "uploads.json"


@st.cache_resource
def _sizes() -> WeakKeyDictionary[Dataset, int]:
    return WeakKeyDictionary()


@st.cache_resource
def _uploads() -> OrderedDict[tuple[str, str], tuple[Dataset, Files]]:
    return OrderedDict()
