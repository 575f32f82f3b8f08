"""Photo patches GIST-512, embedded: 500 points of 11 photos, five views of each. Synthetic warps of real photos.

The stand-in for Photo Tourism, where the views are real: here each view is the same corner of a photo seen through a
random warp (rotation, scale, affine, shift) with its own blur, gamma, gain and noise. Views of one track are similar.
`viewpoints` has real views, from a folder of the user's.

Only photos whose licence in the wheel is clear are used: CC0, public domain (NASA), or CC BY 2.0 with credit. Left out,
with the reason: coins and immunohistochemistry ("no known copyright restrictions" is no licence), moon and page (no
licence stated), rocket (public domain by announcement, said to be non-commercial at its source), the motorcycle pair
(no licence stated), lfw_subset (faces), clock (blurred: no corners), and what is no photo (text, horse, logo, cell).
"""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ohash.core.arrays import Floats
from ohash.core.gist import gist512
from ohash.runtime.frames import Arrays
from ohash.streams.chosen_defaults import chosen_defaults
from ohash.streams.dataset import Dataset, DatasetSpec
from ohash.streams.datasets.corners import SIDE, cut_patches, find_corners, share_out, to_grey
from ohash.streams.samples import (
    SourceMissingError,
    code_sqrt,
    missing_sample,
    read_sample,
    sample_folder,
    sample_status,
)

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
    missing=partial(missing_sample, FILE, "patches"),
    status=partial(sample_status, FILE),
    group="embedded",
    similar_by="track",
    similar_share=4 / 2499,
    **chosen_defaults("patches"),
)

NOTE = "synthetic warps of real photos"
TRACKS, VIEWS = 500, 5
SEED = 2017
# Points closer than this would share most of their patch, and two tracks would be one.
SPACING = 16
LEVELS = 16  # grey levels of a thumbnail: enough to look at, and half the bytes


class Photo(NamedTuple):
    """A photo, the package whose wheel holds it, and what that wheel says of its licence."""

    name: str
    package: str
    licence: str
    credit: str


PHOTOS = (
    Photo("astronaut", "skimage", "public domain", "NASA"),
    Photo("brick", "skimage", "CC0 1.0", "CC0Textures"),
    Photo("camera", "skimage", "CC0 1.0", "Lav Varshney"),
    Photo("chelsea", "skimage", "CC0 1.0", "Stefan van der Walt"),
    Photo("coffee", "skimage", "CC0 1.0", "Rachel Michetti, courtesy of Pikolo Espresso Bar"),
    Photo("grass", "skimage", "CC0 1.0", "linolafett"),
    Photo("gravel", "skimage", "CC0 1.0", "CC0Textures"),
    Photo("hubble_deep_field", "skimage", "public domain", "NASA, HubbleSite"),
    Photo("retina", "skimage", "CC0 1.0", "Mikael Häggström"),
    Photo(
        "china.jpg", "sklearn", "CC BY 2.0", "danielbuechele, https://www.flickr.com/photos/danielbuechele/6061409035"
    ),
    Photo("flower.jpg", "sklearn", "CC BY 2.0", "vultilion, https://www.flickr.com/photos/vultilion/6056698931"),
)


def build(sources: Path | None = None) -> Arrays:
    """Find points, warp them, describe them; the same arrays on every run. `sources` is not needed."""
    rng = np.random.default_rng(SEED)
    photos = [_grey(photo) for photo in PHOTOS]
    points = [find_corners(image, SPACING, border=SIDE) for image in photos]
    share = _shares([len(corners) for corners in points])
    patches: list[npt.NDArray[np.uint8]] = []
    origins: list[int] = []
    for index, (image, corners, wanted) in enumerate(zip(photos, points, share, strict=True)):
        for point in corners[:wanted]:
            patches.extend(_view(image, point, rng) for _ in range(VIEWS))
            origins.extend([index] * VIEWS)
    views = np.array(patches)
    features, scale = code_sqrt(gist512(views))
    step = 256 // LEVELS
    order = rng.permutation(len(views))  # so that the first rows are not all of one photo
    return {
        "features": features[order],
        "coding": np.array("sqrt"),
        "scale": scale,
        "tracks": np.repeat(np.arange(TRACKS, dtype=np.int32), VIEWS)[order],
        "photos": np.array(origins, np.uint8)[order],
        "names": np.array([photo.name.removesuffix(".jpg") for photo in PHOTOS]),
        "credits": np.array([f"{photo.licence}, {photo.credit}" for photo in PHOTOS]),
        "thumbnails": (views // step * (255 // (LEVELS - 1)))[order],
        "note": np.array(NOTE),
    }


def _shares(available: list[int]) -> list[int]:
    """How many tracks each photo gives, so that no photo holds most of them."""
    if sum(available) < TRACKS:
        raise ValueError(f"the photos must hold {TRACKS} points, got {sum(available)}")
    return share_out(available, TRACKS)


def _grey(photo: Photo) -> Floats:
    """The photo as grey values 0..1; a missing package or file says how to get it."""
    try:
        if photo.package == "skimage":
            from skimage import data  # noqa: PLC0415

            image = getattr(data, photo.name)()
        else:
            from sklearn.datasets import load_sample_image  # noqa: PLC0415

            image = load_sample_image(photo.name)
    except (ImportError, OSError, AttributeError) as error:
        raise SourceMissingError(
            f"photo {photo.name!r} of {photo.package} cannot be read ({error}). "
            "Get it with: pip install 'ohash[samples]' (scikit-image and scikit-learn carry the photos)"
        ) from error
    return to_grey(image)


def _view(image: Floats, point: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """One SIDE x SIDE patch around a point, as another camera might have seen it."""
    from scipy import ndimage  # noqa: PLC0415

    angle, log_scale = rng.normal(0, np.radians(8)), rng.normal(0, 0.08)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    warp = np.exp(log_scale) * rotation @ (np.eye(2) + rng.normal(0, 0.08, (2, 2)))
    centre = point + rng.normal(0, 1.2, 2)
    patch = cut_patches(image, centre[None], warp)[0]
    patch = ndimage.gaussian_filter(patch, rng.uniform(0, 0.8))
    patch = np.clip(patch, 0, 1) ** np.exp(rng.normal(0, 0.2))
    patch = patch * np.exp(rng.normal(0, 0.15)) + rng.normal(0, 0.015, patch.shape)
    return np.asarray(np.round(255 * np.clip(patch, 0, 1)), np.uint8)
