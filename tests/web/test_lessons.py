"""Lessons: eight of them in one format, a lecturer's own beside them, handouts, and mistakes named."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest  # noqa: TID251

from ohash.cli.lab import command, parser
from ohash.cli.main import main
from ohash.streams.datasets.playground import make_points
from ohash.web.lessons import OWN, lessons, read_file, read_lesson

APP = str(Path(__file__).parents[2] / "app.py")
MINE = """# Bits & sides

link: r=3
check: r=8&at=200 -> agreement > 0.5

A bit is a *side*.

**Predict first.** How many
sides has a line?

- ( ) one
- (x) two, as
  always

**Then look.** **Two**.

**Try.** Count <again>.
"""


def test_a_lesson_is_read_in_its_parts():
    mine = read_lesson(MINE)
    assert (mine.title, mine.link, mine.text) == ("Bits & sides", "r=3", "A bit is a *side*.")
    assert mine.question == "How many\nsides has a line?"
    assert (mine.options, mine.right) == (("one", "two, as always"), "two, as always")
    assert (mine.answer, mine.exercise) == ("**Two**.", "Count <again>.")
    assert mine.checks == (("r=8&at=200", "agreement", ">", 0.5),)


@pytest.mark.parametrize("before", ["?", "#", "http://lab/learn?"])
def test_a_link_may_be_pasted_as_a_part_of_an_address_or_whole(before):
    pasted = MINE.replace("link: ", f"link: {before}").replace("check: ", f"check: {before}")
    assert read_lesson(pasted) == read_lesson(MINE)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("# Bits & sides", "Bits", "must begin with a heading"),
        ("link: r=3", "r=3", "must begin with a heading"),
        ("agreement > 0.5", "mAP > 0.5", "a check must read"),
        ("link: r=3", "link: data=mons", "data must be one of blobs, moons, rings, xor, spirals, drift, own, got"),
        ("link: r=3", "link: beta=7", "beta must be a number in [0.1, 1], got 7"),
        ("link: r=3", "link: beta=0.33", "beta must be a number in [0.1, 1] in steps of 0.05, got 0.33"),
        ("link: r=3", "link: r=3&only=zeta", "only must name settings that stay free, of data, features, r, T, "),
        ("link: r=3", "link: zeta=1", "a link must be of data, features, r, T, "),
        ("link: r=3", "link: at=70000", "at must be the number of a pair, 0 to 50000, got '70000'"),
        ("link: r=3", "link: changes=5:r:4", "a change must be PAIR:beta|C|noise|drift:VALUE"),
        ("link: r=3", "link: changes=5:C:99", "C must be a number in [0.001, 10], got 99"),
        ("link: r=3", "link: http://lab/learn", "a link must be settings such as data=moons&r=3&only=r"),
        ("check: r=8", "check: r=80", "r must be a number in [1, 16], got 80"),
        ("**Try.**", "Try.", "must have **Predict first.**, **Then look.**, **Try.**"),
        ("- (x) two", "- ( ) two", "one right one"),
        ("- ( ) one", "- one", "one right one"),
    ],
)
def test_what_is_missing_in_a_lesson_is_named(old, new, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        read_lesson(MINE.replace(old, new))


def test_there_are_eight_and_each_is_one_screen():
    known = lessons()
    assert len(known) == 8
    assert sum(bool(lesson.checks) for lesson in known) >= 6, "what a lesson says of a run is checked"
    for lesson in known:
        words = f"{lesson.text} {lesson.question} {lesson.answer} {lesson.exercise}".split()
        assert 60 < len(words) < 220 and 2 <= len(lesson.options) <= 4


def test_no_place_among_the_options_is_right_more_than_three_times():
    places = [lesson.options.index(lesson.right) for lesson in lessons()]
    assert all(1 <= places.count(place) <= 3 for place in range(3)), places
    assert all(places[at : at + 3] != places[at + 3 : at + 6] for at in range(3)), "nor do they follow a pattern"


def test_numbers_of_four_digits_have_a_comma():
    for lesson in lessons():
        words = f"{lesson.text} {lesson.question} {' '.join(lesson.options)} {lesson.answer} {lesson.exercise}"
        assert not re.findall(r"(?<![\d.,])\d{4,}", words), lesson.title


def test_every_answer_has_numbers_of_the_run_that_are_checked():
    """A number that a check with `=` reads from the page stands in the answer, as the page shows it."""
    for lesson in lessons():
        shown = set(re.findall(r"\d[\d,.]*\d|\d", lesson.answer))
        checked = {
            f"{bound:,.4g}" if bound < 1000 else f"{bound:,.0f}" for *_, sign, bound in lesson.checks if sign == "="
        }
        percents = {f"{100 * float(bound):.0f}" for bound in checked if float(bound.replace(",", "")) < 1}
        assert shown & (checked | percents), lesson.title


def test_a_handout_holds_all_and_escapes_it(tmp_path, capsys):
    page = read_lesson(MINE).handout()
    assert "Bits &amp; sides" in page and "<i>side</i>" in page and "&lt;again&gt;" in page and "<b>Two</b>" in page
    assert page.index("How many") < page.index("Then look")
    answer = page[page.index('<div class="answer">') :]
    assert re.search(r"\.answer {[^}]*rotate\(180deg\)", page) and "<b>Two</b>" in answer
    assert "<b>Two</b>" not in page.removesuffix(answer), "it is read only once the page is turned"
    assert "☑ two, as always." in answer and "☑ two" not in page.removesuffix(answer), "the right choice is marked"
    assert "at the end of its address: <code>#r=3</code>" in page
    assert "Open <code>http://lab/learn#r=3</code>" in read_lesson(MINE).handout("http://lab/learn")
    assert main(["playground", "--handouts", str(tmp_path / "pages")]) == 0
    assert "wrote 8 handouts" in capsys.readouterr().out
    names = sorted(file.name for file in (tmp_path / "pages").glob("*.html"))
    assert len(names) == 8 and names[3] == "4-what-beta-does.html"
    assert main(["playground"]) == 2
    assert "--html FILE, --handouts DIR" in capsys.readouterr().err


def test_a_handout_shows_the_points_of_its_lesson():
    places, labels = make_points("moons", 1)
    page = read_lesson(MINE.replace("link: r=3", "link: data=moons&r=3")).handout()
    x, y = places[0]
    assert f'<circle cx="{(x + 1.6) * 100:.1f}" cy="{(1.6 - y) * 100:.1f}"' in page, "up is up"
    assert (page.count("<circle"), page.count("<polygon")) == (labels.count(0), labels.count(1)) == (100, 100)
    assert "Two moons: 200 points of 2 classes" in page
    assert all("draw where you expect the boundaries" in lesson.handout() for lesson in lessons())
    for link in ("data=own", "data=squares", "seed=-1", "seed=\u00b2", "seed=99999", "data=own&changes=0:paint:7i0i0"):
        assert "<figure>" not in replace(read_lesson(MINE), link=link).handout(), link


def test_a_handout_shows_points_that_its_lesson_paints_moves_and_erases():
    places = "".join(f"{k:02d}{k:02d}" for k in range(10, 70))
    link = f"data=own&r=3&at=5&changes=0:paint:0{places},0:paint:3{places},2:erase:0,5:move:0.hzhz,6:paint:2hzhz"
    mine = read_lesson(MINE.replace("link: r=3", f"link: {link}"))
    page = mine.handout("http://lab/learn")
    assert "Your own points: 119 points of 2 classes" in page, "those of pair 5, where it waits"
    assert (page.count("<circle"), page.count("<polygon")) == (59, 60)
    assert '<circle cx="159.8" cy="160.2"' in page, "in the middle, where one was moved to"
    assert places not in page, "nobody types this from paper"
    assert "Open <code>http://lab/learn</code>, this lesson, and there" in page
    assert "Open the Learn page, this lesson, and there" in mine.handout()


def test_a_lecturers_own_lesson_comes_last_and_leaves_the_others_their_numbers(tmp_path, monkeypatch):
    file = tmp_path / "mine.md"
    file.write_text(MINE, encoding="utf-8")
    environment = command(parser().parse_args(["--lesson", str(file)]), [])[1]
    assert environment[OWN] == str(file)
    monkeypatch.setenv(OWN, str(file))
    titles = [lesson.title for lesson in lessons()]
    assert len(titles) == 9 and titles[0] == "What a hash code is" and titles[8] == "Bits & sides"
    file.write_text("# Nothing", encoding="utf-8")
    with pytest.raises(ValueError, match=r"the lesson mine.md cannot be read: a lesson must begin"):
        command(parser().parse_args(["--lesson", str(file)]), [])


def test_a_lesson_that_is_spoilt_while_the_server_runs_is_named_and_leaves_the_others(tmp_path, monkeypatch):
    file = tmp_path / "mine.md"
    file.write_text(MINE.replace("link: r=3", "link: data=mons"), encoding="utf-8")
    monkeypatch.setenv(OWN, str(file))
    app = AppTest.from_file(APP, default_timeout=60)
    app.switch_page("pages/learn.py").run()
    assert not app.exception and len(app.get("download_button")) == 8
    assert "the lesson mine.md cannot be read: data must be one of" in app.error[0].value.replace("The", "the")


def test_a_lesson_is_text_in_utf_8_with_or_without_the_mark_that_windows_puts_before_it(tmp_path):
    file = tmp_path / "mine.md"
    file.write_text(MINE, encoding="utf-8-sig", newline="\r\n")
    assert read_file(file) == read_lesson(MINE)
    file.write_text(MINE, encoding="utf-16")
    with pytest.raises(ValueError, match=r"^the lesson mine.md cannot be read: it must be text in UTF-8$"):
        read_file(file)


def test_the_playground_is_presented_by_its_name():
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["present"] = "playground"
    app.switch_page("pages/learn.py").run()
    assert not app.exception and not app.warning and app.button(key="back")


def test_the_answer_comes_after_a_guess():
    app = AppTest.from_file(APP, default_timeout=60)
    app.switch_page("pages/learn.py").run()
    assert not app.exception
    first = lessons()[0]
    shown = lambda: re.sub("</?abbr[^>]*>", "", "\n".join(one.value for one in app.markdown))  # noqa: E731
    assert first.text in shown() and first.answer not in shown()
    wrong = next(option for option in first.options if option != first.right)
    app.radio(key="guess_1").set_value(wrong).run()
    assert f"Not quite: {first.right}." in shown() and first.answer in shown()
    app.radio(key="guess_1").set_value(first.right).run()
    assert "**Right.**" in shown()
    assert len(app.get("download_button")) == 8, "each lesson offers its handout"
    cards = re.findall('<abbr class="ohash-term"[^>]*>([^<]*)<', "\n".join(one.value for one in app.markdown))
    assert {"hash code", "Hamming\ndistance", "β", "R", "MMOH"} <= set(cards), "a term has its card where it stands"
