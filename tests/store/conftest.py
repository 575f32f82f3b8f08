"""The small data set and the fixtures of runs."""

from tests.engine.fixtures import few_checkpoints, picture, runner_of, store, tiny

__all__ = ["few_checkpoints", "picture", "runner_of", "store", "tiny"]
