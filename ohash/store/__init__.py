"""Runs on disk: one Parquet file per run (`traces`), listed in an SQLite database (`schema`, `store`).

`listing` is the row that a list shows of a run, and the export of several runs.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.store.listing import RunRow, RunStore
    from ohash.store.store import Store, StoreError

__all__ = ["RunRow", "RunStore", "Store", "StoreError"]

__getattr__, __dir__ = lazy.attach(__name__, {"listing": ("RunRow", "RunStore"), "store": ("Store", "StoreError")})
