"""Codes whose Hamming distance means nothing, exported with the distance of their method: plain NumPy, no ohash.

int8, product quantisation, RaBitQ, BBQ and TurboQuant rank by an estimated distance from the float query to the stored
item. A Hamming index of their bytes finds a fraction of what they find, so they are written as items.npz and search.py
instead, with ``search(queries, k)``. The rows it returns are those of the method's own distance, up to ties within
rounding.
"""

from pathlib import Path
from typing import Any, cast

import numpy as np

from ohash.core.arrays import Numbers
from ohash.core.features import FeatureMap
from ohash.index.export import map_steps
from ohash.models.base import AsymmetricHasher, DecodingHasher, OnlineHasher
from ohash.models.registry import find
from ohash.runtime.files import atomic_file, save_arrays, write_file
from ohash.runtime.frames import Arrays

ITEMS_FILE = "items.npz"
# Per method: the lines that turn queries Q (mapped) and a slice of items into squared distances D.
DECODED = [
    'rows = P["low"].astype(float) + P["step"] * P["codes"][some].astype(float)',
    "D = (Q * Q).sum(axis=1)[:, None] - 2 * Q @ rows.T + (rows * rows).sum(axis=1)",
]
FLOATS = [
    'rows = P["codes"][some].astype(float)',
    "D = (Q * Q).sum(axis=1)[:, None] - 2 * Q @ rows.T + (rows * rows).sum(axis=1)",
]
TABLES = [
    'M, _, width = P["centroids"].shape',
    "parts = np.pad(Q, ((0, 0), (0, M * width - Q.shape[1]))).reshape(len(Q), M, 1, width)",
    'tables = ((parts - P["centroids"]) ** 2).sum(axis=3)  # (queries, parts, centroids)',
    'D = sum(tables[:, m, P["numbers"][some, m]] for m in range(M))',
]
ROTATED = [
    'Q0 = Q - P["mean"]',
    "norm = np.linalg.norm(Q0, axis=1, keepdims=True)",
    'rotated = (Q0 / np.where(norm > 0, norm, 1)) @ P["R"]',
    'planes = P["codes"][some].reshape(-1, {B}, P["codes"].shape[1] // {B})',
    'signs = 2.0 * np.unpackbits(planes, axis=2, count=rotated.shape[1], bitorder="little") - 1',
    "b = sum(signs[:, k] * 2.0 ** ({B} - 1 - k) for k in range({B}))",
    'cosine = rotated @ b.T / (np.sqrt(rotated.shape[1]) * P["alignment"][some])',
    'D = norm**2 + P["norm"][some] ** 2 - 2 * norm * P["norm"][some] * cosine',
]
ROUNDED = [  # the query of RaBitQ and BBQ, before its products
    "low, high = rotated.min(axis=1, keepdims=True), rotated.max(axis=1, keepdims=True)",
    "step = np.where(high > low, (high - low) / {steps}, 1)",
    "rotated = low + step * np.rint((rotated - low) / step)",
]
LEVELS = [
    'Q0 = Q - P["mean"]',
    'rows = P["levels"][P["codes"][some]].reshape(-1, P["codes"].shape[1] * P["levels"].shape[1])[:, :{r}]',
    'D = (Q0 * Q0).sum(axis=1)[:, None] + P["norm"][some] ** 2 - 2 * (Q0 @ P["R"]) @ rows.T * P["scale"][some]',
]


def ranks_by_own_distance(model: OnlineHasher) -> bool:
    """Whether a model's codes are to be searched with its own distance."""
    key = str(getattr(model, "key", ""))
    return bool(key) and find(key).asymmetric


def refuse_hamming(model: OnlineHasher, targets: list[str]) -> None:
    """Explain why the codes of such a model cannot go to a Hamming index."""
    if not ranks_by_own_distance(model):
        return
    title = find(str(model.key)).title
    where = f"{', '.join(targets)} would rank" if targets else "a Hamming index would rank"
    raise ValueError(
        f"{title} ranks items by its own distance to the float query, and {where} its codes by Hamming distance, which "
        "finds far fewer of the neighbours; use --export numpy, which writes a search with that distance, or "
        "faiss, where it has one with that distance"
    )


def refuse_codes_alone(model: OnlineHasher) -> None:
    """Explain why the codes of such a model are not written without what its distance needs besides."""
    if ranks_by_own_distance(model):
        raise ValueError(
            f"{find(str(model.key)).title} ranks items by its own distance to the float query, which needs more than "
            "their codes (ranges, centroids, norms or factors); `ohash index MODEL.npz --features FILE --export numpy` "
            "writes them all, and a search"
        )


def write_search(model: OnlineHasher, Z: Numbers, folder: str | Path) -> list[Path]:
    """Write search.py and items.npz for mapped rows Z into `folder`."""
    steps, arrays = _distance(model, Z)
    feature_map: FeatureMap | None = getattr(model, "feature_map", None)
    first: list[str] = []
    if feature_map is not None:
        first, more = map_steps(feature_map)
        arrays |= {("map_mean" if name == "mean" else name): value for name, value in more.items()}
        first = [step.replace('P["mean"]', 'P["map_mean"]') for step in first]
    lines = [
        "import pathlib", "import numpy as np", "",
        f'P = dict(np.load(pathlib.Path(__file__).with_name("{ITEMS_FILE}")))', f"N, BLOCK = {len(Z)}, 65536", "", "",
        "def search(queries, k):",
        f'    """Rows and squared distances of the k nearest, by the distance of {find(str(model.key)).title}."""',
        "    X = np.asarray(queries, np.float32)", *(f"    {step}" for step in first), "    Q = X.astype(np.float64)",
        "    distances = np.empty((len(Q), N), np.float32)", "    for start in range(0, N, BLOCK):",
        "        some = slice(start, start + BLOCK)", *(f"        {step}" for step in steps),
        "        distances[:, some] = D", "    rows = np.argsort(distances, axis=1, kind='stable')[:, :k]",
        "    return rows, np.take_along_axis(distances, rows, axis=1)",
    ]  # fmt: skip
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "search.py", "\n".join(lines) + "\n")
    with atomic_file(folder / ITEMS_FILE) as file:
        save_arrays(file, arrays)
    return [folder / "search.py", folder / ITEMS_FILE]


def _distance(model: Any, Z: Numbers) -> tuple[list[str], Arrays]:
    """The lines of a method's distance, and the arrays they read."""
    if hasattr(model, "centroids") and not model.rotation.size:
        return TABLES, {"centroids": model.centroids, "numbers": model.numbers(np.asarray(model.encode(Z)))}
    if hasattr(model, "estimate"):
        return _rotated(model, Z)
    if hasattr(model, "byte_levels"):
        stored, R = model.quantise(Z), np.asarray(model.hyperplanes[0][0]).T
        scale = stored.norm * np.float32(np.sqrt(len(R)) / model.r)
        arrays = {"codes": stored.packed, "levels": model.byte_levels(), "norm": stored.norm, "scale": scale}
        return [line.format(r=model.r) for line in LEVELS], arrays | {"R": R, "mean": model.mean}
    if hasattr(model, "step") and model.params.dims == "all":
        return DECODED, {"codes": np.asarray(model.encode(Z)), "low": model.low, "step": model.step}
    if find(str(model.key)).hamming:
        raise ValueError(f"{model.key} has its own distance, and no export in plain NumPy; keep it as model.npz")
    decoded = cast(DecodingHasher, cast(AsymmetricHasher, model)).decode(np.asarray(model.encode(Z)))
    return FLOATS, {"codes": decoded}


def _rotated(model: Any, Z: Numbers) -> tuple[list[str], Arrays]:
    """RaBitQ and BBQ: B planes of bits per item, and a query that may be rounded."""
    stored, B, query_bits = model.quantise(Z), model.params.dim_bits, model.params.query_bits
    lines = [line.format(B=B) for line in ROTATED]
    if query_bits:
        lines[3:3] = [line.format(steps=2**query_bits - 1) for line in ROUNDED]
    codes = np.asarray(stored.codes)
    arrays = {
        "codes": codes if B == 1 else np.concatenate([codes, stored.refinement], axis=1),
        "alignment": np.where(stored.alignment > 0, stored.alignment, np.inf), "norm": stored.norm,
        "R": np.asarray(model.hyperplanes[0][0]).T, "mean": model.mean,
    }  # fmt: skip
    return lines, arrays
