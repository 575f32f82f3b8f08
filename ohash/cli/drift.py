"""Measure the drift alarms on simulated drifts: dip, recovery, delay and false alarms.

Every line is one alarm on one kind of drift, over several seeds. A run learns until the world changes half-way and then
goes on for as long. An alarm after the change is its detection, every alarm before it (or in a run without drift) is
false. Dip and recovery are those of mAP: level before less the minimum after, and pairs until 95 % of that level.

Examples:
  python3 -m ohash drift
  python3 -m ohash drift --datasets digits --kinds rotate prior --seeds 10 --pairs 40000
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ohash.evaluation.drift import Detection, detection, dip, recovery
from ohash.experiment.params import experiment
from ohash.experiment.run import run as snapshots
from ohash.experiment.snapshot import Snapshot
from ohash.streams.drift import KINDS

DEFAULT_KINDS = ("none", "rotate", "rotate-slowly", "translate", "redefine")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("--datasets", nargs="+", default=["digits", "blobs"], help="data sets (digits blobs)")
    parser.add_argument("--kinds", nargs="+", default=list(DEFAULT_KINDS), choices=KINDS, help="kinds of drift")
    parser.add_argument("--method", default="oh", help="the method that learns (oh)")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each kind (3)")
    parser.add_argument("--pairs", type=int, default=20_000, help="pairs of a run; half come before the drift (20000)")
    parser.add_argument("--size", type=float, default=1.0, help="size of the drift, 0 to 1 (1)")


def run(options: argparse.Namespace) -> int:
    """Measure and print, a group of lines as soon as its runs are done."""
    if options.seeds < 1 or options.pairs < 2:
        raise ValueError(f"seeds must be >= 1 and pairs >= 2, got {options.seeds} and {options.pairs}")
    print(
        f"{'data':8} {'drift':16} {'dip':>6} {'recovery':>9} {'back':>5}   {'alarm':19} {'found':>5} {'delay':>7} "
        f"{'false/10k':>9}"
    )
    totals: dict[str, list[Detection]] = {}
    for dataset in options.datasets:
        for kind in options.kinds:
            runs = [_last(options, dataset, kind, seed) for seed in range(options.seeds)]
            row = measure(runs, None if kind == "none" else options.pairs // 2)
            _show(dataset, kind, row, options.seeds)
            for name, found in row.alarms.items():
                totals.setdefault(name, []).extend(found)
    print("\nall runs together")
    for name, found in totals.items():
        quiet, false = sum(one.quiet_pairs for one in found), sum(one.false_alarms for one in found)
        print(f"{name:19} {false} false alarms in {quiet:,} quiet pairs, {10_000 * false / quiet:.2f} per 10,000")
    return 0


@dataclass(frozen=True)
class Row:
    """What runs of one kind of drift showed: one entry a seed."""

    dips: list[float]
    recoveries: list[float]
    alarms: dict[str, list[Detection]]


def measure(runs: Sequence[Snapshot], at: int | None) -> Row:
    """Compare the runs' curves and alarms with the true time of the drift, None if there is none."""
    columns = [(now.checkpoints["pairs"], now.checkpoints["map"]) for now in runs]
    return Row(
        dips=[] if at is None else [dip(pairs, values, at) for pairs, values in columns],
        recoveries=[] if at is None else [recovery(pairs, values, at) for pairs, values in columns],
        alarms={name: [detection(now.alarms[name], at, now.t) for now in runs] for name in runs[0].alarms},
    )


def _last(options: argparse.Namespace, dataset: str, kind: str, seed: int) -> Snapshot:
    params = experiment(
        dataset, options.method, pairs=options.pairs, drift=kind, drift_at=options.pairs // 2, drift_size=options.size,
        seed=seed,
    )  # fmt: skip
    now = None
    for now in snapshots(params):  # noqa: B007
        pass
    assert now is not None
    return now


def _show(dataset: str, kind: str, row: Row, seeds: int) -> None:
    back = [value for value in row.recoveries if not np.isnan(value)]
    fall = f"{np.mean(row.dips):6.3f}" if row.dips else f"{'-':>6}"
    time = f"{np.median(back):9,.0f}" if back else f"{'-' if not row.recoveries else 'never':>9}"
    share = f"{len(back)}/{seeds}" if row.recoveries else "-"
    for at, (name, found) in enumerate(row.alarms.items()):
        delays = [one.delay for one in found if not np.isnan(one.delay)]
        hits = f"{len(delays)}/{seeds}" if row.dips else "-"
        delay = f"{np.median(delays):7,.0f}" if delays else f"{'-':>7}"
        rate = 10_000 * sum(one.false_alarms for one in found) / sum(one.quiet_pairs for one in found)
        left = f"{dataset:8} {kind:16} {fall} {time} {share:>5}" if at == 0 else " " * 48
        print(f"{left}   {name:19} {hits:>5} {delay} {rate:9.2f}", flush=True)
