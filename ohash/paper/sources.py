"""Where the numbers of a report come from, in sentences: recorded, run here, or both, and where the two differ."""

from collections.abc import Sequence
from dataclasses import dataclass

from ohash.engine.narrative import amount, duration
from ohash.paper.figures import FIGURES, Figure
from ohash.paper.measurements import ROUNDING, Disagreement, Measurements
from ohash.paper.protocol import variant_title

MOST_LISTED = 10  # differing experiments, the largest differences first
COMPUTED = "theory and the search of a million codes are computed here"


@dataclass(frozen=True)
class Sources:
    """Which experiments were recorded and which are one's own; `differing` has those whose own result is another."""

    text: str
    differing: tuple[str, ...] = ()


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
    compared, differing = measured.compared(figures), measured.disagreements(figures)
    if not compared:
        return Sources(f"{text} The recording has none of yours.")
    scores = " or ".join(sorted(set(compared.values()), reverse=True))
    if not differing:
        which = "Yours" if len(compared) == own else f"The {len(compared):,} of yours that it has, too,"
        return Sources(f"{text} {which} agree with the recording: no {scores} differs by more than {ROUNDING:g}.")
    by_size = sorted(differing, key=lambda one: -abs(one.own - one.recorded))
    verb = "differs" if len(differing) == 1 else "differ"
    return Sources(
        f"{text} {len(differing):,} of yours {verb} from the recording by more than {ROUNDING:g} {scores}.",
        tuple(map(_difference, by_size)),
    )


def figure_sources(measured: Measurements, figure: Figure) -> str:
    """Of one figure: how many experiments were run here, and how many are recorded; "" if there are none."""
    own, recorded = measured.counts([figure])
    parts = [f"{own:,} run here"] * bool(own) + [f"{recorded:,} recorded"] * bool(recorded)
    return ", ".join(parts)


def _difference(one: Disagreement) -> str:
    point = one.point
    where = f"figure {point.figure}, {variant_title(point.method)} at {point.x} on {point.setting}, seed {one.seed}"
    at = f" at commit {one.commit}" if one.commit else ""
    score = "" if one.score == "mAP" else f"{one.score} "
    return f"{where}: {score}{one.own:.3f} here, {one.recorded:.3f} recorded{at}"


def _experiments(count: int) -> str:
    return amount(count, "experiment")
