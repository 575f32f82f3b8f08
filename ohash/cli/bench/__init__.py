"""Measure speed on this machine, as ratios taken in one run.

Every line compares with something measured at the same time (the matrix product inside a step, a plain NumPy step,
faiss), on one thread, so that the ratios also hold on a busy machine.
"""

from ohash.cli.bench.command import add_arguments, run

__all__ = ["add_arguments", "run"]
