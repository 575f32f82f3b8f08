"""What every engine declares: its files, its statements, and the packages they need; and the page of an export.

The page is Markdown with the statements to run; `read_page` is the way back from the page to the statements.
"""

import os
import platform
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np

from ohash.core.arrays import Bytes
from ohash.index.bit_words import BitOrder, reorder_bits
from ohash.runtime.files import atomic_file

CODES_FILE = "codes.npy"

FENCE = re.compile(
    r"^## (?P<title>[^\n]*?) <!-- (?P<step>\w+) -->\n\n```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True)
class CodeFacts:
    """What statements depend on: the number of codes, their bits and bytes, and the bit order of the bytes.

    The bits are those of all `models`, one model after another.
    """

    rows: int
    bits: int
    width: int
    bitorder: BitOrder = "little"
    models: int = 1

    @property
    def distance_text(self) -> str:
        """How engines rank codes of several models, where ohash has another distance; "" for one model.

        >>> CodeFacts(10, 32, 4).distance_text, CodeFacts(10, 64, 8, models=4).distance_text[:39]
        ('', 'A code has the bits of 4 models of 16 b')
        """
        if self.models == 1:
            return ""
        return (
            f"A code has the bits of {self.models} models of {self.bits // self.models} bits. The engine ranks by the "
            "sum of their Hamming distances; ohash ranks by the smallest of them, then by the sum, and so do its "
            "scores. `index.npz` (ohash.HammingIndex.load) searches by that distance."
        )


@dataclass(frozen=True)
class Statement:
    """One block of a page: `step` is its name for a session, `text` is in `language` (python or sh)."""

    step: str
    title: str
    text: str
    language: str = "python"


class Engine(ABC):
    """One search engine."""

    key: ClassVar[str]
    title: ClassVar[str]
    modules: ClassVar[tuple[tuple[str, str], ...]]  # module to import, package that brings it
    bitorders: ClassVar[tuple[BitOrder, ...]] = ("little", "big")
    systems: ClassVar[tuple[str, ...]] = ("Linux", "Darwin", "Windows")  # those its packages have wheels for
    variants: ClassVar[tuple[str, ...]] = ("",)  # exact search, and steps that make it approximate
    remark: ClassVar[str] = ""

    def write(self, packed: Bytes, facts: CodeFacts, folder: Path) -> list[Path]:
        """Write the codes, little-endian (n, width), in the form that the engine loads; codes.npy unless overridden."""
        with atomic_file(folder / CODES_FILE) as file:
            np.save(file, reorder_bits(packed, facts.bitorder), allow_pickle=False)
        return [folder / CODES_FILE]

    @abstractmethod
    def note(self, facts: CodeFacts) -> dict[str, str | int]:
        """What the JSON note says besides rows, bits and models."""

    @abstractmethod
    def statements(self, facts: CodeFacts) -> tuple[Statement, ...]:
        """The statements in order: connect, create, load, search, and so on; a step may be missing."""

    @contextmanager
    def serve(self, folder: Path) -> Iterator[None]:
        """Run the server that the statements talk to, if they need one."""
        yield

    def missing(self) -> str:
        """Why it cannot run here, or an empty string."""
        if not self.supported:
            return f"{self.title} has no wheel for {platform.system()}"
        absent = [package for module, package in self.modules if find_spec(module) is None]
        if absent:
            return f'{self.title} needs {", ".join(absent)}: python3 -m pip install "ohash[engines]"'
        return ""

    @property
    def supported(self) -> bool:
        """Whether its packages have wheels for this system."""
        return platform.system() in self.systems


RERANK = """\
squares = ((vectors[near] - query_vectors[:, None]) ** 2).sum(axis=2)
rows = np.take_along_axis(near, np.argsort(squares, axis=1, kind="stable")[:, :k], axis=1)
"""


def size_statement(path: str) -> Statement:
    """Bytes that a file, or all files in a folder, take on the disk."""
    text = (
        "from pathlib import Path\n\n"
        f'stats = [file.stat() for file in (Path("{path}"), *Path("{path}").rglob("*")) if file.is_file()]\n'
        'size = sum(512 * stat.st_blocks if hasattr(stat, "st_blocks") else stat.st_size for stat in stats)\n'
    )
    return Statement("size", "Size on disk in bytes", text)


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Variables of the environment, for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def page_text(engine: Engine, facts: CodeFacts) -> str:
    """The page of these codes."""
    packages = ", ".join(package for _, package in engine.modules)
    lines = [
        f"# {facts.rows:,} codes of {facts.bits} bits in {engine.title}",
        "",
        f"Run in this folder. Packages: {packages}. The id of a code is its row.",
    ]
    if engine.remark:
        lines.append(engine.remark)
    lines += ["", *textwrap.wrap(facts.distance_text, 110)] if facts.distance_text else []
    lines += [
        "",
        f"`queries` are packed codes, uint8 of shape (n, {facts.width}), {facts.bitorder}-endian: `encode(X)` of",
        "encoder.py (`--export numpy` writes it). `k` is the number of neighbours. Re-ranking takes the `candidates`",
        "nearest codes of each query and orders them by the L2 distance of `vectors` (float32, one row per code) to",
        "`query_vectors`; where the distance is cosine, scale both to unit length first.",
        "",
    ]
    for one in engine.statements(facts):
        lines += [f"## {one.title} <!-- {one.step} -->", "", f"```{one.language}", one.text.rstrip("\n"), "```", ""]
    return "\n".join(lines)


def read_page(text: str) -> dict[str, Statement]:
    r"""The statements of a page by step.

    >>> read_page("# Codes\n\n## Load <!-- load -->\n\n```python\nx = 1\n```\n")
    {'load': Statement(step='load', title='Load', text='x = 1\n', language='python')}
    """
    blocks = (match.groupdict() for match in FENCE.finditer(text))
    return {block["step"]: Statement(**block) for block in blocks}
