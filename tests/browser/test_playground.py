"""The playground: its algorithm equals the literal reference bit for bit, and both hosts of it work."""

import base64
import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ohash
from ohash.cli.bench.ui import measure_playground
from ohash.cli.lab import Dashboard
from ohash.cli.main import main
from ohash.plots.glossary import glossary
from ohash.web import bundle
from ohash.web.lessons import lessons
from ohash.web.playground_settings import CHOICES, EDITS, KEYS, LIVE, LONGEST, RANGES, STEPS
from tests.browser.step_pairs import DIGESTS, PAIRS, SETTINGS, Setting, digest, reference_results, stream
from tests.browser.wait import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LEARN = """(stream) => {
  const { W, X, i, j, s, params } = JSON.parse(stream);
  const models = W.map((columns) => columns.map((w) => Float64Array.from(w)));
  const R = [], tau = [];
  i.forEach((_, t) => {
    for (const step of learnPair(models, X[i[t]], X[j[t]], s[t], params)) { R.push(step.R); tau.push(step.tau); }
  });
  const codes = models.map((columns) => X.map((x) => hashCode(columns, x)));
  const text = (values) => {
    const bytes = new Uint8Array(Float64Array.from(values).buffer);
    let characters = "";
    for (let at = 0; at < bytes.length; at += 8192) characters += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(characters);
  };
  return { R: text(R), tau: text(tau), W: text(models.flatMap((columns) => columns.flatMap((w) => [...w]))),
    codes: text(codes.flat(2)) };
}"""


def learn_in_browser(page: Any, setting: Setting, pairs: int = PAIRS) -> dict[str, np.ndarray]:
    data = stream(setting).to_json()
    params = {"alpha": setting.alpha, "beta": setting.beta, "C": setting.C}
    data |= {name: data[name][:pairs] for name in ("i", "j", "s")}
    answer = page.evaluate(LEARN, json.dumps(data | {"params": params}))  # a string: lists take Playwright seconds
    return {name: np.frombuffer(base64.b64decode(text), "<f8") for name, text in answer.items()}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_browser_learns_the_bits_of_the_reference_and_the_numbers_of_the_kernel(
    scratch: Any, setting: Setting
) -> None:
    results = learn_in_browser(scratch, setting)
    assert digest(results) == json.loads(DIGESTS.read_text())[setting.name]
    W, X, i, j, s = stream(setting)
    model = ohash.MMOH(
        T=setting.T,
        r=setting.r,
        alpha=setting.alpha,
        beta=setting.beta,
        C=setting.C,
        center="none",
        dtype="float64",
        W=W,
    )
    trace = model.learn(X, i, j, s)
    np.testing.assert_array_equal(results["R"], trace.R.ravel())
    np.testing.assert_allclose(results["tau"], trace.tau.ravel(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        results["W"], np.reshape(model.W, W.shape).transpose(0, 2, 1).ravel(), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("setting", [SETTINGS[0], *SETTINGS[12::7]], ids=lambda setting: setting.name)
def test_the_digests_are_those_of_the_reference(scratch: Any, setting: Setting) -> None:
    pairs = PAIRS if setting.r * setting.T < 4 else 300
    expected = reference_results(setting, pairs)
    for name, values in learn_in_browser(scratch, setting, pairs).items():
        np.testing.assert_array_equal(values, expected[name].ravel(), err_msg=name)
    if pairs == PAIRS:
        assert digest(expected) == json.loads(DIGESTS.read_text())[setting.name]


def agreement(page: Any) -> float:
    return float(page.locator(".playground").get_attribute("data-agreement"))


def pairs_learnt(page: Any) -> int:
    return int(page.locator(".playground").get_attribute("data-pairs"))


def test_the_measure_is_the_tie_aware_map(scratch: Any) -> None:
    run = "new PlaygroundRun({ ...DEFAULTS, r: 5, T: 3, seed: 7 })"
    value, labels, codes = scratch.evaluate(
        f"(() => {{ const run = {run}; return [run.start, run.labels, run.codes()] }})()"
    )
    packed = np.array(codes, dtype=np.uint8)[:, :, None]
    rows = np.arange(len(labels))
    assert value == pytest.approx(ohash.mean_ap(packed, packed, labels, labels, query_rows=rows), abs=1e-12)


def test_the_file_opens_from_disk_plays_obeys_and_learns(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "play.html"
    assert main(["playground", "--html", str(file)]) == 0
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{file.as_uri()}#data=rings&features=rbf&r=8&pace=100")
    page.wait_for_selector(".playground[data-agreement]")
    start = float(page.evaluate("document.querySelector('.playground').playground.run.start"))
    until(lambda: pairs_learnt(page) > 150 and agreement(page) > start + 0.1, "it plays, and the codes get better")
    noted = lambda: int(page.evaluate("location.hash").rpartition("&at=")[2])  # noqa: E731
    until(lambda: noted() > 100, "the address follows it while it plays", 5)
    page.reload()
    page.wait_for_selector(".playground[data-agreement]")
    assert pairs_learnt(page) > 100, "it is where it was"
    until(lambda: pairs_learnt(page) > 200, "and goes on")
    slider = page.get_by_role("slider", name="β")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.querySelector('.playground').playground.run.params.beta") == 0.55
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    measured = page.evaluate(
        "(({ run }) => run.measure(run.codes()))(document.querySelector('.playground').playground)"
    )
    until(lambda: agreement(page) == measured, "the agreement is that of the moment at which it was paused")
    at = page.evaluate("document.querySelector('.playground').playground.run.t")
    page.get_by_role("button", name="Step", exact=True).click()
    until(lambda: pairs_learnt(page) == at + 1, "one pair more")
    page.locator(".pair").get_by_text(f"Pair {at + 1}:").wait_for()
    page.locator(".plane").focus()
    page.keyboard.press("ArrowDown")
    page.locator(".point").get_by_text("the same code").wait_for()
    until(lambda: page.evaluate("location.hash").endswith(f":beta:0.55&at={at + 1}"), "the address names the state")
    state = (
        "JSON.stringify(document.querySelector('.playground').playground.run.models.map((W) => W.map((w) => [...w])))"
    )
    W = page.evaluate(state)
    page.reload()
    page.wait_for_selector(".playground[data-agreement]")
    assert page.evaluate(state) == W, "the link is the state"
    assert not problems


NUMBERS = """() => ["status", "captions", "charts"].map((what) => ({
  status: () => document.querySelector(".status").textContent,
  captions: () => [...document.querySelectorAll("[data-chart] b")].map((one) => one.textContent).join(" | "),
  charts: () => [...document.querySelectorAll(".side canvas")].map((canvas) => canvas.toDataURL()).join(),
}[what]()))"""


@pytest.mark.parametrize("link", ["seed=1", "seed=1&T=2&data=drift&drift=20"])
def test_the_parts_of_an_update_are_shown_with_the_numbers_before_it(page: Any, tmp_path: Path, link: str) -> None:
    file = tmp_path / "play.html"
    file.write_text(bundle.standalone(), encoding="utf-8")
    page.goto(f"{file.as_uri()}#{link}&at=56")
    page.wait_for_selector(".playground[data-agreement]")
    moved = "document.querySelector('.playground').playground.run.last.moved"
    press = page.get_by_role("button", name="Sub-step forward")
    wait_for_words = lambda name: page.locator(".phases [aria-current=step]").get_by_text(name).wait_for()  # noqa: E731
    pairs = lambda: page.locator(".playground").get_attribute("data-pairs")  # noqa: E731
    while True:
        page.wait_for_timeout(100)  # until it is drawn
        before, at = page.evaluate(NUMBERS), int(pairs())
        press.click()
        until(lambda at=at: int(pairs()) == at + 1, "the next pair")  # type: ignore[misc]
        if page.evaluate(moved):
            break
    for name in ("The pair", "Which bits", "Which side"):
        wait_for_words(name)
        page.wait_for_timeout(100)
        assert page.evaluate(NUMBERS) == before, name
        press.click()
    wait_for_words("How far")
    page.wait_for_timeout(100)
    after = page.evaluate(NUMBERS)
    assert all(now != then for now, then in zip(after, before, strict=True))
    page.get_by_role("button", name="Sub-step back").click()
    wait_for_words("Which side")
    page.wait_for_timeout(100)
    assert page.evaluate(NUMBERS) == before, "also on the way back"


def test_a_tap_on_a_term_in_the_settings_opens_its_card(browser: Any, tmp_path: Path, server: Dashboard) -> None:
    file = tmp_path / "play.html"
    file.write_text(bundle.standalone(), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 800}, has_touch=True)
    page = context.new_page()
    for address in (f"{file.as_uri()}#at=20", f"{server.url}/learn?at=20"):
        page.goto(address)
        page.locator(".playground[data-agreement]").wait_for()
        terms = page.locator(".rail label .ohash-term")
        values = lambda: page.locator(".rail :is(input, select)").evaluate_all("(all) => all.map((one) => one.value)")  # noqa: E731
        card, before = page.locator(".ohash-card"), values()
        assert terms.count() >= 4
        for term in terms.all():
            term.tap()
            page.wait_for_timeout(200)  # the click that follows a tap
            assert card.is_visible() and card.inner_text() == term.get_attribute("aria-description")
            page.locator(".bar .status").tap()
            until(lambda card=card: not card.is_visible(), "a tap elsewhere closes it")  # type: ignore[misc]
        assert values() == before
    context.close()


def test_every_model_that_a_dissimilar_pair_moves_is_named(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "play.html"
    file.write_text(bundle.standalone(), encoding="utf-8")
    page.goto(f"{file.as_uri()}#T=4&at=1")
    page.wait_for_selector(".playground[data-agreement]")
    moved = """() => document.querySelector(".playground").playground.run.last.steps
      .flatMap(({ s, tau, bits }, m) => (s === -1 && tau > 0 ? [[m + 1, bits.map((k) => k + 1)]] : []))"""
    most = 0
    for at in range(2, 40):
        page.get_by_role("button", name="Step", exact=True).click()
        page.locator(".pair").get_by_text(f"Pair {at}:").wait_for()
        models = page.evaluate(moved)
        words = page.inner_text(".pair")
        most = max(most, len(models))
        if len(models) < 2:
            assert "each moves" not in words and "Likewise" not in words
            continue
        *first, last = [str(m) for m, _ in models]
        assert f"Models {', '.join(first)} and {last} have a loss, and each moves." in words
        likewise = words.partition("Likewise")[2]
        names = re.findall(r"in model (\d) boundar(?:y|ies) ([\d, ]*\d)", likewise)
        assert len(names) == len(models) - 1
        for m, bits in names:
            assert sorted(dict(models)[int(m)]) == [int(bit) for bit in bits.split(", ")]
    assert most > 2


SAMPLES = """() => new Promise((done) => {
  const { playground } = document.querySelector(".playground"), samples = [];
  let dashed = null;
  const draw = playground.canvases.drawTop;
  playground.canvases.drawTop = function (context, ...rest) {
    const set = context.setLineDash;
    dashed = false;
    context.setLineDash = (dash) => { if (dash.length) dashed = true; set.call(context, dash); };
    draw.call(this, context, ...rest);
    context.setLineDash = set;
  };
  const look = () => {
    const number = (selector, pattern) => {
      const text = document.querySelector(selector).textContent;
      return Number(pattern.exec(text)?.[1].replace(",", ""));
    };
    const words = document.querySelector(".pair").textContent;
    samples.push([number(".status", /([\\d,]+) pair/), number(".pair", /Pair ([\\d,]+)/), dashed,
      words.includes("dissimilar")]);
    if (samples.length < 120) requestAnimationFrame(look);
    else done(samples);
  };
  requestAnimationFrame(look);
})"""


@pytest.mark.parametrize("pace", [10, 30, 100])
def test_what_is_told_while_it_plays_is_of_one_pair(page: Any, tmp_path: Path, pace: int) -> None:
    file = tmp_path / "play.html"
    file.write_text(bundle.standalone(), encoding="utf-8")
    page.goto(f"{file.as_uri()}#pace={pace}")
    page.wait_for_selector(".playground[data-agreement]")
    until(lambda: pairs_learnt(page) > 5, "it plays")
    samples = page.evaluate(SAMPLES)
    assert len({status for status, *_ in samples}) > 3, "it went on"
    assert [one for one in samples if one[0] != one[1]] == [], "status and words"
    seen = [one for one in samples if one[2] is not None]
    assert pace == 10 or [one for one in seen if one[2] != one[3]] == [], "a dashed segment is a dissimilar pair's"


STATE = """() => { const { run } = document.querySelector('.playground').playground;
  return JSON.stringify([run.t, run.sumR, run.places(), run.labels, run.models.map((W) => W.map((w) => [...w]))]); }"""


def test_points_are_painted_dragged_and_erased_and_every_moment_comes_again(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "play.html"
    file.write_text(bundle.standalone(), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 800}, has_touch=True)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{file.as_uri()}#data=own&r=4&seed=3&at=0")
    page.get_by_text("Paint at least two points").wait_for()
    box = page.locator(".plane").bounding_box()

    def at(x: float, y: float) -> tuple[float, float]:
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def stroke(start: tuple[float, float], end: tuple[float, float]) -> None:
        page.mouse.move(*at(*start))
        page.mouse.down()
        page.mouse.move(*at(*end), steps=12)
        page.mouse.up()

    def value(expression: str) -> Any:
        return page.evaluate(f"document.querySelector('.playground').playground.{expression}")

    page.get_by_role("radio", name="Paint class 1").check()
    stroke((0.1, 0.2), (0.6, 0.2))
    page.get_by_role("radio", name="Paint class 3").check()
    stroke((0.1, 0.8), (0.6, 0.8))
    page.touchscreen.tap(*at(0.9, 0.9))
    page.locator(".plane").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    labels = value("run.labels")
    assert set(labels) == {0, 2} and labels.count(0) >= 10 and labels.count(2) >= 12
    page.get_by_role("radio", name="Erase").check()
    stroke((0.55, 0.2), (0.62, 0.2))
    assert 0 < value("run.labels").count(0) < labels.count(0)
    page.get_by_role("radio", name="Look and drag").check()
    x, y = value("run.places()[0]")
    page.mouse.click(*at((x + 1.6) / 3.2, (1.6 - y) / 3.2))
    assert value("run.places()[0]") == [x, y], "a press alone moves nothing"
    stroke(((x + 1.6) / 3.2, (1.6 - y) / 3.2), (0.3, 0.5))
    assert value("run.places()[0]") == pytest.approx([0.3 * 3.2 - 1.6, 0], abs=0.02)

    for _ in range(100):
        page.get_by_role("button", name="Sub-step forward").click()
        if value("run.last.moved"):
            break
    t = value("run.t")
    for words in ("with the smallest margin", "changes sides", "τ ="):
        page.locator(".plane").focus()
        page.keyboard.press("ArrowRight")
        page.locator(".pair").get_by_text(words).first.wait_for()
    assert value("run.t") == t
    page.get_by_role("slider", name="Drift").focus()
    page.keyboard.press("ArrowRight")
    for _ in range(30):
        page.get_by_role("button", name="Step", exact=True).click()
    until(lambda: pairs_learnt(page) == t + 30, "thirty pairs more")
    later = page.evaluate(STATE)
    page.get_by_role("slider", name="Go to pair").focus()
    page.keyboard.press("Home")
    until(lambda: pairs_learnt(page) == 0, "back at the start")
    assert value("run.params.drift") == 0
    page.keyboard.press("End")
    until(lambda: pairs_learnt(page) == t + 30, "at the end again")
    assert page.evaluate(STATE) == later, "every moment comes again"
    until(lambda: page.evaluate("location.hash").endswith(f"at={t + 30}"), "the address names the state")
    page.reload()
    page.wait_for_selector(".playground[data-agreement]")
    assert page.evaluate(STATE) == later, "the link has the points and their changes"
    page.get_by_role("radio", name="Paint class 3").check()
    page.get_by_role("combobox", name="Points").select_option("moons")
    assert page.get_by_role("radio", name="Look and drag").is_checked(), "the brush stays with one's own points"
    page.evaluate("location.hash = 'own=zzz'")
    page.get_by_text("In the link: own=zzz is not a setting.").wait_for()
    assert not problems
    context.close()


def test_a_notebook_shows_the_state_it_is_called_with(page: Any) -> None:
    widget = ohash.playground("r=3&T=2", data="rings", features="rbf", seed=4, at=25)
    wide = "#cell {width: 800px; font-family: monospace;}"  # a notebook has its own type
    page.set_content(f"<style>{widget._css} {wide}</style><div id=cell></div>")
    module = base64.b64encode(widget._esm.encode()).decode()
    page.evaluate(
        """async ([module, start]) => {
          const bytes = Uint8Array.from(atob(module), (character) => character.charCodeAt(0));
          const url = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
          const { default: { render } } = await import(url);
          const el = document.createElement("div"); // a notebook puts it into its page afterwards
          window.leave = render({ model: { get: () => start }, el });
          document.querySelector("#cell").append(el);
        }""",
        [module, widget.start],
    )
    page.wait_for_selector(".playground[data-pairs='25']")
    page.get_by_role("button", name="Copy call").wait_for()
    params = page.evaluate("document.querySelector('.playground').playground.run.params")
    assert (params["data"], params["features"], params["r"], params["T"], params["seed"]) == ("rings", "rbf", 3, 2, 4)
    for at in (25, 3000):
        page.locator(".playground").evaluate("(one, at) => one.playground.goTo(at)", at)
        page.wait_for_selector(f".playground[data-pairs='{at}']")
        assert not page.evaluate(CUT_CAPTIONS)
    page.evaluate(SHORTCUTS)
    beta = page.get_by_role("slider", name="β", exact=True)
    value = float(beta.input_value())
    beta.focus()
    page.keyboard.press("ArrowRight")
    assert float(beta.input_value()) == pytest.approx(value + 0.05), "the arrows move the slider"
    assert not page.evaluate(UNDER_THE_FRAME)
    seed = page.get_by_role("spinbutton", name="Seed")
    seed.fill("77")
    seed.dispatch_event("keydown", {"key": "Enter"})  # which does nothing else, as in JupyterLab
    assert page.evaluate("document.querySelector('.playground').playground.run.first.seed") == 77
    assert seed.evaluate("(one) => one === document.activeElement"), "one may type on"
    page.evaluate("window.leave()")


# Words of the sliders that the frame of the focus touches.
UNDER_THE_FRAME = """() => [...document.querySelectorAll(".rail input[type=range]")].flatMap((slider) => {
  slider.focus();
  const box = slider.getBoundingClientRect(), style = getComputedStyle(slider), area = document.createRange();
  const frame = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
  return [...slider.parentElement.children].filter((one) => one !== slider && one.checkVisibility()).filter((one) => {
    area.selectNodeContents(one);
    const words = area.getBoundingClientRect();
    return words.bottom > box.top - frame && words.top < box.bottom + frame;
  }).map((one) => one.textContent);
})"""
# As JupyterLab 4 takes keys for itself: it looks at the focused element first, and then at those around it.
SHORTCUTS = """() => document.addEventListener("keydown", (event) => {
  for (let one = event.target; one && !one.hasAttribute("data-lm-suppress-shortcuts"); one = one.parentElement)
    if (one.matches(":focus:not(:read-write)")) { event.preventDefault(); event.stopPropagation(); return; }
}, true)"""


# Titles of charts and numbers beside them that do not fit.
CUT_CAPTIONS = """() => [...document.querySelectorAll("figcaption, figcaption *")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth).map((one) => one.textContent)"""


def test_the_arguments_in_a_notebook_are_the_parts_of_a_link(scratch: Any) -> None:
    assert list(inspect.signature(ohash.playground).parameters)[1:] == scratch.evaluate("LINK_KEYS")
    controls = {one["key"]: one for one in scratch.evaluate("CONTROLS")}
    listed = {key: tuple(one.get("list") or [name for name, _ in one["options"]]) for key, one in controls.items()
              if "list" in one or "options" in one}  # fmt: skip
    assert listed == CHOICES
    assert {key: (one["lo"], one["hi"]) for key, one in controls.items() if "lo" in one} == RANGES
    assert {key: one["step"] for key, one in controls.items() if "lo" in one and not one.get("log")} == STEPS
    assert (tuple(controls), scratch.evaluate("LONGEST")) == (KEYS, LONGEST)
    assert tuple(key for key, one in controls.items() if one.get("live") and "list" not in one) == LIVE
    assert {key: rf"^{edit}$" for key, edit in EDITS.items()} == scratch.evaluate(
        "Object.fromEntries(Object.entries(EDITS).map(([key, { pattern }]) => [key, pattern.source]))"
    )
    with pytest.raises(TypeError, match="gamma"):
        ohash.playground(gamma=1)


def test_the_benchmark_counts_frames_and_times_a_slider(browser: Any) -> None:
    rate, times = measure_playground(browser, {"": ""}, seconds=0.5)[""]
    assert rate > 2 and len(times) == 10 and min(times) > 0


def test_the_learn_page_plays_and_leaves_no_clock_behind(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/learn")
    page.wait_for_selector(".playground[data-agreement]")
    until(lambda: pairs_learnt(page) > 20, "it plays by itself")
    page.get_by_role("combobox", name="Points").select_option("moons")
    until(lambda: "data=moons" in page.evaluate("location.search"), "the link names the points")
    page.reload()
    page.wait_for_selector(".playground[data-agreement]")
    assert page.get_by_role("combobox", name="Points").input_value() == "moons"
    page.get_by_role("link", name="Data", exact=True).click()
    page.wait_for_selector(".ohash-items figure")
    until(lambda: page.locator(".playground").count() == 0, "the playground has gone")
    until(lambda: "/data?" in page.evaluate("location.href"), "Data has an address")
    assert "moons" not in page.evaluate("location.href"), "the playground's query is not the session's experiment"


def test_a_lesson_sets_the_playground_and_a_wrong_link_is_named(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/learn#r=99&data=squares&at=5")
    page.get_by_text("In the link: data=squares is not possible; r is 16, not 99.").wait_for()
    page.get_by_text("Lesson 3").click()
    page.get_by_role("link", name="Set the playground for “One update”").click()
    until(lambda: page.get_by_role("slider", name="r, bits").input_value() == "4", "the lesson's bits")
    page.get_by_text("In this lesson only C can be changed").wait_for()
    card = page.locator(".ohash-card")
    page.locator(".st-key-lessons .ohash-term:visible", has_text=re.compile("^R$")).hover()
    until(lambda: "The similarity loss of a pair" in card.inner_text(), "the card of a term in the lesson")
    page.locator(".playground figcaption .ohash-term").first.hover()
    until(lambda: card.inner_text() == glossary()["mAP"], "that of a score beside the playground's chart")
    page.locator(".playground .plane").hover()
    until(lambda: not card.is_visible(), "it closes when the pointer leaves it")
    for name in ("β", "Noise", "r, bits"):
        assert page.get_by_role("slider", name=name).is_disabled()
    assert page.get_by_role("radio", name="Erase").is_disabled()
    places = lambda: page.locator(".playground").evaluate("(one) => one.playground.run.places()")  # noqa: E731
    before, box = places(), page.locator(".plane").bounding_box()
    x, y = before[0]
    page.mouse.move(box["x"] + (x + 1.6) / 3.2 * box["width"], box["y"] + (1.6 - y) / 3.2 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 5, box["y"] + 5, steps=4)
    page.mouse.up()
    page.locator(".plane").press("Delete")
    assert places() == before, "the points are locked, too"
    page.get_by_role("slider", name="C", exact=True).press("ArrowLeft")
    until(lambda: "C=0.16&" in page.evaluate("location.search"), "the one setting that is free")
    assert "only=C" in page.evaluate("location.search"), "the link keeps the lock"
    page.get_by_role("button", name="Unlock all settings").click()
    assert page.get_by_role("slider", name="β").is_enabled() and page.get_by_role("radio", name="Erase").is_enabled()
    page.evaluate("location.hash = 'a-heading'")
    page.get_by_role("button", name="Step", exact=True).click()
    page.get_by_text("Pair 1:").wait_for()
    assert page.get_by_role("slider", name="r, bits").input_value() == "4", "another fragment changes nothing"


END = """() => Math.max(...[".playground", ".rail"].map((name) => [...document.querySelectorAll("*")]
  .map((one) => one.shadowRoot?.querySelector(name)).find(Boolean).getBoundingClientRect().bottom))"""


def test_on_the_stage_arrows_step_wherever_one_has_clicked(page: Any, server: Dashboard) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(f"{server.url}/learn?present=lesson-3")
    page.wait_for_selector(".st-key-presenting .playground[data-pairs='0']")
    page.locator(".ohash-scene").nth(2).wait_for()
    page.locator("main").click(position={"x": 1000, "y": 1070})
    assert page.evaluate("document.activeElement.tagName") == "MAIN", "an empty place"
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".playground[data-pairs='1']")
    page.locator(".ohash-scene").nth(2).click()
    page.wait_for_selector(".playground[data-pairs='0']")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".playground[data-pairs='1']")


def test_back_from_a_scene_keeps_the_address_of_what_is_shown(page: Any, server: Dashboard) -> None:
    page.goto(f"{server.url}/learn?data=rings&r=3")
    page.get_by_role("button", name="Present").click()
    page.wait_for_selector(".st-key-presenting .playground[data-agreement]")
    page.keyboard.press("2")
    until(lambda: "present=lesson-2" in page.evaluate("location.search"), "the scene is in the address")
    until(lambda: "data=rings" not in page.evaluate("location.search"), "the settings of the scene, too")
    own = page.evaluate("location.search").replace("present=lesson-2", "").strip("?&")
    choices, asked = page.locator(".playground .lesson button"), list(lessons()[1].options)
    until(lambda: choices.all_inner_texts() == asked, "the choices of its question")
    page.get_by_role(
        "button", name=next(option for option in asked if option != lessons()[1].right), exact=True
    ).click()
    page.locator(".playground .lesson").get_by_text(f"Not quite: {lessons()[1].right}.").wait_for()
    assert page.locator(".playground .lesson i").all_inner_texts()[:2] == ["Play", "Pairs per second"], "as names"
    assert "*" not in page.locator(".playground .lesson").inner_text()
    for width, height in ((1024, 768), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        until(lambda h=height: page.evaluate(END) <= h, "with the answer it still ends on the screen")  # type: ignore[misc]
    page.locator(".playground .rail .ohash-term:visible, .playground figcaption .ohash-term").first.focus()
    until(lambda: page.locator(".ohash-card").is_visible(), "a card opens by keyboard")
    page.keyboard.press("Escape")
    until(lambda: not page.locator(".ohash-card").is_visible(), "Escape closes it")
    assert page.locator(".st-key-presenting").count() == 1, "and leaves the stage as it is"
    page.keyboard.press("Escape")
    page.wait_for_selector(".st-key-presenting", state="detached")
    until(lambda: "present" not in page.evaluate("location.search"), "nothing is presented")
    page.wait_for_timeout(1000)  # it writes its address a moment after it was put there again
    assert page.evaluate("location.search").strip("?&") == own
    assert "at=0" in own and page.get_by_role("button", name="Play", exact=True).count() == 1, "it still waits"


WRITTEN = """() => { window.written = new Set(); const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.written.add(String(text));
    fillText.call(this, text, ...place);
  }; }"""


PLACES = """() => { window.places = []; const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    if (this.canvas.parentElement.className === "planes") places.push([String(text), x, y]);
    fillText.call(this, text, x, y);
  }; }"""


def test_the_number_of_a_boundary_is_not_under_the_name_of_its_model(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "play.html"
    file.write_text(bundle.standalone(), encoding="utf-8")
    page.add_init_script(f"({PLACES})()")
    page.goto(f"{file.as_uri()}#data=own&r=4&T=2&at=0")
    until(lambda: page.evaluate("places.some(([text]) => text === 'Model 2')"), "names are drawn")
    places = page.evaluate("places")
    names = [(x, y) for text, x, y in places if text.startswith("Model")]
    numbers = [(x, y) for text, x, y in places if text in "1234"]
    assert len(set(names)) == 2 and len(set(numbers)) >= 7
    covered = [(x, y) for x, y in numbers for left, top in names if left - 8 < x < left + 45 and y < top + 12]
    assert not covered


def test_a_step_is_cut_off_from_another_number_than_C(scratch: Any) -> None:
    assert scratch.evaluate("[briefly(0.2003, 0.2), briefly(0.24, 0.2), briefly(0.2, 0.2)]") == [
        "0.2003",
        "0.24",
        "0.2",
    ]


def test_the_pictures_of_several_models_have_their_names(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "play.html"
    file.write_text(bundle.standalone(), encoding="utf-8")
    page.add_init_script(f"({WRITTEN})()")
    for T, names in ((3, ["Model 1", "Model 2", "Model 3"]), (1, [])):
        page.goto("about:blank")
        page.goto(f"{file.as_uri()}#T={T}&at=5")
        page.get_by_text("Pair 5:").wait_for()
        until(lambda: page.evaluate("written.has('1')"), "the numbers of the boundaries are drawn")
        page.wait_for_timeout(200)
        written = page.evaluate("[...written].filter((text) => text.startsWith('Model')).sort()")
        assert written == names
