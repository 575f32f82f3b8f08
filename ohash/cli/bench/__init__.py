"""Measure speed on this machine, as ratios taken in one run."""

from ohash.cli.bench.command import add_arguments, run

__all__ = ["add_arguments", "run"]
