"""Durations and places in words."""

import math


def duration(seconds: float) -> str:
    """A duration as a person says it.

    >>> duration(42), duration(200), duration(8000), duration(200_000), duration(float("nan"))
    ('42 s', '3 min', '2.2 h', '2.3 days', 'unknown')
    """
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86_400 else f"{seconds / 86_400:.1f} days"
