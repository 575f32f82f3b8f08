"""Milvus: a field BINARY_VECTOR with the metric HAMMING."""

from ohash.index.engines.base import CODES_FILE, RERANK, CodeFacts, Engine, Statement, size_statement

FILE = "codes.db"
CONNECT = f"""\
import numpy as np
from pymilvus import DataType, MilvusClient

# Milvus Lite, which takes a while to start; a server is MilvusClient("http://localhost:19530")
client = MilvusClient("{FILE}", timeout=60)
"""
CREATE = """\
schema = client.create_schema()
schema.add_field("id", DataType.INT64, is_primary=True)
schema.add_field("code", DataType.BINARY_VECTOR, dim={dim})
index = client.prepare_index_params()
index.add_index("code", index_type="BIN_FLAT", metric_type="HAMMING")
client.create_collection("codes", schema=schema, index_params=index)
"""
LOAD = f"""\
codes = np.load("{CODES_FILE}")
for start in range(0, len(codes), 10_000):
    block = codes[start : start + 10_000]
    client.insert("codes", [{{"id": start + at, "code": code.tobytes()}} for at, code in enumerate(block)])
"""
NEAREST = """\
results = client.search(
    "codes", [code.tobytes() for code in queries], anns_field="code", limit={limit},
    search_params={{"metric_type": "HAMMING"}},
)
"""
ROWS = """\
rows = np.array([[hit["id"] for hit in result] for result in results])
distances = np.array([[hit["distance"] for hit in result] for result in results])
"""
NEAR = 'near = np.array([[hit["id"] for hit in result] for result in results])\n'


class Milvus(Engine):
    """Milvus, or Milvus Lite in a file."""

    key, title = "milvus", "Milvus"
    modules = (("pymilvus", "pymilvus"), ("milvus_lite", "milvus-lite 2.5"))
    systems = ("Linux", "Darwin")  # milvus-lite has no wheel for Windows
    remark = "Milvus Lite takes binary vectors in its versions 2.4 and 2.5; 3.2 refuses them."

    def note(self, facts: CodeFacts) -> dict[str, str | int]:
        """The dimension is in bits, filled up to bytes."""
        read = "rows of bytes for BINARY_VECTOR, HAMMING"
        return {"dim": 8 * facts.width, "bitorder": facts.bitorder, "read": read}

    def statements(self, facts: CodeFacts) -> tuple[Statement, ...]:
        """Re-ranking is done in NumPy."""
        return (
            Statement("connect", "Connect", CONNECT),
            Statement("create", "Create", CREATE.format(dim=8 * facts.width)),
            Statement("load", "Load", LOAD),
            Statement("search", "Search (exact)", NEAREST.format(limit="k") + ROWS),
            Statement("rerank", "Re-rank by the vectors", NEAREST.format(limit="candidates") + NEAR + RERANK),
            size_statement(FILE),
            Statement("close", "Disconnect", "client.close()\n"),
        )


ENGINE = Milvus()
