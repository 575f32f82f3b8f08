"""Text from links, files and errors in a message: Streamlit renders every text as Markdown."""

import re

MARKUP = re.compile(r"([\\`*_\[\]<>$~|])")
JOINER = "\u2060"  # invisible and without width; an address with one in it is not turned into a link


def escape_markdown(text: object) -> str:
    r"""The text as it is, whatever markup it holds.

    >>> escape_markdown("[sign in](//evil.example)"), escape_markdown("beta must be in (0, 1], got **x**")
    ('\\[sign in\\](/\u2060/evil.example)', 'beta must be in (0, 1\\], got \\*\\*x\\*\\*')
    """
    escaped = MARKUP.sub(r"\\\1", " ".join(str(text).split()))
    return escaped.replace("//", f"/{JOINER}/").replace("www.", f"www{JOINER}.").replace("@", f"@{JOINER}")
