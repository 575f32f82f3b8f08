"""Viewpoints: corners of real pictures followed into other pictures of the same scene by measured homographies.

Where `patches` warps a photo, here another photo was taken. Two layouts of sequences are read from the data folder:

========  =====================================  ====================  ==========================================
HPatches  folders ``v_*`` and ``i_*``            1.ppm ... 6.ppm       ``H_1_2`` ... ``H_1_6``, three rows of text
Oxford    graf, wall, boat, bark, bikes, ...     img1.ppm ... img6.ppm ``H1to2p`` ... ``H1to6p``
========  =====================================  ====================  ==========================================

H_1_k maps a point (x, y, 1) of picture 1 to picture k. Harris corners of picture 1 are mapped into the others; a corner
in all pictures that see it is a track. A patch is an upright square: what the change of viewpoint does to it, rotation
and scale included, stays in it. Nothing is embedded: HPatches' own files are under the MIT licence, but its
pictures were collected from many sources whose licences it does not list, and the Oxford sets state none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.streams.data_folder import FileSet, FileState, data_folder, folder_state, peek_once
from ohash.streams.dataset import MIN_ROWS, Dataset, DatasetSpec, default_queries
from ohash.streams.datasets.corners import SIDE, cut_patches, find_corners, share_out, to_grey
from ohash.streams.datasets.paper_setting import how_to_get
from ohash.streams.feature_cache import cached_gist, cached_rows, find_cached_rows
from ohash.streams.readers.own_data import lies_inside
from ohash.streams.readers.source import BadFileError

TRACKS = 4_000  # at most, dealt evenly to the sequences
CORNERS = 1_000  # of one picture, the strongest
PICTURES = 6  # of a whole sequence
WINDOW = 64  # pixels of a picture that a patch of SIDE pixels shows
SPACING = WINDOW // 2
BLUR = 0.5 * WINDOW / SIDE  # Gaussian before the picture is sampled at every second pixel
LARGEST_TEXT = 10_000
RECIPE = f"{TRACKS} {CORNERS} {WINDOW} {SIDE} 1"
WHERE = (
    "hpatches-sequences-release.tar.gz of https://github.com/hpatches/hpatches-dataset; "
    "Oxford affine sets, https://www.robots.ox.ac.uk/~vgg/research/affine"
)
BIBTEX = """@inproceedings{balntas2017hpatches,
  title     = {{HPatches}: A Benchmark and Evaluation of Handcrafted and Learned Local Descriptors},
  author    = {Balntas, Vassileios and Lenc, Karel and Vedaldi, Andrea and Mikolajczyk, Krystian},
  booktitle = {CVPR},
  year      = {2017}
}"""


class Layout(NamedTuple):
    """How a kind of sequence names its folders and files; the number k of a picture is a group."""

    folder: str
    picture: str
    homography: str
    picture_name: str
    homography_name: str


LAYOUTS = (
    Layout(r"[vi]_.*", r"([1-9])\.(?:ppm|pgm|png)", r"H_1_([2-9])", "{}", "H_1_{}"),
    Layout(r".*", r"img([1-9])\.(?:ppm|pgm|png)", r"H1to([2-9])p", "img{}", "H1to{}p"),
)


@dataclass(frozen=True)
class Sequence:
    """The pictures of one scene, the first one first, and the homographies from the first to each of the others."""

    pictures: tuple[Path, ...]
    homographies: tuple[Path, ...]


class Views(NamedTuple):
    """One entry per patch: its sequence, its picture there, the position (row, column) of its centre, its track."""

    sequence: npt.NDArray[np.int64]
    picture: npt.NDArray[np.int64]
    centre: Floats
    track: npt.NDArray[np.int64]


def missing() -> str:
    """How to get it, or what is wrong with the first sequence that cannot be used."""
    folder = folder_state()
    if _file_sets(folder):
        return _problem(folder)
    how = how_to_get(
        "folders of pictures with homographies, v_*/1.ppm, H_1_2, ... or graf/img1.ppm, H1to2p, ...", WHERE
    )
    absent = "" if data_folder() is None else f"; {data_folder()} has no such folder"
    return f"{how}; at most {TRACKS:,} tracks are taken{absent}"


def status() -> str:
    """The end of the sentence "the data set ..."."""
    file_sets = _file_sets(folder_state())
    incomplete = any(files.missing or files.linked for files in file_sets)
    return "is not here" if not file_sets else "is incomplete" if incomplete else "is damaged"


def measure_size() -> tuple[int, int]:
    """Patches, 0 before the corners were found by the first load, and the columns of their GIST."""
    sequences = _sequences(folder_state())
    corners = find_cached_rows(*_corners_key(sequences))
    return 0 if corners is None else len(_views(sequences, corners).track), 512


def load() -> Dataset:
    """Corners, patches and their GIST, computed on the first call, with progress; a patch is its own thumbnail."""
    problem = missing()
    if problem:
        raise BadFileError(problem)
    sequences = _sequences(folder_state())
    corners = cached_rows(
        *_corners_key(sequences), lambda: (_padded_corners(one.pictures[0])[None] for one in sequences)
    )
    views = _views(sequences, corners)
    n, version = len(views.track), f"{_version(sequences)} {RECIPE}"
    if n < MIN_ROWS:
        raise BadFileError(
            f"the sequences in {sequences[0].pictures[0].parents[1]} must share corners, got {n} patches that two "
            "pictures see; each homography must map picture 1 to picture k, in pixels"
        )
    patches = cached_rows("viewpoints-patches", version, (n, SIDE, SIDE), np.uint8, lambda: _patches(sequences, views))
    return Dataset(
        key="viewpoints",
        title=DATASET.title,
        X=cached_gist("viewpoints", version, n, lambda start, stop: patches[start:stop]),
        tracks=views.track,
        thumbnails=patches,
        queries=default_queries(n),
        licence=DATASET.licence,
        cite=DATASET.cite,
        note=f"{len(sequences)} sequence{'s' * (len(sequences) > 1)}, {len(np.unique(views.track)):,} corners",
    )


def map_points(H: Floats, points: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Where points (n, 2), as (x, y), go by H, and which of them are in front of the camera.

    A point p goes to (H p)_xy / w, w the third entry of H p. The determinant of that map's Jacobian is det H / w³:
    where it is negative the plane would be seen from behind, which is beyond its horizon.

    >>> H = np.array([[1, 0, 5], [0, 1, 0], [0.01, 0, 1]])
    >>> [a.tolist() for a in map_points(H, np.array([[100.0, 40.0], [-200.0, 0.0]]))]
    [[[52.5, 20.0], [195.0, -0.0]], [True, False]]
    """
    mapped = np.column_stack([points, np.ones(len(points))]) @ H.T
    w = mapped[:, 2]
    return mapped[:, :2] / np.where(w == 0, np.nan, w)[:, None], np.linalg.det(H) * w > 0


def read_homography(file: Path) -> Floats:
    """The 3 x 3 matrix of a text file."""
    if file.stat().st_size > LARGEST_TEXT:
        raise BadFileError(f"{_name(file)} must be a text of at most {LARGEST_TEXT:,} bytes")
    lines = [line.split() for line in file.read_text("ascii", "replace").splitlines() if line.strip()]
    if [len(line) for line in lines] != [3, 3, 3]:
        shape = f"{len(lines)} rows of {', '.join(sorted({str(len(line)) for line in lines})) or 'no'} numbers"
        raise BadFileError(f"{_name(file)} must hold a 3 x 3 matrix, three rows of three numbers, got {shape}")
    try:
        H = np.array(lines, np.float64)
    except ValueError as error:
        raise BadFileError(f"{_name(file)} must hold numbers only ({error})") from None
    if not np.isfinite(H).all():
        raise BadFileError(f"{_name(file)} must hold finite numbers, got {H[~np.isfinite(H)][0]}")
    if np.linalg.matrix_rank(H) < 3:
        raise BadFileError(f"{_name(file)} must be invertible, got a singular matrix")
    return H


def _name(file: Path) -> str:
    """File names repeat in every sequence."""
    return f"{file.parent.name}/{file.name}"


def _read_picture(file: Path) -> Floats:
    """Grey values 0..1 of a whole picture."""
    from PIL import Image  # noqa: PLC0415

    try:
        with Image.open(file, formats=["PPM", "PNG"]) as image:
            return to_grey(np.asarray(image.convert("RGB")))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadFileError(f"{_name(file)} must be a whole PPM, PGM or PNG picture ({error}); copy it again") from None


def _picture_size(file: Path, _: str | None = None) -> tuple[int, int]:
    """(height, width) from the header."""
    from PIL import Image  # noqa: PLC0415

    try:
        with Image.open(file, formats=["PPM", "PNG"]) as image:
            width, height = image.size
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadFileError(f"{_name(file)} must be a PPM, PGM or PNG picture ({error}); copy it again") from None
    if min(height, width) < 2 * WINDOW:
        raise BadFileError(
            f"{_name(file)} must be at least {2 * WINDOW} x {2 * WINDOW} pixels, for patches of {WINDOW} x {WINDOW}, "
            f"got {width} x {height}"
        )
    return height, width


def _homography_size(file: Path, _: str | None) -> tuple[int, int]:
    rows, columns = read_homography(file).shape
    return rows, columns


@lru_cache(maxsize=4)
def _file_sets(folder: tuple[FileState, ...]) -> tuple[FileSet, ...]:
    """Each folder that looks like a sequence, and which of its files are present, missing or links."""
    root, by_folder = data_folder(), dict[Path, set[str]]()
    for path in (Path(path) for path, _, _ in folder):
        by_folder.setdefault(path.parent, set()).add(path.name)
    return tuple(
        files
        for at, names in sorted(by_folder.items())
        for layout in LAYOUTS
        if root is not None and (files := _file_set(root, at, names, layout)) is not None
    )


def _file_set(root: Path, folder: Path, names: set[str], layout: Layout) -> FileSet | None:
    """The files of one sequence in order, pictures first; None if the folder is not one of this layout."""
    pictures, homographies = (
        {int(match[1]): name for name in sorted(names, reverse=True) if (match := re.fullmatch(pattern, name))}
        for pattern in (layout.picture, layout.homography)
    )
    if not homographies and (1 not in pictures or not re.fullmatch(layout.folder, folder.name)):
        return None
    numbers = sorted({1, *pictures, *homographies})
    numbers = numbers if len(numbers) > 1 else [1, 2]
    suffix = Path(next(iter(pictures.values()), "1.ppm")).suffix
    wanted = [pictures.get(k, layout.picture_name.format(k) + suffix) for k in numbers]
    wanted += [homographies.get(k, layout.homography_name.format(k)) for k in numbers[1:]]
    absent = tuple(name for name in wanted if name not in names)
    linked = tuple(name for name in wanted if name in names and not lies_inside(folder / name, root))
    return FileSet(folder, tuple(name for name in wanted if name not in absent + linked), absent, linked)


@lru_cache(maxsize=4)
def _problem(folder: tuple[FileState, ...]) -> str:
    """What is wrong with the first sequence that cannot be used; by headers and homographies, not by pixels."""
    for files in _file_sets(folder):
        assert files.folder is not None
        if problem := files.problem(files.folder.name, WHERE):
            return problem
        for name in files.present:
            look = _picture_size if Path(name).suffix else _homography_size
            if isinstance(size := peek_once(look, files.folder / name), str):
                return size
    return ""


@lru_cache(maxsize=4)
def _sequences(folder: tuple[FileState, ...]) -> tuple[Sequence, ...]:
    """The sequences, which are whole."""
    return tuple(
        Sequence(
            tuple(files.folder / name for name in files.present if Path(name).suffix),
            tuple(files.folder / name for name in files.present if not Path(name).suffix),
        )
        for files in _file_sets(folder)
        if files.folder is not None
    )


def _version(sequences: tuple[Sequence, ...]) -> str:
    files = [file for one in sequences for file in (*one.pictures, *one.homographies)]
    return " ".join(f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files)


def _corners_key(sequences: tuple[Sequence, ...]) -> tuple[str, str, tuple[int, int, int], str]:
    """Name, version, shape and type of the corners in the cache."""
    return "viewpoints-corners", f"{_version(sequences)} {RECIPE}", (len(sequences), CORNERS, 2), "int64"


def _padded_corners(picture: Path) -> npt.NDArray[np.int64]:
    """(CORNERS, 2) the corners of a picture, then rows of -1."""
    corners = find_corners(_read_picture(picture), SPACING, border=WINDOW // 2)[:CORNERS]
    return np.pad(corners, ((0, CORNERS - len(corners)), (0, 0)), constant_values=-1)


def _views(sequences: tuple[Sequence, ...], corners: npt.NDArray[np.int64]) -> Views:
    """Every patch of a corner that at least two pictures see, in the order of sequences, pictures and corners."""
    places = [_places(one, padded[padded[:, 0] >= 0]) for one, padded in zip(sequences, corners, strict=True)]
    share = share_out([len(centres[0]) for centres, _ in places], TRACKS)
    parts, first = [], 0
    for number, ((centres, visible), count) in enumerate(zip(places, share, strict=True)):
        picture, corner = np.nonzero(visible[:, :count])
        parts.append((np.full(len(corner), number), picture, centres[picture, corner], first + corner))
        first += count
    return Views(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _places(sequence: Sequence, corners: npt.NDArray[np.int64]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """(pictures, corners, 2) where the corners are in every picture, and (pictures, corners) whether it shows them."""
    centres, visible = [corners.astype(np.float64)], [np.ones(len(corners), np.bool_)]
    for file, picture in zip(sequence.homographies, sequence.pictures[1:], strict=True):
        xy, in_front = map_points(read_homography(file), corners[:, ::-1].astype(np.float64))
        centre, last = xy[:, ::-1], np.array(_picture_size(picture)) - 1
        centres.append(centre)
        visible.append(in_front & ((centre >= 0) & (centre <= last)).all(axis=1))
    often = np.sum(visible, axis=0) >= 2
    return np.stack(centres)[:, often], np.stack(visible)[:, often]


def _patches(sequences: tuple[Sequence, ...], views: Views) -> Iterator[npt.NDArray[np.uint8]]:
    """The patches of one picture after the other."""
    from scipy import ndimage  # noqa: PLC0415

    for number, sequence in enumerate(sequences):
        for index, picture in enumerate(sequence.pictures):
            centres = views.centre[(views.sequence == number) & (views.picture == index)]
            if len(centres):
                image = ndimage.gaussian_filter(_read_picture(picture), BLUR)
                patches = cut_patches(image, centres, WINDOW / SIDE * np.eye(2))
                yield np.round(255 * np.clip(patches, 0, 1)).astype(np.uint8)


DATASET = DatasetSpec(
    key="viewpoints",
    title="Viewpoints, GIST-512 (real pictures and homographies)",
    task="same point of a scene",
    n=TRACKS * PICTURES,
    d=512,
    licence="research use: HPatches itself is MIT, but its pictures have many sources; Oxford's state no licence",
    cite="Balntas, Lenc, Vedaldi and Mikolajczyk, CVPR 2017; Mikolajczyk et al., IJCV 2005",
    bibtex=BIBTEX,
    load=load,
    missing=missing,
    status=status,
    group="pictures",
    similar_by="track",
    # a corner is seen in a few of the pictures of its own sequence
    similar_share=(0.0, 0.05),
    measure_size=measure_size,
)
