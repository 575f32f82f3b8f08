"""BibTeX of several sources in one file, each entry once: BibTeX refuses a key that comes twice."""

import re
from collections.abc import Iterable


def bibliography(texts: Iterable[str]) -> str:
    r"""Every entry of the texts, in their order.

    >>> print(bibliography(["@misc{a,\n}", "@misc{b,\n}\n\n@misc{a,\n}", ""]), end="")
    @misc{a,
    }
    <BLANKLINE>
    @misc{b,
    }
    """
    entries = (entry.strip() for text in texts for entry in re.split(r"\n(?=@)", text))
    return "\n\n".join(dict.fromkeys(entry for entry in entries if entry)) + "\n"
