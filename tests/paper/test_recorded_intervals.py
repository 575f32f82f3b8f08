"""The bootstrap intervals that ship: the first visit to the Paper page needs no other, and they are right."""

from dataclasses import replace

import pytest
from scipy import stats

from ohash.paper.claims import CLAIMS, compute_intervals
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import FULL
from ohash.paper.recorded_results import read_recording
from ohash.store.store import Store


def shipped_findings(recording):
    """What a first visit to the Paper page judges, without theory and timings."""
    measured = Measurements(Store(), FULL, recording)
    return measured, [judge_claim(one, measured) for one in CLAIMS if one.figures]


@pytest.mark.slow
def test_the_shipped_intervals_spare_the_first_visit_every_bootstrap(monkeypatch):
    recording = read_recording()
    monkeypatch.setattr(stats, "bootstrap", lambda *_, **__: pytest.fail("record again: an interval is missing"))
    measured, findings = shipped_findings(recording)
    assert len(findings) > 40 and not any(finding.verdict == "not run yet" for finding in findings)
    assert measured.intervals == recording.intervals and len(recording.intervals) > 200


@pytest.mark.slow
def test_the_shipped_intervals_are_those_that_the_recorded_cells_give():
    recording = read_recording()
    computed = compute_intervals(recording, FULL)
    assert computed.keys() == recording.intervals.keys(), "nothing is missing, and nothing is left over"
    for key, ends in recording.intervals.items():
        assert ends == pytest.approx(computed[key], abs=1e-12)  # another machine sums in another order
    (_, shipped), (_, again) = (
        shipped_findings(replace(recording, intervals=one)) for one in (recording.intervals, computed)
    )
    for one, other in zip(shipped, again, strict=True):
        assert [(part.what, part.verdict) for part in one.parts] == [(part.what, part.verdict) for part in other.parts]
