"""LanceDB: fixed-size lists of uint8 with the distance "hamming"."""

from ohash.index.engines.base import CODES_FILE, CodeFacts, Engine, Statement, size_statement

FOLDER = "codes.lancedb"
CONNECT = f"""\
import lancedb
import numpy as np
import pyarrow as pa

db = lancedb.connect("{FOLDER}")
"""
LOAD = f"""\
codes = np.load("{CODES_FILE}")
lists = pa.FixedSizeListArray.from_arrays(pa.array(codes.ravel()), codes.shape[1])
table = db.create_table("codes", pa.table({{"id": np.arange(len(codes)), "code": lists}}))
"""
SEARCH = """\
results = [
    table.search(code, vector_column_name="code").distance_type("hamming").limit(k).to_arrow() for code in queries
]
rows = np.array([result["id"].to_numpy() for result in results])
distances = np.array([result["_distance"].to_numpy() for result in results])
"""
VECTORS = """\
lists = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
table = db.create_table("both", table.to_arrow().append_column("vector", lists))
"""
RERANK = """\
rows = []
for code, vector in zip(queries, query_vectors):
    near = table.search(code, vector_column_name="code").distance_type("hamming").limit(candidates).to_arrow()
    ids = ", ".join(map(str, near["id"].to_pylist()))
    best = table.search(vector, vector_column_name="vector").where(f"id IN ({ids})", prefilter=True)
    rows.append(best.distance_type("l2").limit(k).to_arrow()["id"].to_numpy())
rows = np.array(rows)
"""


class LanceDB(Engine):
    """LanceDB in a folder."""

    key, title = "lancedb", "LanceDB"
    modules = (("lancedb", "lancedb"),)

    def note(self, facts: CodeFacts) -> dict[str, str | int]:
        """Hamming distance does not depend on the bit order."""
        return {"width": facts.width, "bitorder": facts.bitorder, "read": "fixed-size lists of uint8, hamming"}

    def statements(self, facts: CodeFacts) -> tuple[Statement, ...]:
        """A table is created from its rows."""
        return (
            Statement("connect", "Connect", CONNECT),
            Statement("load", "Create and load", LOAD),
            Statement("search", "Search (exact)", SEARCH),
            size_statement(FOLDER),
            Statement("vectors", "Load the vectors, for re-ranking", VECTORS),
            Statement("rerank", "Re-rank by the vectors", RERANK),
        )


ENGINE = LanceDB()
