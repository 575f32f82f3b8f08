"""The engines, found by scan."""

import importlib
import pkgutil
from functools import cache

import ohash.index.engines as package
from ohash.index.engines.base import Engine

FIRST = ("faiss", "pgvector", "milvus")  # those that were here first lead the list


@cache
def engines() -> dict[str, Engine]:
    """Every engine by its key."""
    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    every = {one.ENGINE.key: one.ENGINE for one in modules if hasattr(one, "ENGINE")}
    return {
        key: every[key]
        for key in sorted(every, key=lambda key: (key not in FIRST, FIRST.index(key) if key in FIRST else 0, key))
    }
