"""What a benchmark has measured: printed as it comes, written as JSON, and drawn as the short table of the README."""

import json
import re
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ohash.runtime.environment import environment
from ohash.runtime.files import write_file

# The table of the README stands between these two lines.
START, END = "<!-- made by: python3 -m ohash bench --readme sample_data/bench.json -->", "<!-- end of the table -->"
SHORT = (  # its rows, by the beginnings of their names
    "OH d=512 r=64 float32: time", "MMOH T=4 d=512 r=64 float32: time", "running mean", "plain NumPy step", "mAP 1,000",
    "faiss IndexBinaryFlat", "import and first learn", "watched run: share of the throughput without",
    "updates per second", "slider to redraw, median", "server CPU per update", "charts mounted again",
    "layout shift at 1280", "playground, as it opens: frames", "60 on one link: pictures",
    "5 on different links: pictures", "20 on different links: pictures",
    "60 on one link and 5 pages: lecturer's slider to redraw, median",
)  # fmt: skip
MACHINE = ("system", "python", "numpy", "numba")


@dataclass(frozen=True)
class Result:
    """One number, with the bar that it should clear, if there is one."""

    part: str
    name: str
    value: float
    unit: str
    target: str = ""
    date: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())


class Results:
    """The results of one call of ``ohash bench``, part by part."""

    def __init__(self) -> None:
        """Nothing has been measured yet."""
        self.rows: list[Result] = []
        self._part = ""

    def begin(self, part: str) -> None:
        """Results from here on belong to this part."""
        self._part = part
        print(f"-- {part}")

    def keep(self, name: str, value: float, unit: str, target: str = "") -> None:
        """Keep a number that is printed in a table of its part."""
        self.rows.append(Result(self._part, name, float(value), unit, target))

    def show(self, name: str, value: float, unit: str, target: str = "") -> None:
        """Keep a number, and print its line."""
        self.keep(name, value, unit, target)
        print(f"{name:62} {value:10.3g} {unit:10} {target and f'target {target}'}".rstrip())

    def write(self, file: str | Path) -> None:
        """Write all of them as JSON, with the machine; other parts measured on it before stay in the file."""
        file, parts = Path(file), {row.part for row in self.rows}
        earlier: list[Result] = []
        if file.exists():
            machine, rows = read_record(file)
            earlier = [row for row in rows if row.part not in parts and machine["cpu"] == environment()["cpu"]]
        record = {"machine": environment(), "results": [asdict(row) for row in (*earlier, *self.rows)]}
        write_file(file, json.dumps(record, indent=1) + "\n")


def check_target(file: str | Path) -> None:
    """Refuse, before anything is measured, a file that `Results.write` could not write or would have to spoil."""
    file = Path(file)
    if not file.absolute().parent.is_dir() or file.is_dir():
        raise ValueError(f"--json must be a file in a folder that exists, got {file}")
    if file.exists():
        read_record(file)


def read_record(file: str | Path) -> tuple[dict[str, str], list[Result]]:
    """(machine, results) of a file that `Results.write` wrote."""
    try:
        record = json.loads(Path(file).read_text(encoding="utf-8"))
        return record["machine"], [Result(**row) for row in record["results"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} must be a file that `bench --json` wrote: {error}") from error


def summary(file: str | Path) -> str:
    """What matters most as a Markdown table, with the machine below."""
    facts, rows = read_record(file)
    chosen = [row for name in SHORT for row in rows if row.name.startswith(name)]
    lines = ["| measured | value | target |", "|---|---|---|"]
    lines += [f"| {row.name} | {f'{row.value:.3g} {row.unit}'.strip()} | {row.target} |" for row in chosen]
    dates = sorted({row.date for row in rows})
    when = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    machine = ", ".join(f"{name} {facts[name]}" for name in MACHINE)
    return "\n".join([*lines, "", f"{facts['cpu']}, {facts['cores']} cores; {machine}; {when}."])


def update_readme(record: str | Path, readme: Path) -> None:
    """Replace the table of the README by that of a record."""
    table = f"{START}\n\n{summary(record)}\n\n{END}"
    text = readme.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(START)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"{readme} has no place for the table: it must contain the lines {START} and {END}")
    write_file(readme, pattern.sub(lambda _: table, text))
