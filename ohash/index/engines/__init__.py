"""Search engines that take binary codes: one file per engine, found by scan.

An engine writes the files it loads and a page with the statements that create, load, search and re-rank. A `Session`
executes the statements of such a page, and nothing else: tests and `bench engines` run what a user would copy.
"""

import importlib
import pkgutil
from functools import cache

from ohash.index.engines.base import Engine

FIRST = ("faiss", "pgvector", "milvus")  # those that were here first lead the list


@cache
def engines() -> dict[str, Engine]:
    """Every engine by its key."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    every = {one.ENGINE.key: one.ENGINE for one in modules if hasattr(one, "ENGINE")}
    return {
        key: every[key]
        for key in sorted(every, key=lambda key: (key not in FIRST, FIRST.index(key) if key in FIRST else 0, key))
    }
