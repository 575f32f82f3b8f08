"""Models on disk: one .npz, no pickle, a version number, written atomically.

Plain values travel as JSON inside the archive. Whatever `learn` or `encode` depend on is stored, so that a loaded model
goes on bit for bit as if it had never been saved.
"""

import json
import os
import secrets
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
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with fresh.open("xb") as file:
            np.savez(file, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def load(path: str | Path) -> Any:
    """The hasher that `save` wrote to `path`; anything else is a ValueError, a missing file an OSError."""
    with Path(path).open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                header = json.loads(str(archive["header"]))
                arrays = {name: archive[name] for name in archive.files if name != "header"}
            version, method, values = header["format"], header["method"], header["values"]
        except Exception as error:  # a damaged archive fails in a dozen ways
            raise ValueError(
                f"path must be a model saved by ohash, got {path}, foreign or damaged ({error})"
            ) from error
    if version != FORMAT:
        raise ValueError(
            f"path must be a model of format {FORMAT}, got {path} of format {version}; install the ohash that wrote it"
        )
    spec = registry.find(method)
    try:
        return spec.restore(values, arrays)
    except Exception as error:
        raise ValueError(
            f"path must be a sound {spec.title} model, got {path}, which is damaged ({error!r})"
        ) from error
