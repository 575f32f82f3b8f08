"""In which commit of its checkout each recorded result first stood: what bounds the age of its code from above."""

import io
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ohash.paper.recording import CHANGED, SEVERAL, UNKNOWN, read_recording, write_origins

DIGITS = 12  # of a commit, as `ohash.runtime.environment` has it
SAME_RUN = ["key", "values"]  # the scores and CPU times of a cell: no two runs have equal ones


def trace_commits(path: Path) -> tuple[int, int]:
    """Note in a recording the first commit that has each result, and which of its commits its history lacks.

    Returns for how many cells that is known, and for how many it is not. Every number stays as it is.
    """
    import pyarrow.parquet  # noqa: PLC0415 (slow to import)

    recording = read_recording(path)
    if recording is None:
        raise ValueError(f"there is no recording {path}")
    first: dict[tuple[str, str], str] = {}
    for commit, content in _versions(path):
        rows = pyarrow.parquet.read_table(io.BytesIO(content), columns=SAME_RUN).to_pylist()
        for row in rows:
            first.setdefault((row["key"], row["values"]), commit)
    own = [(row["key"], row["values"]) for row in recording.rows(recording.keys())]
    known = set(_git(path, "rev-list", "HEAD").decode().split())
    names = [name for name in recording.made["commit"].split(SEVERAL) if name not in ("", UNKNOWN)]
    lost = [name for name in names if not any(one.startswith(name.removesuffix(CHANGED)) for one in known)]
    origins = {key: first[key, values] for key, values in own if (key, values) in first}
    write_origins(path, origins, lost)
    return len(origins), len(own) - len(origins)


def _versions(path: Path) -> Iterator[tuple[str, bytes]]:
    """The commits that changed a file, oldest first, with its content in each; renames are followed."""
    log = _git(path, "log", "--follow", "--diff-filter=d", "--format=%H", "--name-only", "--", path.name)
    lines = [line for line in log.decode().splitlines() if line]
    for commit, name in reversed(list(zip(lines[::2], lines[1::2], strict=True))):
        yield commit[:DIGITS], _git(path, "show", f"{commit}:{name}")


def _git(path: Path, *arguments: str) -> bytes:
    try:
        call = ["git", "-C", str(path.resolve().parent), "-c", "core.quotePath=off", *arguments]
        return subprocess.run(call, capture_output=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ValueError(f"{path} is in no git checkout whose history can be read") from error
