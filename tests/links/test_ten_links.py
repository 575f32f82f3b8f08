"""Ten links show what they showed when they were recorded.

On the machine and with the libraries of the recording everything is the same bit for bit. Elsewhere the last digits of
BLAS differ, and so do sums over vectors of another width; a bit of a code on the border then falls the other way, and a
model that learns from it goes its own way from there. So elsewhere only this is asked: the same keys, shapes and
counts, the same words wherever no fraction stands between them, and scores within 0.03. What near ties decide, which
model learns what and what a chart draws of it, is not.
"""

import copy
import math

import pytest

from tests.links.json_values import differences
from tests.links.record import FILE, PARTS, compared, computed, machine, recorded
from tests.links.ten_links import TEN, Link

QUICK, *LONG = TEN  # a number that a run gains shows in the first at once


@pytest.mark.parametrize(
    "link", [QUICK, *(pytest.param(link, marks=pytest.mark.slow) for link in LONG)], ids=lambda link: link.name
)
def test_a_link_shows_what_it_showed(link: Link) -> None:
    known, now = recorded(), computed(link)
    exact = machine() == known["machine"]
    apart = [line for part in PARTS for line in compared(link, known, now, exact=exact, part=part)]
    assert not apart, "\n".join([f"{len(apart)} differences", *apart[:10]])


def test_there_are_two_links_a_page_and_all_of_them_are_recorded() -> None:
    pages = [link.page for link in TEN]
    assert {page: pages.count(page) for page in pages} == dict.fromkeys(pages, 2) and len(pages) == 10
    known = recorded()
    assert all(list(known[part]) == [link.name for link in TEN] for part in PARTS)
    assert FILE.stat().st_size < 300_000


def test_one_unit_in_the_last_place_is_found_and_named() -> None:
    known = recorded()["numbers"]["live-changes"]
    other = copy.deepcopy(known)
    assert not list(differences(known, other, exact=True))
    other["numbers"]["map"] = math.nextafter(known["numbers"]["map"], 1.0)
    (line,) = differences(known, other, exact=True)
    assert line.startswith("numbers / map: recorded 0.")
    assert not list(differences(known, other, exact=False)), "elsewhere that is near enough"


def test_elsewhere_a_score_may_be_near_and_a_key_a_shape_or_a_count_may_not_differ() -> None:
    known = {"map": 0.5, "cum_R": 10.0, "t": 300, "codes": [1], "link": "r=32", "words": "mAP 0.500", "c": [1.0, 2.0]}

    def apart(**changed: object) -> bool:
        return bool(list(differences(known, {**known, **changed}, exact=False)))

    assert not apart(map=0.52) and apart(map=0.54) and apart(map=math.nan)
    assert not apart(cum_R=11.0) and not apart(codes=[2]) and not apart(words="mAP 0.510")
    assert apart(t=301) and apart(link="r=33") and apart(c=[1.0]) and apart(more=1)
