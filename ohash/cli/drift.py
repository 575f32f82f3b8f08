"""Measure drifting streams: dip, recovery, forgetting, stale codes, and drift alarms with their false alarms.

One line per alarm and kind of drift, over several seeds. The world changes half-way through a run. The first alarm
after the change is its detection; every alarm before it, or in a run without drift, is false.

  dip       mAP, or hit@10 of clicks, before the change minus the minimum after it
  arriving  the same for the prequential mAP of labels: newly arrived points query the table made before
  back      pairs until 95 % of the level before, and in how many runs it was reached
  forgot    the largest loss of a class at the end, against its best
  stale     what re-encoding would gain in it at the end of a run that never re-encodes (seed 0); negative if the
            hash has become worse than the one that made the codes

In the kind "arrival" a third class joins two. A kind that a data set does not support is skipped, with the reason.

Examples:
  python3 -m ohash drift
  python3 -m ohash drift --datasets digits --kinds rotate prior --seeds 10 --pairs 40000
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ohash.engine.judge import truth_column
from ohash.engine.params import ExperimentParams, experiment
from ohash.engine.run import run as snapshots
from ohash.engine.snapshot import Snapshot
from ohash.engine.world import world_of
from ohash.evaluation.drift_metrics import Detection, detection, dip, most_forgotten, recovery, stale_gap
from ohash.streams.drift import KINDS
from ohash.streams.registry import find_dataset

ARRIVAL = "arrival"
ALL = (*KINDS, ARRIVAL)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("--datasets", nargs="+", default=["digits", "blobs"], help="data sets (digits blobs)")
    parser.add_argument("--kinds", nargs="+", default=list(ALL), choices=ALL, help="kinds of drift (all)")
    parser.add_argument("--method", default="oh", help="the method that learns (oh)")
    parser.add_argument("--seeds", type=int, default=3, help="runs per kind (3)")
    parser.add_argument(
        "--pairs", type=int, default=20_000, help="pairs per run, half of them before the drift (20000)"
    )
    parser.add_argument("--size", type=float, default=1.0, help="size of the drift, 0 to 1 (1)")


def run(options: argparse.Namespace) -> int:
    """Measure and print, a group of lines as soon as its runs are done."""
    if options.seeds < 1 or options.pairs < 2:
        raise ValueError(f"seeds must be >= 1 and pairs >= 2, got {options.seeds} and {options.pairs}")
    for dataset in options.datasets:  # a wrong option is wrong for every kind
        experiment(
            find_dataset(dataset).key, options.method, drift="rotate", drift_size=options.size, pairs=options.pairs
        )
    print(
        f"{'data':8} {'drift':16} {'dip':>6} {'arriving':>8} {'back':>8} {'':>4} {'forgot':>6} {'stale':>6}   "
        f"{'alarm':19} {'found':>5} {'delay':>7} {'false/10k':>9}"
    )
    totals: dict[str, list[Detection]] = {}
    for dataset in options.datasets:
        for kind in options.kinds:
            try:
                runs = [_last(_params(options, dataset, kind, seed)) for seed in range(options.seeds)]
                stale = _last(_params(options, dataset, kind, 0, reencode="never"))
            except ValueError as error:  # not supported by this data set; the others go on
                print(f"{dataset:8} {kind:16} skipped: {error}", flush=True)
                continue
            row = measure(runs, None if kind == "none" else options.pairs // 2, stale)
            _show(dataset, kind, row, options.seeds)
            for name, detections in row.alarms.items():
                totals.setdefault(name, []).extend(detections)
    if not totals:
        raise ValueError("kinds must include one that the data support, all were skipped; see the reasons above")
    print("\nall runs together")
    for name, detections in totals.items():
        quiet = sum(one.quiet_pairs for one in detections)
        false = sum(one.false_alarms for one in detections)
        print(f"{name:19} {false} false alarms in {quiet:,} quiet pairs, {10_000 * false / quiet:.2f} per 10,000")
    return 0


@dataclass(frozen=True)
class Row:
    """Results for one kind of drift, one entry per seed; `stale` is from one run that never re-encodes."""

    dips: list[float]
    recoveries: list[float]
    alarms: dict[str, list[Detection]]
    arriving: list[float] = field(default_factory=list)
    forgot: list[float] = field(default_factory=list)
    stale: float = float("nan")


def measure(runs: Sequence[Snapshot], at: int | None, stale: Snapshot | None = None) -> Row:
    """Compare the runs' curves and alarms with the true time of the drift, None if there is none."""
    truth = truth_column(runs[0].similar_by)

    def dips(column: str) -> list[float]:
        return [] if at is None else [dip(now.checkpoints["pairs"], now.checkpoints[column], at) for now in runs]

    return Row(
        dips=dips(truth),
        recoveries=[]
        if at is None
        else [recovery(now.checkpoints["pairs"], now.checkpoints[truth], at) for now in runs],
        alarms={name: [detection(now.alarms[name], at, now.t) for now in runs] for name in runs[0].alarms},
        arriving=dips("map_prequential") if truth == "map" else [],
        forgot=[most_forgotten(now.class_map) for now in runs if now.class_map.size],
        stale=float("nan")
        if stale is None
        else float(stale_gap(stale.checkpoints[f"{truth}_fresh"], stale.checkpoints[truth])[-1]),
    )


def _params(options: argparse.Namespace, dataset: str, kind: str, seed: int, **more: object) -> ExperimentParams:
    half = options.pairs // 2
    more |= {"pairs": options.pairs, "seed": seed}
    if kind != ARRIVAL:
        return experiment(dataset, options.method, drift=kind, drift_at=half, drift_size=options.size, **more)
    params = experiment(dataset, options.method, order="class", period=options.pairs, **more)
    # the stream counts the pairs of the warm-up, a run does not: the third class arrives at pair `half` of the run
    return params.with_values(period=half + world_of(params).consumed)


def _last(params: ExperimentParams) -> Snapshot:
    now = None
    for now in snapshots(params):  # noqa: B007
        pass
    assert now is not None
    return now


def _mean(values: list[float], width: int) -> str:
    finite = [value for value in values if not np.isnan(value)]
    return f"{np.mean(finite):{width}.3f}" if finite else f"{'-':>{width}}"


def _show(dataset: str, kind: str, row: Row, seeds: int) -> None:
    back = [value for value in row.recoveries if not np.isnan(value)]
    time = f"{np.median(back):8,.0f}" if back else f"{'-' if not row.recoveries else 'never':>8}"
    share = f"{len(back)}/{seeds}" if row.recoveries else "-"
    left = (
        f"{dataset:8} {kind:16} {_mean(row.dips, 6)} {_mean(row.arriving, 8)} {time} {share:>4} {_mean(row.forgot, 6)} "
        f"{_mean([row.stale], 6)}"
    )
    for at, (name, detections) in enumerate(row.alarms.items()):
        delays = [one.delay for one in detections if not np.isnan(one.delay)]
        hits = f"{len(delays)}/{seeds}" if row.dips else "-"
        delay = f"{np.median(delays):7,.0f}" if delays else f"{'-':>7}"
        rate = 10_000 * sum(one.false_alarms for one in detections) / sum(one.quiet_pairs for one in detections)
        print(f"{left if at == 0 else ' ' * len(left)}   {name:19} {hits:>5} {delay} {rate:9.2f}", flush=True)
