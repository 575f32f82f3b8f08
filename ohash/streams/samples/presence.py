"""Whether a sample is here and can be opened, by the directory of its archive: cheap enough for a list."""

from ohash.streams.samples.reading import sample_folder
from ohash.streams.together import measured


def missing(file: str, name: str) -> str:
    """How to get the sample `name` back, and what is wrong with its file; empty if nothing is."""
    path, rebuild = sample_folder() / file, f"rebuild it with: python3 -m ohash samples {name}"
    if not path.is_file():
        return rebuild
    found = measured(path, "features")
    return f"{found}, or {rebuild}" if isinstance(found, str) else ""


def absent(file: str) -> str:
    """What is the matter, in a word."""
    return "is damaged" if (sample_folder() / file).is_file() else "is not here"
