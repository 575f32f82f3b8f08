"""Qdrant Edge: the engine of Qdrant in the process, with binary quantisation."""

from ohash.index.engines.base import CODES_FILE, CodeFacts, Statement, size_statement
from ohash.index.engines.qdrant import SIGNS, Qdrant

FOLDER = "codes.qdrant"
CONNECT = """\
from pathlib import Path
import numpy as np
import qdrant_edge as qdrant

bits_only = qdrant.SearchParams(quantization=qdrant.QuantizationSearchParams(rescore=False))


"""
CREATE = f"""\
code = qdrant.EdgeVectorParams(
    size={{bits}}, distance=qdrant.Distance.Dot, memory=qdrant.Memory.Cold,  # the ±1 vectors stay on disk
    quantization_config=qdrant.BinaryQuantizationConfig(memory=qdrant.Memory.Pinned),
)
scan = qdrant.HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=10**9)  # exact; less makes it use a graph
now = qdrant.EdgeOptimizersConfig(indexing_threshold=1)  # quantise segments of more than 1 kB
Path("{FOLDER}").mkdir()
shard = qdrant.EdgeShard.create("{FOLDER}", qdrant.EdgeConfig({{{{"code": code}}}}, hnsw_config=scan, optimizers=now))
"""
LOAD = f"""\
codes = np.load("{CODES_FILE}")
for start in range(0, len(codes), 10_000):
    block = signs(codes[start : start + 10_000]).tolist()
    points = [qdrant.Point(start + at, {{"code": code}}, {{}}) for at, code in enumerate(block)]
    shard.update(qdrant.UpdateOperation.upsert_points(points))
shard.optimize()
"""
SEARCH = """\
requests = [
    qdrant.QueryRequest(query=qdrant.Query.Nearest(code, using="code"), limit=k, params=bits_only)
    for code in signs(queries).tolist()
]
results = [shard.query(request) for request in requests]
rows = np.array([[point.id for point in points] for points in results])
distances = np.array([[({bits} - point.score) / 2 for point in points] for points in results])
"""
VECTORS = """\
vector = qdrant.EdgeVectorParams(size=vectors.shape[1], distance=qdrant.Distance.Euclid)
config = qdrant.EdgeConfig({"code": code, "vector": vector}, hnsw_config=scan, optimizers=now)
Path("both.qdrant").mkdir()
both = qdrant.EdgeShard.create("both.qdrant", config)
rows = zip(signs(codes).tolist(), vectors.tolist())
points = [qdrant.Point(id, {"code": code, "vector": vector}, {}) for id, (code, vector) in enumerate(rows)]
both.update(qdrant.UpdateOperation.upsert_points(points))
both.optimize()
"""
RERANK = """\
results = []
for code, vector in zip(signs(queries).tolist(), query_vectors.tolist()):
    by_code = qdrant.Query.Nearest(code, using="code")
    near = qdrant.Prefetch(query=by_code, limit=candidates, params=bits_only)
    by_vector = qdrant.Query.Nearest(vector, using="vector")
    results.append(both.query(qdrant.QueryRequest(prefetches=[near], query=by_vector, limit=k)))
rows = np.array([[point.id for point in points] for points in results])
"""


class QdrantEdge(Qdrant):
    """A shard of Qdrant in a folder."""

    key, title = "qdrant_edge", "Qdrant Edge"
    modules = (("qdrant_edge", "qdrant-edge-py"),)
    remark = ""

    def statements(self, facts: CodeFacts) -> tuple[Statement, ...]:
        """Rescoring is a prefetch by code, then a query by vector."""
        signs = SIGNS.format(bits=facts.bits, bitorder=facts.bitorder)
        return (
            Statement("connect", "Import", CONNECT + signs),
            Statement("create", "Create", CREATE.format(bits=facts.bits)),
            Statement("load", "Load and quantise", LOAD),
            Statement("search", "Search by the bits", SEARCH.format(bits=facts.bits)),
            size_statement(FOLDER),
            Statement("vectors", "Load the vectors, for re-ranking", VECTORS),
            Statement("rerank", "Re-rank by the vectors", RERANK),
            Statement("close", "Close", "shard.close()\n"),
        )


ENGINE = QdrantEdge()
