"""What a result was made with: versions, machine, the commit of the code."""

import os
import platform
import subprocess
from functools import cache
from pathlib import Path

from ohash._version import __version__

PACKAGES = ("numpy", "numba", "scipy", "scikit-learn")


@cache
def environment() -> dict[str, str]:
    """Versions, CPU and commit, as text."""
    from importlib.metadata import version  # noqa: PLC0415

    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
        "cpu": _cpu(),
        "cores": str(os.cpu_count() or 1),
        "commit": _commit(),
        "ohash": __version__,
        **{name: version(name) for name in PACKAGES},
    }


def _cpu() -> str:
    """The name of the processor; /proc knows it on Linux, where `platform.processor` is often empty."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.lower().startswith(("model name", "cpu model"))]
    return names[0] if names else platform.processor() or platform.machine()


def _commit() -> str:
    """The commit of a checkout, with + if files were changed since; empty for an installed package."""
    folder = Path(__file__).parents[2]
    if not (folder / ".git").exists():
        return ""
    try:
        call = ["git", "-C", str(folder), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
        return subprocess.run(call, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):  # no git, or not ours
        return ""
