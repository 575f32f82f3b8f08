"""Drift detectors: they watch a stream of losses in [0, 1] and raise an alarm when its mean has risen.

A falling loss is learning, not drift, so no detector raises an alarm when the mean falls. Positions count from 0: an
alarm has the position of the value that raised it. Memory is bounded, and results do not depend on chunk sizes.
"""

from ohash.evaluation.drift_detectors.adwin import ADWIN, ADWINParams
from ohash.evaluation.drift_detectors.base import DriftDetector
from ohash.evaluation.drift_detectors.monitor import DriftMonitor
from ohash.evaluation.drift_detectors.page_hinkley import PageHinkley, PageHinkleyParams

__all__ = ["ADWIN", "ADWINParams", "DriftDetector", "DriftMonitor", "PageHinkley", "PageHinkleyParams"]
