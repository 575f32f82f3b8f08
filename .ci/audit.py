"""Ask PyPI which versions of .ci/constraints.txt have known vulnerabilities, where pip-audit cannot.

pip-audit wants the page of each version. Some mirrors have only the page of a project, which tells of its newest one.
"""

import json
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PINS = [line.split("==") for line in Path(sys.argv[1]).read_text().split() if "==" in line]


def ask(name: str) -> tuple[str, dict[str, str]]:
    """The newest version, and what is known of it: identifier -> summary."""
    with urllib.request.urlopen(f"https://pypi.org/pypi/{name}/json", timeout=60) as answer:
        page = json.load(answer)
    known = [one for one in page["vulnerabilities"] if not one.get("withdrawn")]
    return page["info"]["version"], {one["id"]: one["summary"] or one["details"][:200] for one in known}


with ThreadPoolExecutor(8) as threads:
    answers = dict(zip((name for name, _ in PINS), threads.map(ask, (name for name, _ in PINS)), strict=True))
newest = [name for name, version in PINS if answers[name][0] == version]
others = [f"{name} {version} ({answers[name][0]})" for name, version in PINS if name not in newest]
bad = [f"{name} {answers[name][0]}: {key} {text}" for name in newest for key, text in answers[name][1].items()]
print("\n".join(bad) or f"{len(newest)} of {len(PINS)} versions are the newest, and have no known vulnerability")
if others:
    print(f"not asked, as PyPI tells here only of the newest: {', '.join(others)}")
sys.exit(bool(bad))
