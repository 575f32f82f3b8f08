"""A session: the statements of an exported page, executed in an engine."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Bytes, Floats, Reals
from ohash.index.engines.base import Engine, read_page

Ids = npt.NDArray[np.int64]


class Session:
    """An engine that runs what its page says; the folder of the export is the current one meanwhile."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        """Read the page."""
        self.engine = engine
        self.statements = read_page((folder / f"{engine.key}.md").read_text(encoding="utf-8"))
        self._folder = folder
        self._names: dict[str, Any] = {}
        self._connected = False

    def create(self) -> None:
        """Connect and create what codes are loaded into."""
        steps = ("connect", "create") if "create" in self.statements else ("connect",)
        for step in steps:
            if self._order(step) < self._order("load"):
                self._run(step)

    def load(self) -> None:
        """Load the codes."""
        self._run("load")
        if self._order("connect") > self._order("load"):
            self._run("connect")

    def search(self, queries: Bytes, k: int) -> tuple[Ids, Floats]:
        """(rows, distances) of the k nearest codes of each query, in the bit order of the export."""
        names = self._run("search", queries=queries, k=k)
        return np.asarray(names["rows"], np.int64), np.asarray(names["distances"], np.float64)

    def load_vectors(self, vectors: Reals) -> None:
        """Load float vectors, one per code, where re-ranking is done by the engine."""
        self._names["vectors"] = vectors
        if "vectors" in self.statements:
            self._run("vectors")

    def rerank(self, queries: Bytes, query_vectors: Reals, k: int, candidates: int) -> Ids:
        """The k nearest by the vectors among the `candidates` nearest codes of each query."""
        names = self._run("rerank", queries=queries, query_vectors=query_vectors, k=k, candidates=candidates)
        return np.asarray(names["rows"], np.int64)

    def change(self, variant: str) -> None:
        """Run a step that changes how codes are searched, such as "hnsw"."""
        self._run(variant)

    def size(self) -> int | None:
        """Bytes on disk; None for an engine that has nothing there."""
        return int(self._run("size")["size"]) if "size" in self.statements else None

    def close(self) -> None:
        """Disconnect, if a connection was made: else its error is the one to be seen."""
        if "close" in self.statements and self._connected:
            self._run("close")

    def names(self) -> dict[str, Any]:
        """What the statements have defined so far."""
        return self._names

    def _order(self, step: str) -> int:
        return list(self.statements).index(step)

    def _run(self, step: str, **values: object) -> dict[str, Any]:
        """Execute one statement with these values."""
        statement = self.statements[step]
        self._names.update(values)
        with chdir(self._folder):
            if statement.language == "sh":
                subprocess.run(["sh", "-ec", statement.text], check=True, env=os.environ.copy())
            else:
                exec(compile(statement.text, f"{self.engine.key}.md, {step}", "exec"), self._names)
        self._connected |= step == "connect"
        return self._names


@contextmanager
def open_session(engine: Engine, folder: Path) -> Iterator[Session]:
    """A session with the server it needs, disconnected at the end."""
    with engine.serve(folder):
        session = Session(engine, folder)
        try:
            yield session
        finally:
            session.close()
