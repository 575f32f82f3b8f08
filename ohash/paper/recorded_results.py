"""The recorded reproduction: the full profile as it was run once, thinned to what the figures and claims read.

It ships in ``sample_data/paper.parquet``, one row per cell, so that the Paper page is complete before anything is run.
``python3 -m ohash paper --profile full --record FILE`` writes it from a store; with ``--recorded``, cells that the
store does not have are taken over from the recording that ships, so that only those that changed need to be run again.
An average precision is kept as a 16-bit share; curves keep MAX_POINTS points. A cell has the commit that it was run
at; those of the first recordings have none. All have the first commit of the repository that holds these very results,
which ``--trace FILE`` finds in the history of the file: the code that ran is of that commit or older.

The bootstrap intervals of the claims are kept, too: they would take most of the time of a first visit to the Paper
page. Each is found by a fingerprint of the numbers that it was computed from, so one's own runs never have those of
others.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ohash.engine.judge import truth_column
from ohash.paper.figures import FIGURES
from ohash.paper.protocol import Profile
from ohash.runtime.environment import environment
from ohash.runtime.frames import Arrays, JsonObject
from ohash.store.store import Store
from ohash.streams.samples import sample_folder

if TYPE_CHECKING:
    import pyarrow

NAME = "paper.parquet"
NUMBERS = ("cum_R", "required_C", "bound", "share_C", "p0", "updated", "bits")
# One processor under two names: as /proc has it, which was recorded first, and as LLVM names it.
SAME_CPU = {"aarch64, implementer 0x41, part 0xd0c": "aarch64 neoverse-n1"}
VALUES = ("state", "seconds", "cpu_seconds", "state_bytes")
CURVES = {
    "5": ("columns/pairs", "columns/cum_R"),
    "7": ("checkpoints/pairs", "checkpoints/cpu_learn"),
    "4": ("totals/ratio",),
}
MAX_POINTS = 100
SEVERAL = "; "  # between values of `made`, where cells differ
UNKNOWN = "unknown"
CHANGED = "+"  # after a commit, of files that were changed since it
FIRST = "first_commit"  # the column with the first commit of the repository that holds the results of a cell
OR_BEFORE = " or before"
LOST = "lost"  # of `made`: those of its commits that were rewritten before they landed
STEPS = 2**16 - 2  # of an average precision; the largest 16-bit number stands for NaN


@dataclass(frozen=True, eq=False)
class Recording:
    """Results by key, as a store has them, and where they come from: `made` has dates, machines, versions, commits.

    `intervals` are the bootstrap intervals that the claims need of them (`Measurements.intervals`).
    """

    made: dict[str, str]
    _rows: dict[str, JsonObject]
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of cells."""
        return len(self._rows)

    def values(self, keys: Iterable[str]) -> dict[str, JsonObject]:
        """Numbers and scores of these cells; unknown keys are left out."""
        return {key: json.loads(self._rows[key]["values"]) for key in keys if key in self._rows}

    def keys(self) -> Iterable[str]:
        """The keys of all cells."""
        return self._rows.keys()

    def rows(self, keys: Iterable[str]) -> list[JsonObject]:
        """These cells as they are in the file; unknown keys are left out."""
        return [self._rows[key] for key in keys if key in self._rows]

    def commit(self, key: str) -> str:
        """The commit that a cell was run at, with + if files were changed since; "" if it is not known."""
        return self._rows[key].get("commit") or ""

    def origin(self, key: str) -> str:
        """The code that a cell was run with, in words; "" if nothing is known of it.

        A commit that was rewritten before it landed can be looked up by nobody, so it says nothing.
        """
        commit = self.commit(key)
        if commit and commit not in self._lost:
            return f"at commit {commit}"
        first = self._rows[key].get(FIRST) or ""
        return f"at commit {first}{OR_BEFORE}" if first else ""

    @property
    def _lost(self) -> list[str]:
        return [name for name in self.made.get(LOST, "").split(SEVERAL) if name]

    def arrays(self, key: str) -> Arrays:
        """The average precisions and curves of a cell."""
        row = self._rows[key]
        ap = row["ap_test"]
        arrays: Arrays = {} if ap is None else {"ap/test": _shares(np.asarray(ap, np.uint16))}
        arrays |= {name: np.asarray(row[name]) for names in CURVES.values() for name in names if row[name] is not None}
        return arrays

    @cached_property
    def text(self) -> str:
        """When and on what it was made."""
        cpus = list(dict.fromkeys(SAME_CPU.get(one, one) for one in self.made["cpu"].split(SEVERAL)))
        named = [one for one in cpus if not any(other != one and other.startswith(one) for other in cpus)]
        commits = _commits(self.made["commit"], self._lost)
        versions = [f"ohash {' and '.join(self.made['ohash'].split(SEVERAL))}", *commits]
        note = f"; {self._known_commits}" if SEVERAL in self.made["commit"] else ""
        machine = f"{' and '.join(named)}, {self.made['cores']} cores"
        return f"recorded on {self.made['date']} ({machine}; {', '.join(versions)}{note})"

    @property
    def _known_commits(self) -> str:
        """For how many cells it is known which of several commits they are of."""
        origins = [self.origin(key) for key in self._rows]
        exact = sum(bool(origin) and not origin.endswith(OR_BEFORE) for origin in origins)
        if exact == len(self) > 0:
            return "each experiment has its own"
        if self._rows and all(origins):
            return f"{exact:,} of {len(self):,} name the one they ran at, the others the first that has their results"
        which = "which experiment is of which"
        return f"{which} is known for {exact:,} of {len(self):,}" if exact else f"{which} was not kept"


def _commits(listed: str, lost: Sequence[str] = ()) -> list[str]:
    """What is known of the commits: how many, and whether cells are of changed files or of an unknown commit.

    >>> _commits("a1; b2; b2+; unknown; c3", ["b2"])[:2]
    ['3 commits from a1 to c3 (b2 was rewritten later)', 'one with uncommitted changes (b2+)']
    >>> _commits("a1; b2; unknown")
    ['2 commits from a1 to b2', 'some experiments of an unknown commit']
    >>> _commits("a1"), _commits("a1+"), _commits("unknown")
    (['commit a1'], ['commit a1 with uncommitted changes'], ['of an unknown commit'])
    """
    names = [name or UNKNOWN for name in listed.split(SEVERAL)]
    changed = [name for name in names if name.endswith(CHANGED)]
    clean = [name for name in names if name != UNKNOWN and name not in changed]
    if len(names) == 1:
        name = names[0]
        if name == UNKNOWN:
            return ["of an unknown commit"]
        return [f"commit {name.removesuffix(CHANGED)} with uncommitted changes" if changed else f"commit {name}"]
    parts = [f"commit {name}" for name in clean] if len(clean) < 2 else []
    if len(clean) > 1:
        gone = [name for name in clean if name in lost]
        lacks = f" ({' and '.join(gone)} {'was' if len(gone) == 1 else 'were'} rewritten later)" if gone else ""
        parts.append(f"{len(clean)} commits from {clean[0]} to {clean[-1]}{lacks}")
    if changed:
        parts.append(f"{'one' if len(changed) == 1 else len(changed)} with uncommitted changes ({', '.join(changed)})")
    if UNKNOWN in names:
        parts.append("some experiments of an unknown commit")
    return parts


@lru_cache(maxsize=2)
def read_recording(path: Path | None = None) -> Recording | None:
    """The recording that ships with the package, or one in a file; None if there is none."""
    file = sample_folder() / NAME if path is None else path
    if not file.is_file():
        return None
    import pyarrow.parquet  # noqa: PLC0415 (slow to import)

    table = pyarrow.parquet.read_table(file)
    about = {name: json.loads(text) for name, text in table.schema.metadata.items()}
    intervals = {key: (low, high) for key, (low, high) in about.get(b"intervals", {}).items()}
    return Recording(about[b"made"], {row["key"]: row for row in table.to_pylist()}, intervals)


def write_recording(store: Store, profile: Profile, path: Path, earlier: Recording | None = None) -> int:
    """Write every finished cell of a profile, and those that only an `earlier` recording has; returns their number.

    The average precision of every query, most of the file, is kept where a claim is judged by it.
    """
    import pyarrow  # noqa: PLC0415

    cells = {key: [cell.key for cell in one.sweep(profile, only=one.methods).cells] for key, one in FIGURES.items()}
    done = store.done()
    curves = {key: names for figure, names in CURVES.items() for key in cells[figure]}
    wanted = list(dict.fromkeys(key for group in cells.values() for key in group))
    keys = [key for key in wanted if key in done]
    rows = [_row(store, key, curves.get(key, ())) for key in keys]
    kept = [] if earlier is None else earlier.rows(key for key in wanted if key not in done)
    judged = {key for name, group in cells.items() if FIGURES[name].judged for key in group}
    rows = [row if row["key"] in judged else row | {"ap_test": None} for row in (*rows, *kept)]
    made = _provenance(store, keys, earlier.made if earlier is not None and kept else {}) | {"profile": profile.key}
    columns = {name: pyarrow.list_(pyarrow.float64()) for name in _names()}
    columns |= {"ap_test": pyarrow.list_(pyarrow.uint16())}
    columns |= dict.fromkeys(("key", "values", "commit", FIRST), pyarrow.string())
    schema = pyarrow.schema(columns.items(), {"made": json.dumps(made)})
    _write(pyarrow.Table.from_pylist(rows, schema), path)
    return len(rows)


def add_intervals(path: Path, intervals: Mapping[str, tuple[float, float]]) -> None:
    """Keep bootstrap intervals in a file, in place of those that it has."""
    import pyarrow.parquet  # noqa: PLC0415

    table = pyarrow.parquet.read_table(path)
    _write(table.replace_schema_metadata({**table.schema.metadata, b"intervals": json.dumps(dict(intervals))}), path)


def write_origins(path: Path, first: Mapping[str, str], lost: Iterable[str]) -> None:
    """Note the first commit with the results of each cell, and commits that no history has; the rest stays."""
    import pyarrow.parquet  # noqa: PLC0415

    table = pyarrow.parquet.read_table(path)
    column = pyarrow.array([first.get(key) for key in table["key"].to_pylist()], pyarrow.string())
    table = (table.drop_columns(FIRST) if FIRST in table.column_names else table).append_column(FIRST, column)
    made = json.loads(table.schema.metadata[b"made"]) | {LOST: SEVERAL.join(lost)}
    _write(table.replace_schema_metadata({**table.schema.metadata, b"made": json.dumps(made)}), path)


def _write(table: "pyarrow.Table", path: Path) -> None:
    import pyarrow.parquet  # noqa: PLC0415

    pyarrow.parquet.write_table(
        table, path, compression="brotli", compression_level=11, write_statistics=False, data_page_size=2**24,
        use_dictionary=False, column_encoding={"ap_test.list.element": "BYTE_STREAM_SPLIT"},  # an eighth smaller
    )  # fmt: skip
    read_recording.cache_clear()


def _provenance(store: Store, keys: list[str], earlier: dict[str, str]) -> dict[str, str]:
    """When, on what and with which versions the cells were run, from the cells themselves; several are listed.

    `earlier` is that of the recording that other cells were taken over from.
    """
    if not keys:
        return earlier or environment() | {"date": time.strftime("%Y-%m-%d")}
    cells = sorted(store.values(keys).values(), key=lambda values: values["created"])
    made = {}
    for name in environment():
        listed = earlier[name].split(SEVERAL) if name in earlier else []
        for values in cells:
            value = values["environment"].get(name) or UNKNOWN
            if value not in listed:
                listed.append(value)
        made[name] = SEVERAL.join(listed)
    days = [time.strftime("%Y-%m-%d", time.gmtime(values["created"])) for values in (cells[0], cells[-1])]
    days = sorted([*days, *filter(None, earlier.get("date", "").split(" to "))])
    kept = {LOST: earlier[LOST]} if LOST in earlier else {}
    return made | kept | {"date": " to ".join(dict.fromkeys((days[0], days[-1])))}


def _names() -> list[str]:
    return [name for names in CURVES.values() for name in names]


def _row(store: Store, key: str, curves: Iterable[str]) -> JsonObject:
    values, arrays = store.frame(key)
    kept = {name: values[name] for name in VALUES if name in values}
    kept["numbers"] = {name: values["numbers"][name] for name in NUMBERS if name in values["numbers"]}
    for part in ("test", "validation"):
        scores = values[f"scores/{part}"]
        names = dict.fromkeys(("map", truth_column(values["similar_by"]), "recall_10"))
        kept[f"scores/{part}"] = {name: scores[name] for name in names}
    row: JsonObject = dict.fromkeys(_names())
    row |= {name: thin_curve(name, arrays[name]) for name in curves if name in arrays}
    row |= {"key": key, "values": json.dumps(kept), "commit": values["environment"].get("commit") or None}
    return row | {"ap_test": _steps(arrays["ap/test"])}


def thin_curve(name: str, curve: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """A curve over pairs with fewer points; a histogram (totals) is kept whole."""
    if len(curve) <= MAX_POINTS or name.startswith("totals/"):
        return curve.astype(np.float64)
    some = np.linspace(0, len(curve) - 1, MAX_POINTS).round().astype(int)
    return np.asarray(curve[some], np.float64)


def _steps(ap: npt.NDArray[np.float64]) -> npt.NDArray[np.uint16]:
    """Average precisions as 16-bit numbers.

    >>> _shares(_steps(np.array([0.0, 0.5, 1.0, np.nan]))).tolist()
    [0.0, 0.5, 1.0, nan]
    """
    return np.where(np.isnan(ap), STEPS + 1, np.round(np.nan_to_num(ap) * STEPS)).astype(np.uint16)


def _shares(steps: npt.NDArray[np.uint16]) -> npt.NDArray[np.float64]:
    return np.where(steps > STEPS, np.nan, steps / STEPS)
