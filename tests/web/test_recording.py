"""A run as one HTML page: complete, small, escaped, and with the numbers of the run."""

import io
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from ohash._version import __version__
from ohash.cli.main import main
from ohash.engine.export import facts
from ohash.engine.live.presets import PRESETS
from ohash.engine.moments import Moments
from ohash.engine.params import ExperimentParams, experiment
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.plots import theme
from ohash.plots.gallery import relevance_mark
from ohash.plots.live import charts
from ohash.plots.renderers.svg import to_svg
from ohash.streams.dataset import Dataset
from ohash.web.animation import MAX_FRAMES, recording_gif
from ohash.web.recording import ON_A_PHONE, TYPE, recording_page
from tests.selection import first

LARGEST = 3_000_000


@cache
def recorded(params: ExperimentParams) -> tuple[Run, list[Any]]:
    run, moments = Run(params), Moments()
    while not run.done:
        run.step(4096)
        moments.watch(run)
    return run, moments.with_curves(run)


def page_of(params: ExperimentParams, dataset: Dataset | None = None) -> str:
    run, shown = recorded(params)
    dataset = dataset or run.world.dataset
    return recording_page(shown, dataset, facts(shown[-1][0], dataset.title, "http://localhost:8501/?r=8&seed=3"))


def data_of(page: str) -> Any:
    match = re.search(r'<script type="application/json" class="recording">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def titles(now: Snapshot) -> dict[str, str]:
    named = {"score": charts.quality, "hills": charts.hills, "loss": charts.loss, "tau": charts.tau}
    return {name: draw(now).title for name, draw in named.items()}


SHORT = experiment("digits", "oh", pairs=600, r=24, seed=3)


@pytest.mark.slow
def test_the_first_and_the_last_picture_have_the_numbers_of_the_run() -> None:
    run, shown = recorded(SHORT)
    frames = data_of(page_of(SHORT))["frames"]
    assert [frame["pairs"] for frame in frames] == run.schedule
    start = Run(SHORT)
    while start.evaluating:
        start.step(1)
    for frame, now in ((frames[0], start.snapshot("running")), (frames[-1], run.snapshot("done"))):
        assert {name: chart["title"] for name, chart in frame["charts"].items()} == titles(now)
    assert f"{run.checkpoints.scores['map'][-1]:.2f}" in frames[-1]["says"]
    assert [item[0] for item in frames[-1]["gallery"]["items"]] == shown[-1][1].rows.tolist()


def test_the_axes_stand_still_and_lines_that_are_the_same_are_written_once() -> None:
    data = data_of(page_of(SHORT))
    texts, later = data["texts"], [frame for frame in data["frames"] if frame["pairs"] >= 100]
    assert len(set(texts)) == len(texts)
    for name in ("loss", "score"):
        drawings = [[texts[line] for line in frame["charts"][name]["wide"]] for frame in later]
        boxes = [[line for line in lines if line.startswith("<clipPath")] for lines in drawings]
        assert all(box == boxes[-1] for box in boxes), name


def test_the_curves_of_a_narrow_picture_are_those_drawn_for_it() -> None:
    data, (_, shown) = data_of(page_of(SHORT)), recorded(SHORT)
    texts, moved = data["texts"], 0
    for frame, drawings in zip(data["frames"], charts.film([now for now, _ in shown]), strict=True):
        for name, chart in drawings.items():
            wanted = to_svg(chart, width=ON_A_PHONE[0], height=ON_A_PHONE[1], size=TYPE, heading=False).split("\n")
            for line, drawn in zip(frame["charts"][name]["narrow"], wanted, strict=True):
                if isinstance(line, list):
                    number, across, right, up, down = line
                    x, y = coordinates(texts[number])
                    assert np.allclose([across * x + right, up * y + down], coordinates(drawn), atol=0.02), name
                    moved += 1
    assert moved > 4 * len(data["frames"])


def coordinates(line: str) -> np.ndarray:
    paths = "".join(re.findall(r' d="([^"]*)"', line))
    return np.array([[float(value) for value in pair] for pair in re.findall(r"(-?[\d.]+) (-?[\d.]+)", paths)]).T


def test_it_says_what_was_run_and_loads_nothing() -> None:
    page = page_of(SHORT)
    for fact in (
        recorded(SHORT)[0].world.dataset.title,
        "<dd>OH</dd>",
        "r = 24",
        f"ohash {__version__}",
        "http://localhost:8501/?r=8&amp;seed=3",
    ):
        assert fact in page, fact
    assert "<dt>seed</dt><dd>3</dd>" in page
    sources = re.findall(r'(?:src|srcset|@import|url)\s*[=(]\s*"?(?!#)([^")\s]+)', page.partition("<script")[0])
    assert not sources
    assert not re.findall(r"\bfetch\(|XMLHttpRequest|import\(", page)


def test_every_colour_follows_light_and_dark() -> None:
    page = page_of(SHORT)
    used = set(re.findall(r"var\(--c([0-9a-f]{6})\)", page))
    assert used
    assert used <= set(re.findall(r"--c([0-9a-f]{6}): light-dark\(", page))
    assert not re.findall(r'"#[0-9a-f]{6}', "".join(data_of(page)["texts"]))


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)


def test_names_are_text() -> None:
    dataset = recorded(SHORT)[0].world.dataset
    evil = '</script><img src=x onerror="alert(1)">'
    named = replace(
        dataset, title=f"Data {evil}", thumbnails=None, ids=[f"{evil} {row}" for row in range(len(dataset.X))]
    )
    page = page_of(SHORT, named)
    assert evil not in page
    assert Tags(page).seen.count("script") == 2
    assert "img" not in Tags(page).seen
    assert data_of(page)["items"], "and it can be read"


@pytest.mark.parametrize(
    "params",
    first(
        [
            experiment("digits", "lsh", pairs=60),
            experiment("digits", "itq", pairs=60),
            experiment("digits", "mmoh", pairs=60, T=3),
            experiment("digits", "rabitq", pairs=60),
            experiment("digits", "oh", pairs=60, drift="rotate", drift_at=30),
            experiment("digits", "oh", pairs=60, judged_at="ends", reencode="never"),
        ],
        3,
    ),
    ids=lambda params: f"{params.method}-{params.drift.drift}-{params.run.reencode}",
)
def test_any_run_can_be_recorded(params: ExperimentParams) -> None:
    run, _ = recorded(params)
    assert [frame["pairs"] for frame in data_of(page_of(params))["frames"]] == run.schedule


@pytest.mark.slow
def test_the_default_run_is_small() -> None:
    page = page_of(PRESETS[0].params().with_values(pairs=30_000))
    assert len(page.encode()) < LARGEST


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.html"
    options = ["--dataset", "digits", "--pairs", "120", "--r", "16", "--seed", "5", "--quiet"]
    assert main(["run", *options, "--recording", str(file)]) == 0
    page = file.read_text(encoding="utf-8")
    assert f"{len(data_of(page)['frames'])} moments" in capsys.readouterr().out
    assert 'href="http://localhost:8501/?dataset=digits&amp;' in page
    assert main(["run", *options, "--recording", str(tmp_path / "absent" / "run.html")]) == 2
    video = tmp_path / "run.webm"
    assert main(["run", *options, "--recording", str(video)]) == 2 and not video.exists(), "no page with another name"


@pytest.mark.slow
def test_the_animation_has_a_frame_per_moment_the_colours_of_the_charts_and_waits_at_its_end(tmp_path: Path) -> None:
    run, every = recorded(SHORT)
    shown = [*every[:-1:8], every[-1]]
    with Image.open(io.BytesIO(recording_gif(shown, run.world.dataset, "OH on digits"))) as film:
        assert film.n_frames == min(len(shown), MAX_FRAMES) and film.size == (1280, 720)
        first_frame = film.convert("RGB").tobytes()
        film.seek(film.n_frames - 1)
        last = film.convert("RGB")
        assert film.info["duration"] >= 3000 and last.tobytes() != first_frame
        counts = {colour: count for count, colour in last.getcolors(2**24)}
    for role in ("similar", "dissimilar"):
        wanted = tuple(int(theme.colour(role)[at : at + 2], 16) for at in (1, 3, 5))
        near = sum(n for c, n in counts.items() if max(abs(a - b) for a, b in zip(c, wanted, strict=True)) < 12)
        assert near > 200, role


def test_the_items_of_the_animation_have_the_signs_of_the_gallery(monkeypatch: pytest.MonkeyPatch) -> None:
    run, every = recorded(SHORT)
    shown, written = every[-1:], []
    write = ImageDraw.ImageDraw.text

    def note(draw: ImageDraw.ImageDraw, place: Any, text: str, **how: Any) -> None:
        written.append(text)
        write(draw, place, text, **how)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", note)
    recording_gif(shown, run.world.dataset, "OH on digits")
    signs = [relevance_mark(shown[0][1], relevant=bool(relevant))[0] for relevant in shown[0][1].relevant]
    assert [text[0] for text in written if text.endswith(("bit", "bits"))] == signs


def test_a_gif_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.gif"
    assert main(["run", "--dataset", "moons", "--pairs", "10", "--quiet", "--recording", str(file)]) == 0
    assert file.read_bytes().startswith(b"GIF89a") and "wrote" in capsys.readouterr().out
