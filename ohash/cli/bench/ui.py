"""The performance targets of the dashboard, measured in headless Chromium on a server started for the purpose."""

import os
import time
from pathlib import Path
from statistics import median
from typing import Any

from ohash.cli.bench.playground import print_playground
from ohash.cli.browser import Dashboard, chromium
from ohash.engine.live.runner import NICENESS
from ohash.engine.params import experiment
from ohash.engine.run import Run

QUERY = "?dataset=digits&method=oh&pairs=100000000"
SECONDS = 10.0
WATCH = """() => {
  window.ticks = 0; window.long = 0; let seq = null;
  setInterval(() => { const s = document.querySelector('.ohash-status'); if (s && s.dataset.seq !== seq) {
    seq = s.dataset.seq; window.ticks += 1; } }, 5);
  new PerformanceObserver((list) => list.getEntries().forEach((e) => { window.long += e.duration; }))
    .observe({entryTypes: ['longtask']});
}"""
SIZES = ((1280, 800), (1024, 768))
SHIFTS = """(() => {
  window.shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((e) => {
    if (!e.hadRecentInput) window.shift += e.value;
  })).observe({type: 'layout-shift', buffered: true});
})()"""


def measure(minutes: float) -> int:
    """Print every measurement with its target."""
    headless = _headless_rate()
    server = Dashboard()
    try:
        with chromium() as browser:
            print_playground(browser)
            page = _open(browser, server.url)
            _pace(page, "unlimited")
            _rates(page, headless)
            _latency(page)
            _pace(page, "10/s")
            _server_cost(page, server.process.pid)
            _pace(page, "unlimited")
            if minutes:
                _pace(page, "10,000/s")  # an unlimited run would end too early
                _memory(page, server.process.pid, minutes)
            _layout_shift(browser, server.url)
            _five(browser, server.url, page)
            _closing(browser, page, server.process.pid)
    finally:
        server.stop()
    return 0


def _print_result(name: str, value: str, target: str) -> None:
    print(f"{name:62} {value:>18}   target {target}")


def _headless_rate() -> float:
    run = Run(experiment("digits", "oh", pairs=10**8))
    while run.t < 20_000 or run.evaluating:
        run.step(4096)
    start, first = time.perf_counter(), run.t
    while time.perf_counter() - start < 4:
        run.step(4096)
    return (run.t - first) / (time.perf_counter() - start)


def _open(browser: Any, url: str) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(120_000)
    page.received = 0

    def counted(frame: Any) -> None:
        page.received += len(frame)

    page.on("websocket", lambda socket: socket.on("framereceived", counted))
    page.goto(f"{url}/{QUERY}")
    page.wait_for_function("Number(document.querySelector('.ohash-status')?.dataset.pairs) > 0")
    page.evaluate(WATCH)
    return page


def _pace(page: Any, pace: str) -> None:
    page.locator(".st-key-transport [data-testid=stSelectbox]").nth(1).locator("input").click()
    page.get_by_role("option", name=pace, exact=True).click()
    page.wait_for_timeout(1500)


def _pairs(page: Any) -> int:
    return int(page.evaluate("Number(document.querySelector('.ohash-status').dataset.pairs)"))


def _over(page: Any, seconds: float) -> tuple[float, float]:
    """(updates per second, share of long tasks) over some seconds."""
    ticks, long = page.evaluate("[window.ticks, window.long]")
    page.wait_for_timeout(seconds * 1000)
    ticks2, long2 = page.evaluate("[window.ticks, window.long]")
    return (ticks2 - ticks) / seconds, (long2 - long) / (10 * seconds)


def _rates(page: Any, headless: float) -> None:
    page.evaluate("document.querySelectorAll('canvas').forEach((c) => { c.dataset.mark = '1'; })")
    before, received, start = _pairs(page), page.received, time.perf_counter()
    hertz, long = _over(page, SECONDS)
    watched = (_pairs(page) - before) / (time.perf_counter() - start)
    drawn = page.evaluate("[...document.querySelectorAll('canvas')].map((c) => c.dataset.mark === '1')")
    _print_result("updates per second, four live charts", f"{hertz:.2f} Hz", ">= 4.5")
    _print_result("long tasks in the browser", f"{long:.1f} %", "-")
    _print_result("charts remounted", f"{drawn.count(False)} of {len(drawn)}", "0")
    _print_result("payload per update", f"{(page.received - received) / max(1, hertz * SECONDS) / 1e3:.0f} kB", "<= 64")
    _print_result("watched run against headless", f"{watched / headless:.0%} of {headless:,.0f}/s", ">= 70 %")


def _latency(page: Any) -> None:
    slider = page.locator(".st-key-rail [data-testid=stSlider] input[type=range]").first
    times = []
    for key in ("ArrowRight", "ArrowLeft") * 5:
        page.wait_for_timeout(400)
        slider.focus()
        changes = page.evaluate("Number(document.querySelector('.ohash-status').dataset.changes)")
        start = time.perf_counter()
        page.keyboard.press(key)
        page.wait_for_function(f"Number(document.querySelector('.ohash-status').dataset.changes) > {changes}")
        times.append(1000 * (time.perf_counter() - start))
    _print_result("slider to redraw, median / longest", f"{median(times):.0f} / {max(times):.0f} ms", "< 300 / < 800")


def _server_cost(page: Any, pid: int) -> None:
    """CPU time of the server per update, without the threads of runs, which yield to it."""
    start = _cpu(pid) - _cpu_of_runs(pid)
    hertz, _ = _over(page, SECONDS)
    spent = _cpu(pid) - _cpu_of_runs(pid) - start
    _print_result("server CPU per update, without the run", f"{1000 * spent / max(1, hertz * SECONDS):.1f} ms", "<= 20")


def _layout_shift(browser: Any, url: str) -> None:
    """All that moved without being asked to: while it opens and runs, after three sliders, with the panel open."""
    shifts = []
    for width, height in SIZES:
        page = browser.new_page(viewport={"width": width, "height": height})
        shifts.append(layout_shift(page, f"{url}/"))
        page.close()
    sizes = " and ".join(f"{width} x {height}" for width, height in SIZES)
    _print_result(f"layout shift at {sizes}", " / ".join(f"{shift:.3f}" for shift in shifts), "< 0.1")


def layout_shift(page: Any, url: str, seconds: float = SECONDS) -> float:
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


def _five(browser: Any, url: str, first: Any) -> None:
    """Five browsers on the same machine, at a pace that leaves them room, and at full speed."""
    pages = [first, *(_open(browser, url) for _ in range(4))]
    # The target is for limited runs: unlimited ones take one core, and five browsers the other.
    for pace, target in (("1,000/s", ">= 1.7"), ("unlimited", "-")):
        for page in pages:
            _pace(page, pace)
        counts = [page.evaluate("window.ticks") for page in pages]
        first.wait_for_timeout(SECONDS * 1000)
        rates = [(page.evaluate("window.ticks") - count) / SECONDS for page, count in zip(pages, counts, strict=True)]
        _print_result(f"five sessions, {pace}, slowest", f"{min(rates):.2f} Hz", target)
    for page in pages[1:]:
        page.close()


def _closing(browser: Any, page: Any, pid: int) -> None:
    page.close()
    start = time.perf_counter()
    while time.perf_counter() - start < 60:
        before = _cpu(pid)
        time.sleep(1)
        if _cpu(pid) - before < 0.2:
            break
    _print_result("run stopped after the tab was closed", f"{time.perf_counter() - start:.0f} s", "< 15")


def _memory(page: Any, pid: int, minutes: float) -> None:
    """From a fifth of the time to the end: of ten minutes, from the second to the tenth."""
    readings = []
    for share in (0.2, 0.8):
        page.wait_for_timeout(share * minutes * 60_000)
        page.evaluate("window.gc && window.gc()")
        readings.append((_resident(pid), page.evaluate("performance.memory.usedJSHeapSize") / 1e6))
    (rss, heap), (rss2, heap2) = readings
    _print_result("server memory, from a fifth of the time to the end", f"{rss:.0f} -> {rss2:.0f} MB", "< 10 % drift")
    _print_result("browser heap, from a fifth of the time to the end", f"{heap:.0f} -> {heap2:.0f} MB", "< 10 % drift")


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
