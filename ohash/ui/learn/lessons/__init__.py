"""Lessons: one Markdown file each, with a title, the link that sets the playground, and the text."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Lesson:
    """One screen of text, and the state of the playground that it speaks of."""

    title: str
    link: str
    text: str


def read_lesson(text: str) -> Lesson:
    r"""A lesson from its file: a heading, a line `link: ...`, the rest.

    >>> read_lesson("# Bits\n\nlink: r=3\n\nA bit is a side.")
    Lesson(title='Bits', link='#r=3', text='A bit is a side.')
    """
    title, link, body = (part.strip() for part in text.split("\n\n", 2))
    if not title.startswith("# ") or not link.startswith("link:"):
        raise ValueError("a lesson begins with a heading `# ...`, and then has a line `link: ...`")
    return Lesson(title.removeprefix("# "), "#" + link.removeprefix("link:").strip(), body)


def lessons() -> list[Lesson]:
    """All lessons, in the order of their file names."""
    return [read_lesson(file.read_text(encoding="utf-8")) for file in sorted(Path(__file__).parent.glob("*.md"))]
