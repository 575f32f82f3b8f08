"""Photo Tourism (Half Dome): 64 x 64 patches of 3-D points seen in many photos, as GIST-512 computed here.

A folder holds sheets ``patches0000.bmp``, ... of 1024 x 1024 grey pixels, 16 x 16 patches each, row by row; and
``info.txt`` with one line per patch, its 3-D point first; ``m50_*.txt`` with pairs (patch, point, _, patch, point, _).
Two patches match if they show one point: that is a track. The second dataset takes the pairs of the m50 file instead.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Array, Bytes
from ohash.streams.annotations import PairList
from ohash.streams.data_folder import FileSet, find_file_set, peek_once
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.datasets.paper_setting import how_to_get, paper_params, paper_queries
from ohash.streams.feature_cache import cached_gist, cached_rows
from ohash.streams.readers.source import BadFileError

SHEET, GRID, SIDE = 1024, 16, 64
PER_SHEET = GRID * GRID
THUMBNAIL = 32
TEST = 6_000
LARGEST_TEXT = 2**28
# Of a bitmap: place and length of where the pixels begin, width, height, bits per pixel, how they are packed.
BMP_HEADER, BMP_FIELDS = 54, ((10, 4), (18, 4), (22, 4), (28, 2), (30, 4))
WHERE = "Winder and Brown, CVPR 2007"
PARAMS = [paper_params(beta=0.5, similar_by=name) for name in ("track", "pairs")]
BIBTEX = """@inproceedings{winder2007learning,
  title     = {Learning Local Image Descriptors},
  author    = {Winder, Simon and Brown, Matthew},
  booktitle = {CVPR},
  year      = {2007}
}"""


def missing(pairs: bool) -> str:
    """How to get it, or which files of it are not here."""
    files = _find_files()
    if files.folder is None:
        return how_to_get("patches0000.bmp, ..., info.txt and m50_*.txt of Photo Tourism, Half Dome", WHERE)
    problem = files.problem("Photo Tourism", WHERE)
    if not problem and isinstance(lines := peek_once(_lines, files.folder / "info.txt"), str):
        return lines
    if pairs and not problem and not list(files.folder.glob("m50_*.txt")):
        return f"put an m50_*.txt next to {files.folder / 'info.txt'}"
    return problem or _damage(files)


def status(pairs: bool) -> str:
    """The end of the sentence "the data set ..."."""
    files = _find_files()
    lacks_pairs = pairs and files.folder is not None and not list(files.folder.glob("m50_*.txt"))
    return "is incomplete" if lacks_pairs else files.status


def _damage(files: FileSet) -> str:
    """What is wrong with the first sheet that is cut off or no picture, by its header; empty if none is."""
    assert files.folder is not None
    seen = (peek_once(_sheet_size, files.folder / name) for name in files.present if name.endswith(".bmp"))
    return next((problem for problem in seen if isinstance(problem, str)), "")


def measure_size() -> tuple[int, int]:
    """Patches, and the columns of their GIST."""
    folder = _find_files().folder
    assert folder is not None
    lines = peek_once(_lines, folder / "info.txt")
    assert not isinstance(lines, str)
    return lines[0], 512


def load(key: str, title: str, pairs: bool) -> Dataset:
    """GIST of every patch (computed on the first call, with progress), tracks, and 32 x 32 pictures."""
    files = _find_files()
    folder = files.folder
    assert folder is not None
    points = _integers(folder / "info.txt", columns=1)[:, 0]
    n = len(points)
    sheets = [folder / name for name in _sheets(n)]
    if files.missing or files.linked:
        raise BadFileError(files.problem("Photo Tourism", WHERE))
    version = " ".join(f"{sheet.name} {sheet.stat().st_size} {sheet.stat().st_mtime_ns}" for sheet in sheets)
    images = partial(_patches, sheets)
    X = cached_gist("photo-tourism", f"{folder} {version}", n, images)
    small = (n, THUMBNAIL, THUMBNAIL)
    return Dataset(
        key=key,
        title=title,
        X=X,
        tracks=None if pairs else points,
        pairs=_matches(folder, n) if pairs else None,
        thumbnails=cached_rows(
            "photo-tourism-pictures", f"{folder} {version}", small, np.uint8, lambda: _shrink(images, n)
        ),
        queries=paper_queries(n, TEST),
        licence=DATASET[0].licence,
        cite=DATASET[0].cite,
        presets=PARAMS[pairs],
    )


def _find_files() -> FileSet:
    """info.txt and the sheets, as many as its lines need; info.txt alone may be of anything."""
    first = find_file_set("info.txt", *_sheets(1))
    if first.folder is None or first.missing or first.linked:
        return first if set(_sheets(1)) & {*first.present, *first.linked} else FileSet(None, (), (), ())
    lines = peek_once(_lines, first.folder / "info.txt")
    return first if isinstance(lines, str) else find_file_set("info.txt", *_sheets(lines[0]))


def _sheets(patches: int) -> list[str]:
    return [f"patches{k:04}.bmp" for k in range(-(-patches // PER_SHEET))]


def _lines(file: Path, _: str | None) -> tuple[int, int]:
    return len(_integers(file, columns=1)), 1


def _sheet_size(sheet: Path, _: str | None) -> tuple[int, int]:
    _check_bmp(sheet)
    return SHEET, SHEET


def _patches(sheets: list[Path], start: int, stop: int) -> npt.NDArray[np.uint8]:
    """Patches start to stop, from the sheets that hold them."""
    first, last = start // PER_SHEET, (stop - 1) // PER_SHEET
    whole = np.concatenate([_sheet(sheet) for sheet in sheets[first : last + 1]])
    return whole[start - first * PER_SHEET : stop - first * PER_SHEET]


def _sheet(path: Path) -> npt.NDArray[np.uint8]:
    from PIL import Image  # noqa: PLC0415

    _check_bmp(path)
    try:
        with Image.open(path, formats=["BMP"]) as image:
            pixels = np.asarray(image.convert("L"))
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadFileError(f"{path.name} must be a whole BMP picture ({error}); copy it again") from None
    return pixels.reshape(GRID, SIDE, GRID, SIDE).transpose(0, 2, 1, 3).reshape(PER_SHEET, SIDE, SIDE)


def _check_bmp(path: Path) -> None:
    """Whether the pixels that the header declares are there, by their bytes."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        start = stream.read(BMP_HEADER)
    if start[:2] != b"BM" or len(start) < BMP_HEADER:
        raise BadFileError(
            f"{path.name} must start with BM at byte 0 and a header of {BMP_HEADER} bytes, got {start[:2]!r} and "
            f"{size:,} bytes; copy it again"
        )
    pixels, width, height, depth, packed = (
        int.from_bytes(start[at : at + count], "little", signed=True) for at, count in BMP_FIELDS
    )
    if (width, abs(height)) != (SHEET, SHEET):
        raise BadFileError(f"{path.name} must be {SHEET} x {SHEET} pixels, got {width} x {abs(height)} at byte 18")
    end = pixels + SHEET * SHEET * depth // 8
    if not packed and size < end:
        raise BadFileError(
            f"{path.name} must have its pixels in bytes {pixels:,} to {end:,}, the file ends at byte {size:,}; it is "
            "truncated, copy it again"
        )


def _shrink(images: Callable[[int, int], Array], n: int) -> Iterator[Bytes]:
    step = SIDE // THUMBNAIL
    for start in range(0, n, PER_SHEET):
        block = images(start, min(n, start + PER_SHEET)).reshape(-1, THUMBNAIL, step, THUMBNAIL, step)
        yield block.mean(axis=(2, 4)).astype(np.uint8)


def _matches(folder: Path, n: int) -> PairList:
    """Pairs of the largest m50 file: similar if both patches show one point."""
    file = max(folder.glob("m50_*.txt"), key=lambda path: path.stat().st_size)
    rows = _integers(file, columns=5)
    i, j = rows[:, 0], rows[:, 3]
    if min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= n:
        raise BadFileError(
            f"{file.name} must name patches 0 to {n - 1}, got {min(i.min(), j.min())} to {max(i.max(), j.max())}"
        )
    return PairList(i, j, np.where(rows[:, 1] == rows[:, 4], 1, -1).astype(np.int8))


def _integers(file: Path, columns: int) -> npt.NDArray[np.int64]:
    """The first integers of every line."""
    if file.stat().st_size > LARGEST_TEXT:
        raise BadFileError(f"{file.name} must have at most {LARGEST_TEXT:,} bytes")
    rows = []
    for number, line in enumerate(file.read_text("ascii", "replace").splitlines(), start=1):
        cells = line.split()
        if not cells:
            continue
        try:
            rows.append([int(cell) for cell in cells[:columns]])
            if len(rows[-1]) < columns:
                raise ValueError
        except ValueError:
            raise BadFileError(
                f"{file.name} must have {columns} integers in line {number}, got {line[:60]!r}"
            ) from None
    if not rows:
        raise BadFileError(f"{file.name} must have one line per patch, it is empty")
    return np.array(rows, np.int64)


def _spec(key: str, title: str, pairs: bool) -> DatasetSpec:
    return DatasetSpec(
        key=key,
        title=title,
        task="same 3-D point" if not pairs else "given matches",
        n=104_000,
        d=512,
        licence="research use (Photo Tourism)",
        cite="Winder and Brown, CVPR 2007; Snavely, Seitz and Szeliski, 2006",
        bibtex=BIBTEX,
        load=partial(load, key, title, pairs),
        missing=partial(missing, pairs),
        status=partial(status, pairs),
        group="paper",
        similar_by="pairs" if pairs else "track",
        # a point is seen in a few of 100,000 patches; of an m50 file about half of the pairs match
        similar_share=(0.3, 0.7) if pairs else (0.0, 0.001),
        presets=PARAMS[pairs],
        measure_size=measure_size,
    )


DATASET = (
    _spec("phototourism", "Photo Tourism, Half Dome, GIST-512", False),
    _spec("phototourism-m50", "Photo Tourism, pairs of the m50 file", True),
)
