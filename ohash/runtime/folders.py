"""Where ohash keeps its files: in the folder OHASH_HOME, else where this system keeps a user's data and cache."""

import os
from pathlib import Path

import platformdirs

HOME = "OHASH_HOME"
APP = "ohash"


def home() -> Path:
    """The folder of runs, sweeps and models; it need not exist yet.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {HOME: "/data/lab"}):
    ...     home().as_posix(), cache_folder().as_posix()
    ('/data/lab', '/data/lab/cache')
    """
    return _chosen_folder() or platformdirs.user_data_path(APP, appauthor=False)


def cache_folder() -> Path:
    """The folder of features and radii that were computed once; it need not exist yet."""
    chosen = _chosen_folder()
    return chosen / "cache" if chosen else platformdirs.user_cache_path(APP, appauthor=False)


def _chosen_folder() -> Path | None:
    name = os.environ.get(HOME, "").strip()
    return Path(name).expanduser() if name else None
