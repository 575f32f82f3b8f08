"""The performance targets of the dashboard and the playground, measured in headless Chromium.

The dashboard runs on a server started for the purpose, the playground is one HTML file.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ohash.cli.bench.results import Results
from ohash.cli.lab import Dashboard
from ohash.engine.live.runner import NICENESS, Runner
from ohash.engine.params import experiment
from ohash.plots.renderers.pdf import chromium
from ohash.web.bundle import standalone

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

QUERY = "?dataset=digits&method=oh&pairs=100000000"
SECONDS = 10.0
STRETCHES = 5
RECEIVED: "Counter[Page]" = Counter()  # bytes of messages, by page
WATCH = """() => {
  window.ticks = 0; window.long = 0; let seq = null;
  setInterval(() => { const s = document.querySelector('.ohash-status'); if (s && s.dataset.seq !== seq) {
    seq = s.dataset.seq; window.ticks += 1; } }, 5);
  new PerformanceObserver((list) => list.getEntries().forEach((e) => { window.long += e.duration; }))
    .observe({entryTypes: ['longtask']});
}"""
WATCH_CHANGES = """() => {
  const changes = () => document.querySelector(".ohash-status")?.dataset.changes;
  const before = changes();
  window.redrawn = null;
  addEventListener("keydown", (event) => {
    const look = () => {
      if (changes() !== undefined && changes() !== before) window.redrawn = performance.now() - event.timeStamp;
      else requestAnimationFrame(look);
    };
    look();
  }, { capture: true, once: true });
}"""
FETCHED = """() => performance.getEntriesByType("resource").filter((one) => one.name.includes("/ohash-changes/"))
  .reduce((sum, one) => sum + one.transferSize, 0)"""
SIZES = ((1280, 800), (1024, 768))
SHIFTS = """(() => {
  window.shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((e) => {
    if (!e.hadRecentInput) window.shift += e.value;
  })).observe({type: 'layout-shift', buffered: true});
})()"""

PLAYGROUNDS = {
    "as it opens": "",
    "RBF, T = 4": "data=moons&features=rbf&T=4&pace=100",
    "RBF, T = 4, r = 16": "data=rings&features=rbf&r=16&T=4&pace=300",
    "drift, T = 4": "data=drift&T=4&pace=300",
}
WATCH_SLIDER = """() => {
  const { playground } = document.querySelector(".playground");
  window.times = [];
  document.querySelector("[name=beta]").addEventListener("input", (event) => {
    const look = () => {
      if (playground.drawnAt > event.timeStamp) window.times.push(playground.drawnAt - event.timeStamp);
      else requestAnimationFrame(look);
    };
    look();
  }, true);
}"""


def measure(minutes: float, results: Results) -> None:
    """Every measurement with its target."""
    server = Dashboard()
    try:
        with chromium() as browser:
            print_playground(browser, results)
            page = open_live(browser, server.url)
            _pace(page, "unlimited")
            _rates(page, results)
            _latency(page, results)
            _throughput(page, results)
            _pace(page, "1,000/s")
            hertz, _ = _update_rate(page, SECONDS)
            results.show("updates per second at 1,000 pairs per second", hertz, "Hz", "10 or more")
            _pace(page, "10/s")
            _server_cost(page, server.process.pid, results)
            _pace(page, "unlimited")
            if minutes:
                _pace(page, "10,000/s")  # an unlimited run would end too early
                _memory(page, server.process.pid, minutes, results)
            _layout_shift(browser, server.url, results)
            _five(browser, server.url, page, results)
            _measure_closing(page, server.process.pid, results)
    finally:
        server.stop()


def open_live(browser: "Browser", url: str) -> "Page":
    """A page of a run that never ends, which counts its pictures as `ticks`."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(120_000)

    def count(frame: str | bytes) -> None:
        RECEIVED[page] += len(frame)

    page.on("websocket", lambda socket: socket.on("framereceived", count))
    page.goto(f"{url}/{QUERY}")
    page.wait_for_function("Number(document.querySelector('.ohash-status')?.dataset.pairs) > 0")
    page.evaluate(WATCH)
    return page


def _pace(page: "Page", pace: str) -> None:
    page.locator(".st-key-transport [data-testid=stSelectbox]").nth(1).locator("input").click()
    page.get_by_role("option", name=pace, exact=True).click()
    page.wait_for_timeout(1500)


def _pairs(page: "Page") -> int:
    return int(page.evaluate("Number(document.querySelector('.ohash-status').dataset.pairs)"))


def _update_rate(page: "Page", seconds: float) -> tuple[float, float]:
    """(updates per second, share of long tasks) over some seconds."""
    ticks, long = page.evaluate("[window.ticks, window.long]")
    page.wait_for_timeout(seconds * 1000)
    ticks2, long2 = page.evaluate("[window.ticks, window.long]")
    return (ticks2 - ticks) / seconds, (long2 - long) / (10 * seconds)


def _rates(page: "Page", results: Results) -> None:
    page.evaluate("document.querySelectorAll('canvas').forEach((c) => { c.dataset.mark = '1'; })")
    page.evaluate("performance.clearResourceTimings()")
    received = RECEIVED[page]
    hertz, long = _update_rate(page, SECONDS)
    drawn = page.evaluate("[...document.querySelectorAll('canvas')].map((c) => c.dataset.mark === '1')")
    results.show("updates per second, four live charts", hertz, "Hz", "10 or more")
    results.show("long tasks in the browser", long, "%")
    results.show("charts mounted again", drawn.count(False), f"of {len(drawn)}", "0")
    payload = RECEIVED[page] - received + page.evaluate(FETCHED)
    results.show("payload per update", payload / max(1, hertz * SECONDS) / 1e3, "kB", "64")


def _latency(page: "Page", results: Results) -> None:
    times = slider_times(page)
    results.show("slider to redraw, median", median(times), "ms", "200")
    results.show("slider to redraw, longest", max(times), "ms", "800")


def slider_times(page: "Page") -> list[float]:
    """Milliseconds, by the browser's clock, from each of ten presses of β's keys until its effect is drawn."""
    slider = page.locator(".st-key-rail [data-testid=stSlider] input[type=range]").first
    times = []
    for key in ("ArrowRight", "ArrowLeft") * 5:
        page.wait_for_timeout(400)
        slider.focus()
        page.evaluate(WATCH_CHANGES)
        page.keyboard.press(key)
        page.wait_for_function("window.redrawn")
        times.append(float(page.evaluate("window.redrawn")))
    return times


def _throughput(page: "Page", results: Results) -> None:
    """Watched and unwatched by turns, over the same pairs: the machine's own speed changes from minute to minute."""
    runner = Runner(experiment("digits", "oh", pairs=10**8), paused=True)
    runner.start()
    watched = unwatched = 0.0
    for _ in range(STRETCHES):
        start, first = time.perf_counter(), _pairs(page)
        page.wait_for_timeout(1000 * SECONDS / STRETCHES)
        watched, last = watched + time.perf_counter() - start, _pairs(page)
        _press(page, "Pause")
        _learn_until(runner, first)
        unwatched += _learn_until(runner, last)
        _press(page, "Play")
    runner.stop()
    results.show("watched run: share of the throughput without a page", unwatched / watched, "", "0.9 or more")


def _learn_until(runner: Runner, t: int) -> float:
    """Seconds until a run that nobody watches has learnt t pairs."""
    start = time.perf_counter()
    while runner.run is None:
        time.sleep(0.01)
    runner.step(t - runner.run.t)
    while runner.run.t < t:
        time.sleep(0.02)
    return time.perf_counter() - start


def _press(page: "Page", name: str) -> None:
    button = page.locator(".st-key-transport").get_by_role("button", name=name)
    button.click()
    button.wait_for(state="detached")
    page.wait_for_timeout(2000)  # until the page is fed again


def _server_cost(page: "Page", pid: int, results: Results) -> None:
    """CPU time of the server per update, without the threads of runs, which yield to it."""
    start = _cpu(pid) - _cpu_of_runs(pid)
    hertz, _ = _update_rate(page, SECONDS)
    spent = _cpu(pid) - _cpu_of_runs(pid) - start
    results.show("server CPU per update, without the run", 1000 * spent / max(1, hertz * SECONDS), "ms", "20")


def _layout_shift(browser: "Browser", url: str, results: Results) -> None:
    """All that moved without being asked to: while it opens and runs, after three sliders, with the panel open."""
    for width, height in SIZES:
        page = browser.new_page(viewport={"width": width, "height": height})
        results.show(f"layout shift at {width} x {height}", layout_shift(page, f"{url}/"), "", "0.1")
        page.close()


def layout_shift(page: "Page", url: str, seconds: float = SECONDS) -> float:
    """The cumulative layout shift of a visit to the Live page, with a new page."""
    page.set_default_timeout(120_000)
    page.add_init_script(SHIFTS)
    page.goto(url)
    page.wait_for_function("Number(document.querySelector('.ohash-status')?.dataset.pairs) > 0")
    page.wait_for_timeout(500 * seconds)
    for at in range(3):  # beta, C, r
        page.locator(".st-key-rail [data-testid=stSlider] input[type=range]").nth(at).focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(1500)
    page.locator(".st-key-rail [data-testid=stExpander] summary").click()
    page.wait_for_timeout(500 * seconds)
    return float(page.evaluate("window.shift"))


def _five(browser: "Browser", url: str, first: "Page", results: Results) -> None:
    """Five browsers on the same machine, at a pace that leaves them room, and at full speed."""
    pages = [first, *(open_live(browser, url) for _ in range(4))]
    # The target is for limited runs: unlimited ones take one core, and five browsers the other.
    for pace, target in (("1,000/s", "1.7 or more"), ("unlimited", "")):
        for page in pages:
            _pace(page, pace)
        counts = [page.evaluate("window.ticks") for page in pages]
        first.wait_for_timeout(SECONDS * 1000)
        rates = [(page.evaluate("window.ticks") - count) / SECONDS for page, count in zip(pages, counts, strict=True)]
        results.show(f"five sessions, {pace}, slowest", min(rates), "Hz", target)
    for page in pages[1:]:
        page.close()


def _measure_closing(page: "Page", pid: int, results: Results) -> None:
    page.close()
    start = time.perf_counter()
    while time.perf_counter() - start < 60:
        before = _cpu(pid)
        time.sleep(1)
        if _cpu(pid) - before < 0.2:
            break
    results.show("run stopped after the tab was closed", time.perf_counter() - start, "s", "15")


def _memory(page: "Page", pid: int, minutes: float, results: Results) -> None:
    """From a fifth of the time to the end: of ten minutes, from the second to the tenth."""
    readings = []
    for share in (0.2, 0.8):
        page.wait_for_timeout(share * minutes * 60_000)
        page.evaluate("window.gc && window.gc()")
        readings.append((_resident(pid), page.evaluate("performance.memory.usedJSHeapSize") / 1e6))
    (rss, heap), (rss2, heap2) = readings
    results.show("server memory at the end / after a fifth of the time", rss2 / rss, "x", "1.1")
    results.show("browser heap at the end / after a fifth of the time", heap2 / heap, "x", "1.1")


def _cpu(pid: int) -> float:
    return _seconds(_fields(Path(f"/proc/{pid}/stat")))


def _cpu_of_runs(pid: int) -> float:
    """The threads of runs have their own niceness."""
    threads = [_fields(task / "stat") for task in Path(f"/proc/{pid}/task").iterdir()]
    return sum(_seconds(fields) for fields in threads if int(fields[16]) == NICENESS)


def _fields(stat: Path) -> list[str]:
    """The stat fields of a process or thread, from its state on; a thread may end meanwhile."""
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return ["0"] * 20


def _seconds(fields: list[str]) -> float:
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure_playground(
    browser: "Browser", cases: Mapping[str, str], seconds: float = 5.0
) -> dict[str, tuple[float, list[float]]]:
    """For each link, frames per second and the milliseconds from presses of a slider's keys to the picture."""
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "play.html"
        file.write_text(standalone(), encoding="utf-8")
        for name, link in cases.items():
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{file.as_uri()}#{link}")
            page.wait_for_timeout(1000)  # compiling and the first layout
            rate = _frames_per_second(page, seconds)
            page.evaluate(WATCH_SLIDER)
            page.locator("[name=beta]").focus()
            for key in ("ArrowRight", "ArrowLeft") * 5:
                page.keyboard.press(key)
                page.wait_for_timeout(150)
            measured[name] = rate, page.evaluate("window.times")
            page.close()
    return measured


def print_playground(browser: "Browser", results: Results) -> None:
    """Both numbers of each case, with their targets."""
    for name, (rate, times) in measure_playground(browser, PLAYGROUNDS).items():
        results.show(f"playground, {name}: frames per second", rate, "", "60")
        results.show(f"playground, {name}: slider to drawn, median", median(times), "ms", "50")
        results.show(f"playground, {name}: slider to drawn, longest", max(times), "ms", "100")


def _frames_per_second(page: "Page", seconds: float) -> float:
    count = "[document.querySelector('.playground').playground.frames, performance.now()]"
    frames, start = page.evaluate(count)
    page.wait_for_timeout(1000 * seconds)
    later, end = page.evaluate(count)
    return float(1000 * (later - frames) / (end - start))
