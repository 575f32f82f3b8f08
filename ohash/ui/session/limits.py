"""How much this server takes on at most, as environment variables say it."""

import os
import sys


def limit(variable: str, usual: int) -> int:
    """The number that a variable gives; one that is none ends the server, which reads it when it starts, in one line.

    >>> limit("OHASH_MAX_NOTHING", 7)
    7
    """
    given = os.environ.get(variable, "").strip()
    if given and not (given.isascii() and given.isdecimal()):
        sys.exit(f"ohash: {variable} must be a whole number, got {given!r}")
    return int(given or usual)


MAX_RUNS = limit("OHASH_MAX_RUNS", 32)
MAX_RUNS_OF_VISITOR = limit("OHASH_MAX_RUNS_OF_VISITOR", 6)  # with the other four of five seeds
MAX_COMPARISONS = limit("OHASH_MAX_COMPARISONS", 8)
MAX_UPLOADS_MB = limit("OHASH_MAX_UPLOADS_MB", 2000)
MAX_UPLOADS_OF_VISITOR_MB = limit("OHASH_MAX_UPLOADS_OF_VISITOR_MB", 200)
