"""Which features, C and beta OH should start with on a data set, measured on validation queries over several seeds.

One parameter after another is tried around the best values so far, the paper's first. A value takes the place of the
present one only if mAP gains at least MIN_GAIN and its interval over the seeds (`difference_over_seeds`) is above 0,
or if nearly all steps of the present one are capped, those of the new one are not, and mAP is as high.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import Settings
from ohash.engine.params import experiment
from ohash.engine.run import Run
from ohash.engine.run_health import CAPPED
from ohash.evaluation.significance import difference_over_seeds
from ohash.number_formats import percent

MIN_GAIN = 0.05  # relative: a difference that a person sees
PAIRS = 10_000
# The paper's values first, with centred vectors of unit length and sigma from the warm-up, as everywhere here.
START: Settings = {"kernel": "rbf", "normalize": True, "sigma": 0.0, "C": 0.1, "beta": 0.5}
STEPS: tuple[tuple[Settings, ...], ...] = (
    tuple({"kernel": kernel, "normalize": normalize} for kernel in ("rbf", "none") for normalize in (True, False)),
    tuple({"C": C} for C in (0.1, 0.01, 0.03, 0.3, 1.0)),
    tuple({"beta": beta} for beta in (0.5, 0.3, 0.4, 0.6)),
    tuple({"sigma": sigma} for sigma in (0.0, 0.25, 1.0)),
)


@dataclass(frozen=True)
class Trial:
    """OH with some values: the average precision of every validation query before and after, one array per seed."""

    values: Settings
    before: tuple[npt.NDArray[np.float64], ...]
    after: tuple[npt.NDArray[np.float64], ...]
    capped: float  # share of the recent updates

    @property
    def start(self) -> float:
        """The mAP of the first codes."""
        return _mean(self.before)

    @property
    def end(self) -> float:
        """The mAP after the last pair."""
        return _mean(self.after)


def choose_defaults(dataset: str, seeds: int = 5, *, report: Callable[[str], None] = lambda line: None) -> Settings:
    """The values that differ from START and why, as an entry of `ohash.streams.chosen_defaults`."""
    best = first = try_values(dataset, START, seeds)
    for step in STEPS:
        if step[0].keys() == {"sigma"} and best.values["kernel"] != "rbf":
            continue
        for change in step:
            values = {**best.values, **change}
            if values == best.values:
                continue
            trial = try_values(dataset, values, seeds)
            gain = difference_over_seeds(trial.after, best.after)
            better = gain.difference >= MIN_GAIN * best.end and gain.low > 0
            better |= best.capped >= CAPPED > trial.capped and gain.difference >= 0
            report(f"{dataset}: {_text(change)} mAP {trial.start:.3f} -> {trial.end:.3f}{' (taken)' * better}")
            best = trial if better else best
    values = {name: value for name, value in best.values.items() if value != START[name]}
    return {"values": values, "why": _why(first, best, seeds)}


def try_values(dataset: str, values: Settings, seeds: int, pairs: int = PAIRS) -> Trial:
    """Run OH from the start to the end with every seed."""
    before, after, capped = [], [], []
    for seed in range(seeds):
        run = Run(experiment(dataset, "oh", seed=seed, pairs=pairs, judged_at="ends", **values))
        first = None
        while not run.done:
            run.step(pairs)
            first = run.checkpoints.last_record if first is None else first
        last = run.checkpoints.last_record
        assert first is not None and last is not None
        before.append(np.asarray(first.ap))
        after.append(np.asarray(last.ap))
        capped.append(run.snapshot("done").numbers["clipped_rate"])
    return Trial(values, tuple(before), tuple(after), float(np.mean(capped)))


def _why(first: Trial, best: Trial, seeds: int) -> str:
    learns = (
        f"mAP {best.start:.3f} -> {best.end:.3f} after {PAIRS:,} pairs, mean of {seeds} seeds on validation queries"
    )
    if best is first:
        return f"{learns}; no other value tried gains {percent(MIN_GAIN)}"
    capped = f", with {percent(first.capped)} of the steps capped" if first.capped >= CAPPED else ""
    return f"{learns}; with the usual values {first.start:.3f} -> {first.end:.3f}{capped}"


def _text(change: Settings) -> str:
    return ", ".join(f"{name} = {value}" for name, value in change.items())


def _mean(parts: tuple[npt.NDArray[np.float64], ...]) -> float:
    return float(np.mean([np.nanmean(part) for part in parts]))
