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
    facts = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    model = facts.get("model name") or facts.get("cpu model")
    if not model and "cpu part" in facts:  # ARM has numbers in place of a name, which LLVM knows
        from llvmlite.binding import get_host_cpu_name  # noqa: PLC0415 (slow to import)

        model = f"{platform.machine()} {get_host_cpu_name()}"
    return model or platform.processor() or platform.machine()


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
