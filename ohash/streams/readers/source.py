"""Where bytes come from: a file of the data folder or an upload, read through one interface."""

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

# Smaller files are read at once: a map breaks the process if its file is cut while it is in use.
MAP_FROM = 16 * 2**20


@dataclass(frozen=True)
class Source:
    """A named run of bytes, either `path` or `data`."""

    name: str
    size: int
    path: Path | None = None
    data: bytes = field(default=b"", repr=False)

    @classmethod
    def file(cls, path: str | Path) -> "Source":
        """A file on this machine."""
        path = Path(path)
        if not path.is_file():
            raise ValueError(f"{path} must be a file that exists")
        return cls(path.name, path.stat().st_size, path=path)

    @classmethod
    def upload(cls, name: str, data: bytes) -> "Source":
        """Bytes a browser sent; of the name only the last part counts, and never as a path."""
        last = name.replace("\\", "/").rsplit("/", 1)[-1]
        shown = "".join(c if c.isprintable() else "?" for c in last)[-100:]
        return cls(shown or "upload", len(data), data=data)

    @property
    def extension(self) -> str:
        """Lower case, with the dot."""
        return Path(self.name).suffix.lower()

    def open(self) -> BinaryIO:
        """A stream at the first byte."""
        return io.BytesIO(self.data) if self.path is None else self.path.open("rb")

    def start(self, count: int) -> bytes:
        """The first bytes."""
        with self.open() as stream:
            return stream.read(count)

    def end(self, count: int) -> bytes:
        """The last bytes, fewer if there are not so many."""
        with self.open() as stream:
            stream.seek(max(0, self.size - count))
            return stream.read(count)

    def array(
        self, dtype: np.dtype[Any], shape: tuple[int, ...], offset: int = 0, *, fortran: bool = False
    ) -> npt.NDArray[Any]:
        """Bytes from `offset` on as a read-only array, mapped if the file is large; callers have checked the size."""
        order: Any = "F" if fortran else "C"
        count = int(np.prod(shape, dtype=object))
        if self.path is None:
            return np.frombuffer(self.data, dtype, count, offset).reshape(shape, order=order)
        if self.size >= MAP_FROM:
            return np.memmap(self.path, dtype, "r", offset, shape, order)
        with self.path.open("rb") as stream:
            stream.seek(offset)
            return np.frombuffer(stream.read(count * dtype.itemsize), dtype, count).reshape(shape, order=order)
