"""IDX, the format of MNIST, plain or gzipped: 0, 0, 8 (uint8), number of axes, the axes (big-endian), the values."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.streams.readers.limits import BadFileError, refusal, told

MOST_BYTES = 2**28


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """The array; one byte more than declared, or less, is refused."""
    stream: Any
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            start = stream.read(4)
            if len(start) < 4 or start[:3] != b"\0\0\x08" or not 1 <= start[3] <= 3:
                raise BadFileError(f"{path} must start with the bytes 0, 0, 8 and 1 to 3 axes of IDX, got {start!r}")
            axes = stream.read(4 * start[3])
            shape = tuple(int(v) for v in np.frombuffer(axes[: len(axes) // 4 * 4], ">u4"))
            size = int(np.prod(shape, dtype=object))
            if len(shape) != start[3] or not 1 <= size <= MOST_BYTES:
                raise BadFileError(f"{path} must declare 1 to {MOST_BYTES:,} values, its header declares {shape}")
            data = stream.read(size + 1)
    except (OSError, EOFError, gzip.zlib.error) as error:  # type: ignore[attr-defined]
        raise refusal(
            str(path), error, f"{path} cannot be read ({told(error)}); it is damaged or truncated, install it again"
        ) from None
    if len(data) != size:
        raise BadFileError(
            f"{path} must have {size:,} bytes after its header for the shape {shape}, got "
            f"{'more' if len(data) > size else f'{len(data):,}'}; it is damaged or truncated, install it again"
        )
    return np.frombuffer(data, np.uint8).reshape(shape)
