"""Models on disk: one .npz, no pickle, a version number, written atomically.

Plain values are stored as JSON inside the archive. Everything that `learn` or `encode` depends on is stored, so that a
loaded model goes on bit for bit as if it had never been saved. The feature map of a model is stored with it, and so is
a companion if there is one: values and arrays that must never be older or newer than the model.
"""

from pathlib import Path
from typing import Any

from ohash.core.features import FeatureMap
from ohash.models import registry
from ohash.models.base import OnlineHasher
from ohash.runtime.files import read_archive, write_archive
from ohash.runtime.frames import Frame

FORMAT = 1
MAP = "feature_map."
COMPANION = "companion/"


def save(hasher: OnlineHasher, path: str | Path, companion: Frame | None = None) -> None:
    """Write `hasher` to `path` (.npz); an interrupted write leaves the old file."""
    values, arrays = hasher.state()
    header = {"format": FORMAT, "method": registry.key_of(hasher), "values": values}
    feature_map = getattr(hasher, "feature_map", None)
    if feature_map is not None and "feature_map" not in values:  # OH and MMOH have theirs in their state
        header["feature_map"], fitted = feature_map.state()
        arrays = arrays | {f"{MAP}{name}": array for name, array in fitted.items()}
    if companion is not None:
        header["companion"] = companion[0]
        arrays = arrays | {f"{COMPANION}{name}": array for name, array in companion[1].items()}
    write_archive(path, header, arrays)


def load(path: str | Path) -> Any:
    """The hasher that `save` wrote to `path`; anything else is a ValueError, a missing file an OSError."""
    return load_with_companion(path)[0]


def load_with_companion(path: str | Path) -> tuple[OnlineHasher, Frame | None]:
    """The hasher, and what was saved with it."""
    header, arrays = read_archive(path, "model", FORMAT)
    others = {name.removeprefix(COMPANION): arrays.pop(name) for name in list(arrays) if name.startswith(COMPANION)}
    companion = (header["companion"], others) if "companion" in header else None
    method = header.get("method")
    if isinstance(method, str) and method not in registry.hashers():
        raise ValueError(
            f"{path} holds a model of the method {method!r}, which is not registered; name the file that "
            "defines it by --plugin or OHASH_PLUGINS"
        )
    try:
        spec = registry.find(header["method"])
        fitted = {name.removeprefix(MAP): arrays.pop(name) for name in list(arrays) if name.startswith(MAP)}
        hasher: Any = spec.restore(header["values"], arrays)
        if "feature_map" in header:
            hasher.feature_map = FeatureMap.from_state(header["feature_map"], fitted)
        return hasher, companion
    except Exception as error:
        raise ValueError(f"path must be a sound model, got {path}, which is damaged ({error!r})") from error


def refuse_untrained(model: OnlineHasher, path: str | Path) -> None:
    """A model without a hash gives no codes that another process could give again: name the command that trains it."""
    if getattr(model, "d", 0) is None:
        raise ValueError(
            f"{path} must hold a trained model, got one of {model.key} that has not seen any data yet; train it first, "
            f"for example by python3 -m ohash run --features x.npy --method {model.key} --out trained/ (with "
            "--pairs-file clicks.csv or --labels y.npy to learn from), then name trained/model.npz instead"
        )
