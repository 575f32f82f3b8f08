"""How much a visitor can make a server write into its log.

Streamlit and what it stands on write a line, or a traceback, for every message and upload that is damaged, asks for a
part of a page that is not there, or comes from another session. Where no more files can be opened asyncio writes
thousands of tracebacks a second, as long as somebody wants to connect.
"""

import logging
import time
from collections.abc import Callable

LINES_PER_MINUTE = 10
WRITERS = ("asyncio", "python_multipart", "streamlit", "uvicorn", "websockets")  # with all their modules


class LimitLines(logging.Filter):
    """A few lines a minute and how many were left out, so that no visitor fills the disk of a server with them."""

    def __init__(self, max_lines: int = LINES_PER_MINUTE, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` is replaced in tests."""
        super().__init__()
        self.max_lines, self._clock = max_lines, clock
        self._minute, self._lines = -1, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written; the first of a minute says how many were not before."""
        minute = int(self._clock() // 60)
        left_out = self._lines - self.max_lines
        if minute != self._minute:
            self._minute, self._lines = minute, 0
            if left_out > 0:
                record.msg = f"{record.msg} ({left_out:,} more lines like this were left out)"
        self._lines += 1
        return self._lines <= self.max_lines


class _Logger(logging.Logger):
    """A logger of a module that is loaded later, such as the one that reads uploads."""

    def __init__(self, name: str, level: int = logging.NOTSET) -> None:
        super().__init__(name, level)
        _limit(self)


def _limit(logger: logging.Logger) -> None:
    if logger.name.partition(".")[0] in WRITERS and not any(isinstance(one, LimitLines) for one in logger.filters):
        logger.addFilter(LimitLines())


def limit_log_lines() -> None:
    """From now on, whatever a visitor sends; of each logger that there is or will be."""
    logging.setLoggerClass(_Logger)
    for name in list(logging.root.manager.loggerDict):
        _limit(logging.getLogger(name))
