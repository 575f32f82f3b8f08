"""AdviceParams: one frozen object, and one link, for a question of learning or rotating."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ohash.core.parameters import Parameter, Parameters, param, parameter_table, seed_param
from ohash.engine.links import Limits, content_of, dataset_of, parse_values

FIRST_DATASET = "debian"
MARK = "advise"  # the key that tells a link to this page from one to an experiment


@dataclass(frozen=True)
class AdviceOptions(Parameters):
    """How much is measured."""

    queries: int = param(
        200, symbol="", title="queries per split", lo=1, hi=10_000, slider=(50, 1000), scale="log",
        help="Queries with later clicks that are sampled in each split; more make the intervals narrower.",
    )  # fmt: skip
    pairs: int = param(
        20_000, symbol="", title="pairs OH learns", lo=100, hi=10**7, slider=(1000, 10**6), scale="log",
        help="Pairs of the stream, clicks and sampled negatives, that Online Hashing learns in each split.",
    )  # fmt: skip
    splits: int = param(
        3, symbol="", title="splits", lo=1, hi=5, slider=(1, 5), step=1,
        help="Moments in time up to which clicks are learnt; fewer than three decide little.",
    )  # fmt: skip
    seed: int = seed_param("Draws rotations, queries and negatives.")


@dataclass(frozen=True)
class AdviceParams:
    """Everything an answer depends on: the data, of the user's own their fingerprint `content`, and the options.

    >>> AdviceParams("debian", options=AdviceOptions(queries=100)).to_query()
    {'dataset': 'debian', 'advise': '1', 'queries': '100'}
    """

    dataset: str = FIRST_DATASET
    content: str = ""
    options: AdviceOptions = AdviceOptions()

    def with_values(self, **values: Any) -> "AdviceParams":
        """With other options."""
        return replace(self, options=replace(self.options, **values))

    def to_query(self) -> dict[str, str]:
        """The link: what differs from the defaults, as text values."""
        query = {"dataset": self.dataset, MARK: "1"}
        for key, row in parameter_table(AdviceOptions).items():
            if getattr(self.options, key) != row.default:
                query[key] = row.format(getattr(self.options, key))
        return query | ({"content": self.content} if self.content else {})

    def key(self) -> str:
        """A short name; equal questions have equal keys."""
        return hashlib.sha256(json.dumps(self.to_query(), sort_keys=True).encode()).hexdigest()[:16]


def rows() -> dict[str, Parameter]:
    """The declared options."""
    return parameter_table(AdviceOptions)


def from_query(query: Mapping[str, str], limits: Limits | None = None) -> tuple[AdviceParams, list[str]]:
    """A question from a link, and messages about what was ignored or replaced."""
    problems: list[str] = []
    dataset = dataset_of(query, FIRST_DATASET, problems)
    values = parse_values(rows(), query, problems)
    if limits is not None and values.get("pairs", 0) > limits.pairs:
        problems.append(f"pairs must be at most {limits.pairs} on this server, got {values['pairs']}")
        values["pairs"] = limits.pairs
    return AdviceParams(dataset, content_of(query, dataset, problems), AdviceOptions(**values)), problems
