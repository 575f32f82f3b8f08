"""The features and parameters with which OH learns each built-in data set best.

`python3 -m ohash data --choose-defaults` measures them (`ohash.engine.choosing_defaults`) and writes the file beside
this one; a data set's declaration takes its entry: ``DatasetSpec(..., **chosen_defaults("rings"))``.
"""

import json
from pathlib import Path

from ohash.core.parameters import Settings
from ohash.runtime.files import write_file

FILE = Path(__file__).with_suffix(".json")
FEATURES = ("kernel", "normalize")  # fields of DatasetSpec; the other values are its `defaults`


def chosen_defaults(key: str) -> Settings:
    """The entry of a data set as fields of its DatasetSpec; nothing if none was chosen.

    >>> chosen_defaults("rings")["normalize"], chosen_defaults("no such set")
    (False, {})
    """
    entry = read_chosen_defaults().get(key)
    if entry is None:
        return {}
    values = entry["values"]
    fields = {name: values[name] for name in FEATURES if name in values}
    others = {name: value for name, value in values.items() if name not in FEATURES}
    return {**fields, "defaults": others, "defaults_note": entry["why"]}


def read_chosen_defaults() -> dict[str, Settings]:
    """Every entry of the file: what was chosen, and why."""
    entries: dict[str, Settings] = json.loads(FILE.read_text(encoding="utf-8"))
    return entries


def write_chosen_defaults(entries: dict[str, Settings]) -> None:
    """Write the file anew, sorted by key."""
    write_file(FILE, json.dumps(entries, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
