"""Lessons: one Markdown file each, with the link that sets the playground, a question, and the answer behind it.

# Title

link: r=3&at=299&only=r        (`only` names the settings that stay free; all others are locked)
check: r=8&at=2000 -> agreement > 0.9        (what the text claims, for the tests; any number of lines)

A check is of the `agreement`, the `loss` ΣR, that of the `frozen` W, the number of `codes` and the lowest `purity` in
their table, or of the latest pair: its `R`, its step `tau`, and the `ratio` from which C cut it off. With `=` it is
what the page shows, which the answer may then name.

Two or three sentences.

**Predict first.** A question.

- ( ) a wrong answer
- (x) the right one

**Then look.** What happens, and why.

**Try.** What to do next.
"""

import html
import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from ohash.web.playground_settings import check_link, settings_of

FOLDER = Path(__file__).parent / "lesson_texts"
OWN = "OHASH_LESSON"  # a lesson of the user's, shown after the others, whose numbers it leaves
OPTION = re.compile(r"- \(( |x)\) (.+)")
CHECK = re.compile(r"check: (\S*) -> (agreement|loss|frozen|purity|codes|R|tau|ratio) ([<>=]) ([\d.]+)")
PARTS = ("Predict first", "Then look", "Try")
LONGEST_LINK = 200  # that somebody may type from paper; painted points make one longer
CAPTION = "The points of this lesson: draw where you expect the boundaries."
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
@page {{margin: 18mm;}}
body {{font: 12pt/1.5 Georgia, serif; max-width: 42em; margin: 0 auto; padding: 1em; box-sizing: border-box;
  min-height: 100vh; display: flex; flex-direction: column;}}
h1 {{font-size: 1.5em; margin: .4em 0;}} p, ul {{margin: .6em 0;}}
li {{list-style: none;}} li::before {{content: "☐ ";}}
.room {{display: flex; gap: 1em; margin-bottom: 1em;}}
.notes {{flex: 1; min-height: 9em; border-bottom: 1px dotted #888; margin-bottom: 1em;}}
figure {{margin: 0; width: 46mm;}} figcaption {{font-size: .75em; line-height: 1.3;}}
.answer {{border-bottom: 1px solid #888; margin-top: auto; padding-bottom: .5em; transform: rotate(180deg);
  font-size: .85em; break-inside: avoid;}}
@media print {{body {{padding: 0; min-height: 23.5cm;}}}}
code {{font-size: .85em; overflow-wrap: anywhere;}}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{where}</p>
<p>{text}</p>
<p><b>Predict first.</b> {question}</p>
<ul>{options}</ul>
<div class="room"><div class="notes"></div>{picture}</div>
<p>The answer stands upside down at the foot of the page: predict, then turn it.</p>
<div class="answer"><p><b>☑ {right}.</b></p>
<p><b>Then look.</b> {answer}</p>
<p><b>Try.</b> {exercise}</p></div>
</body>
</html>
"""


@dataclass(frozen=True)
class Lesson:
    """One screen; `link` is the state of the playground, `checks` what the text says of it."""

    title: str
    link: str
    text: str
    question: str
    options: tuple[str, ...]
    right: str
    answer: str
    exercise: str
    checks: tuple[tuple[str, str, str, float], ...] = ()

    def handout(self, address: str = "") -> str:
        """One page to print: the question with room for notes, and at its foot, upside down, the answer.

        `address` is that of the Learn page, which the page then names with the lesson's link.
        """
        from ohash.web.points_picture import points_svg  # noqa: PLC0415 (the command line reads lessons, too)

        link = f"<code>{html.escape(f'{address}#{self.link}')}</code>"
        where = f"Open {link}" if address else f"In the playground, at the end of its address: {link}"
        if len(self.link) > LONGEST_LINK:
            page = f"Open <code>{html.escape(address)}</code>" if address else "Open the Learn page"
            where = f"{page}, this lesson, and there <i>Set the playground for “{html.escape(self.title)}”</i>"
        options = "".join(f"<li>{_html(option)}</li>" for option in self.options)
        points = points_svg(self.link)
        picture = points and f"<figure>{points}<figcaption>{CAPTION}</figcaption></figure>"
        return PAGE.format(
            title=html.escape(self.title), where=where, text=_html(self.text), right=_html(self.right), picture=picture,
            question=_html(self.question), options=options, answer=_html(self.answer), exercise=_html(self.exercise),
        )  # fmt: skip

    def file_name(self, number: int) -> str:
        """The name of its handout, in letters that every file system has; Greek ones are spelt out.

        >>> Lesson("What β does", "", "", "", (), "", "", "").file_name(4)
        '4-what-beta-does.html'
        """
        spelt = re.sub(r"[α-ω]", lambda letter: unicodedata.name(letter[0]).split()[-1], self.title)
        return f"{number}-{re.sub(r'[^a-z0-9]+', '-', spelt.lower()).strip('-')}.html"


def read_lesson(text: str) -> Lesson:
    """A lesson from its file; what is missing is named."""
    head, _, rest = text.strip().partition("\n\n")
    settings, _, body = rest.partition("\n\n")
    lines = settings.splitlines()
    if not head.startswith("# ") or not lines or not lines[0].startswith("link:"):
        raise ValueError("a lesson must begin with a heading `# ...` and, after an empty line, `link: ...`")
    link = settings_of(lines[0].removeprefix("link:"))
    check_link(link)
    checks = []
    for line in lines[1:]:
        match = CHECK.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"a check must read `check: LINK -> agreement > 0.9`, got {line[:60]!r}")
        checked = settings_of(match[1])
        check_link(checked)
        checks.append((checked, match[2], match[3], float(match[4])))
    pieces = re.split(rf"\*\*({'|'.join(PARTS)})\.\*\*", body)
    if tuple(pieces[1::2]) != PARTS:
        raise ValueError(f"a lesson must have {', '.join(f'**{part}.**' for part in PARTS)} in this order")
    question, *options = re.split(r"\n(?=- )", pieces[2].strip())
    matches = [OPTION.fullmatch(" ".join(option.split())) for option in options]
    right = [match[2] for match in matches if match and match[1] == "x"]
    if len(matches) < 2 or None in matches or len(right) != 1:
        raise ValueError("a question must have answers `- ( ) ...`, two or more, and one right one, `- (x) ...`")
    return Lesson(
        head.removeprefix("# ").strip(), link, pieces[0].strip(), question.strip(),
        tuple(match[2] for match in matches if match), right[0], pieces[4].strip(), pieces[6].strip(), tuple(checks),
    )  # fmt: skip


def lessons() -> list[Lesson]:
    """All in the order of their file names, and then one's own, if the server was started with one."""
    own = os.environ.get(OWN)
    return [*shipped_lessons(), *([read_file(Path(own))] if own else [])]


def shipped_lessons() -> list[Lesson]:
    """The eight, which are there even if one's own cannot be read."""
    return [read_file(file) for file in sorted(FOLDER.glob("*.md"))]


def read_file(file: Path) -> Lesson:
    """A lesson; errors name the file."""
    try:
        return read_lesson(file.read_text(encoding="utf-8-sig"))  # Windows' editor puts a mark before the text
    except UnicodeDecodeError as error:
        raise ValueError(f"the lesson {file.name} cannot be read: it must be text in UTF-8") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"the lesson {file.name} cannot be read: {error}") from error


def without_emphasis(text: str) -> str:
    r"""A sentence on one line, without the stars of bold and italics.

    >>> without_emphasis("Press *Step*\nonce. **Which** will move?")
    'Press Step once. Which will move?'
    """
    return " ".join(re.sub(r"(\*{1,2})(.+?)\1", r"\2", text, flags=re.S).split())


def _html(text: str) -> str:
    """Bold, italics and paragraphs, which is all that a lesson has."""
    escaped = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(text), flags=re.S)
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", escaped, flags=re.S).replace("\n\n", "</p><p>")
