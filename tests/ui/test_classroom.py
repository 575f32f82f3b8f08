"""The board of a class: the best per visitor, limited, and names that are only text."""

import pytest

from ohash.ui.session.classroom import (
    AWAY_SECONDS,
    LONGEST_NAME,
    LONGEST_PLACE,
    MAX_ENTRIES,
    MAX_ENTRIES_OF_VISITOR,
    RELOAD_SECONDS,
    Classroom,
)


def test_the_best_result_of_each_visitor_is_on_the_board_of_its_data():
    room = Classroom()
    assert "on the board" in room.enter("a", "  Ada \n L. ", 0.6, 48, "Digits")
    assert "stays" in room.enter("a", "Ada", 0.5, 8, "Digits")
    room.enter("b", "Bob", 0.7, 64, "Digits")
    room.enter("c", "Cy", 0.7, 32, "Digits")
    room.enter("c", "Cy", 0.9, 32, "Moons")
    assert [(one.name, one.score) for one in room.board("Digits")] == [("Cy", 0.7), ("Bob", 0.7), ("Ada L.", 0.6)]


def test_what_the_board_refuses():
    room = Classroom()
    assert "65 bits; the board takes at most 64" in room.enter("a", "A", 0.9, 65, "Digits")
    assert "Enter a name" in room.enter("a", " \n", 0.9, 8, "Digits")
    room.enter("a", "x" * 500, 0.1, 8, "Digits")
    assert len(room.board("Digits")[0].name) == LONGEST_NAME
    for number in range(MAX_ENTRIES - 1):
        room.enter(f"v{number}", "v", 0.5, 8, "Digits")
    assert "full" in room.enter("late", "L", 0.9, 8, "Digits")


def test_one_visitor_cannot_fill_the_board():
    room = Classroom()
    for number in range(MAX_ENTRIES):
        room.enter("a", "A", 0.5, 8, f"points that she painted, {number}")
    assert f"{MAX_ENTRIES_OF_VISITOR} entries" in room.enter("a", "A", 0.9, 8, "Digits")
    assert "on the board" in room.enter("a", "A", 0.9, 8, "points that she painted, 0")
    assert "on the board" in room.enter("b", "B", 0.5, 8, "Digits")


@pytest.mark.parametrize(
    "place", ["//evil.example/", "https://evil.example", "javascript:alert(1)", "/" * LONGEST_PLACE]
)
def test_a_class_is_led_to_pages_of_this_server_only(place):
    room = Classroom()
    with pytest.raises(ValueError, match="a path of this server"):
        room.lead(place, known=0)
    room.lead("/learn?r=3", known=0)
    assert room.now == ("/learn?r=3", 1)
    room.lead("", known=1)
    assert room.now == ("", 2)


def test_nobody_follows_a_page_that_has_gone():
    now = [0.0]
    room = Classroom(clock=lambda: now[0])
    assert room.place_to_follow == ""
    room.lead("/data", known=0)
    now[0] = AWAY_SECONDS - 1
    assert room.place_to_follow == "/data"
    room.keep_alive()
    now[0] += AWAY_SECONDS - 1
    assert room.place_to_follow == "/data", "it has said that it is still open"
    now[0] += 2
    assert room.place_to_follow == "" and room.now == ("/data", 1), "the lecturer may come back to it"
    room.keep_alive()
    assert room.place_to_follow == "/data"


def test_a_page_that_is_closed_is_followed_no_more_and_one_loaded_again_is():
    now = [100.0]
    room = Classroom(clock=lambda: now[0])
    assert not room.away, "nobody has led"
    room.lead("/data", known=0)
    room.leave()
    now[0] += RELOAD_SECONDS / 2
    assert room.place_to_follow == "/data" and not room.away
    room.keep_alive()
    now[0] += AWAY_SECONDS / 2
    assert room.place_to_follow == "/data", "it was loaded again"
    room.leave()
    now[0] += RELOAD_SECONDS
    assert room.place_to_follow == "" and room.away
    room.leave()
    room.lead("/data", known=1)
    assert room.place_to_follow == "/data" and not room.away, "she is back, in a new browser"
    room.lead("", known=1)
    assert not room.away, "she has stopped, not left"


def test_a_place_that_was_overtaken_does_not_undo_the_newer_one():
    room = Classroom()
    room.lead("/?beta=0.4", known=0)
    room.lead("/?beta=0.6", known=1)
    room.lead("/?beta=0.5", known=1)
    room.lead("/?beta=0.4", known=0)
    assert room.now == ("/?beta=0.6", 2)
    room.lead("/?beta=0.6", known=2)
    assert room.now == ("/?beta=0.6", 2), "the same place is no new one"
