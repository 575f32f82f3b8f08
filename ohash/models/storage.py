"""Models on disk: one .npz, no pickle, a version number, written atomically.

Plain values travel as JSON inside the archive. Whatever `learn` or `encode` depend on is stored, so that a loaded model
goes on bit for bit as if it had never been saved.
"""

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ohash.models import registry

if TYPE_CHECKING:
    from ohash.models.base import OnlineHasher

FORMAT = 1


def save(hasher: "OnlineHasher", path: str | Path) -> None:
    """Write `hasher` to `path` (.npz); an interrupted write leaves the old file."""
    values, arrays = hasher.state()
    header = {"format": FORMAT, "method": registry.key_of(hasher), "values": values}
    path = Path(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: str | Path) -> Any:
    """The hasher that `save` wrote to `path`."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = json.loads(str(archive["header"]))
            arrays = {name: archive[name] for name in archive.files if name != "header"}
        if header["format"] != FORMAT:
            raise ValueError(
                f"{path} has model format {header['format']}, this ohash reads format {FORMAT}; save it again with the "
                "version that wrote it, or install that version"
            )
        spec = registry.find(header["method"])
        values = header["values"]
    except (KeyError, TypeError, AttributeError, zipfile.BadZipFile, json.JSONDecodeError, EOFError) as error:
        raise ValueError(f"{path} is not a model saved by ohash, or it is damaged ({error})") from error
    return spec.restore(values, arrays)
