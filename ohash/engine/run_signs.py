"""What a snapshot shows of the health of a run: whether its score rose, and what its steps and codes look like."""

import math

import numpy as np

from ohash.engine.judge import truth_column
from ohash.engine.narrative import change_since_start
from ohash.engine.params import ExperimentParams, experiment
from ohash.engine.snapshot import Snapshot
from ohash.number_formats import percent
from ohash.streams import registry as datasets
from ohash.streams.drift import MOVING

HAD_TIME = 5_000  # pairs after which a score should have risen beyond its uncertainty
GOOD_START = 0.9  # a score that leaves little to gain
NEAR_CHANCE = 1.1  # times the mAP of a random order
ONE_SIDED = 0.75  # share of similar pairs, or of items relevant to a query
ALIKE = 0.85  # mean kernel value; with σ auto it is about exp(-2)
FEW_ANCHORS = 16  # below, more than the usual C helps nothing
CONSTANT = 0.99  # share of one value in a bit that tells nothing apart
CONSTANT_BITS = 0.1  # share of such bits
MOSTLY_ONE_VECTOR = 0.5  # share of items that have one vector


def sigma_is_wide(now: Snapshot) -> bool:
    """Whether a σ set by hand makes items look so alike that a larger C does not make up for it."""
    return now.params.features.sigma > 0 and now.numbers.get("mean_kernel", math.nan) > ALIKE


def has_few_anchors(now: Snapshot) -> bool:
    """Whether the kernel has so few anchors that steps are long because items differ little in them."""
    features = now.params.features
    return features.kernel == "rbf" and features.m < FEW_ANCHORS


def is_chosen(C: float, params: ExperimentParams) -> bool:
    """Whether C is what was measured to be best for the data set (`choosing_defaults`), with its own features."""
    spec = datasets.lookup(params.dataset)
    if spec is None or not spec.defaults_note or params.content:
        return False
    usual = experiment(params.dataset, params.method)
    return bool(getattr(usual.model, "C", None) == C and usual.features == params.features)


def is_mostly_one_vector(now: Snapshot) -> bool:
    """Whether half of the items have the same vector, which no setting can tell apart."""
    return now.numbers.get("same_vector", 0.0) >= MOSTLY_ONE_VECTOR


def score_rose(now: Snapshot) -> bool:
    """Whether the score has risen beyond its uncertainty."""
    n, column = now.numbers, truth_column(now.similar_by)
    has_both = math.isfinite(n.get(column, math.nan)) and math.isfinite(n.get(f"{column}_start", math.nan))
    return has_both and change_since_start(n, column) == "better"


def may_still_rise(now: Snapshot) -> bool:
    """Whether the score of a run that learns has not risen beyond its uncertainty, and had no time for it."""
    n, column = now.numbers, truth_column(now.similar_by)
    start, end = n.get(f"{column}_start", math.nan), n.get(column, math.nan)
    if not (n.get("updated", 0.0) and now.t < HAD_TIME and start < GOOD_START and math.isfinite(end)):
        return False
    return change_since_start(n, column) == "about as well"


def ranks_like_chance(now: Snapshot) -> bool:
    """Whether mAP is hardly above that of a random order."""
    return now.numbers.get("map", math.nan) <= min(NEAR_CHANCE * now.numbers.get("map_chance", math.nan), 0.95)


def mean_is_stale(now: Snapshot) -> bool:
    """Whether vectors have moved away from the mean that is subtracted: on purpose, or so that bits became constant."""
    center = getattr(now.params.model, "center", "ema")
    return center != "ema" and (now.params.drift.drift in MOVING or constant_bits(now) >= CONSTANT_BITS)


def constant_bits(now: Snapshot) -> float:
    """The share of bits that are the same in nearly all codes."""
    ones = now.bit_ones
    return float(np.mean(np.maximum(ones, 1 - ones) > CONSTANT)) if ones.size else 0.0


def wrong_answers(now: Snapshot) -> str:
    """What is wrong where noise flips answers on purpose."""
    return f"{percent(now.params.stream.noise)} of the answers are wrong"


def loss_ratio_error(now: Snapshot) -> float:
    """Half the width of the 95 % interval of ΣR over that of the frozen model; 0 without two rows.

    A ratio of sums: what each stretch between two rows has more than the ratio says is taken as independent.
    """
    total, frozen = now.columns.get("cum_R", np.empty(0)), now.columns.get("cum_R_frozen", np.empty(0))
    if len(total) < 2 or len(total) != len(frozen) or not frozen[-1] > frozen[0]:
        return 0.0
    learnt, kept = np.diff(total), np.diff(frozen)
    excess = learnt - kept * learnt.sum() / kept.sum()
    return float(1.96 * np.sqrt(excess @ excess) / kept.sum())


def median_step(now: Snapshot) -> float:
    """The median uncapped step of recent updates, in one digit; 0 without any."""
    steps = now.columns.get("ratio_q50", np.empty(0))
    steps = steps[np.isfinite(steps)]
    return float(f"{steps[-1]:.1g}") if len(steps) else 0.0


def loss_per_pair(now: Snapshot, start: int, stop: int) -> float:
    """The mean of R over pairs start to stop, from the rows that were kept; NaN without two of them."""
    pairs, total = now.columns["pairs"], now.columns.get("cum_R", np.empty(0))
    if len(pairs) < 2 or len(total) != len(pairs) or stop <= max(0, start):
        return math.nan
    a, b = np.interp([max(0, start), stop], pairs, total)
    return float((b - a) / (stop - max(0, start)))


def one_sided(now: Snapshot) -> str:
    """What is wrong where hardly anything is dissimilar, as if one class has nearly all items; "" elsewhere."""
    pairs, items = (now.numbers.get(name, 0.0) for name in ("similar_share", "map_chance"))
    if pairs > ONE_SIDED:
        return f"{percent(pairs)} of the pairs are similar, and few say what to keep apart"
    return f"{percent(items)} of the items are relevant to a query: little to tell apart" if items > ONE_SIDED else ""
