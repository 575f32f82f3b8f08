"""What a server remembers of uploads: the data of each browser while it lives, and the names of files for ever.

A reload opens a new session. The data are found again by their fingerprint and by the browser that uploaded them, so
that a link alone gives nobody else's data away.
"""

import gc
import json
import threading
from collections import OrderedDict
from pathlib import Path
from sys import getsizeof
from weakref import WeakKeyDictionary

import streamlit as st

from ohash.engine.export import Files
from ohash.runtime.files import home, write_file
from ohash.streams.dataset import Dataset, dataset_to_frame
from ohash.ui.session import access
from ohash.ui.session.limits import MAX_UPLOADS_MB, MAX_UPLOADS_OF_VISITOR_MB
from ohash.ui.workarounds.browser import browser_token

MAX_KEPT = 8  # of one browser
MAX_KEPT_IN_TOTAL = 256
MAX_NAMES = 1000
MAX_BYTES = MAX_UPLOADS_MB * 10**6  # of all uploads that anybody uses now
MAX_BYTES_OF_VISITOR = MAX_UPLOADS_OF_VISITOR_MB * 10**6
_lock = threading.Lock()


def reserve(dataset: Dataset) -> None:
    """Count an upload against what the server, and one visitor, may hold; ValueError if it does not fit."""
    size, visitor = _size(dataset), access.visitor()
    with _lock:
        for problem, uploader in ((_visitor_limit_reason, visitor), (_server_limit_reason, None)):
            if problem(dataset, size, visitor):
                _forget_unused(uploader)
            if words := problem(dataset, size, visitor):
                raise ValueError(words)
        _held()[dataset] = size, visitor


def _size(dataset: Dataset) -> int:
    """Bytes of all that was read: ids and captions can take more than the vectors."""
    _, arrays = dataset_to_frame(dataset)
    pictures = 0 if dataset.thumbnails is None else dataset.thumbnails.nbytes
    captions = getsizeof(dataset.captions) + sum(map(getsizeof, set(dataset.captions)))
    return sum(array.nbytes for array in arrays.values()) + pictures + captions * bool(dataset.captions)


def _visitor_limit_reason(dataset: Dataset, size: int, visitor: str) -> str:
    """Why a visitor may not have this upload, too; "" if she may."""
    held = list(_held().items())
    used = sum(taken for other, (taken, uploader) in held if other is not dataset and uploader == visitor)
    if not visitor or used + size <= MAX_BYTES_OF_VISITOR:
        return ""
    return (
        f"{dataset.title} needs {size / 1e6:,.0f} MB; of the {MAX_BYTES_OF_VISITOR / 1e6:,.0f} MB that your uploads "
        f"may take here {used / 1e6:,.0f} are in use; upload fewer rows, or close tabs that use the others"
    )


def _server_limit_reason(dataset: Dataset, size: int, visitor: str) -> str:
    """Why the server has no room for an upload; "" if it has."""
    used = sum(taken for other, (taken, _) in list(_held().items()) if other is not dataset)
    if used + size <= MAX_BYTES:
        return ""
    return (
        f"{dataset.title} needs {size / 1e6:,.0f} MB, and this server holds {used / 1e6:,.0f} of "
        f"{MAX_BYTES / 1e6:,.0f} MB of uploads; upload fewer rows, or try again when others have left"
    )


def _forget_unused(uploader: str | None) -> None:
    """Give back what is kept only for a reload, of one visitor or of all, and what belongs to tabs that have closed."""
    held, kept = _held(), _uploads()
    for key, (dataset, _) in list(kept.items()):
        if uploader is None or held.get(dataset, (0, ""))[1] == uploader:
            del kept[key]
    gc.collect()


def keep(content: str, dataset: Dataset, files: Files) -> bool:
    """Keep the data for this browser; returns whether they are new."""
    owner = browser_token()
    with _lock:
        kept = _uploads()
        new = (owner, content) not in kept
        if owner:
            kept[owner, content] = dataset, files
            kept.move_to_end((owner, content))
            for at in [key for key in kept if key[0] == owner][:-MAX_KEPT]:
                del kept[at]
            while len(kept) > MAX_KEPT_IN_TOTAL:
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
        few = dict(list(names.items())[-MAX_NAMES:])
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
def _held() -> WeakKeyDictionary[Dataset, tuple[int, str]]:
    """Bytes of each data set in use, and who uploaded it."""
    return WeakKeyDictionary()


@st.cache_resource
def _uploads() -> OrderedDict[tuple[str, str], tuple[Dataset, Files]]:
    return OrderedDict()
