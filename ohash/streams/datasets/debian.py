"""Debian packages, embedded: descriptions as WordLlama vectors, with dependencies as clicks and sections as labels.

The real case of text embeddings with behaviour: a package that depends on another one was "clicked" with it. Vectors
are 256-d means of token vectors; two packages are similar if one depends on or recommends the other, or share a
section, or are near. Dependencies have no time: their order is a seeded permutation.

`build` makes the small part that is embedded, `build_full` everything that apt knows on a machine.
"""

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Rows, Singles
from ohash.runtime.files import atomic_file, write_file
from ohash.runtime.frames import Arrays
from ohash.streams import wordllama
from ohash.streams.annotations import PairList
from ohash.streams.chosen_defaults import chosen_defaults
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.samples import SourceMissingError, missing_sample, read_sample, sample_folder, sample_status

FILE = "debian_wordllama.npz"
PACKAGES = 4000
ORDER_SEED = 0
LICENCE = "Debian main, free by the DFSG, each by its maintainers (descriptions), MIT (WordLlama)"
CITE = "Debian 12 package lists; Miller, WordLlama, 2024"
BIBTEX = """@misc{miller2024wordllama,
  title        = {WordLlama: Recycled Token Embeddings from Large Language Models},
  author       = {Miller, D. Lee},
  year         = {2024},
  howpublished = {https://github.com/dleemiller/wordllama}
}"""
NOTE = "dependencies and recommendations stand for clicks, in a seeded random order, as they have no time"


def load() -> Dataset:
    """Vectors, sections, names and dependencies."""
    sample = read_sample(sample_folder() / FILE)
    names, texts = sample["words"], sample["texts"]
    i = np.repeat(np.arange(len(names)), sample["counts"])
    order = shuffle(len(i))
    return Dataset(
        key="debian",
        title=DATASET.title,
        X=sample["features"],
        labels=sample["labels"].astype(np.int64),
        class_names=tuple(sample["names"].tolist()),
        pairs=PairList(i[order], sample["partners"].astype(np.int64)[order]),
        ids=names,
        captions=tuple(f"{name}: {text}" for name, text in zip(names, texts, strict=True)),
        metric="cosine",
        queries=(200, 400),
        kernel=DATASET.kernel,
        licence=LICENCE,
        cite=CITE,
        note=str(sample["note"]),
    )


DATASET = DatasetSpec(
    key="debian",
    title="Debian packages, WordLlama 256-d",
    task="depends on or recommends",
    n=PACKAGES,
    d=256,
    licence=LICENCE,
    cite=CITE,
    bibtex=BIBTEX,
    load=load,
    missing=partial(missing_sample, FILE, "debian"),
    status=partial(sample_status, FILE),
    group="embedded",
    similar_by="clicks",
    similar_share=0.00196,
    **chosen_defaults("debian"),
)


def shuffle(count: int) -> Rows:
    """The order of the pairs in place of time."""
    return np.random.default_rng(ORDER_SEED).permutation(count)


# The runtime of every compiled program: a dependency on it says nothing about what a package is for.
RUNTIME = frozenset(("libc6", "libgcc-s1", "libstdc++6"))
RELATIONS = ("Depends", "Recommends")
LISTING = "dumpavail.txt"
HOW = "apt is not here. On a Debian machine: apt-cache dumpavail > dumpavail.txt; name its folder with --sources."
# Vectors are stored in steps of this share of the standard deviation of their column.
STEP = 0.5


@dataclass(frozen=True, eq=False)
class Packages:
    """Names, descriptions and sections, sorted by name, and which packages depend on which, sorted."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    sections: tuple[str, ...]
    pairs: npt.NDArray[np.int64]


def read_packages(listing: str) -> Packages:
    r"""Parse what `apt-cache dumpavail` prints: records of fields, one empty line between two.

    The first alternative of a dependency counts; names that no record has (virtual packages) are left out.

    >>> one = "Package: a\nDescription: A\nDepends: b (>= 2) | c, d:any"
    >>> packages = read_packages(one + "\n\nPackage: b\nDescription: B")
    >>> packages.names, packages.pairs.tolist()
    (('a', 'b'), [[0, 1]])
    """
    records: dict[str, dict[str, str]] = {}
    for record in listing.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z-]+): *(.*)$", record, flags=re.MULTILINE))
        if fields.get("Package") and fields.get("Description"):
            records.setdefault(fields["Package"], fields)
    names = sorted(records)
    row = {name: at for at, name in enumerate(names)}
    pairs = {
        (row[name], row[other])
        for name in names
        for relation in RELATIONS
        for clause in records[name].get(relation, "").split(",")
        if (other := re.split(r"[\s(:|]", clause.strip(), maxsplit=1)[0]) in row
        if other != name and other not in RUNTIME
    }
    if not pairs:
        raise ValueError("the package list must have dependencies between its packages, got none; run apt-get update")
    return Packages(
        tuple(names),
        tuple(records[name]["Description"] for name in names),
        tuple(records[name].get("Section", "unknown").rsplit("/", 1)[-1] for name in names),
        np.array(sorted(pairs), np.int64),
    )


def select(packages: Packages, count: int) -> Packages:
    """The packages on which most others depend, by name where equally many do; of equal descriptions, the first."""
    depended_on = Counter(packages.pairs[:, 1].tolist())
    kept: dict[str, int] = {}
    for at in sorted(depended_on, key=lambda at: (-depended_on[at], at)):
        if len(kept) < count:
            kept.setdefault(packages.texts[at], at)
    rows = np.sort(list(kept.values()))
    place = np.full(len(packages.names), -1)
    place[rows] = np.arange(len(rows))
    pairs = place[packages.pairs]
    names, texts, sections = (
        tuple(column[at] for at in rows.tolist()) for column in (packages.names, packages.texts, packages.sections)
    )
    return Packages(names, texts, sections, pairs[(pairs >= 0).all(axis=1)])


def build(sources: Path | None = None) -> Arrays:
    """The part that is embedded: PACKAGES packages, with the pairs among them."""
    packages = select(read_packages(list_packages(sources)), PACKAGES)
    if len(packages.names) < PACKAGES:
        raise ValueError(f"the package list must have {PACKAGES} packages to choose, got {len(packages.names)}")
    features, scale = code_coarsely(wordllama.embed(packages.texts, sources))
    classes, labels = np.unique(packages.sections, return_inverse=True)
    return {
        "features": features,
        "coding": np.array("linear"),
        "scale": scale,
        "words": np.array(packages.names),
        "texts": np.array(packages.texts),
        "labels": labels.astype(np.uint8),
        "names": classes,
        "counts": np.bincount(packages.pairs[:, 0], minlength=PACKAGES).astype(np.uint16),
        "partners": packages.pairs[:, 1].astype(np.uint16),
        "note": np.array(f"the {PACKAGES:,} packages on which most others depend; {NOTE}"),
    }


def code_coarsely(X: Singles) -> tuple[npt.NDArray[np.int8], Singles]:
    """Codes in steps of half a standard deviation of the column, and the steps: about 3 bits per value when packed."""
    scale: Singles = np.maximum(STEP * X.std(axis=0), X.max() / 127 * 1e-6).astype(np.float32)
    return np.clip(np.round(X / scale), -127, 127).astype(np.int8), scale


def build_full(folder: Path, sources: Path | None = None) -> list[Path]:
    """Write everything that apt knows as a data set of the data folder: vectors, pairs and a TOML that joins them."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    packages = read_packages(list_packages(sources))
    X = wordllama.embed(packages.texts, sources).astype(np.float16)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])
    columns = {"id": packages.names, "title": _captions(packages), "label": packages.sections, "embedding": vectors}
    i, j = (np.asarray(packages.names)[side] for side in packages.pairs[shuffle(len(packages.pairs))].T)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name for name in ("debian.parquet", "debian-pairs.parquet", "debian.toml")]
    for path, table in zip(files, (pa.table(columns), pa.table({"i": i, "j": j})), strict=False):
        with atomic_file(path) as file:
            pq.write_table(table, file)
    write_file(
        files[2],
        f'title = "Debian packages, all {len(packages.names):,}"\npairs = "{files[1].name}"\nmetric = "cosine"\n'
        f'licence = "{LICENCE}"\ncite = "{CITE}"\nnote = "{NOTE}"\n',
    )
    return files


def list_packages(sources: Path | None) -> str:
    """What apt knows: a listing in the folder `sources`, or the answer of `apt-cache dumpavail`."""
    if sources is not None and (sources / LISTING).is_file():
        return (sources / LISTING).read_text(encoding="utf-8")
    apt = shutil.which("apt-cache")
    if apt is None:
        raise SourceMissingError(HOW)
    return subprocess.run([apt, "dumpavail"], capture_output=True, check=True, encoding="utf-8").stdout


def _captions(packages: Packages) -> list[str]:
    return [f"{name}: {text}" for name, text in zip(packages.names, packages.texts, strict=True)]
