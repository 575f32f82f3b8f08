"""SQLite with sqlite-vec: a column bit[8 x bytes] of a virtual table."""

from ohash.index.engines.base import CODES_FILE, CodeFacts, Engine, Statement, size_statement

FILE = "codes.sqlite"
CONNECT = f"""\
import apsw  # the sqlite3 module works as well, if your Python was built with loadable extensions
import numpy as np
import sqlite_vec

db = apsw.Connection("{FILE}")
db.enable_load_extension(True)
db.load_extension(sqlite_vec.loadable_path())
"""
CREATE = 'db.execute("CREATE VIRTUAL TABLE codes USING vec0(id integer primary key, code bit[{bits}])")\n'
LOAD = f"""\
codes = np.load("{CODES_FILE}")
with db:
    add = "INSERT INTO codes(id, code) VALUES (?, vec_bit(?))"
    db.executemany(add, ((id, code.tobytes()) for id, code in enumerate(codes)))
"""
SEARCH = """\
nearest = "SELECT id, distance FROM codes WHERE code MATCH vec_bit(?) AND k = ? ORDER BY distance"
results = [db.execute(nearest, (code.tobytes(), k)).fetchall() for code in queries]
rows = np.array([[id for id, _ in result] for result in results])
distances = np.array([[distance for _, distance in result] for result in results])
"""
VECTORS = """\
db.execute("CREATE TABLE vectors (id integer primary key, vector blob)")
with db:
    db.executemany("INSERT INTO vectors VALUES (?, ?)", ((id, row.tobytes()) for id, row in enumerate(vectors)))
"""
RERANK = """\
reranked = '''
    WITH near AS (SELECT id FROM codes WHERE code MATCH vec_bit(?) AND k = ?)
    SELECT id FROM near JOIN vectors USING (id) ORDER BY vec_distance_l2(vector, ?) LIMIT ?
'''
rows = np.array([
    [id for id, in db.execute(reranked, (code.tobytes(), candidates, vector.tobytes(), k))]
    for code, vector in zip(queries, query_vectors)
])
"""


class SqliteVec(Engine):
    """SQLite in one file."""

    key, title = "sqlite_vec", "SQLite with sqlite-vec"
    modules = (("sqlite_vec", "sqlite-vec"), ("apsw", "apsw"))
    remark = "It answers at most 4,096 nearest per query. Vectors for re-ranking must be float32."

    def note(self, facts: CodeFacts) -> dict[str, str | int]:
        """The length of a column is a multiple of 8."""
        return {"bit": 8 * facts.width, "bitorder": facts.bitorder, "read": f"rows of bytes for bit[{8 * facts.width}]"}

    def statements(self, facts: CodeFacts) -> tuple[Statement, ...]:
        """All in SQL."""
        return (
            Statement("connect", "Connect", CONNECT),
            Statement("create", "Create", CREATE.format(bits=8 * facts.width)),
            Statement("load", "Load", LOAD),
            Statement("search", "Search (exact)", SEARCH),
            size_statement(FILE),
            Statement("vectors", "Load the vectors, for re-ranking", VECTORS),
            Statement("rerank", "Re-rank by the vectors", RERANK),
            Statement("close", "Disconnect", "db.close()\n"),
        )


ENGINE = SqliteVec()
