"""Files that are made when a button is pressed, and are still there when the browser fetches them.

Streamlit (1.67) makes such a file, sends its address, and forgets the file at the end of the second run of any script
or fragment after that. On a page that ticks several times per second this is before a slow browser has asked for it.
"""

import itertools
from collections.abc import Callable

from streamlit import runtime

MAX_KEPT = 16  # files of all visitors together; the newest replaces the oldest
_numbers = itertools.count()


def keep_download(make: Callable[[], str | bytes], name: str, mime: str) -> Callable[[], bytes]:
    """`make` for a download button with this file name and type, whose file outlives the next runs."""

    def made() -> bytes:
        data = make()
        content = data.encode() if isinstance(data, str) else data
        if runtime.exists():  # a file is known by its content, name and type: this is the one the browser is sent to
            runtime.get_instance().media_file_mgr.add(
                content, mime, f"ohash-download-{next(_numbers) % MAX_KEPT}", name, is_for_static_download=True
            )
        return content

    return made
