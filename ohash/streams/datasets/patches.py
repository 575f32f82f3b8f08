"""Photo patches GIST-512, embedded: 500 points of photos in five views each. Synthetic warps of real photos.

The stand-in for Photo Tourism, where the views are real photos.
"""

from functools import partial

import numpy as np

from ohash.streams.base import Dataset, DatasetSpec
from ohash.streams.samples import presence
from ohash.streams.samples.reading import read_sample, sample_folder

FILE = "patches_gist.npz"
# what the photos come from; the warps are our own
BIBTEX = """@article{vanderwalt2014scikit,
  title   = {scikit-image: Image Processing in Python},
  author  = {van der Walt, St{\\'e}fan and Sch{\\"o}nberger, Johannes L. and Nunez-Iglesias, Juan and
             Boulogne, Fran{\\c{c}}ois and Warner, Joshua D. and Yager, Neil and Gouillart, Emmanuelle and Yu, Tony},
  journal = {PeerJ},
  volume  = {2}, pages = {e453}, year = {2014}
}"""


def load() -> Dataset:
    """Vectors, tracks and pictures."""
    sample = read_sample(sample_folder() / FILE)
    return Dataset(
        key="patches",
        title=DATASET.title,
        X=sample["features"],
        tracks=sample["tracks"].astype(np.int64),
        thumbnails=sample["thumbnails"],
        queries=(100, 250),
        licence=DATASET.licence,
        cite=DATASET.cite,
        note=str(sample["note"]),
    )


DATASET = DatasetSpec(
    key="patches",
    title="Photo patches, GIST-512 (synthetic warps of real photos)",
    task="same point of a photo",
    n=2500,
    d=512,
    licence="CC0, public domain and CC BY 2.0; credits in sample_data/README.md",
    cite="photos of the scikit-image and scikit-learn packages, warped by ohash",
    bibtex=BIBTEX,
    load=load,
    missing=partial(presence.missing, FILE, "patches"),
    absent=partial(presence.absent, FILE),
    group="embedded",
    similar_by="track",
    similar_share=4 / 2499,
)
