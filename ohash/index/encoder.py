"""An encoder for production: a few lines of NumPy and one .npz, for any model whose bits are half-spaces.

No ohash is needed where it runs. Its bits are those of ``model.encode(feature_map.transform(X))``, but where a
projection lies within rounding of its threshold, as another order of the same sum may fall on the other side.
"""

from collections.abc import Collection
from inspect import getattr_static
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ohash.core.features import FeatureMap
from ohash.index.export import Target
from ohash.index.words import BitOrder, check_order

FILE = "encoder.npz"
Arrays = dict[str, npt.NDArray[Any]]


def numpy_encoder(model: Any, bitorder: BitOrder = "little", beside: Collection[Target] = ()) -> tuple[str, Arrays]:
    """(Python source that defines ``encode(X)``, the arrays it reads from encoder.npz beside it).

    Its codes are those that `ohash.index.export.write` gives to the systems `beside` with the same bit order: T models
    end to end, and for pgvector also ``text(X)``.
    """
    check_order(bitorder)
    key = str(getattr(model, "key", type(model).__name__))
    if getattr_static(model, "hyperplanes", None) is None:
        raise ValueError(
            f"model must be one whose bits are half-spaces of its features, got {key}, whose bits are none; keep it as "
            "model.npz and encode with ohash.load(...)"
        )
    Wt, threshold = model.hyperplanes
    T = len(Wt)
    arrays: Arrays = {"W": np.ascontiguousarray(Wt.transpose(0, 2, 1)), "threshold": threshold.astype(Wt.dtype)}
    steps: list[str] = []
    feature_map: FeatureMap | None = getattr(model, "feature_map", None)
    if feature_map is not None:
        steps, more = _map_steps(feature_map)
        arrays |= more
    if T == 1:
        arrays = arrays | {"W": arrays["W"][0], "threshold": arrays["threshold"][0]}
        last = ['bits = X @ P["W"] >= P["threshold"]']
    else:
        last = ['bits = X @ P["W"] >= P["threshold"][:, None]']
    models, r = (T, model.r) if not beside else (1, T * model.r)
    if models < T:
        last.append("bits = np.concatenate(bits, axis=1)")
    shape = f"({'' if models == 1 else f'{T}, '}n, {-(-r // 8)})"
    d = len(arrays["mean"]) if "mean" in arrays else Wt.shape[2]
    lines = [
        "import pathlib",
        "import numpy as np",
        "",
        f'P = dict(np.load(pathlib.Path(__file__).with_name("{FILE}")))',
        "",
        "",
        "def encode(X):",
        f'    """Packed codes, uint8 {shape}, of vectors (n, {d}): {r} bits of {key}, {bitorder}-endian."""',
        f"    X = np.asarray(X, np.{Wt.dtype})",
        *(f"    {step}" for step in steps),
        *(f"    {step}" for step in last),
        f'    return np.packbits(bits, axis=-1, bitorder="{bitorder}")',
    ]
    if "pgvector" in beside:
        lines += [
            "",
            "",
            "def text(X):",
            f'    """Values of bit({r}), as in codes.sql."""',
            f'    bits = np.unpackbits(encode(X), axis=-1, count={r}, bitorder="{bitorder}")',
            '    return ["".join(map(str, row)) for row in bits]',
        ]
    return "\n".join(lines) + "\n", arrays


def write_encoder(
    model: Any, folder: str | Path, bitorder: BitOrder = "little", beside: Collection[Target] = ()
) -> list[Path]:
    """Write encoder.py and encoder.npz into `folder`."""
    source, arrays = numpy_encoder(model, bitorder, beside)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "encoder.py").write_text(source)
    with (folder / FILE).open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    return [folder / "encoder.py", folder / FILE]


def _map_steps(feature_map: FeatureMap) -> tuple[list[str], Arrays]:
    """The lines of a feature map, and what they read."""
    if feature_map.mean is None:
        raise ValueError("model must have a fitted feature map, got one that has seen no data; fit it, or set it None")
    dtype, p = feature_map.dtype, feature_map.params
    steps, arrays = [], {"mean": feature_map.mean.astype(dtype)}
    if p.center_input:
        steps.append('X = X - P["mean"]')
    if p.normalize:
        steps.append("norm = np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)")
        steps.append("X = X / np.where(norm > 0, norm, 1).astype(X.dtype)")
    if feature_map.anchors is not None:
        arrays["A"] = feature_map.anchors
        arrays["gamma"] = np.array(1 / (2 * feature_map.sigma**2), dtype)
        steps.append('D = (X * X).sum(axis=1)[:, None] - 2 * X @ P["A"].T + (P["A"] ** 2).sum(axis=1)')
        steps.append('X = np.exp(-P["gamma"] * np.maximum(D, 0))')
    return steps, arrays
