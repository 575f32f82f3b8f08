"""A widget shows the experiment's value, and only the widget that is there now may change it."""

from types import SimpleNamespace
from typing import Any

import pytest

from ohash.ui.workarounds import slots


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    state: dict[str, Any] = {}
    monkeypatch.setattr(slots, "st", SimpleNamespace(session_state=state))
    return state


def test_a_choice_is_taken_and_its_widget_stays(memory: dict[str, Any]) -> None:
    taken: list[float] = []
    first = slots.slot("C", 0.1)
    memory[first.key] = 0.5
    slots.on_choice(first, taken.append)()
    assert taken == [0.5]
    assert slots.slot("C", 0.5).key == first.key


def test_a_widget_that_was_replaced_says_nothing_any_more(memory: dict[str, Any]) -> None:
    """A preset moves C; a message that was under way still carries the old slider with its old value."""
    taken: list[float] = []
    first = slots.slot("C", 0.1)
    memory[first.key] = 0.1
    second = slots.slot("C", 1e-5)
    memory[second.key] = 1e-5
    assert second.key != first.key
    slots.on_choice(first, taken.append)()
    assert taken == [] and slots.slot("C", 1e-5).key == second.key
    memory[second.key] = 1e-4
    slots.on_choice(second, taken.append)()
    assert taken == [1e-4]
