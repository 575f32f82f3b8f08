"""List, show, export or delete the runs that are kept: cells of sweeps, and live runs somebody kept.

Examples:
  python3 -m ohash runs
  python3 -m ohash runs --dataset fashion --method mmoh --state done
  python3 -m ohash runs show 1f0c
  python3 -m ohash runs export --method oh --out oh.csv
  python3 -m ohash runs delete 1f0c 77ab --yes

The newest come first. They are in the folder OHASH_HOME, else in the user's data directory; the Runs page shows the
same.
"""

import argparse
import json
import sys
import textwrap
from pathlib import Path

from ohash.engine.params import OWN
from ohash.engine.snapshot import Snapshot
from ohash.models import registry as methods
from ohash.store.listing import ENDED, RunRow, to_csv, to_json
from ohash.store.store import CELL, LIVE_RUN, TRACES, Store
from ohash.streams import registry as datasets

KINDS = {"cell": CELL, "live": LIVE_RUN}
SHOWN = 12  # letters of a key
LOST = "[curves lost] "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, with which runs."""
    parser.add_argument("action", nargs="?", default="list", choices=("list", "show", "export", "delete"))
    parser.add_argument("keys", nargs="*", metavar="KEY", help="runs by their key, or its beginning")
    for name, text in (("dataset", "on this dataset"), ("method", "of this method"), ("state", "done or error")):
        parser.add_argument(f"--{name}", default="", help=f"only runs {text}")
    parser.add_argument("--kind", choices=sorted(KINDS), default="", help="only cells of sweeps, or live runs")
    parser.add_argument("--store", metavar="DIR", help="another store than that of OHASH_HOME")
    parser.add_argument("--out", metavar="FILE", help="export: .csv (the curves) or .json (parameters, scores)")
    parser.add_argument("--yes", action="store_true", help="delete without asking")


def run(options: argparse.Namespace) -> int:
    """Do it."""
    store = Store(options.store)
    if store.problem:
        print(f"note: {store.problem}", file=sys.stderr)
    lines = _chosen(store, options)
    if options.action == "list":
        _print(lines, store)
    elif options.action == "show":
        for line in lines:
            values, _ = store.frame(line.key)  # reads the curves too: if they are lost, "notes" says so
            print(json.dumps({"key": line.key, **values, "params": json.loads(values["params"])}, indent=2))
            _note_lost(line, store.get(line.key))
    elif options.action == "export":
        _export(store, lines, options.out)
    else:
        _delete(store, lines, options)
    return 0


def _chosen(store: Store, options: argparse.Namespace) -> list[RunRow]:
    _check(store, options)
    kind = KINDS.get(options.kind, "")
    lines = store.list(kind=kind, dataset=options.dataset, method=options.method, state=options.state)[::-1]
    if not options.keys:
        return lines
    found = []
    for key in options.keys:
        matching = [line for line in lines if line.key.startswith(key)]
        if len({line.key for line in matching}) != 1:
            raise ValueError(f"KEY must be the beginning of one key, got {key!r}, which fits {len(matching)} runs")
        found += matching
    return found


def _check(store: Store, options: argparse.Namespace) -> None:
    """A filter that no run can fit is a mistake. Of a plugin or a file that is gone runs may still be kept."""
    known = {"state": set(ENDED), "method": set(methods.hashers()), "dataset": {*datasets.datasets(), OWN}}
    for name, allowed in known.items():
        asked = getattr(options, name)
        if not asked or asked in allowed:
            continue
        allowed |= {str(one) for (one,) in store.rows(f"SELECT DISTINCT {name} FROM runs")}
        if asked not in allowed:
            raise ValueError(f"--{name} must be one of {', '.join(sorted(allowed))}, got {asked!r}")


def _print(lines: list[RunRow], store: Store) -> None:
    if not lines:
        print(f"no such runs in {store.folder}")
        return
    failed = store.values(line.key for line in lines if line.state == "error")
    print(f"{'key':{SHOWN}} {'state':6} {'method':10} {'data':24} {'pairs':>10} {'bits':>5} {'mAP':>6} {'recall':>6}")
    for line in lines:
        scores = " ".join("     –" if score is None else f"{score:6.3f}" for score in (line.map, line.recall))
        print(
            f"{line.key[:SHOWN]:{SHOWN}} {line.state:6} {line.method[:10]:10} {line.data[:24]:24} {line.pairs:>10,} "
            f"{line.bits:>5} {scores}  {LOST if store.curves_lost(line) else ''}{line.changed_settings}"
        )
        if line.key in failed:
            print(f"{'':{SHOWN}} {textwrap.shorten(failed[line.key]['error'], 100, placeholder=' …')}")
    lost = sum(map(store.curves_lost, lines))
    if lost:
        print(
            f"note: of {lost} of them only the numbers are left, the files of their curves in {store.folder / TRACES} "
            "are damaged or gone; `runs delete KEY` lets a sweep run them again", file=sys.stderr,
        )  # fmt: skip
    print(f"{len(lines)} run{'s' if len(lines) != 1 else ''} in {store.folder}")


def _export(store: Store, lines: list[RunRow], out: str | None) -> None:
    if not out or Path(out).suffix not in (".csv", ".json"):
        raise ValueError(f"--out must be a file that ends in .csv or .json, got {out!r}")
    runs = [(line, store.get(line.key)) for line in lines]
    stored = store.values(line.key for line in lines)
    Path(out).write_text(to_csv(runs) if out.endswith(".csv") else to_json(runs, stored))
    for line, now in runs:
        _note_lost(line, now)
    print(f"wrote {len(runs)} run{'s' if len(runs) != 1 else ''} to {out}")


def _note_lost(line: RunRow, now: Snapshot) -> None:
    if not len(now.checkpoints.get("pairs", ())) and line.state == "done":
        print(f"note: {line.key[:SHOWN]} has numbers and no curves: {'; '.join(now.notes)}", file=sys.stderr)


def _delete(store: Store, lines: list[RunRow], options: argparse.Namespace) -> None:
    if not (options.keys or options.dataset or options.method or options.state or options.kind):
        raise ValueError("delete needs keys, or a filter such as --dataset digits")
    if lines and not options.yes:
        print(f"delete {len(lines)} of the runs in {store.folder}? [y/N] ", end="", flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            print("nothing was deleted")
            return
    store.delete(line.key for line in lines)
    print(f"deleted {len(lines)}")
