"""A data set in a notebook: a small card, escaped, quick whatever the size of the vectors."""

import re
from pathlib import Path

import numpy as np
import pytest

from ohash.repr_html import curves_html
from ohash.streams.dataset import Dataset
from ohash.streams.registry import find_dataset, load_by_key

LARGEST = 30_000


@pytest.mark.parametrize("key", ["digits", "blobs2d", "fashion", "patches", "words"])
def test_a_card_shows_what_there_is_and_is_small(key: str) -> None:
    dataset = load_by_key(key)
    html = dataset._repr_html_()
    assert len(html) < LARGEST
    assert (
        find_dataset(key).title in html and f"{dataset.n:,} x {dataset.d:,}" in html and "two items are similar" in html
    )
    assert ("data:image/png;base64," in html) == (dataset.thumbnails is not None)
    assert html.count("<rect") == min(20, len(dataset.class_names))


def test_pictures_of_noise_in_colour_stay_small() -> None:
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 256, (40, 256, 200, 3)).astype(np.uint8)
    labels = np.arange(40) % 8
    html = Dataset.from_arrays(rng.normal(size=(40, 3)), labels, thumbnails=pictures)._repr_html_()
    assert len(html) < LARGEST and "<img" in html


def test_texts_are_escaped_and_long_names_cut() -> None:
    labels = np.array(["<script>alert(1)</script>" + "x" * 500, "b"])[np.arange(40) % 2]
    html = Dataset.from_arrays(np.eye(40), labels, title="<img src=x onerror=1>")._repr_html_()
    assert "<script" not in html and "<img" not in html and "&lt;img src=x" in html and "x" * 100 not in html


def test_only_the_shape_of_the_vectors_is_looked_at(tmp_path: Path) -> None:
    rows, d = 2**20, 1024  # 4 GB, a hole in the file
    X = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (rows, d))
    dataset = Dataset("large", "Large", X, labels=np.arange(rows) % 200)
    html = dataset._repr_html_()
    assert "1,048,576 x 1,024" in html and "rows per class, the first 20 of 200" in html
    assert len(re.findall("<rect", html)) == 20


def test_curves_tell_the_ends_of_both_axes() -> None:
    x = np.linspace(0, 2000, 5)
    html = curves_html("scores", {"mAP": (x, np.array([0.0, 0.25, 0.5, 0.75, 1.0]))})
    labels = {text: (float(x), float(y)) for x, y, text in re.findall(r'<text x="(\S+)" y="(\S+)"[^>]*>([^<]+)<', html)}
    assert {"1", "0", "2,000 pairs"} <= set(labels) and html.count("<text") == 4
    points = re.search(r'points="([^"]+)"', html)
    assert points is not None
    first, last = (tuple(map(float, point.split(","))) for point in (points[1].split()[0], points[1].split()[-1]))
    assert labels["1"][1] - 9 == last[1] == 0 and labels["2,000 pairs"][0] == last[0] and first == (0, 48)
