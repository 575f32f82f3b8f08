"""Who watches the same run shares what is drawn of it."""

from typing import Any, cast

from ohash.ui.session.broadcast import Drawings, LatestDrawings


def test_each_version_is_drawn_once_per_way_of_drawing() -> None:
    drawings, drawn = LatestDrawings(), []

    def get(version: str, how: str) -> str:
        return drawings.get(version, how, lambda: drawn.append(version + how) or version + how)  # type: ignore[func-returns-value]

    assert [get("a", "dark"), get("a", "light"), get("a", "dark"), get("b", "dark"), get("b", "dark")] == [
        "adark", "alight", "adark", "bdark", "bdark",
    ]  # fmt: skip
    assert drawn == ["adark", "alight", "bdark"]


def test_viewers_within_a_moment_see_the_same_snapshot() -> None:
    first, second = cast(Any, object()), cast(Any, object())
    drawings = Drawings()
    assert drawings.recent(first, 60) is first
    assert drawings.recent(second, 60) is first, "somebody got it a moment ago"
    assert drawings.recent(second, 0) is second
