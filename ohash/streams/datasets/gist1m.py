"""GIST1M: a million 960-d GIST vectors of the TEXMEX site, memory-mapped from gist_base.fvecs (3.8 GB).

Differs from the paper: 500,000 training points and the queries are the first rows of the file instead of a random
choice, which would have to be copied out of the map. Neighbours of a point are its nearest 5 %, as in the paper, of the
actual database: gist_query.fvecs and gist_groundtruth.ivecs are not needed. Without gist_base.fvecs, gist_learn.fvecs
is used.
"""

from pathlib import Path

from ohash.streams.data_folder import find_file_set, peek_size
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.datasets.paper_setting import NEAREST_SHARE, VALIDATION, how_to_get, paper_params, paper_queries
from ohash.streams.readers.file_formats import read_path

TRAIN, TEST = 500_000, 1_000
ROWS = TRAIN + TEST + VALIDATION
FILES = ("gist_base.fvecs", "gist_learn.fvecs")
WHERE = "gist.tar.gz, 2.6 GB, http://corpus-texmex.irisa.fr"
PARAMS = paper_params(beta=0.4, similar_by="metric")
BIBTEX = """@article{jegou2011product,
  title   = {Product Quantization for Nearest Neighbor Search},
  author  = {J{\\'e}gou, Herv{\\'e} and Douze, Matthijs and Schmid, Cordelia},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume  = {33}, number = {1}, pages = {117--128}, year = {2011}
}"""


def missing() -> str:
    """How to get it, or what is wrong with the file."""
    file = _file()
    if file is None:
        linked = [one.problem("GIST1M", WHERE) for one in map(find_file_set, FILES) if one.linked]
        return linked[0] if linked else how_to_get("gist_base.fvecs of GIST1M", WHERE)
    size = peek_size(file)
    return size if isinstance(size, str) else ""


def status() -> str:
    """The end of the sentence "the data set ..."; one of the two files is enough."""
    file_sets = [find_file_set(name) for name in FILES]
    return next((one.status for one in file_sets if one.folder is not None), file_sets[0].status)


def measure_size() -> tuple[int, int]:
    """Rows that are used, columns."""
    file = _file()
    assert file is not None
    size = peek_size(file)
    assert not isinstance(size, str)
    return min(ROWS, size[0]), size[1]


def _file() -> Path | None:
    return next(
        (one.folder / name for name in FILES if (one := find_file_set(name)).folder is not None and one.present), None
    )


def load() -> Dataset:
    """The mapped rows."""
    file = _file()
    assert file is not None
    X = read_path(file).X[:ROWS]
    return Dataset(
        key="gist1m",
        title=DATASET.title,
        X=X,
        queries=paper_queries(len(X), TEST),
        one_sided=True,
        licence=DATASET.licence,
        cite=DATASET.cite,
        note=f"the first {len(X):,} rows of {file.name}",
        presets=PARAMS,
    )


DATASET = DatasetSpec(
    key="gist1m",
    title="GIST1M, 960-d GIST",
    task="nearest 5 %",
    n=ROWS,
    d=960,
    licence="see corpus-texmex.irisa.fr",
    cite="Jégou, Douze and Schmid, TPAMI 2011",
    bibtex=BIBTEX,
    load=load,
    missing=missing,
    status=status,
    group="paper",
    similar_by="metric",
    similar_share=NEAREST_SHARE,
    presets=PARAMS,
    measure_size=measure_size,
)
