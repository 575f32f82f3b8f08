"""Models on disk: one .npz, no pickle, a version number, written atomically.

Plain values travel as JSON inside the archive. Whatever `learn` or `encode` depend on is stored, so that a loaded model
goes on bit for bit as if it had never been saved.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ohash.core.archive import read_archive, write_archive
from ohash.models import registry

if TYPE_CHECKING:
    from ohash.models.base import OnlineHasher

FORMAT = 1


def save(hasher: "OnlineHasher", path: str | Path) -> None:
    """Write `hasher` to `path` (.npz); an interrupted write leaves the old file."""
    values, arrays = hasher.state()
    write_archive(path, {"format": FORMAT, "method": registry.key_of(hasher), "values": values}, arrays)


def load(path: str | Path) -> Any:
    """The hasher that `save` wrote to `path`; anything else is a ValueError, a missing file an OSError."""
    header, arrays = read_archive(path, "model", FORMAT)
    try:
        spec = registry.find(header["method"])
        return spec.restore(header["values"], arrays)
    except Exception as error:
        raise ValueError(f"path must be a sound model, got {path}, which is damaged ({error!r})") from error
