"""Text from links, files and errors in a message: Streamlit renders every text as Markdown."""

import re

MARKUP = re.compile(r"[\\`*_\[\]<>$~|]|&(?=#?\w+;)|:(?=[a-zA-Z+-])")  # the last two: ©, a colour, an icon
FIRST = re.compile(r"\A(\d*)(?=[#+=.)-])")  # a heading, a list
ICON = re.compile(r":(?=[\w+/-]+:)")  # :smile: and :material/home:, which are found where no backslash is left
LINK = re.compile(r"/(?=/)|www(?=\.)|@", re.IGNORECASE)
JOINER = "\u2060"  # invisible and without width; an address or an icon with one in it is only text


def escape_markdown(text: object) -> str:
    r"""The text as it is, whatever markup it holds.

    >>> escape_markdown("[sign in](//evil.example)"), escape_markdown("beta must be in (0, 1], got **x**")
    ('\\[sign in\\](/\u2060/evil.example)', 'beta must be in (0, 1\\], got \\*\\*x\\*\\*')
    >>> escape_markdown("1. of &copy; folder:red"), escape_markdown(":smile:")
    ('1\\. of \\&copy; folder\\:red', ':\u2060smile:')
    """
    line = ICON.sub(rf"\g<0>{JOINER}", LINK.sub(rf"\g<0>{JOINER}", " ".join(str(text).split())))
    return FIRST.sub(r"\1\\", MARKUP.sub(r"\\\g<0>", line))
