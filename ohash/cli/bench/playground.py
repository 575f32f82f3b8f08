"""Frames per second of the playground, and the time from a slider to the picture, in headless Chromium."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from ohash.cli.bench.results import Results
from ohash.web.files import standalone

CASES = {
    "as it opens": "",
    "RBF, T = 4": "data=moons&features=rbf&T=4&pace=100",
    "RBF, T = 4, r = 16": "data=rings&features=rbf&r=16&T=4&pace=300",
    "drift, T = 4": "data=drift&T=4&pace=300",
}
WATCH = """() => {
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


def measure_playground(
    browser: Any, cases: Mapping[str, str], seconds: float = 5.0
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
            rate = _frames(page, seconds)
            page.evaluate(WATCH)
            page.locator("[name=beta]").focus()
            for key in ("ArrowRight", "ArrowLeft") * 5:
                page.keyboard.press(key)
                page.wait_for_timeout(150)
            measured[name] = rate, page.evaluate("window.times")
            page.close()
    return measured


def print_playground(browser: Any, results: Results) -> None:
    """Both numbers of each case, with their targets."""
    for name, (rate, times) in measure_playground(browser, CASES).items():
        results.show(f"playground, {name}: frames per second", rate, "", "60")
        results.show(f"playground, {name}: slider to drawn, median", median(times), "ms", "50")
        results.show(f"playground, {name}: slider to drawn, longest", max(times), "ms", "100")


def _frames(page: Any, seconds: float) -> float:
    count = "[document.querySelector('.playground').playground.frames, performance.now()]"
    frames, start = page.evaluate(count)
    page.wait_for_timeout(1000 * seconds)
    later, end = page.evaluate(count)
    return float(1000 * (later - frames) / (end - start))
