"""A small file of every format, written by its own library."""

import io

import numpy as np
import scipy.io

from ohash.streams.readers.annotation_files import load_labels, load_pairs
from ohash.streams.readers.source import FOLDER, UPLOAD, Source

RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 6)).astype(np.float32)
Y = np.arange(40) % 4


def vecs_bytes(X: np.ndarray) -> bytes:
    d = np.full((len(X), 1), X.shape[1], "<i4")
    return np.hstack([d.view("u1"), np.ascontiguousarray(X).view("u1").reshape(len(X), -1)]).tobytes()


def npy_bytes(array: np.ndarray, **more: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **more)
    return stream.getvalue()


def npz_bytes(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def mat_bytes(**variables: object) -> bytes:
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables, do_compression=True)
    return stream.getvalue()


def csv_bytes(header: str = "") -> bytes:
    return (header + "\n".join(",".join(repr(float(v)) for v in row) for row in X) + "\n").encode()


def parquet_bytes(**columns: object) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def hdf5_bytes(**datasets: np.ndarray) -> bytes:
    import h5py

    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        for name, value in datasets.items():
            file[name] = value
        file.attrs["distance"] = "angular"
    return stream.getvalue()


def files_of_every_format() -> dict[str, bytes]:
    return {
        "a.npy": npy_bytes(X),
        "a.npz": npz_bytes(X=X, y=Y),
        "a.csv": csv_bytes("a,b,c,d,e,f\n"),
        "a.tsv": csv_bytes().replace(b",", b"\t"),
        "a.parquet": parquet_bytes(**{name: X[:, k] for k, name in enumerate("abcdef")}),
        "a.fvecs": vecs_bytes(X),
        "a.bvecs": vecs_bytes(np.arange(240).reshape(40, 6).astype(np.uint8)),
        "a.ivecs": vecs_bytes(np.arange(240).reshape(40, 6).astype(np.int32)),
        "a.mat": mat_bytes(X=X, y=Y, note="text", s={"a": 1}),
        "a.hdf5": hdf5_bytes(train=X, test=X[:3], neighbors=np.zeros((3, 2), int)),
        "a.h5": hdf5_bytes(X=X),
    }


FILES = files_of_every_format()


def header_bytes(shape: tuple[int, ...], descr: str = "<f4") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def read_pairs(path):
    return load_pairs(Source.file(path), FOLDER)


def read_pairs_upload(name, data, limits=UPLOAD):
    return load_pairs(Source.upload(name, data), limits)


def read_labels(path):
    return load_labels(Source.file(path), FOLDER)


def read_labels_upload(name, data, limits=UPLOAD):
    return load_labels(Source.upload(name, data), limits)
