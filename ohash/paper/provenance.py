"""Where the numbers of a report come from, in sentences: recorded, run here, or both, and where the two differ.

`trace_commits` finds in which commit of its checkout each recorded result first stood: what bounds the age of its code
from above.
"""

import io
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ohash.engine.judge import TRUTH_SCORES
from ohash.engine.narrative import amount, duration
from ohash.paper.figures import FIGURES, Figure
from ohash.paper.measurements import ROUNDING, Measurements, Repetition
from ohash.paper.protocol import variant_title
from ohash.paper.recorded_results import CHANGED, SEVERAL, UNKNOWN, read_recording, write_origins

DIGITS = 12  # of a commit, as `ohash.runtime.environment` has it
SAME_RUN = ["key", "values"]  # the scores and CPU times of a cell: no two runs have equal ones
MAX_LISTED = 10  # differing experiments, the largest differences first
ROUNDING_TEXT = "In float32, rounding on another machine can send a run down another path."
COMPUTED = "theory and the search of a million codes are computed here"


@dataclass(frozen=True)
class Sources:
    """Which experiments were recorded and which are one's own; `differing` has those whose own result is another.

    `beyond_noise` tells whether any of them is another by more than rounding explains.
    """

    text: str
    differing: tuple[str, ...] = ()
    beyond_noise: bool = False


def sources(measured: Measurements, figures: Sequence[Figure] = tuple(FIGURES.values())) -> Sources | None:
    """The sources of these figures; None if nothing has been run or recorded."""
    recording, (own, recorded) = measured.recording, measured.counts(figures)
    if not own + recorded:
        return None
    took = f"{duration(measured.cost(*figures))} of CPU time in total"
    if recording is None:
        return Sources(f"All {_experiments(own)} were run here ({took}); none is recorded.")
    if not own:
        return Sources(f"No experiment was run here: all {recorded:,} were {recording.text}; {took}; {COMPUTED}.")
    text = f"{_experiments(own)} {'was' if own == 1 else 'were'} run here"
    text += f", the other {recorded:,} were {recording.text}; {took}." if recorded else f"; {took}."
    repeated = measured.repetitions(figures)
    if not repeated:
        return Sources(f"{text} The recording has none of yours.")
    titles = " or ".join(sorted({TRUTH_SCORES[one.truth] for one in repeated}, reverse=True))
    differing = sorted((one for one in repeated if one.differs), key=lambda one: -abs(one.gap))
    if not differing:
        which = "Yours" if len(repeated) == own else f"The {len(repeated):,} of yours that it has, too,"
        return Sources(f"{text} {which} agree with the recording: no {titles} differs by more than {ROUNDING:g}.")
    verb = "differs" if len(differing) == 1 else "differ"
    text += f" {len(differing):,} of yours {verb} from the recording by more than {ROUNDING:g} {titles}"
    lines, beyond = tuple(map(_difference, differing)), sum(one.beyond_noise for one in differing)
    if beyond:
        which = "and" if beyond == len(differing) else f"{beyond:,} of them"
        return Sources(f"{text}, {which} by more than a change of seed may.", lines, beyond_noise=True)
    mean = sum(one.gap for one in repeated) / len(repeated)
    return Sources(f"{text}, none by more than a change of seed may. {ROUNDING_TEXT} {_mean_text(mean)}", lines)


def _mean_text(gap: float) -> str:
    """How much better the runs here are on average.

    >>> _mean_text(0.0123), _mean_text(-0.00123), _mean_text(0.0001)
    ('On average yours are 0.012 higher.', 'On average yours are 0.001 lower.', 'On average both are equal.')
    """
    size = f"{abs(gap):.3f}"
    if float(size) == 0:
        return "On average both are equal."
    return f"On average yours are {size} {'higher' if gap > 0 else 'lower'}."


def figure_sources(measured: Measurements, figure: Figure) -> str:
    """How many experiments of a figure were run here, and how many are recorded; "" if there are none."""
    own, recorded = measured.counts([figure])
    parts = [f"{own:,} run here"] * bool(own) + [f"{recorded:,} recorded"] * bool(recorded)
    return ", ".join(parts)


def figure_commits(measured: Measurements, figure: Figure) -> str:
    """The code that the recorded experiments of one figure were run with, most of them first; "" if there are none."""
    counts = Counter(measured.origins([figure]))
    return "; ".join(f"{count:,} {origin or 'at an unknown commit'}" for origin, count in counts.most_common())


def _difference(repetition: Repetition) -> str:
    point, seed = repetition.point, repetition.seed
    where = f"figure {point.figure}, {variant_title(point.method)} at {point.x} on {point.setting}, seed {seed}"
    at = f" {repetition.origin}" if repetition.origin else ""
    score = "" if repetition.truth == "map" else f"{TRUTH_SCORES[repetition.truth]} "
    return f"{where}: {score}{repetition.own:.3f} here, {repetition.recorded:.3f} recorded{at}"


def _experiments(count: int) -> str:
    return amount(count, "experiment")


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
    commits = set(_git(path, "rev-list", "HEAD").decode().split())
    names = [name for name in recording.made["commit"].split(SEVERAL) if name not in ("", UNKNOWN)]
    lost = [name for name in names if not any(one.startswith(name.removesuffix(CHANGED)) for one in commits)]
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
