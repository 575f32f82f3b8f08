"""Search in binary codes, and their export.

`HammingIndex` finds exact neighbours by a scan or by multi-index hashing: `searcher` does both, and says what
each costs; `planner` decides. `export` writes codes for faiss, pgvector and Milvus, and an encoder in plain NumPy.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.index.export import to_faiss, to_milvus, to_pgvector, write_codes, write_encoder
    from ohash.index.hamming_index import HammingIndex, RadiusResult, SearchResult, UpdateResult

__all__ = [
    "HammingIndex", "RadiusResult", "SearchResult", "UpdateResult", "to_faiss", "to_milvus", "to_pgvector",
    "write_codes", "write_encoder",
]  # fmt: skip

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "export": ("to_faiss", "to_milvus", "to_pgvector", "write_codes", "write_encoder"),
        "hamming_index": ("HammingIndex", "RadiusResult", "SearchResult", "UpdateResult"),
    },
)
