"""The bootstrap intervals that the claims need of recorded cells, computed once."""

import tempfile
from dataclasses import replace
from pathlib import Path

from ohash.paper.claims import CLAIMS
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.protocol import Profile
from ohash.paper.recording import Recording, add_intervals, read_recording
from ohash.store.store import Store


def compute_intervals(recording: Recording, profile: Profile) -> dict[str, tuple[float, float]]:
    """Judge every claim that is about a figure, on the recorded cells alone."""
    with tempfile.TemporaryDirectory() as nothing:
        measured = Measurements(Store(nothing), profile, replace(recording, intervals={}))
        for claim in CLAIMS:
            if claim.figures:
                judge_claim(claim, measured)
    return dict(sorted(measured.intervals.items()))


def record_intervals(path: Path, profile: Profile) -> None:
    """Compute those of a recording that was just written, and keep them in its file."""
    recording = read_recording(path)
    assert recording is not None
    add_intervals(path, compute_intervals(recording, profile))
