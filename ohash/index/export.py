"""Codes for other systems: faiss, pgvector, Milvus.

Hamming distance does not care how bits are ordered, as long as queries and items agree. Each format says its order:

======== ========================================= ===========================================================
system   a code is                                 bit k of the code
======== ========================================= ===========================================================
faiss    bytes, d = 8 ceil(r/8)                    bit k % 8 of byte k // 8 (little), as everywhere in ohash
pgvector text of r digits, a value of ``bit(r)``   digit k, counted from the left
Milvus   bytes, dim = 8 ceil(r/8)                  as faiss, unless `bitorder` says big, as their examples pack
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
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from ohash.core.features import FeatureMap
from ohash.evaluation.packed_codes import code_array
from ohash.index.bit_words import BitOrder, check_bitorder, code_length, reorder_bits
from ohash.models.base import LinearHasher, OnlineHasher
from ohash.runtime.frames import Arrays

Target = Literal["faiss", "pgvector", "milvus"]
TARGETS: tuple[Target, ...] = ("faiss", "pgvector", "milvus")
ROWS_PER_BLOCK = 16384  # rows turned into text at a time


def concatenate_models(codes: npt.ArrayLike, r: int | None = None) -> tuple[npt.NDArray[np.uint8], int]:
    """(codes of one model (n, ceil(R/8)), R): those of T models concatenated, so that distances add up.

    >>> concatenate_models(np.uint8([[[0b101]], [[0b011]]]), r=3)
    (array([[29]], dtype=uint8), 6)
    """
    packed = code_array("codes", codes)
    r = code_length(codes, packed.shape[2], r)
    if len(packed) == 1:
        return packed[0], r
    bits = np.unpackbits(packed, axis=-1, count=r, bitorder="little").transpose(1, 0, 2).reshape(packed.shape[1], -1)
    return np.packbits(bits, axis=1, bitorder="little"), len(packed) * r


def to_faiss(codes: npt.ArrayLike, r: int | None = None) -> Any:
    """A faiss IndexBinaryFlat of the codes; search it with codes that went through `concatenate_models`."""
    packed, _ = concatenate_models(codes, r)
    index = _faiss().IndexBinaryFlat(8 * packed.shape[1])
    index.add(np.ascontiguousarray(packed))
    return index


def to_pgvector(codes: npt.ArrayLike, r: int | None = None) -> Iterator[str]:
    """Values of ``bit(r)``, one per code.

    >>> list(to_pgvector(np.uint8([[0b001], [0b110]]), r=3))
    ['100', '011']
    """
    packed, r = concatenate_models(codes, r)
    for start in range(0, len(packed), ROWS_PER_BLOCK):
        bits = np.unpackbits(packed[start : start + ROWS_PER_BLOCK], axis=1, count=r, bitorder="little")
        text = (bits + ord("0")).tobytes().decode("ascii")
        yield from (text[at : at + r] for at in range(0, len(text), r))


def to_milvus(codes: npt.ArrayLike, r: int | None = None, bitorder: BitOrder = "little") -> npt.NDArray[np.uint8]:
    """Rows of bytes for a field BINARY_VECTOR of dim = 8 x bytes: `row.tobytes()` is one value.

    >>> to_milvus(np.uint8([[0b001]]), r=3, bitorder="big")
    array([[128]], dtype=uint8)
    """
    return reorder_bits(concatenate_models(codes, r)[0], check_bitorder(bitorder))


def write_codes(
    codes: npt.ArrayLike, target: Target, folder: str | Path, *, r: int | None = None, bitorder: BitOrder = "little"
) -> list[Path]:
    """Write codes for one system into `folder`, with a JSON note on how to read them; return the files."""
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(map(repr, TARGETS))}, got {target!r}")
    order = check_target_bitorder(bitorder, target)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    packed, R = concatenate_models(codes, r)
    note: dict[str, Any] = {"rows": len(packed), "bits": R, "models": len(code_array("codes", codes))}
    if target == "faiss":
        files = [folder / "codes.faiss"]
        _faiss().write_index_binary(to_faiss(packed, R), str(files[0]))
        note |= {"d": 8 * packed.shape[1], "bitorder": "little", "read": "faiss.read_index_binary('codes.faiss')"}
    elif target == "pgvector":
        files = [folder / "codes.sql"]
        with files[0].open("w") as file:
            file.writelines(_sql(packed, R))
        note |= {"bitorder": "digit k of the text is bit k", "read": "psql -f codes.sql"}
    else:
        files = [folder / "codes.npy"]
        np.save(files[0], to_milvus(packed, R, order), allow_pickle=False)
        note |= {"dim": 8 * packed.shape[1], "bitorder": order, "read": "rows of bytes for BINARY_VECTOR, HAMMING"}
    files.append(folder / f"{target}.json")
    files[-1].write_text(json.dumps(note, indent=2) + "\n")
    return files


def check_target_bitorder(bitorder: str, target: Target) -> BitOrder:
    """`bitorder` if `target` accepts it."""
    if check_bitorder(bitorder) == "big" and target != "milvus":
        raise ValueError(f"bitorder must be 'little' for {target}, which fixes it, got 'big'; 'milvus' has the choice")
    return check_bitorder(bitorder)


def _sql(packed: npt.NDArray[np.uint8], r: int) -> Iterator[str]:
    yield "CREATE EXTENSION IF NOT EXISTS vector; -- pgvector 0.7.0 or later\n"
    yield f"CREATE TABLE codes (id bigint PRIMARY KEY, code bit({r}) NOT NULL);\n"
    yield "COPY codes (id, code) FROM STDIN;\n"
    for row, text in enumerate(to_pgvector(packed, r)):
        yield f"{row}\t{text}\n"
    yield "\\.\n"
    yield "-- exact: SELECT id FROM codes ORDER BY code <~> B'...' LIMIT 10;\n"
    yield "-- approximate: CREATE INDEX ON codes USING hnsw (code bit_hamming_ops);\n"


def _faiss() -> Any:
    try:
        import faiss  # noqa: PLC0415
    except ImportError as error:
        raise ValueError("export to faiss needs faiss: pip install ohash[faiss]") from error
    return faiss


ENCODER_FILE = "encoder.npz"


def numpy_encoder(
    model: OnlineHasher, bitorder: BitOrder = "little", targets: Collection[Target] = ()
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
    model: OnlineHasher, folder: str | Path, bitorder: BitOrder = "little", targets: Collection[Target] = ()
) -> list[Path]:
    """Write encoder.py and encoder.npz into `folder`."""
    source, arrays = numpy_encoder(model, bitorder, targets)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "encoder.py").write_text(source)
    with (folder / ENCODER_FILE).open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    return [folder / "encoder.py", folder / ENCODER_FILE]


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
