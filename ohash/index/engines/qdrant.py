"""Qdrant: codes as vectors of ±1, which its binary quantisation turns back into the same bits."""

from ohash.index.engines.base import CODES_FILE, CodeFacts, Engine, Statement

# The dot product of two codes of r values ±1 is r - 2 D_h.
SIGNS = '''\
def signs(codes):
    """Packed codes as vectors of -1 and +1."""
    return 2 * np.unpackbits(codes, axis=1, count={bits}, bitorder="{bitorder}").astype(np.float32) - 1
'''
CONNECT = """\
import numpy as np
from qdrant_client import QdrantClient, models

client = QdrantClient(":memory:")  # a server is QdrantClient("http://localhost:6333")
quantization = models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
bits_only = models.SearchParams(quantization=models.QuantizationSearchParams(rescore=False))


"""
CREATE = """\
code = models.VectorParams(
    size={bits}, distance=models.Distance.DOT, on_disk=True, quantization_config=quantization
)
client.create_collection("codes", vectors_config={{"code": code}})
"""
LOAD = f"""\
codes = np.load("{CODES_FILE}")
client.upload_collection("codes", vectors={{"code": signs(codes)}}, ids=range(len(codes)), wait=True)
"""
SEARCH = """\
requests = [
    models.QueryRequest(query=code.tolist(), using="code", limit=k, params=bits_only) for code in signs(queries)
]
results = [response.points for response in client.query_batch_points("codes", requests)]
rows = np.array([[point.id for point in points] for points in results])
distances = np.array([[({bits} - point.score) / 2 for point in points] for points in results])
"""
VECTORS = """\
vector = models.VectorParams(size=vectors.shape[1], distance=models.Distance.EUCLID, on_disk=True)
client.create_collection("both", vectors_config={"code": code, "vector": vector})
client.upload_collection("both", {"code": signs(codes), "vector": vectors}, ids=range(len(codes)), wait=True)
"""
RERANK = """\
requests = [
    models.QueryRequest(
        prefetch=models.Prefetch(query=code.tolist(), using="code", limit=candidates, params=bits_only),
        query=vector.tolist(), using="vector", limit=k,
    )
    for code, vector in zip(signs(queries), query_vectors)
]
rows = np.array([[point.id for point in one.points] for one in client.query_batch_points("both", requests)])
"""


class Qdrant(Engine):
    """The client of Qdrant, against a server or in memory."""

    key, title = "qdrant", "Qdrant"
    modules = (("qdrant_client", "qdrant-client"),)
    remark = (
        "In memory the client searches the ±1 vectors exactly and ignores quantisation; a server quantises, and keeps "
        "the ±1 vectors on disk. `qdrant_edge` runs the engine of the server in your process."
    )

    def note(self, facts: CodeFacts) -> dict[str, str | int]:
        """Bits become ±1, so their order matters."""
        return {"size": facts.bits, "bitorder": facts.bitorder, "read": "bits as -1 and +1, Dot, binary quantisation"}

    def statements(self, facts: CodeFacts) -> tuple[Statement, ...]:
        """Rescoring is a prefetch by code, then a query by vector."""
        signs = SIGNS.format(bits=facts.bits, bitorder=facts.bitorder)
        return (
            Statement("connect", "Connect", CONNECT + signs),
            Statement("create", "Create", CREATE.format(bits=facts.bits)),
            Statement("load", "Load", LOAD),
            Statement("search", "Search by the bits", SEARCH.format(bits=facts.bits)),
            Statement("vectors", "Load the vectors, for re-ranking", VECTORS),
            Statement("rerank", "Re-rank by the vectors", RERANK),
            Statement("close", "Disconnect", "client.close()\n"),
        )


ENGINE = Qdrant()
