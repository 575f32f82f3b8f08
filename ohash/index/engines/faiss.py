"""faiss: an exact index of binary codes in one file."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ohash.core.arrays import Bytes
from ohash.index.engines.base import RERANK, CodeFacts, Engine, Statement, size_statement
from ohash.runtime.files import write_file

FILE = "codes.faiss"


class Faiss(Engine):
    """IndexBinaryFlat."""

    key, title = "faiss", "faiss"
    modules = (("faiss", "faiss-cpu"),)
    bitorders = ("little",)

    def write(self, packed: Bytes, facts: CodeFacts, folder: Path) -> list[Path]:
        """Write the index itself."""
        write_file(folder / FILE, import_faiss().serialize_index_binary(binary_index(packed)).data)
        return [folder / FILE]

    def note(self, facts: CodeFacts) -> dict[str, str | int]:
        """The dimension is in bits, filled up to bytes."""
        return {"d": 8 * facts.width, "bitorder": "little", "read": f"faiss.read_index_binary('{FILE}')"}

    def statements(self, facts: CodeFacts) -> tuple[Statement, ...]:
        """The statements; there is nothing to create."""
        return (
            Statement("connect", "Import", "import faiss\nimport numpy as np\n"),
            Statement("load", "Load", f'index = faiss.read_index_binary("{FILE}")\n'),
            Statement("search", "Search (exact)", "distances, rows = index.search(queries, k)\n"),
            Statement("rerank", "Re-rank by the vectors", f"_, near = index.search(queries, candidates)\n{RERANK}"),
            size_statement(FILE),
        )


def binary_index(packed: Bytes) -> Any:
    """A faiss IndexBinaryFlat of codes (n, width)."""
    index = import_faiss().IndexBinaryFlat(8 * packed.shape[1])
    index.add(np.ascontiguousarray(packed))
    return index


def import_faiss() -> ModuleType:
    """The module, or a ValueError that says how to install it."""
    try:
        import faiss  # noqa: PLC0415
    except ImportError as error:
        raise ValueError("export to faiss needs faiss: pip install ohash[faiss]") from error
    return faiss


ENGINE = Faiss()
