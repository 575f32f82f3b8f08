"""GIST1M: a million 960-d GIST vectors of the TEXMEX site, memory-mapped from gist_base.fvecs (3.8 GB).

Differs from the paper: 500,000 training points and the queries are the first rows of the file instead of a random
choice, which would have to be copied out of the map. Neighbours are the nearest 5 % of the actual database.
"""

from ohash.streams.base import Dataset, DatasetSpec
from ohash.streams.datasets.paper_setting import EITHER_OF_TWO, VALIDATION, put, queries, setting
from ohash.streams.folder import find_files
from ohash.streams.readers.formats import read_path

TRAIN, TEST = 500_000, 1_000
ROWS = TRAIN + TEST + VALIDATION
FILES = ("gist_base.fvecs", "gist_learn.fvecs")
SETTING = setting(beta=0.4, similar_by="metric")
BIBTEX = """@article{jegou2011product,
  title   = {Product Quantization for Nearest Neighbor Search},
  author  = {J{\\'e}gou, Herv{\\'e} and Douze, Matthijs and Schmid, Cordelia},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume  = {33}, number = {1}, pages = {117--128}, year = {2011}
}"""


def missing() -> str:
    """How to get it."""
    if any(find_files(name) for name in FILES):
        return ""
    return put("gist_base.fvecs of GIST1M", "gist.tar.gz, 2.6 GB, http://corpus-texmex.irisa.fr")


def load() -> Dataset:
    """The mapped rows."""
    file = next(path for name in FILES for path in find_files(name))
    X = read_path(file).X[:ROWS]
    return Dataset(
        key="gist1m",
        title=DATASET.title,
        X=X,
        queries=queries(len(X), TEST),
        licence=DATASET.licence,
        cite=DATASET.cite,
        note=f"the first {len(X):,} rows of {file.name}",
        presets=SETTING,
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
    group="paper",
    similar_by="metric",
    similar_share=EITHER_OF_TWO,
    presets=SETTING,
)
