"""What guards the page against the races of fragments."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ohash.ui.workarounds import slots


@pytest.mark.parametrize(("fragments", "counted"), [(None, 1), ([], 1), (["live"], 0)])
def test_a_press_that_comes_with_a_fragment_is_not_counted(
    monkeypatch: Any, fragments: list[str] | None, counted: int
) -> None:
    monkeypatch.setattr(slots, "get_script_run_ctx", lambda: SimpleNamespace(fragment_ids_this_run=fragments))
    pressed: list[int] = []
    slots.once_per_press(pressed.append)(7)
    assert pressed == [7] * counted


def test_fragments_are_made_in_one_place() -> None:
    ui = Path(slots.__file__).parents[1]
    sources = [*ui.rglob("*.py"), *(ui.parent.parent / "pages").glob("*.py")]
    assert len(sources) > 20
    assert [one.name for one in sources if "st.fragment" in one.read_text()] == ["fragments.py"]


def test_callbacks_of_buttons_run_once() -> None:
    ui = Path(slots.__file__).parents[1]
    for one in ui.rglob("*.py"):
        for line in one.read_text().splitlines():
            if "on_click=" in line:
                assert "on_click=once_per_press(" in line or 'on_click="ignore"' in line, f"{one.name}: {line.strip()}"
