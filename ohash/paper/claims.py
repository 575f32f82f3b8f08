"""All claims of the paper that are tested here, each in our words with its place and its test.

`compute_intervals` judges them on recorded cells once, for the bootstrap intervals that they need of those.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from ohash.paper.cost_claims import COST_CLAIMS
from ohash.paper.findings import judge_claim
from ohash.paper.measurements import Measurements
from ohash.paper.method_claims import METHOD_CLAIMS
from ohash.paper.new_data_claims import NEW_DATA_CLAIMS
from ohash.paper.protocol import Profile
from ohash.paper.quality_claims import QUALITY_CLAIMS
from ohash.paper.recorded_results import Recording, add_intervals, read_recording
from ohash.paper.theory_claims import THEORY_CLAIMS
from ohash.store.store import Store

CLAIMS = (*METHOD_CLAIMS, *NEW_DATA_CLAIMS, *QUALITY_CLAIMS, *COST_CLAIMS, *THEORY_CLAIMS)


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
