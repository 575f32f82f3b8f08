"""int8, product quantisation and RaBitQ as faiss indexes with the method's own distance to the float query.

======== ==================================== ==================================================================
method   faiss index                          how it holds the method
======== ==================================== ==================================================================
int8     IndexScalarQuantizer, QT_8bit        decodes to vmin + (code + 1/2) vdiff / 255, so vmin = low - step / 2
PQ       IndexPQ                              the same centroids and codes; columns padded with zeros
RaBitQ   a rotation, then IndexRaBitQ         its factors are of the r rotated numbers: the method's for r = d only
======== ==================================== ==================================================================

faiss takes queries as the model does, after its feature map: ``prepare(X)`` of queries.py does both map and padding.
"""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ohash.core.arrays import Numbers
from ohash.core.features import FeatureMap
from ohash.index.export import map_steps
from ohash.models.base import OnlineHasher
from ohash.models.registry import find
from ohash.runtime.files import atomic_file, save_arrays, write_file
from ohash.runtime.frames import Arrays

PAGE = """\
# {rows:,} items of {title} in faiss

Run in this folder. Package: faiss-cpu. `X` are vectors as you have them, one per row; `k` is the number of neighbours.

## Load <!-- load -->

```python
import faiss
from queries import prepare

index = faiss.read_index("index.faiss")
```

## Search by the distance of the method <!-- search -->

```python
squares, rows = index.search(prepare(X), k)
```
"""
INDEX_FILE, QUERIES_FILE, ARRAYS_FILE = "index.faiss", "queries.py", "queries.npz"


def faiss_index(model: OnlineHasher, Z: Numbers) -> Any:
    """The index of mapped rows Z; ValueError, with the reason, if faiss has none for this method.

    Search it with mapped queries in float32, padded with zeros to `index.d` columns.
    """
    try:
        import faiss  # noqa: PLC0415
    except ImportError as error:
        raise ValueError("export to faiss needs faiss: pip install ohash[faiss]") from error
    build = {"int8": _scalar_quantizer, "pq": _product_quantizer, "rabitq": _rabitq, "float": _flat}.get(str(model.key))
    if build is None:
        raise ValueError(f"{find(str(model.key)).title} has its own distance, and no faiss index has it; use numpy")
    return build(faiss, model, Z)


def write_faiss(model: OnlineHasher, Z: Numbers, folder: str | Path) -> list[Path]:
    """Write index.faiss, queries.py (and its arrays), and a JSON note on how to read them."""
    folder = Path(folder)
    index = faiss_index(model, Z)
    folder.mkdir(parents=True, exist_ok=True)
    import faiss  # noqa: PLC0415

    write_file(folder / INDEX_FILE, faiss.serialize_index(index).data)
    feature_map: FeatureMap | None = getattr(model, "feature_map", None)
    steps, arrays = map_steps(feature_map) if feature_map is not None else ([], {})
    write_file(folder / QUERIES_FILE, _queries(steps, index.d))
    files = [folder / INDEX_FILE, folder / QUERIES_FILE]
    if steps:
        _save(folder / ARRAYS_FILE, arrays)
        files.append(folder / ARRAYS_FILE)
    note = {
        "rows": len(Z), "d": index.d, "method": find(str(model.key)).title, "distance": "squared L2, estimated",
        "read": f"faiss.read_index('{INDEX_FILE}').search(queries.prepare(X), k)",
    }  # fmt: skip
    files += [folder / "faiss.json", folder / "faiss.md"]
    write_file(files[-2], json.dumps(note, indent=2) + "\n")
    write_file(files[-1], PAGE.format(rows=len(Z), title=note["method"]))
    return files


def _scalar_quantizer(faiss: ModuleType, model: Any, Z: Numbers) -> Any:
    if model.params.dims != "all":
        raise ValueError("int8 with dims='first r' has no faiss index: its last dimension may have fewer than 8 bits")
    index = faiss.IndexScalarQuantizer(Z.shape[1], faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_L2)
    codes = np.ascontiguousarray(model.encode(Z))  # the first rows set the ranges of a model without any
    trained = np.concatenate([model.low - model.step / 2, 255 * model.step]).astype(np.float32)
    faiss.copy_array_to_vector(trained, index.sq.trained)
    index.is_trained = True
    index.add_sa_codes(codes)
    return index


def _product_quantizer(faiss: ModuleType, model: Any, Z: Numbers) -> Any:
    if model.rotation.size:
        raise ValueError("product quantisation with a learnt rotation is not exported to faiss; train without it")
    codes = np.ascontiguousarray(model.encode(Z))
    M, count, width = model.centroids.shape
    index = faiss.IndexPQ(M * width, M, int(count).bit_length() - 1)
    faiss.copy_array_to_vector(np.ascontiguousarray(model.centroids, np.float32).ravel(), index.pq.centroids)
    index.is_trained = True
    index.add_sa_codes(codes)
    return index


def _rabitq(faiss: ModuleType, model: Any, Z: Numbers) -> Any:
    if model.params.dim_bits > 1 or model.params.query_bits:
        raise ValueError("only RaBitQ with 1 bit per dimension and float queries is exported to faiss")
    rows = np.ascontiguousarray(Z, np.float32)
    R = np.asarray(model.hyperplanes[0][0], np.float32)  # (r, d)
    r, d = R.shape
    if r != d:
        raise ValueError(
            f"faiss keeps RaBitQ's factors of the r rotated numbers, the method those of all d; they agree only for "
            f"r = d, got r = {r} and d = {d}: use --export numpy, or train with r = {d}"
        )
    rotation = faiss.LinearTransform(d, r, False)
    faiss.copy_array_to_vector(np.ascontiguousarray(R).ravel(), rotation.A)
    rotation.is_trained = True
    codes = faiss.IndexRaBitQ(r, faiss.METRIC_L2)
    codes.train(rotation.apply(rows))
    codes.qb = 0  # queries stay floats
    faiss.copy_array_to_vector((R @ model.mean).astype(np.float32), codes.center)
    index = faiss.IndexPreTransform(rotation, codes)
    index.is_trained = True
    index.add(rows)
    return index


def _flat(faiss: ModuleType, model: object, Z: Numbers) -> Any:
    index = faiss.IndexFlatL2(Z.shape[1])
    index.add(np.ascontiguousarray(Z, np.float32))
    return index


def _queries(steps: list[str], d: int) -> str:
    """The source of queries.py."""
    read = ["", f'P = dict(np.load(pathlib.Path(__file__).with_name("{ARRAYS_FILE}")))'] if steps else []
    lines = [
        *(["import pathlib"] if steps else []), "import numpy as np", *read, "", "", "def prepare(X):",
        f'    """Queries as index.faiss takes them: float32 with {d} columns."""', "    X = np.asarray(X, np.float32)",
        *(f"    {step}" for step in steps),
        f"    return np.ascontiguousarray(np.pad(X, ((0, 0), (0, {d} - X.shape[1]))), np.float32)",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _save(file: Path, arrays: Arrays) -> None:
    with atomic_file(file) as stream:
        save_arrays(stream, arrays)
