"""An .npz whose bytes depend on nothing but the arrays: sorted names, no clock, no pickle, whole or not at all."""

import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def write_npz(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write `arrays` to `path`, through a temporary file beside it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w") as archive:
            for name in sorted(arrays):
                content = io.BytesIO()
                np.save(content, arrays[name], allow_pickle=False)
                entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # the same on Windows as elsewhere
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, content.getvalue(), compresslevel=9)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
