"""Words of somebody else in a message: Streamlit takes every text for Markdown, and a link's own words for a link."""

import re

MARKUP = re.compile(r"([\\`*_\[\]<>$~|])")
JOINER = "\u2060"  # no space, no width; an address with one in it is not clicked


def plain(words: object) -> str:
    r"""The text as it is, whatever it says.

    >>> plain("[sign in](//evil.example)"), plain("beta must be in (0, 1], got **x**")
    ('\\[sign in\\](/\u2060/evil.example)', 'beta must be in (0, 1\\], got \\*\\*x\\*\\*')
    """
    text = MARKUP.sub(r"\\\1", " ".join(str(words).split()))
    return text.replace("//", f"/{JOINER}/").replace("www.", f"www{JOINER}.").replace("@", f"@{JOINER}")
