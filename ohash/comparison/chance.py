"""What a random order of the database reaches, and whether any code of a comparison is better than that."""

import math
from collections.abc import Sequence

import numpy as np

from ohash.comparison.equal_bytes import Code
from ohash.comparison.gaps import score_text
from ohash.comparison.results import ComparisonSnapshot
from ohash.evaluation.significance import half_width

BY_CHANCE = {"mrr": "MRR", "ndcg_10": "nDCG@10", "auc_later": "AUC"}


def _level(snapshot: ComparisonSnapshot) -> float:
    """The truth score of a random order, NaN if it is not known."""
    return snapshot.chance.get("map", math.nan) if snapshot.truth_column == "map" else snapshot.setup.chance


def chance_text(snapshot: ComparisonSnapshot) -> str:
    """The level of a random order, in brackets; "" if it is not known."""
    chance = _level(snapshot)
    if snapshot.truth_column == "map" or not math.isfinite(chance):
        return f" (chance {score_text(chance)})" if math.isfinite(chance) else ""
    others = [f"{name} {score_text(snapshot.chance[key])}" for key, name in BY_CHANCE.items() if key in snapshot.chance]
    more = f"; by chance also {', '.join(others)}" if others else ""
    return f" (chance {score_text(chance)}{more})"


def random_remark(snapshot: ComparisonSnapshot, codes: Sequence[Code]) -> str:
    """A remark if the 95 % interval over the queries of every code reaches down to the level of a random order.

    A random order does not vary with the seed, so one seed needs no wider interval here.
    """
    chance = _level(snapshot)
    each = [np.concatenate(list(code.each.values())) for code in codes if code.each]
    if not each or not math.isfinite(chance) or any(np.nanmean(one) - half_width(one) > chance for one in each):
        return ""
    return "No code here can be told apart from a random order"
