"""The paper's evaluation, reproduced: its figures as sweeps, its claims as tests of what was measured.

`settings` are the data, `protocol` says how methods are run on them, `figures` are the sweeps, `measurements` reads
their cells from a store; `quality_claims` and `cost_claims` test them, `verdicts` turns effects with intervals into
verdicts, `findings` joins both, `claims` lists them; `recorded_results` are those that ship, `provenance` says which
numbers are recorded and with which code; `tables` writes text, LaTeX and BibTeX.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.paper.claims import CLAIMS
    from ohash.paper.figures import FIGURES, Figure
    from ohash.paper.findings import Claim, Finding, judge_claim
    from ohash.paper.measurements import Measurements
    from ohash.paper.protocol import PROFILES, Profile

__all__ = [
    "CLAIMS", "FIGURES", "PROFILES", "Claim", "Figure", "Finding", "Measurements", "Profile", "judge_claim",
]  # fmt: skip

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "claims": ("CLAIMS",),
        "figures": ("FIGURES", "Figure"),
        "findings": ("Claim", "Finding", "judge_claim"),
        "measurements": ("Measurements",),
        "protocol": ("PROFILES", "Profile"),
    },
)
