"""GloVe word vectors, embedded: 4,000 frequent words; embeddings without classes, similar if near by cosine."""

from functools import partial

from ohash.streams.base import Dataset, DatasetSpec
from ohash.streams.samples import presence
from ohash.streams.samples.reading import read_sample, sample_folder

FILE = "words_glove.npz"
BIBTEX = """@inproceedings{pennington2014glove,
  title     = {GloVe: Global Vectors for Word Representation},
  author    = {Pennington, Jeffrey and Socher, Richard and Manning, Christopher D.},
  booktitle = {EMNLP},
  pages     = {1532--1543},
  year      = {2014}
}"""


def load() -> Dataset:
    """Vectors, with the words as ids."""
    sample = read_sample(sample_folder() / FILE)
    return Dataset(
        key="words",
        title=DATASET.title,
        X=sample["features"],
        ids=sample["words"],
        metric="cosine",
        queries=(200, 400),
        kernel="none",
        natural="topk",
        licence=DATASET.licence,
        cite=DATASET.cite,
        note=str(sample["note"]),
    )


DATASET = DatasetSpec(
    key="words",
    title="Word vectors, GloVe 100-d",
    task="near in meaning: nearest 10 by cosine",
    n=4000,
    d=100,
    licence="PDDL 1.0 (GloVe), MIT (wink-embeddings)",
    cite="Pennington, Socher and Manning, EMNLP 2014",
    bibtex=BIBTEX,
    load=load,
    missing=partial(presence.missing, FILE, "words"),
    absent=partial(presence.absent, FILE),
    group="embedded",
    similar_by="topk",
    similar_share=0.0044,
    kernel="none",
)
