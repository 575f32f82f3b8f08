"""Real pictures with homographies, in both layouts; here a texture seen through known homographies."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from ohash.cli.data import _lines
from ohash.streams.data_split import split
from ohash.streams.datasets import viewpoints
from ohash.streams.datasets.corners import find_corners, share_out
from ohash.streams.feature_cache import report_progress_to
from ohash.streams.registry import datasets, find_dataset, load_by_key
from ohash.streams.similarity import make_similarity
from tests.streams.availability import absent, problem

HEIGHT, WIDTH = 400, 520
SHIFT = np.array([[1, 0, 60], [0, 1, -45], [0, 0, 1.0]])
TURN = np.array([[0.98, -0.12, 20], [0.1, 1.02, -9], [0, 0, 1.0]])
TILT = np.array([[0.9, 0.05, 12], [-0.03, 0.95, 8], [2e-4, -3e-4, 1.0]])
HOMOGRAPHIES = (SHIFT, TURN, TILT)
NAMES: dict[str, tuple[Callable[[int], str], Callable[[int], str]]] = {
    "v_wall": (lambda k: f"{k}.ppm", lambda k: f"H_1_{k}"),
    "graf": (lambda k: f"img{k}.pgm", lambda k: f"H1to{k}p"),
    "boat": (lambda k: f"img{k}.png", lambda k: f"H1to{k}p"),
}


def texture(seed: int) -> np.ndarray:
    """Rectangles of many sizes and greys, which have corners."""
    rng = np.random.default_rng(seed)
    image = np.full((HEIGHT, WIDTH), 0.5)
    for _ in range(600):
        row, column, height, width = rng.integers([0, 0, 8, 8], [HEIGHT, WIDTH, 45, 45])
        image[row : row + height, column : column + width] = rng.uniform()
    return ndimage.gaussian_filter(image, 0.7)


def seen_through(image: np.ndarray, H: np.ndarray) -> np.ndarray:
    """The picture whose point H p shows what `image` shows at p."""
    rows, columns = np.indices(image.shape)
    x, y, w = np.linalg.inv(H) @ np.stack([columns.ravel(), rows.ravel(), np.ones(image.size)])
    return ndimage.map_coordinates(image, [y / w, x / w], order=1, mode="constant").reshape(image.shape)


def write_sequence(root: Path, name: str = "v_wall", seed: int = 0) -> Path:
    picture, homography = NAMES[name]
    folder = root / "sequences" / name
    folder.mkdir(parents=True)
    image = texture(seed)
    for k, H in enumerate((np.eye(3), *HOMOGRAPHIES), start=1):
        grey = np.round(255 * seen_through(image, H)).astype(np.uint8)
        colour = np.stack([grey] * 3, axis=2) if picture(k).endswith("ppm") else grey
        Image.fromarray(colour).save(folder / picture(k))
        if k > 1:
            (folder / homography(k)).write_text("\n".join(" ".join(f"{v:.12g}" for v in row) for row in H) + "\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_patches_of_a_track_are_nearest_to_each_other(root: Path, name: str) -> None:
    write_sequence(root, name)
    assert problem("viewpoints") == ""
    dataset = load_by_key("viewpoints")
    assert dataset.tracks is not None and dataset.thumbnails is not None
    assert dataset.X.shape == (len(dataset.tracks), 512) and dataset.thumbnails.shape == (dataset.n, 32, 32)
    sizes = np.bincount(dataset.tracks)
    assert len(sizes) > 20 and set(sizes) <= {2, 3, 4} and 4 in sizes
    distance = np.linalg.norm(dataset.X[:, None] - dataset.X[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    rank_1 = (dataset.tracks[distance.argmin(axis=1)] == dataset.tracks).mean()
    chance = (sizes * (sizes - 1)).sum() / dataset.n / (dataset.n - 1)
    assert chance < 0.05 and rank_1 > 0.8
    assert make_similarity(dataset, split(dataset, 0), "track").natural_share <= 0.05


@pytest.mark.slow
def test_corners_go_where_the_homography_sends_them(root: Path) -> None:
    folder = write_sequence(root)
    load_by_key("viewpoints")
    sequences = viewpoints._sequences(viewpoints.folder_state())
    assert [file.name for file in sequences[0].pictures] == ["1.ppm", "2.ppm", "3.ppm", "4.ppm"]
    corners = viewpoints._padded_corners(folder / "1.ppm")
    views = viewpoints._views(sequences, corners[None])
    for k, H in enumerate(HOMOGRAPHIES, start=1):
        mine = views.picture == k
        first = [views.centre[(views.picture == 0) & (views.track == track)][0] for track in views.track[mine]]
        for (row, column), (expected_row, expected_column) in zip(first, views.centre[mine], strict=True):
            x, y, w = H @ [column, row, 1]
            assert (x / w, y / w) == pytest.approx((expected_column, expected_row), abs=1e-9)
            assert 0 <= x / w <= WIDTH - 1 and 0 <= y / w <= HEIGHT - 1
    points = corners[corners[:, 0] >= 0]
    inside = (points[:, 1] + 60 <= WIDTH - 1) & (points[:, 0] - 45 >= 0)
    assert 0 < inside.sum() < len(points)
    assert (views.picture == 1).sum() == inside.sum()  # of a shift, those and no others


@pytest.mark.slow
def test_a_patch_shows_the_pixels_around_its_corner(root: Path) -> None:
    folder = write_sequence(root)
    dataset = load_by_key("viewpoints")
    assert dataset.thumbnails is not None
    sequences = viewpoints._sequences(viewpoints.folder_state())
    views = viewpoints._views(sequences, viewpoints._padded_corners(folder / "1.ppm")[None])
    row, column = views.centre[0].astype(int)
    image = np.asarray(Image.open(folder / "1.ppm").convert("L"), float)
    window = image[row - 32 : row + 32, column - 32 : column + 32]
    small = window.reshape(32, 2, 32, 2).mean(axis=(1, 3))
    assert np.corrcoef(small.ravel(), dataset.thumbnails[0].ravel())[0, 1] > 0.98


def test_points_beyond_the_horizon_are_not_seen() -> None:
    H = np.array([[1, 0, 0], [0, 1, 0], [-0.01, 0, 1.0]])
    points = np.array([[50, 10], [100, 10], [150, 10.0]])
    for scale in (1, -3):  # a homography is known up to its scale
        mapped, in_front = viewpoints.map_points(scale * H, points)
        assert in_front.tolist() == [True, False, False]
        assert mapped[0].tolist() == [100, 20] and np.isnan(mapped[1]).all()


@pytest.mark.slow
def test_rows_are_counted_by_the_first_load_and_computed_once(root: Path) -> None:
    write_sequence(root)
    write_sequence(root, "graf", seed=1)
    spec = find_dataset("viewpoints")
    assert (spec.n, spec.d, spec.size_note) == (0, 512, "rows are counted when it is first loaded")
    assert "  -  available" in _lines(spec)[0]
    reports: list[tuple[int, int]] = []
    with report_progress_to(lambda done, total: reports.append((done, total))):
        dataset = load_by_key("viewpoints")
        assert reports[:2] == [(1, 2), (2, 2)] and reports[-1] == (dataset.n, dataset.n)
        assert dataset.note == f"2 sequences, {len(np.unique(dataset.tracks)):,} corners"
        spec = find_dataset("viewpoints")
        assert (spec.n, spec.d, spec.size_note) == (dataset.n, 512, "")
        reports.clear()
        assert spec.load().fingerprint() == dataset.fingerprint()
    assert reports == []


def test_tracks_are_dealt_evenly_up_to_a_cap(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewpoints, "TRACKS", 11)
    write_sequence(root)
    write_sequence(root, "graf", seed=1)
    folders = viewpoints._sequences(viewpoints.folder_state())
    corners = np.stack([viewpoints._padded_corners(one.pictures[0]) for one in folders])
    views = viewpoints._views(folders, corners)
    assert [len(np.unique(views.track[views.sequence == k])) for k in (0, 1)] == [6, 5]
    assert np.unique(views.track).tolist() == list(range(11))
    assert share_out([0, 3], 2) == [0, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "1 0 0\n0 1 0\n",
            "v_wall/H_1_3 must hold a 3 x 3 matrix, three rows of three numbers, got 2 rows of 3 numbers",
        ),
        ("1 0 0 4\n0 1 0\n0 0 1", "got 3 rows of 3, 4 numbers"),
        ("", "got 0 rows of no numbers"),
        ("1 0 0\n0 x 0\n0 0 1", "v_wall/H_1_3 must hold numbers only .*'x'"),
        ("1 0 0\n0 nan 0\n0 0 1", "v_wall/H_1_3 must hold finite numbers, got nan"),
        ("1 2 3\n0.1 0.2 0.3\n0 0 1", "v_wall/H_1_3 must be invertible, got a singular matrix"),
        ("1 " * 6000, "v_wall/H_1_3 must be a text of at most 10,000 bytes"),
    ],
)
def test_a_wrong_homography_is_named(root: Path, content: str, message: str) -> None:
    (write_sequence(root) / "H_1_3").write_text(content)
    assert re.search(message, problem("viewpoints")) and absent("viewpoints") == "is damaged"
    for load in (lambda: load_by_key("viewpoints"), datasets()["viewpoints"].load):
        with pytest.raises(ValueError, match=message):
            load()


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("v_wall", "H_1_4", "H_1_4 of v_wall: missing in .*sequences/v_wall, which holds 1.ppm, .*; put it there"),
        ("graf", "H1to2p", "H1to2p of graf: missing in .*sequences/graf"),
        ("v_wall", "1.ppm", "1.ppm of v_wall: missing in"),
        ("graf", "img3.pgm", "img3.pgm of graf: missing in"),
    ],
)
def test_a_missing_file_is_named(root: Path, name: str, file: str, message: str) -> None:
    (write_sequence(root, name) / file).unlink()
    assert re.match(message, problem("viewpoints")) and absent("viewpoints") == "is incomplete"
    with pytest.raises(ValueError, match=f"dataset 'viewpoints' is incomplete: {message}"):
        load_by_key("viewpoints")


def test_pictures_without_any_homography_are_a_sequence_by_their_names(root: Path) -> None:
    folder = write_sequence(root)
    for file in folder.glob("H_*"):
        file.unlink()
    assert problem("viewpoints").startswith("H_1_2, H_1_3, H_1_4 of v_wall: missing")
    folder.rename(folder.with_name("holiday"))
    assert problem("viewpoints").startswith("put folders") and absent("viewpoints") == "is not here"


def test_a_picture_that_is_too_small_or_damaged_is_named(root: Path) -> None:
    folder = write_sequence(root)
    whole = (folder / "2.ppm").read_bytes()
    Image.new("RGB", (520, 100)).save(folder / "2.ppm")
    small = "v_wall/2.ppm must be at least 128 x 128 pixels, for patches of 64 x 64, got 520 x 100"
    assert problem("viewpoints") == small and absent("viewpoints") == "is damaged"
    (folder / "2.ppm").write_bytes(b"JUNK")
    assert "v_wall/2.ppm must be a PPM, PGM or PNG picture" in problem("viewpoints")
    (folder / "2.ppm").write_bytes(whole[:5000])
    assert problem("viewpoints") == ""  # the header is right
    with pytest.raises(ValueError, match=r"v_wall/2\.ppm must be a whole PPM, PGM or PNG picture .*; copy it again"):
        load_by_key("viewpoints")


def test_a_folder_without_sequences_says_what_to_put_there(root: Path) -> None:
    for _ in range(2):
        assert re.match("put folders of pictures .*H_1_2.*H1to2p.* at most 4,000 tracks", problem("viewpoints"))
        assert problem("viewpoints").endswith(f"{root} has no such folder") and absent("viewpoints") == "is not here"
        (root / "notes.txt").write_text("nothing")


def test_links_out_of_the_folder_are_not_followed(root: Path, tmp_path: Path) -> None:
    folder = write_sequence(root)
    (folder / "2.ppm").rename(tmp_path / "2.ppm")
    (folder / "2.ppm").symlink_to(tmp_path / "2.ppm")
    assert "2.ppm of v_wall" in problem("viewpoints") and "not followed" in problem("viewpoints")
    assert absent("viewpoints") == "is incomplete"


def test_a_sequence_may_lack_pictures_with_their_homographies(root: Path) -> None:
    folder = write_sequence(root)
    for name in ("2.ppm", "H_1_2", "4.ppm", "H_1_4"):
        (folder / name).unlink()
    dataset = load_by_key("viewpoints")
    assert dataset.tracks is not None and set(np.bincount(dataset.tracks)) == {2}
    for name in ("3.ppm", "H_1_3"):
        (folder / name).unlink()
    assert problem("viewpoints").startswith("2.ppm, H_1_2 of v_wall: missing")


def test_pictures_that_share_nothing_are_refused(root: Path) -> None:
    folder = write_sequence(root)
    for k in (2, 3, 4):
        (folder / f"H_1_{k}").write_text("1 0 9999\n0 1 0\n0 0 1\n")
    with pytest.raises(ValueError, match=r"sequences must share corners, got 0 patches"):
        load_by_key("viewpoints")


def test_a_flat_picture_has_no_corners_and_equal_ones_keep_their_distance() -> None:
    assert find_corners(np.zeros((200, 200)), 16, border=32).shape == (0, 2)
    board = np.kron(np.indices((8, 8)).sum(axis=0) % 2, np.ones((20, 20)))
    corners = find_corners(board, 16, border=10)
    gaps = np.abs(corners[:, None] - corners[None]).max(axis=2) + 1000 * np.eye(len(corners))
    assert len(corners) > 10 and gaps.min() > 16
