"""The scores of a random order: what retrieval scores are read against."""

import numpy as np
import numpy.typing as npt

K = 10


def random_order(n: int, relevant: npt.ArrayLike) -> dict[str, float]:
    """Expected mAP, hit@10, MRR, nDCG@10 and AUC of a random order of n items, exact; the mean over the queries.

    `relevant` has the number R of relevant items of each query; queries without any are left out. The first relevant
    item is at rank k with probability C(n - k, R - 1) / C(n, R), and each of the first ten is relevant with R / n.
    Where an item is relevant, each of the k - 1 before it is with q = (R - 1) / (n - 1): the precision there is
    (1 + (k - 1) q) / k.

    >>> {name: round(value, 3) for name, value in random_order(100, [1, 0]).items()}
    {'map': 0.052, 'hit_10': 0.1, 'mrr': 0.052, 'ndcg_10': 0.045, 'auc_later': 0.5}
    """
    each = np.asarray(relevant, np.int64)
    each = each[each > 0]
    if not len(each):
        return dict.fromkeys(("map", "hit_10", "mrr", "ndcg_10", "auc_later"), float("nan"))
    R, queries = np.unique(each, return_counts=True)
    q = (each - 1) / max(1, n - 1)
    discounts = 1 / np.log2(np.arange(2, K + 2))
    rows = []
    for count in R:
        first = _first_rank(n, int(count))
        ranks = np.arange(1, len(first) + 1)
        gain = count / n * discounts[:n].sum() / discounts[:count].sum()
        rows.append(((first / ranks).sum(), gain))
    mrr, ndcg = np.array(rows).T
    return {
        "map": float(np.mean(q + (1 - q) * np.mean(1 / np.arange(1, n + 1)))),
        "hit_10": float(np.mean(_hit(n, each))),
        "mrr": float(np.average(mrr, weights=queries)),
        "ndcg_10": float(np.average(ndcg, weights=queries)),
        "auc_later": 0.5 if (R < n).any() else float("nan"),
    }


def _hit(n: int, R: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The probability that one of R relevant items is among the first ten, for each query."""
    if n <= K:
        return np.ones(len(R))
    places = np.arange(K)
    return np.asarray(1 - np.prod(np.clip((n - R[:, None] - places) / (n - places), 0, 1), axis=1))


def _first_rank(n: int, R: int) -> npt.NDArray[np.float64]:
    """The probability that the first relevant item is at rank 1, 2, ..., n - R + 1."""
    k = np.arange(1, n - R + 1)
    return np.asarray(R / n * np.cumprod(np.concatenate([[1.0], (n - k - R + 1) / (n - k)])))
