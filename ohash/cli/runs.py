"""List, show, export, delete or restore stored runs: cells of sweeps, and live runs that were saved.

Examples:
  python3 -m ohash runs
  python3 -m ohash runs --dataset fashion --method mmoh --state done
  python3 -m ohash runs show 1f0c
  python3 -m ohash runs export --method oh --out oh.csv
  python3 -m ohash runs delete 1f0c 77ab --yes
  python3 -m ohash runs restore 1f0c

The newest come first. They are stored in the folder OHASH_HOME, or in the user's data directory; the Runs page shows
the same runs.
"""

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from ohash.engine.params import OWN
from ohash.models import registry as methods
from ohash.runtime.files import write_file
from ohash.store.listing import ENDED, RunRow, to_csv, to_json, truth_titles
from ohash.store.store import CELL, LIVE_RUN, TRACES, Store
from ohash.streams import registry as datasets

KINDS = {"cell": CELL, "live": LIVE_RUN}
SHOWN = 12  # characters of a key
LOST = "[curves lost] "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The action, and which runs."""
    parser.add_argument("action", nargs="?", default="list", choices=("list", "show", "export", "delete", "restore"))
    parser.add_argument("keys", nargs="*", metavar="KEY", help="keys of runs, or their first characters")
    for name, text in (
        ("dataset", "on this data set"),
        ("method", "of this method"),
        ("state", "in this state, done or error"),
    ):
        parser.add_argument(f"--{name}", default="", help=f"only runs {text}")
    parser.add_argument("--kind", choices=sorted(KINDS), default="", help="only cells of sweeps, or live runs")
    parser.add_argument("--store", metavar="DIR", help="another store than that in OHASH_HOME")
    parser.add_argument("--out", metavar="FILE", help="export: .csv (the curves) or .json (parameters, scores)")
    parser.add_argument("--yes", action="store_true", help="delete without asking")


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    store = Store(options.store)
    if store.problem:
        print(f"note: {store.problem}", file=sys.stderr)
    if options.action == "restore":
        return _restore(store, options.keys)
    rows = _select(store, options)
    if options.action == "list":
        _print(rows, store)
    elif options.action == "show":
        for row in rows:
            values, arrays = store.frame(row.key)  # also reads the curves: if they are lost, "notes" says so
            print(json.dumps({"key": row.key, **values, "params": json.loads(values["params"])}, indent=2))
            _note_lost(row, len(arrays.get("checkpoints/pairs", ())), values["notes"])
    elif options.action == "export":
        _export(store, rows, options.out)
    else:
        _delete(store, rows, options)
    return 0


def _select(store: Store, options: argparse.Namespace) -> list[RunRow]:
    _check(store, options)
    kind = KINDS.get(options.kind, "")
    rows = store.list(kind=kind, dataset=options.dataset, method=options.method, state=options.state)[::-1]
    if not options.keys:
        return rows
    selected = []
    for key in options.keys:
        matching = [row for row in rows if row.key.startswith(key)]
        if len({row.key for row in matching}) != 1:
            raise ValueError(f"KEY must be the beginning of one key, got {key!r}, which matches {len(matching)} runs")
        selected += matching
    return selected


def _check(store: Store, options: argparse.Namespace) -> None:
    """A filter that no run can match is a mistake; runs of a plugin or file that is gone may still be stored."""
    choices = {"state": set(ENDED), "method": set(methods.hashers()), "dataset": {*datasets.datasets(), OWN}}
    for name, allowed in choices.items():
        value = getattr(options, name)
        if not value or value in allowed:
            continue
        allowed |= {str(one) for (one,) in store.rows(f"SELECT DISTINCT {name} FROM runs")}
        if value not in allowed:
            raise ValueError(f"--{name} must be one of {', '.join(sorted(allowed))}, got {value!r}")


def _print(rows: list[RunRow], store: Store) -> None:
    if not rows:
        print(f"no such runs in {store.folder}")
        return
    failed = store.values(row.key for row in rows if row.state == "error")
    truths = truth_titles(rows)
    titles = " ".join(f"{title:>6}" for title in (*truths.values(), "recall"))
    print(f"{'key':{SHOWN}} {'state':6} {'method':10} {'data':24} {'pairs':>10} {'bits':>5} {titles}")
    for row in rows:
        measured = [*(getattr(row, truth) for truth in truths), row.recall]
        scores = " ".join("     –" if score is None else f"{score:6.3f}" for score in measured)
        print(
            f"{row.key[:SHOWN]:{SHOWN}} {row.state:6} {row.method[:10]:10} {row.data[:24]:24} {row.pairs:>10,} "
            f"{row.bits:>5} {scores}  {LOST if store.curves_lost(row) else ''}{row.changed_settings}"
        )
        if row.key in failed:
            print(f"{'':{SHOWN}} {textwrap.shorten(failed[row.key]['error'], 100, placeholder=' …')}")
    lost = sum(map(store.curves_lost, rows))
    if lost:
        print(
            f"note: {lost} of them without curves: their files in {store.folder / TRACES} are damaged or gone; "
            "after `runs delete KEY` a sweep runs them again", file=sys.stderr,
        )  # fmt: skip
    print(f"{len(rows)} run{'s' if len(rows) != 1 else ''} in {store.folder}")


def _export(store: Store, rows: list[RunRow], out: str | None) -> None:
    if not out or Path(out).suffix not in (".csv", ".json"):
        raise ValueError(f"--out must be a file that ends in .csv or .json, got {out!r}")
    runs = [(row, store.get(row.key)) for row in rows]
    stored = store.values(row.key for row in rows)
    write_file(out, to_csv(runs) if out.endswith(".csv") else to_json(runs, stored))
    for row, now in runs:
        _note_lost(row, len(now.checkpoints.get("pairs", ())), now.notes)
    print(f"wrote {len(runs)} run{'s' if len(runs) != 1 else ''} to {out}")


def _note_lost(row: RunRow, checkpoints: int, notes: Sequence[str]) -> None:
    if not checkpoints and row.state == "done":
        print(f"note: {row.key[:SHOWN]} has numbers but no curves: {'; '.join(notes)}", file=sys.stderr)


def _restore(store: Store, keys: list[str]) -> int:
    """Bring deleted runs back; without keys, list those that can be."""
    trash = store.list_trash()
    if not keys:
        for row in trash:
            print(f"{row.key[:SHOWN]:{SHOWN}} {row.method[:10]:10} {row.data[:24]:24} {row.changed_settings}")
        print(f"{len(trash)} deleted run{'s' * (len(trash) != 1)} can be restored: python3 -m ohash runs restore KEY")
        return 0
    chosen = [[row.key for row in trash if row.key.startswith(key)] for key in keys]
    for key, matching in zip(keys, chosen, strict=True):
        if len(matching) != 1:
            raise ValueError(f"KEY must begin one key of the trash, got {key!r}, which begins {len(matching)} of them")
    store.restore(key for matching in chosen for key in matching)
    print(f"restored {len(keys)} run{'s' * (len(keys) != 1)}")
    return 0


def _delete(store: Store, rows: list[RunRow], options: argparse.Namespace) -> None:
    if not (options.keys or options.dataset or options.method or options.state or options.kind):
        raise ValueError("delete needs keys, or a filter such as --dataset digits")
    if rows and not options.yes:
        print(f"delete {len(rows)} of the runs in {store.folder}? [y/N] ", end="", flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            print("nothing was deleted")
            return
    store.delete(row.key for row in rows)
    print(
        f"deleted {len(rows)} run{'s' if len(rows) != 1 else ''}; for a month they can be brought back: "
        f"python3 -m ohash runs restore {' '.join(row.key for row in rows[:3])}{' ...' * (len(rows) > 3)}"
    )
