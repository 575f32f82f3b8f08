"""A recording taken over, opened from disk: it goes on as the package does, and another beta takes effect."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from ohash.engine.export import facts
from ohash.engine.moments import Moments
from ohash.engine.params import ExperimentParams, experiment
from ohash.engine.run import Run
from ohash.web.continuation import continuation
from ohash.web.recording import recording_page
from tests.browser.wait import until
from tests.core.reference import Reference

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAIRS = 400
# Goes on from the moment of pair t for some pairs; W (T, r, d), R of each pair, all rows as W sees them, and mAP first.
GO_ON = """([t, pairs]) => {
  const run = openRun(JSON.parse(document.querySelector(".continuation").textContent));
  const state = stateBefore(run, t), R = [], judged = score(run, state.models);
  let result;
  do result = judged.next(); while (!result.done);
  while (state.t < t + pairs) { applyChanges(run, state); R.push(learnNext(run, state)); }
  const W = state.models.map((model) => model.map((w) => [...w]));
  return { from: state.from, W, R, Z: run.Z.map((z) => [...z]), map: result.value };
}"""


def written(params: ExperimentParams, file: Path, **changes: float) -> Run:
    run, moments = Run(params), Moments()
    while not run.done:
        if run.t == 1000 and changes and not run.params.changes:
            run.set(**changes)
        run.step(1000 - run.t if run.t < 1000 else 4096)
        moments.watch(run)
    shown = moments.with_curves(run)
    page_facts = facts(shown[-1][0], run.world.dataset.title, "http://localhost:8501/")
    more = continuation(run, [now for now, _ in shown])
    file.write_text(recording_page(shown, run.world.dataset, page_facts, more=more), encoding="utf-8")
    return run


@pytest.mark.parametrize(
    "params",
    [
        experiment("moons", "oh", pairs=1500, r=12, m=40, dtype="float64"),
        experiment("digits", "mmoh", pairs=1500, r=24, m=100, T=2, C=0.01, dtype="float64"),
        experiment("blobs2d", "oh", pairs=1500, r=8, kernel="none", alpha=1, dtype="float64"),
    ],
    ids=lambda params: f"{params.dataset}-{params.method}",
)
def test_it_goes_on_as_the_package_does(page: Any, tmp_path: Path, params: ExperimentParams) -> None:
    run = written(params, tmp_path / "run.html", beta=0.4)
    page.goto((tmp_path / "run.html").as_uri())
    t = max(one for one in run.schedule if one < 1000)
    there = page.evaluate(GO_ON, [t, PAIRS])
    assert there["from"] == t and t + PAIRS > 1000, "beta changes on the way"
    before, _ = run.replay(t)
    Z = np.array(there["Z"])
    mean = run.hasher.mean if params.model.center == "frozen" else 0.0  # type: ignore[attr-defined]
    assert np.abs(Z - (run.Z - mean)).max() < 1e-12
    after, _ = run.replay(t + PAIRS)
    W = np.array(there["W"])
    assert np.abs(W - after._Wt).max() < 1e-12  # type: ignore[attr-defined]
    scores = run.checkpoints.scores
    assert there["map"] == pytest.approx(scores["map"][list(scores["pairs"]).index(t)], abs=1e-12)
    literal = Reference(before._Wt.transpose(0, 2, 1), alpha=params.model.alpha, beta=params.model.beta, C=before.C)  # type: ignore[attr-defined]
    i, j, s = run.world.pairs(t, t + PAIRS)
    R = [literal.learn(Z, i[: 1000 - t], j[: 1000 - t], s[: 1000 - t])["R"]]
    literal.beta = 0.4
    R.append(literal.learn(Z, i[1000 - t :], j[1000 - t :], s[1000 - t :])["R"])
    whole = np.concatenate(R)
    assert there["R"] == np.where(s == 1, whole.min(axis=1), whole.sum(axis=1)).tolist()
    assert np.array_equal(W, literal.W.transpose(0, 2, 1)), "bit for bit"


def page_text(page: Any) -> str:
    return str(page.locator(".over-says").inner_text())


def loss(page: Any) -> float:
    return float(page_text(page).partition("cumulative loss ")[2].split(", mAP")[0].replace(",", ""))


def total_loss(params: ExperimentParams) -> float:
    run = Run(params, judge=False)
    while not run.done:
        run.step(4096)
    return float(run.hasher.certificate.sum_R)  # type: ignore[attr-defined]


@pytest.mark.nightly
def test_with_real_clicks_from_disk(page: Any, tmp_path: Path) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url) if request.url.startswith("http") else None)
    run = written(experiment("moons", "oh", pairs=800, r=12, m=40, dtype="float64"), tmp_path / "run.html")
    page.goto((tmp_path / "run.html").as_uri())
    middle = next(at for at, t in enumerate(run.schedule) if t > 300)
    page.locator(".scrub").fill(str(middle))
    assert "Move β or C" in page_text(page)
    page.get_by_role("button", name="Take over").click()
    until(lambda: "pairs in this file end here" in page_text(page), "it goes on to the last pair")
    assert f"Taken over at pair {run.schedule[middle]:,}" in page_text(page) and "β = 0.50" in page_text(page)
    curves = page.evaluate("document.querySelectorAll('.over-charts path.mine').length")
    assert curves == 2
    longer = run.params.with_values(pairs=10_800)
    assert loss(page) == pytest.approx(total_loss(longer), rel=1e-3), "four digits are shown"

    violations = Axe().run(page).response["violations"]
    assert not [one["id"] for one in violations if one["impact"] in ("serious", "critical")]
    page.get_by_role("button", name="Back to the recording").click()
    assert page.locator(".over-charts").is_hidden()
    page.locator(".beta").focus()
    page.keyboard.press("ArrowLeft")
    assert int(page.locator(".scrub").input_value()) == middle, "the arrows move beta, not the recording"
    until(lambda: "β = 0.49" in page_text(page), "beta is taken over")
    page.get_by_role("button", name="Back to the recording").click()
    page.locator(".beta").fill("0.3")
    until(lambda: "pairs in this file end here" in page_text(page), "it goes on by itself once beta is moved")
    assert "β = 0.30" in page_text(page) and "only mAP compares" in page_text(page)
    changed = total_loss(longer.with_changes(run.schedule[middle], beta=0.3))
    assert loss(page) == pytest.approx(changed, rel=1e-3) != pytest.approx(total_loss(longer), rel=1e-3)
    page.keyboard.press("Home")
    page.locator("h1").click()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".over-charts").is_hidden() and page.locator(".beta").input_value() == "0.5"
    assert not problems
