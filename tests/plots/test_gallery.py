"""Pictures of items: of a point in the plane, where it lies among the others."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from ohash.engine.gallery import Neighbours
from ohash.plots.gallery import mean_note, picture_of
from ohash.streams.dataset import Dataset


def pixels(X: np.ndarray, row: int) -> np.ndarray:
    picture = picture_of(Dataset(key="own", title="own", X=X, queries=(1, 1)), row)
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(picture.partition(",")[2]))))


@pytest.mark.parametrize(("row", "at"), [(0, (1, 0)), (1, (0, 1)), (2, (0, 0)), (3, (1, 1))])
def test_a_point_in_the_plane_is_marked_where_it_lies(row, at):
    corners = np.array([[0, 0], [3, 5], [0, 5], [3, 0]], np.float32)  # the second coordinate points up
    shown = pixels(corners, row)
    marked = np.argwhere(shown == 255)
    assert np.round(marked.mean(axis=0) / (len(shown) - 1)).tolist() == list(at)
    assert (shown == 255).sum() == 25 and len(np.unique(shown)) == 3, "one mark on a map of the others"


def test_points_on_a_line_and_far_outside_the_sample_have_a_picture_too():
    X = np.zeros((5_000, 2), np.float32)
    X[:, 0] = np.arange(5_000)
    X[-1] = 1e6
    assert all((pixels(X, row) == 255).sum() == 25 for row in (0, 2_500, 4_999))


def test_other_vectors_have_no_picture():
    assert picture_of(Dataset(key="own", title="own", X=np.ones((4, 5), np.float32), queries=(1, 1)), 0) == ""


def test_the_mean_of_one_query_is_not_called_a_mean():
    """Thirty pictures leave one query for validation."""
    rows = np.arange(10)
    result = Neighbours(0, rows, rows, rows < 4, 100)
    precision = np.array([0.35, np.nan, 0.4])
    assert mean_note(result, precision, 100).startswith(
        "Relevant among the ten nearest, mean over all 100 queries: 3.5"
    )
    assert mean_note(result, precision, 1) == (
        "Relevant among the ten nearest, for the only query: 3.5 at the start, 4.0 now."
    )
