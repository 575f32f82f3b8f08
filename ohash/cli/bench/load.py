"""A server with many visitors: pictures per second, longest gap, memory, descriptors and threads, before and after.

A class is measured, too: visitors without browsers beside a few real pages, one of them the lecturer's, who moves β.
"""

import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ohash.cli.bench.results import Results
from ohash.cli.bench.ui import open_live, slider_times
from ohash.cli.lab import Dashboard
from ohash.plots.renderers.pdf import available, chromium
from ohash.runtime.frames import JsonObject

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LINK = "dataset=digits&method=oh&pairs=100000000"  # never ends
OPENING, WATCHING = 30.0, 30.0  # seconds
SHORT_VISIT = 3.0
VISITS_AT_ONCE = 20
VISITORS = 60  # of `bench --all`
LABORATORIES = {5: "5 or more", 20: "1 or more"}  # visitors, each with a run of her own, and their pictures per second
LEAVING = 15.0  # seconds after which the runs of closed tabs have stopped
PAGES = 5  # real ones of a class, the lecturer's among them
LONGEST_STAY = 3600.0  # seconds of its visitors, if nobody sends them away


def measure_load(n: int, results: Results) -> None:
    """Visitors of one link, then of different links, then a class, then n short visits, each on its own server."""
    if n < 1:
        raise ValueError(f"--load must be a number of visitors >= 1, got {n}")
    print(f"{'visitors':34} {'pictures/s each':>22} {'longest gap':>12} {'first picture':>14} {'in line':>8}")
    _watch(f"{n} on one link", [LINK] * n, results, target="1 or more")
    for some in dict.fromkeys((*(min(one, n) for one in LABORATORIES), n)):
        links = [f"{LINK}&seed={seed}" for seed in range(some)]
        _watch(f"{some} on different links", links, results, target=LABORATORIES.get(some, ""))
    if available():
        with chromium() as browser:
            measure_class(n, browser, results)
    else:
        print("without chromium and playwright, a class with real pages is left out")
    _visits(n, results)


def measure_class(
    n: int,
    browser: "Browser",
    results: Results,
    *,
    pages: int = PAGES,
    opening: float = OPENING,
    watching: float = WATCHING,
) -> None:
    """Visitors of one link beside real pages of it: pictures per second of both, memory, and the lecturer's latency."""
    with tempfile.TemporaryDirectory() as home:
        server = Dashboard(OHASH_HOME=home)
        others = subprocess.Popen(_visitors(server.url, LONGEST_STAY, [LINK] * n), stdout=subprocess.PIPE)
        try:
            start = time.monotonic()
            time.sleep(opening)
            opened = [open_live(browser, server.url) for _ in range(pages)]  # which see the pictures of a crowd
            began = time.monotonic() - start
            counts = [page.evaluate("window.ticks") for page in opened]
            opened[0].wait_for_timeout(1000 * watching)
            seconds = time.monotonic() - start - began
            pairs = zip(opened, counts, strict=True)
            rates = [(page.evaluate("window.ticks") - count) / seconds for page, count in pairs]
            memory, times = resident(server.process.pid), slider_times(opened[0])
            others.terminate()  # they print what they saw, and leave
            seen: list[JsonObject] = json.loads(others.communicate(timeout=60)[0])
            for page in opened:
                page.close()
        finally:
            others.kill()
            others.wait()
            server.stop()
    fetched = [sum(0 < at - began <= seconds for at in one["at"]) / seconds for one in seen]
    name = f"{n} on one link and {pages} pages"
    results.show(f"{name}: pictures per second of a visitor, median", median(fetched), "Hz", "1 or more")
    results.show(f"{name}: pictures per second of a page, slowest", min(rates), "Hz")
    results.show(f"{name}: memory", memory, "MB")
    results.show(f"{name}: lecturer's slider to redraw, median", median(times), "ms")
    results.show(f"{name}: lecturer's slider to redraw, longest", max(times), "ms")


def _watch(name: str, queries: list[str], results: Results, target: str = "") -> None:
    with tempfile.TemporaryDirectory() as home:
        server = Dashboard(OHASH_HOME=home)
        try:
            before = facts(server.process.pid)
            seen = visit(server.url, OPENING + WATCHING, queries)
            after = facts(server.process.pid)
        finally:
            server.stop()
    pictures = [[at for at in one["at"] if at > OPENING] for one in seen]
    rates = [len(one) / WATCHING for one in pictures]
    gaps = [_longest_gap(one) for one in pictures]
    first = [one["at"][0] if one["at"] else float("inf") for one in seen]
    shares = f"{median(rates):.2f} ({min(rates):.2f} to {max(rates):.2f})"
    waited = sum(one["waited"] for one in seen)
    print(f"{name:34} {shares:>22} {max(gaps):>10.1f} s {max(first):>12.1f} s {waited:>8}")
    print(f"{'':34} before: {before}; after: {after}")
    results.keep(f"{name}: pictures per second each, median", median(rates), "Hz", target)
    results.keep(f"{name}: slowest / fastest", min(rates) / max(rates) if max(rates) else 0.0, "")
    results.keep(f"{name}: longest gap", max(gaps), "s")
    results.keep(f"{name}: wait in line", waited, "")


def _longest_gap(moments: list[float]) -> float:
    ends = [OPENING, *moments, OPENING + WATCHING]
    return max(b - a for a, b in pairwise(ends))


def _visits(n: int, results: Results) -> None:
    """Short visits, some at once, and what the server keeps of them."""
    with tempfile.TemporaryDirectory() as home:
        server = Dashboard(OHASH_HOME=home)
        try:
            print(f"{n} short visits")
            for done in range(0, n, VISITS_AT_ONCE):
                visit(server.url, SHORT_VISIT, [f"{LINK}&seed={seed}" for seed in range(min(VISITS_AT_ONCE, n - done))])
                if done == 0:
                    time.sleep(LEAVING)
                    print(f"{'':34} after the first {VISITS_AT_ONCE}: {facts(server.process.pid)}")
            time.sleep(LEAVING)
            print(f"{'':34} after all: {facts(server.process.pid)}")
            results.keep(f"memory after {n} short visits", resident(server.process.pid), "MB")
        finally:
            server.stop()


def visit(url: str, seconds: float, queries: list[str]) -> list[JsonObject]:
    """What visitors saw, one per query, in a process of their own."""
    done = subprocess.run(_visitors(url, seconds, queries), check=True, capture_output=True)
    seen: list[JsonObject] = json.loads(done.stdout)
    return seen


def _visitors(url: str, seconds: float, queries: list[str]) -> list[str]:
    return [sys.executable, "-m", "ohash.ui.visitors", url, str(seconds), *queries]


def facts(pid: int) -> str:
    """Memory, open files and threads of a process."""
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return f"{resident(pid):.0f} MB, {descriptors} descriptors, {_status(pid)['Threads'].strip()} threads"


def resident(pid: int) -> float:
    """Memory of a process in MB."""
    return int(_status(pid)["VmRSS"].split()[0]) / 1024


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value for name, _, value in (line.partition(":") for line in lines)}
