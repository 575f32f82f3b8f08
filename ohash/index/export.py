"""Codes for other systems: faiss, pgvector, Milvus, Qdrant, LanceDB and sqlite-vec (`ohash.index.engines`).

Hamming distance does not care how bits are ordered, as long as queries and items agree. Each format says its order:

======== ========================================= ===========================================================
system   a code is                                 bit k of the code
======== ========================================= ===========================================================
faiss    bytes, d = 8 ceil(r/8)                    bit k % 8 of byte k // 8 (little), as everywhere in ohash
pgvector text of r digits, a value of ``bit(r)``   digit k, counted from the left
Milvus   bytes, dim = 8 ceil(r/8)                  as faiss, unless `bitorder` says big, as their examples pack
LanceDB  fixed-size list of ceil(r/8) uint8        as Milvus
SQLite   bytes, bit[8 ceil(r/8)] of sqlite-vec     as Milvus
Qdrant   r numbers -1 and +1, of codes.npy         number k; codes.npy as Milvus
======== ========================================= ===========================================================

T models have no counterpart there except for their sum, the Hamming distance of the T codes concatenated.

`write_encoder` writes an encoder for production: a few lines of NumPy and one .npz, for any model whose bits are
half-spaces. It does not need ohash. Its bits are those of ``model.encode(feature_map.transform(X))``, except where a
projection lies within rounding of its threshold, because another order of the same sum may fall on the other side.
"""

import json
from collections.abc import Collection, Iterator
from inspect import getattr_static
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ohash.core.features import FeatureMap
from ohash.evaluation.packed_codes import code_array
from ohash.index.bit_words import BitOrder, check_bitorder, code_length, refuse_numbers, reorder_bits
from ohash.index.engines import engines
from ohash.index.engines.base import CodeFacts, page_text
from ohash.index.engines.faiss import binary_index
from ohash.index.engines.pgvector import bit_strings
from ohash.models.base import LinearHasher, OnlineHasher
from ohash.runtime.files import atomic_file, save_arrays, write_file
from ohash.runtime.frames import Arrays

TARGETS = tuple(engines())


def concatenate_models(codes: npt.ArrayLike, r: int | None = None) -> tuple[npt.NDArray[np.uint8], int]:
    """(codes of one model (n, ceil(R/8)), R): those of T models concatenated, so that distances add up.

    >>> concatenate_models(np.uint8([[[0b101]], [[0b011]]]), r=3)
    (array([[29]], dtype=uint8), 6)
    """
    refuse_numbers("codes", codes)
    packed = code_array("codes", codes)
    r = code_length(codes, packed.shape[2], r)
    if len(packed) == 1:
        return packed[0], r
    bits = np.unpackbits(packed, axis=-1, count=r, bitorder="little").transpose(1, 0, 2).reshape(packed.shape[1], -1)
    return np.packbits(bits, axis=1, bitorder="little"), len(packed) * r


def to_faiss(codes: npt.ArrayLike, r: int | None = None) -> Any:
    """A faiss IndexBinaryFlat of the codes; search it with codes that went through `concatenate_models`."""
    return binary_index(concatenate_models(codes, r)[0])


def to_pgvector(codes: npt.ArrayLike, r: int | None = None) -> Iterator[str]:
    """Values of ``bit(r)``, one per code.

    >>> list(to_pgvector(np.uint8([[0b001], [0b110]]), r=3))
    ['100', '011']
    """
    return bit_strings(*concatenate_models(codes, r))


def to_milvus(codes: npt.ArrayLike, r: int | None = None, bitorder: BitOrder = "little") -> npt.NDArray[np.uint8]:
    """Rows of bytes for a field BINARY_VECTOR of dim = 8 x bytes: `row.tobytes()` is one value.

    >>> to_milvus(np.uint8([[0b001]]), r=3, bitorder="big")
    array([[128]], dtype=uint8)
    """
    return reorder_bits(concatenate_models(codes, r)[0], check_bitorder(bitorder))


def write_codes(
    codes: npt.ArrayLike, target: str, folder: str | Path, *, r: int | None = None, bitorder: BitOrder = "little"
) -> list[Path]:
    """Write codes for one system into `folder`, with the statements to run and a JSON note; return the files."""
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(map(repr, TARGETS))}, got {target!r}")
    order, engine = check_target_bitorder(bitorder, target), engines()[target]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    packed, R = concatenate_models(codes, r)
    facts = CodeFacts(len(packed), R, packed.shape[1], order, len(code_array("codes", codes)))
    files = engine.write(packed, facts, folder)
    note = {"rows": len(packed), "bits": R, "models": facts.models, **engine.note(facts)}
    files += [folder / f"{target}.json", folder / f"{target}.md"]
    write_file(files[-2], json.dumps(note, indent=2) + "\n")
    write_file(files[-1], page_text(engine, facts))
    return files


def check_target_bitorder(bitorder: str, target: str) -> BitOrder:
    """`bitorder` if `target` accepts it."""
    if check_bitorder(bitorder) not in engines()[target].bitorders:
        raise ValueError(f"bitorder must be 'little' for {target}, which fixes it, got 'big'; 'milvus' has the choice")
    return check_bitorder(bitorder)


def accepted_bitorder(bitorder: BitOrder, target: str) -> BitOrder:
    """`bitorder`, or "little" for a target that has no choice."""
    return bitorder if bitorder in engines()[target].bitorders else "little"


ENCODER_FILE = "encoder.npz"
ENCODER_PAGE = """\
# The encoder in NumPy

Keep encoder.py and encoder.npz in one folder. They need NumPy, not ohash.

## Encode <!-- encode -->

```python
from encoder import encode

queries = encode(X)  # vectors, one per row, become packed codes
```
"""


def numpy_encoder(
    model: OnlineHasher, bitorder: BitOrder = "little", targets: Collection[str] = ()
) -> tuple[str, Arrays]:
    """(Python source that defines ``encode(X)``, the arrays it reads from encoder.npz in the same folder).

    With `targets` its codes are those that `write_codes` writes for these systems with the same bit order: T models
    concatenated, and for pgvector also ``text(X)``.
    """
    check_bitorder(bitorder)
    key = str(getattr(model, "key", type(model).__name__))
    if getattr_static(model, "hyperplanes", None) is None:
        raise ValueError(
            f"model must be one whose bits are half-spaces of its features, got {key}, whose bits are not; keep it as "
            "model.npz and encode with ohash.load(...)"
        )
    Wt, threshold = cast(LinearHasher, model).hyperplanes
    T = len(Wt)
    arrays: Arrays = {"W": np.ascontiguousarray(Wt.transpose(0, 2, 1)), "threshold": threshold.astype(Wt.dtype)}
    steps: list[str] = []
    feature_map: FeatureMap | None = getattr(model, "feature_map", None)
    if feature_map is not None:
        steps, more = map_steps(feature_map)
        arrays |= more
    if T == 1:
        arrays = arrays | {"W": arrays["W"][0], "threshold": arrays["threshold"][0]}
        last = ['bits = X @ P["W"] >= P["threshold"]']
    else:
        last = ['bits = X @ P["W"] >= P["threshold"][:, None]']
    models, r = (T, model.r) if not targets else (1, T * model.r)
    if models < T:
        last.append("bits = np.concatenate(bits, axis=1)")
    shape = f"({'' if models == 1 else f'{T}, '}n, {-(-r // 8)})"
    d = len(arrays["mean"]) if "mean" in arrays else Wt.shape[2]
    lines = [
        "import pathlib",
        "import numpy as np",
        "",
        f'P = dict(np.load(pathlib.Path(__file__).with_name("{ENCODER_FILE}")))',
        "",
        "",
        "def encode(X):",
        f'    """Packed codes, uint8 {shape}, of vectors (n, {d}): {r} bits of {key}, {bitorder}-endian."""',
        f"    X = np.asarray(X, np.{Wt.dtype})",
        *(f"    {step}" for step in steps),
        *(f"    {step}" for step in last),
        f'    return np.packbits(bits, axis=-1, bitorder="{bitorder}")',
    ]
    if "pgvector" in targets:
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
    model: OnlineHasher, folder: str | Path, bitorder: BitOrder = "little", targets: Collection[str] = ()
) -> list[Path]:
    """Write encoder.py, encoder.npz and a page into `folder`."""
    source, arrays = numpy_encoder(model, bitorder, targets)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "encoder.py", source)
    with atomic_file(folder / ENCODER_FILE) as file:
        save_arrays(file, arrays)
    write_file(folder / "encoder.md", ENCODER_PAGE)
    return [folder / "encoder.py", folder / ENCODER_FILE, folder / "encoder.md"]


def map_steps(feature_map: FeatureMap) -> tuple[list[str], Arrays]:
    """The lines of code of a feature map, and the arrays they read."""
    if feature_map.mean is None:
        raise ValueError("model must have a fitted feature map, got one that is not fitted; fit it, or set it to None")
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
