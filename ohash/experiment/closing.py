"""What the codes of a run say by themselves when it closes."""

import numpy as np
import numpy.typing as npt

from ohash.evaluation.diagnostics import code_diagnostics
from ohash.models.base import HasherSpec

NAMES = ("balance", "mean_entropy", "correlation", "distinct")
CORRELATED = 4000  # rows over which bits are correlated


def code_numbers(codes: npt.NDArray[np.uint8], r: int, spec: HasherSpec) -> dict[str, float]:
    """Diagnostics by their names in METRICS; none for codes that are numbers, whose bits mean nothing one by one."""
    if not spec.hamming:
        return {}
    found = code_diagnostics(codes, r, correlation_rows=CORRELATED)
    return {name: float(getattr(found, name)) for name in NAMES}
