"""The recording of the ten links: made once, compared ever after.

python3 -m tests.links.record            compute all ten and compare
python3 -m tests.links.record --texts    record the texts anew; refused if a number has changed
python3 -m tests.links.record --anew     record everything anew: numbers change only if that is wanted
"""

import argparse
import gzip
import json
import logging
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import llvmlite.binding as llvm
import scipy.linalg  # noqa: F401 (loads its BLAS)
from threadpoolctl import threadpool_info, threadpool_limits

from tests.links import page_results
from tests.links.json_values import differences, plain
from tests.links.ten_links import TEN, Link

FILE = Path(__file__).with_name("recorded.json.gz")
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
PARTS = ("numbers", "texts")


def machine() -> dict[str, str]:
    """What bits may depend on."""
    loaded = [one for one in threadpool_info() if one["user_api"] == "blas"]
    # those that compute here: other packages, which a test before may have imported, bring libraries of their own
    pools = [one for one in loaded if {"numpy.libs", "scipy.libs"} & set(Path(one["filepath"]).parts)] or loaded
    blas = {f"{one['internal_api']} {one.get('version')} {one.get('architecture')}" for one in pools}
    return {
        "machine": platform.machine(),
        "cpu": _cpu(),
        "blas": ", ".join(sorted(blas)),
        **{name: version(name) for name in PACKAGES},
    }


def recorded() -> dict[str, Any]:
    """The recording: machine, and numbers and texts by the name of the link."""
    found: dict[str, Any] = json.loads(gzip.decompress(FILE.read_bytes()))
    return found


def computed(link: Link) -> dict[str, Any]:
    """Numbers and texts of a link as JSON would bring them back, on one thread and away from anybody's data."""
    with _alone(), threadpool_limits(1, user_api="blas"):
        read = page_results.PAGES[link.page](link.address)
    return {part: json.loads(json.dumps(plain(getattr(read, part)))) for part in PARTS}


def compared(link: Link, known: dict[str, Any], found: dict[str, Any], *, exact: bool, part: str) -> list[str]:
    """What has changed in the numbers or the texts of a link, first things first."""
    apart = differences(known[part][link.name], found[part], exact=exact, path=(part,))
    return [f"{link.name} ({link.address[:100]}): {line}" for line in apart]


def main() -> int:
    """Compare or record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", action="store_true", help="record the texts anew")
    parser.add_argument("--anew", action="store_true", help="record everything anew")
    options = parser.parse_args()
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # a script without a browser is what is wanted here
    results = {}
    for link in TEN:
        since = time.process_time()
        results[link.name] = computed(link)
        print(f"{link.name:16} {time.process_time() - since:6.1f} s CPU", flush=True)
    if options.anew:
        _write({"machine": machine(), **{part: {name: one[part] for name, one in results.items()} for part in PARTS}})
        return 0
    known = recorded()
    exact = machine() == known["machine"]
    wanted = ("numbers",) if options.texts else PARTS
    apart = [
        line
        for link in TEN
        for part in wanted
        for line in compared(link, known, results[link.name], exact=exact, part=part)
    ]
    print("compared", "bit for bit" if exact else f"as far as another machine can agree: {machine()}")
    for line in apart[:50]:
        print(line)
    print(f"{len(apart)} differences")
    if options.texts and not apart and exact:
        _write({**known, "texts": {name: one["texts"] for name, one in results.items()}})
    elif options.texts:
        print("texts are recorded only where the recording was made, and while no number differs", file=sys.stderr)
        return 1
    return 1 if apart else 0


def _write(whole: dict[str, Any]) -> None:
    text = json.dumps(whole, indent=0, ensure_ascii=False)
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"wrote {FILE.name}, {FILE.stat().st_size / 1000:.0f} kB")


@contextmanager
def _alone() -> Iterator[None]:
    """No folder and no file that the environment names."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OHASH_")}
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {**kept, "OHASH_HOME": folder}, clear=True):
        yield


def _cpu() -> str:
    """The model, which ARM tells as numbers, and what LLVM takes it for."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    named = [fields[name] for name in ("model name", "CPU implementer", "CPU variant", "CPU part") if name in fields]
    return " ".join([*(named or [platform.processor()]), llvm.get_host_cpu_name()])


if __name__ == "__main__":
    sys.exit(main())
