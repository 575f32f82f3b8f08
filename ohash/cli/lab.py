"""``ohash-lab [--data DIR] [FILE]``: open the dashboard from anywhere; and, for benchmarks, one on a free port."""

import argparse
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import IO

import ohash
from ohash.models.registry import PLUGINS, check_plugins
from ohash.streams.dataset import METRICS
from ohash.streams.readers.own_data import check_files
from ohash.streams.readers.two_sides import check_sides
from ohash.web.lessons import OWN, read_file

STARTING_SECONDS = 60.0
STOPPING_SECONDS = 10.0


def app_file() -> Path:
    """app.py of the checkout if there is one (pip install -e), else the copy inside the wheel."""
    package = Path(ohash.__file__).parent
    for candidate in (package.parent / "app.py", package / "_app" / "app.py"):
        if candidate.is_file() and (candidate.parent / "pages").is_dir():
            return candidate
    raise ValueError(f"app.py was not found beside or inside {package}; reinstall ohash")


def command(options: argparse.Namespace, extra: list[str]) -> tuple[list[str], dict[str, str]]:
    """The streamlit call and its environment."""
    environment = dict(os.environ)
    if options.data:
        environment["OHASH_DATA"] = str(_existing_path(options.data))
        if not Path(environment["OHASH_DATA"]).is_dir():
            raise ValueError(f"--data must be a folder, got the file {options.data}; pass a file without --data")
    if (options.labels or options.pairs or options.metric or options.queries) and not options.file:
        raise ValueError("--labels, --pairs, --queries and --metric belong to a FILE of vectors; name it")
    if options.labels and options.queries:
        raise ValueError("--labels must be left out with --queries: the truth is then pairs or distance")
    if options.file:
        labels, pairs = (_existing_path(name) if name else None for name in (options.labels, options.pairs))
        check_files(_existing_path(options.file), labels, pairs)
        if options.queries:
            check_sides(_existing_path(options.file), _existing_path(options.queries))
        environment["OHASH_FILE"] = str(_existing_path(options.file))
    for name in ("labels", "pairs", "queries"):
        if getattr(options, name):
            environment[f"OHASH_{name.upper()}"] = str(_existing_path(getattr(options, name)))
    if options.plugin:
        files = [_existing_path(file) for file in options.plugin]
        check_plugins(files)
        environment[PLUGINS] = os.pathsep.join([*filter(None, [environment.get(PLUGINS)]), *map(str, files)])
    if options.lesson:
        environment[OWN] = str(_existing_path(options.lesson))
        read_file(Path(environment[OWN]))
    if options.key:
        environment["OHASH_KEY"] = environment.get("OHASH_KEY") or secrets.token_urlsafe(12)
    if options.metric:
        environment["OHASH_METRIC"] = options.metric
    app = app_file()
    # streamlit reads the config file next to app.py; --config is not needed
    return [sys.executable, "-m", "streamlit", "run", str(app), *extra], environment


def parser() -> argparse.ArgumentParser:
    """The options of ohash-lab."""
    options = argparse.ArgumentParser(
        prog="ohash-lab",
        description="Open the ohash dashboard. Options with a dot (--server.headless=true) go to streamlit.",
        allow_abbrev=False,
    )
    options.add_argument("--data", metavar="DIR", help="folder with your own data sets")
    options.add_argument("--labels", metavar="FILE", help="labels of the vectors in FILE")
    options.add_argument("--pairs", metavar="FILE", help="similar pairs (clicks) of vectors in FILE")
    options.add_argument(
        "--queries", metavar="FILE", help="vectors of queries that search FILE; pairs are then of both"
    )
    options.add_argument("--metric", choices=METRICS, help="original distance of the vectors in FILE")
    options.add_argument(
        "--plugin", metavar="FILE", action="append", help="Python file with your own method or data set"
    )
    options.add_argument("--lesson", metavar="FILE", help="lesson of your own, the ninth on Learn (Markdown)")
    options.add_argument(
        "--class", "--classroom", dest="key", action="store_true",
        help="serve a class: print a link with a key; visitors without it have runs and comparisons of their own only",
    )  # fmt: skip
    options.add_argument("--port", metavar="N", type=int, help="port to serve on (8501 unless it is taken)")
    options.add_argument("file", metavar="FILE", nargs="?", help="vectors to open: .npy, .npz, .csv, .parquet, ...")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Start streamlit and wait for it; unknown options go to streamlit."""
    given = sys.argv[1:] if arguments is None else arguments
    options, extra = parser().parse_known_args(_join_values(given))
    try:
        call, environment = command(options, _for_streamlit(options, extra))
    except ValueError as error:
        print(f"ohash-lab: {error}", file=sys.stderr)
        return 2
    if options.key:
        print(f"Your own link ends in ?key={environment['OHASH_KEY']}; give visitors the one without it.")
        if not any(option.startswith("--server.address") for option in call):
            call.append("--server.address=0.0.0.0")
            print("Everybody on this network can open this server (--server.address=localhost: only this machine).")
        sys.stdout.flush()
    if os.name == "posix":  # the server replaces this process and receives every signal
        os.chdir(app_file().parent)
        os.execve(call[0], call, environment)
    try:
        return subprocess.run(call, env=environment, cwd=app_file().parent, check=False).returncode
    except KeyboardInterrupt:
        return 0


def _join_values(arguments: list[str]) -> list[str]:
    """``--server.port 8600`` as ``--server.port=8600``: an option of streamlit takes a value, which is no FILE."""
    joined: list[str] = []
    for argument in arguments:
        last = joined[-1] if joined else ""
        if last.startswith("--") and "." in last and "=" not in last and not argument.startswith("-"):
            joined[-1] = f"{last}={argument}"
        else:
            joined.append(argument)
    return joined


def _for_streamlit(options: argparse.Namespace, extra: list[str]) -> list[str]:
    """The options of streamlit, all of which have a dot in their names."""
    others = [option for option in extra if option != "--"]
    for option in others:
        name = option.partition("=")[0]
        if option.startswith("-") and "." not in name:
            raise ValueError(
                f"there is no option {name}; see ohash-lab --help, or write streamlit's as --server.port=N"
            )
    if options.port is not None:
        others.append(f"--server.port={options.port}")
    return others


def _existing_path(name: str) -> Path:
    path = Path(name).expanduser().resolve()
    if not path.exists():
        raise ValueError(f"{name} does not exist")
    return path


class Dashboard:
    """A server process on a free port; `url` answers as soon as the object exists."""

    def __init__(self, log: int | IO[bytes] = subprocess.DEVNULL, **environment: str) -> None:
        """Start it with extra environment variables, and wait until it is healthy; `log` takes what it writes."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://localhost:{port}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(app_file()), "--server.port", str(port)],
            cwd=app_file().parent,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )
        deadline = time.monotonic() + STARTING_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise ValueError(
            f"the dashboard did not start within {STARTING_SECONDS:.0f} s; try: {sys.executable} -m streamlit run"
        )

    def stop(self) -> None:
        """Stop the server."""
        self.process.terminate()
        try:
            self.process.wait(STOPPING_SECONDS)
        except subprocess.TimeoutExpired:  # a busy machine, and visitors who are still connected
            self.process.kill()
            self.process.wait()
