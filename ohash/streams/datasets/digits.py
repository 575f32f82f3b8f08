"""UCI handwritten digits, shipped with scikit-learn: the smallest real set."""

import numpy as np

from ohash.streams.chosen_defaults import chosen_defaults
from ohash.streams.dataset import Dataset, DatasetSpec

BIBTEX = """@misc{alpaydin1998digits,
  title  = {Optical Recognition of Handwritten Digits},
  author = {Alpaydin, E. and Kaynak, C.},
  year   = {1998},
  howpublished = {UCI Machine Learning Repository}
}"""


def load() -> Dataset:
    """1,797 images of 8 x 8."""
    from sklearn.datasets import load_digits  # noqa: PLC0415

    digits = load_digits()
    return Dataset(
        key="digits",
        title=DATASET.title,
        X=np.ascontiguousarray(digits.data, dtype=np.float32),
        labels=digits.target.astype(np.int64),
        class_names=tuple("0123456789"),
        thumbnails=np.round(digits.images * 255 / 16).astype(np.uint8),
        queries=(100, 197),
        licence=DATASET.licence,
        cite=DATASET.cite,
        superclasses=(digits.target % 2).astype(np.int64),
    )


DATASET = DatasetSpec(
    key="digits",
    title="Digits, 8 x 8 pixels",
    task="same digit",
    n=1797,
    d=64,
    licence="CC BY 4.0 (UCI), in scikit-learn",
    cite="Alpaydin and Kaynak, UCI 1998",
    bibtex=BIBTEX,
    load=load,
    group="embedded",
    similar_share=0.1,
    **chosen_defaults("digits"),
)
