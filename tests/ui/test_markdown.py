"""Names and errors are shown as they are: what Streamlit would make of them was tried in its pages."""

import re

import pytest

from ohash.ui.workarounds.markdown import JOINER, escape_markdown

ICON = re.compile(r":[\w+/-]+:")
LINK = re.compile(r"//|www\.|@(?=\w)", re.IGNORECASE)


@pytest.mark.parametrize(
    "name",
    [":smile: x", ":material/delete:", "a:+1:b:c:", "HTTP://EVIL.EXAMPLE", "Www.evil.example", "a@evil.example", "///"],
)
def test_neither_icon_nor_link(name: str) -> None:
    escaped = escape_markdown(name)
    assert not ICON.search(escaped) and not LINK.search(escaped)
    assert escaped.replace(JOINER, "").replace("\\", "") == name


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("# x", r"\# x"), ("- x", r"\- x"), ("12. x", r"12\. x"), ("1) x", r"1\) x"), ("---", r"\---"),
        ("&copy; &#60; a & b", r"\&copy; \&#60; a & b"), ("folder:red[x]", r"folder\:red\[x\]"),
        ("at 10:30", "at 10:30"),
    ],
)  # fmt: skip
def test_neither_heading_nor_list_nor_letter_nor_colour(name: str, escaped: str) -> None:
    assert escape_markdown(name) == escaped
