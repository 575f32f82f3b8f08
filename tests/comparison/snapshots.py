"""Made-up standings with known answers."""

from dataclasses import replace

import numpy as np

from ohash.comparison.costs import Cost
from ohash.comparison.params import build_comparison
from ohash.comparison.results import ComparisonSnapshot, EvaluationSetup, MethodResult, Reference
from ohash.evaluation.ranking import retrieval

QUERIES = 200


def record(ap, recalls=None):
    codes = np.random.default_rng(0).integers(0, 256, (8, 2), dtype=np.uint8)
    scores = retrieval(codes[:2], codes, relevant=[[1], [2]], r=16)
    return type(scores)(
        **{
            **vars(scores),
            "ap": np.asarray(ap),
            "hits": {10: np.asarray(ap)},
            "map": float(np.nanmean(ap)),
            "neighbour_recall": recalls,
        }
    )


def with_recalls(now, recalls):
    """The same snapshot with these recalls@10, one per result."""
    results = []
    for one, recall in zip(now.results, recalls, strict=True):
        checkpoints = {**one.checkpoints, "recall_10": np.array([0.1, recall])}
        each = recall + centred(np.random.default_rng(len(results)).normal(0, 0.05, QUERIES))
        results.append(replace(one, checkpoints=checkpoints, record=replace(one.record, neighbour_recall=each)))
    return replace(now, results=tuple(results))


def centred(values):
    return values - values.mean()


def snapshot(maps, *, float_map=0.5, seeds=(0,), reranked=None, noise=0.05, shared=0, **values):
    """Methods with about these mAP, queries that agree with each other up to noise; seeds share some of them."""
    rng = np.random.default_rng(1)
    one = build_comparison("fashion", tuple(maps), seeds, sweep=False, **values)
    hardness = centred(rng.normal(0, 0.1, QUERIES))
    results = []
    for seed in seeds:
        for at, (entry, level) in enumerate(zip(one.entries, maps.values(), strict=True)):
            ap = level + hardness + centred(rng.normal(0, noise, QUERIES)) + 0.01 * seed * (at == 0)
            points = np.array([0.0, 500.0, 1000.0])
            checkpoints = {name: np.full(3, 0.3) for name in ("recall_10", "recomputed", "cpu_learn", "cpu_encode")}
            checkpoints |= {
                name: np.full(3, level) for name in ("map_low", "map_high", "precision_10", "recall_100", "mrr")
            }
            others = ("map_low", "map_high", "precision_10", "recall_100", "mrr", "ndcg_10", "auc_later")
            checkpoints |= {name: np.full(3, level) for name in others}
            checkpoints |= {name: np.array([0.2, level, ap.mean()]) for name in ("map", "hit_10")}
            checkpoints |= {"pairs": points, "flipped": np.zeros(3)}
            near = (reranked or {}).get(entry.method, {1: 0.3, 2: 0.4, 4: 0.5, 16: 0.8})
            params = one.experiment(entry, seed)
            ranking = record(ap, 0.3 + centred(rng.normal(0, noise, QUERIES)))
            results.append(MethodResult(at, seed, 1000, "done", "", params, checkpoints, ranking, 64, 8, near))
    rows = {seed: np.r_[:shared, QUERIES * (seed + 1) : QUERIES * (seed + 2) - shared] for seed in seeds}
    references = tuple(
        Reference(seed, dict.fromkeys(("map", "hit_10"), float_map + hardness), rows[seed]) for seed in seeds
    )
    setup = EvaluationSetup("Fashion", 2500, 512, "cosine", "label", QUERIES, 20_000, True)
    cost = Cost(64, 8.0, (1e-4, 2e-4), (1e-3, 2e-3), 1e4, 0.5)
    costs = (*(cost for _ in maps), cost)
    return ComparisonSnapshot(one, one.entries, "done", "", 1000, 1000, tuple(results), references, costs, setup=setup)
