"""Whether pairs are drawn evenly."""

import numpy as np
from scipy import stats

from tests.streams.example_datasets import all_pairs


def uniform_p(drawn, wanted):
    """P-value of a chi-square test that ordered pairs `drawn` are uniform over `wanted`, both (i, j)."""
    names = {pair: at for at, pair in enumerate(zip(*(part.tolist() for part in wanted), strict=True))}
    counts = np.zeros(len(names))
    for pair in zip(*(part.tolist() for part in drawn), strict=True):
        counts[names[pair]] += 1  # KeyError: a pair that must not come
    return stats.chisquare(counts).pvalue


def kind_of(source, similar):
    i, j = all_pairs(source.pool)
    keep = source.is_similar(i, j) == similar
    return i[keep], j[keep]
