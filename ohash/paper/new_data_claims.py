"""Two claims that the paper states without an experiment: batch methods, and sketches, on new data.

New data are classes (or tracks) that arrive later, and a feature space that is rotated early or late in the stream.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from ohash.core.arrays import Floats
from ohash.models.registry import find
from ohash.paper.figures import AFTER_CHANGE, AFTER_NEW, BEFORE_NEW, EARLY, LATE, SKETCHES
from ohash.paper.findings import Claim
from ohash.paper.measurements import Measurements, SeedResult
from ohash.paper.quality_claims import map_gain
from ohash.paper.settings import Setting
from ohash.paper.verdicts import EQUAL, Effect, Part, above, difference

BATCH, LEARN_ON = ("itq", "ksh", "sdh"), ("oh", "mmoh")


def new_ap(
    measurements: Measurements, setting: Setting, seeds: Sequence[SeedResult], *, new: bool = True
) -> list[Floats]:
    """The average precision of the test queries of the new classes (or of the others), one array per seed."""
    masks = [measurements.new_queries(setting, seed) == new for seed in seeds]
    return [ap[mask] for ap, mask in zip(measurements.ap(list(seeds)), masks, strict=True)]


def _gain(
    measurements: Measurements, setting: Setting, a: tuple[str, int], b: tuple[str, int], *, new: bool = True
) -> Effect:
    first, second = (measurements.seeds("arrival", setting, *one) for one in (a, b))
    n = min(len(first), len(second))
    after, before = (new_ap(measurements, setting, seeds[:n], new=new) for seeds in (first, second))
    return difference(after, before, measurements.intervals)


def _loses_on_new(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    """What a fit to all classes gains on the new ones; beside it on the others, and what learning on gains."""
    name = "tracks" if setting.kind == "tracks" else "classes"
    verdict = partial(above, than=EQUAL)
    for method in BATCH:
        after, before = (method, AFTER_NEW), (method, BEFORE_NEW)
        title = find(method).title.partition(" (")[0]
        effect = _gain(measurements, setting, after, before)
        yield Part.from_test(setting.title, f"{title} fitted after the new {name} came, minus before", effect, verdict)
        effect = _gain(measurements, setting, after, before, new=False)
        yield Part.from_test(
            setting.title, f"{title}, the same on queries of the first {name}", effect, verdict, decisive=False
        )  # fmt: skip
    for method in LEARN_ON:
        effect = _gain(measurements, setting, (method, AFTER_NEW), (method, BEFORE_NEW))
        what = f"{method.upper()}, which keeps learning, after the new {name} came, minus before"
        yield Part.from_test(setting.title, what, effect, verdict, decisive=False)


def _adapts_poorly_late(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    for method in (*SKETCHES, *LEARN_ON):
        effect = map_gain(measurements, setting, "change", (method, EARLY), (method, LATE))
        what = f"{find(method).title.partition(' (')[0]}: early minus late change"
        yield Part.from_test(
            setting.title, what, effect, partial(above, than=EQUAL), decisive=method in SKETCHES
        )  # fmt: skip


NEW_DATA_CLAIMS = (
    Claim(
        "new-data", "Batch methods lose their efficiency on new data.", "Section I",
        "Classes arrive one after another. On test queries of those that had not arrived, ITQ, KSH and SDH, each "
        f"fitted to what had arrived by then, are worse by more than {EQUAL:g} than fitted after all had arrived.",
        ("arrival",), _loses_on_new, ("labels", "tracks"),
    ),
    Claim(
        "sketch-late", "Sketching adapts poorly to new data late in the stream.", "Section II",
        f"The feature space is rotated after {EARLY:,} or {LATE:,} pairs. {AFTER_CHANGE:,} pairs after that, OSH and "
        f"SSBC are better after the early change by more than {EQUAL:g}.",
        ("change",), _adapts_poorly_late,
    ),
)  # fmt: skip
