"""22K LabelMe: 22,019 pictures as 512-d GIST, from LabelMe_gist.mat; its matrix of distances (4 GB) is never read."""

import numpy as np
import numpy.typing as npt

from ohash.streams.data_folder import find_file_set, peek_size
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.datasets.paper_setting import EITHER_OF_TWO, how_to_get, paper_params, paper_queries
from ohash.streams.readers import mat
from ohash.streams.readers.file_formats import read_safely
from ohash.streams.readers.source import FOLDER, BadFileError, Source

FILE = "LabelMe_gist.mat"
WHERE = "Torralba, Fergus and Weiss, CVPR 2008"
WANTED = ["gist", "img", "ndxtrain", "ndxtest"]
TEST = 2_000
PARAMS = paper_params(beta=0.5, similar_by="metric")
BIBTEX = """@inproceedings{torralba2008small,
  title     = {Small Codes and Large Image Databases for Recognition},
  author    = {Torralba, Antonio and Fergus, Rob and Weiss, Yair},
  booktitle = {CVPR},
  year      = {2008}
}"""


def missing() -> str:
    """How to get it, or what is wrong with the file."""
    files = find_file_set(FILE)
    if files.folder is None:
        return how_to_get(FILE, WHERE)
    size = files.problem("22K LabelMe", WHERE) or peek_size(files.folder / FILE, "gist")
    return size if isinstance(size, str) else ""


def measure_size() -> tuple[int, int]:
    """Pictures and columns of the file."""
    folder = find_file_set(FILE).folder
    assert folder is not None
    size = peek_size(folder / FILE, "gist")
    assert not isinstance(size, str)
    return size


def load() -> Dataset:
    """GIST and pictures; the test pictures are those the file names, counted from 1 as MATLAB does."""
    folder = find_file_set(FILE).folder
    assert folder is not None
    source = Source.file(folder / FILE)
    got = read_safely(source, FOLDER, lambda: mat.values(source, FOLDER, WANTED, optional=("img",)))
    X, pictures = got["gist"].astype(np.float32), got.get("img")
    if X.ndim != 2:
        raise BadFileError(f"{FILE} must hold gist (n, d), got {X.shape}")
    if pictures is not None and (pictures.ndim != 4 or pictures.shape[2:] != (3, len(X)) or pictures.dtype != np.uint8):
        raise BadFileError(f"{FILE} must hold img (height, width, 3, {len(X)}) of bytes, got {pictures.shape}")
    train, test = (_rows(name, got[name], len(X)) for name in ("ndxtrain", "ndxtest"))
    if len(np.intersect1d(train, test)):
        raise BadFileError(f"{FILE} must name disjoint pictures in ndxtrain and ndxtest")
    validation, wanted = paper_queries(len(X), TEST)
    return Dataset(
        key="labelme",
        title=DATASET.title,
        X=X,
        thumbnails=None if pictures is None else np.ascontiguousarray(np.moveaxis(pictures, 3, 0)),
        queries=(validation, min(wanted, len(test))),
        fixed_test=test,
        licence=DATASET.licence,
        cite=DATASET.cite,
        presets=PARAMS,
    )


def _rows(name: str, numbers: npt.NDArray[np.generic], n: int) -> npt.NDArray[np.int64]:
    rows = np.unique(numbers.astype(np.int64)) - 1
    if not len(rows) or rows[0] < 0 or rows[-1] >= n:
        raise BadFileError(f"{name} in {FILE} must count pictures from 1 to {n}, got {rows[:1] + 1} to {rows[-1:] + 1}")
    return rows


DATASET = DatasetSpec(
    key="labelme",
    title="22K LabelMe, GIST-512",
    task="nearest 5 %",
    n=22_019,
    d=512,
    licence="research use (LabelMe)",
    cite="Torralba, Fergus and Weiss, CVPR 2008",
    bibtex=BIBTEX,
    load=load,
    missing=missing,
    status=lambda: find_file_set(FILE).status,
    group="paper",
    similar_by="metric",
    similar_share=EITHER_OF_TWO,
    presets=PARAMS,
    measure_size=measure_size,
)
