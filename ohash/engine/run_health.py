"""The health of a run: a short list of computed findings, each with what to do about it and the setting that does it.

A run is judged only after it had a chance: MIN_PAIRS pairs and MIN_UPDATES updates, and HAD_TIME pairs for its score to
rise. Of one that has ended before, all that is judged is whether its score fell. Thresholds are far from what healthy
runs of the embedded data show.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.narrative import change_since_start, change_text
from ohash.engine.params import ExperimentParams, experiment
from ohash.engine.snapshot import Snapshot
from ohash.number_formats import percent
from ohash.streams import registry as datasets
from ohash.streams.drift import MOVING

Health = Literal["early", "short", "healthy", "look", "ill", "failed"]
MIN_PAIRS, MIN_UPDATES = 2_000, 200
CAPPED = 0.95  # share of recent updates whose step is C
HAD_TIME = 5_000  # pairs after which a score should have risen beyond its uncertainty
GOOD_START = 0.9  # a score that leaves little to gain
ABOVE_FROZEN = 1.0  # times the loss of the model that never learns, beyond the uncertainty of that ratio
HARDLY_ABOVE = 1.02  # times that loss, which is no matter while the score rises beyond its uncertainty
USUAL_BETA = 0.3, 0.7, 0.5  # from, to, and what to try outside
NEAR_CHANCE = 1.1  # times the mAP of a random order
SAME_AS_CHANCE = 0.55  # pair-AUC of recent pairs
ONE_SIDED, BALANCED = 0.75, 0.5  # share of similar pairs, or of items relevant to a query; and what to try then
IDLE_BITS = 0.25  # share of bits that no update has moved, after MIN_UPDATES updates per bit
ALIKE = 0.85  # mean kernel value; with σ auto it is about exp(-2)
TIES = 0.2  # mAP between relevant last and relevant first in ties
FEW_ANCHORS, MORE_ANCHORS, USUAL_C = (
    16,
    64,
    0.1,
)  # below, more than the usual C helps nothing; what to try
FEW_BITS, MORE_BITS = 8, 32  # too few codes to tell items apart, and what to try then
COLLAPSED = "codes have collapsed: many items share one"
GAP = {"float64": 1e-9}  # of the certificate; elsewhere 1e-3
CONSTANT = 0.99  # share of one value in a bit that tells nothing apart
CONSTANT_BITS = 0.1  # share of such bits
RECOVERED = 1.25  # times the loss per pair before R rose again
RECENT, BEFORE = 1_000, 3_000  # pairs over which R is taken now, and before its rise, which took up to RECENT pairs
RANKS_LIKE_CHANCE = "codes rank like chance"
STALE_MEAN = "the stream has changed, and the mean of its vectors with it: centre them by a mean that forgets"
CAPPED_UPDATES, KERNEL_VALUE, TIED = "updates capped by C", "mean kernel value", "ties"
SAME_VECTOR, HAVE_ONE, MOST_HAVE_ONE = "items with one vector", 0.1, 0.5  # share of items, which all get one code
REPEATED = 0.5  # share of items whose vector another one has, too, which explains ties
TOO_MANY_HAVE_ONE = "too many items have one vector"


@dataclass(frozen=True)
class Remedy:
    """A setting that a finding asks for."""

    key: str
    value: Any


@dataclass(frozen=True)
class Finding:
    """One sign of health: what was measured, whether it is fine, what to do, and the setting that does it.

    What is not `judged` is a fact to know, neither good nor bad. `silenced` counts the complaints that only follow.
    """

    title: str
    value: str
    fine: bool
    advice: str = ""
    remedy: Remedy | None = None
    judged: bool = True
    silenced: int = 0


def findings(now: Snapshot) -> list[Finding]:
    """Everything the health dot stands for, with one button per setting."""
    drift = _drift(now)
    risen = bool(drift) and not drift[0].fine
    stale = risen and _mean_is_stale(now)
    codes = _codes(now, stale)
    learning = _learning(now, _cause(codes))
    if stale:
        drift = [replace(drift[0], advice=STALE_MEAN, remedy=Remedy("center", "ema"))]
    elif risen and (capped := [one for one in learning if one.title == CAPPED_UPDATES and not one.fine]):
        of_C = capped[0].remedy is not None and capped[0].remedy.key == "C"
        how = "with a larger C it takes fewer pairs to learn it" if of_C else "steps that are capped learn it slowly"
        drift = [replace(drift[0], advice=f"the stream has changed: {how}")]
    edges = now.params.drift.boundaries
    changed = risen or bool(edges and now.t > edges[0])
    scores = _scores(now, changed, _cause([*learning, *codes]))
    signs = _of_one_cause([*_numerics(now), *learning, *scores, *drift, *codes])
    offered: set[str] = set()
    for at, one in enumerate(signs):
        if one.remedy is not None and one.remedy.key in offered:
            signs[at] = replace(one, remedy=None)
        elif one.remedy is not None:
            offered.add(one.remedy.key)
    return signs


def _of_one_cause(signs: list[Finding]) -> list[Finding]:
    """A kernel whose values are all near 0 or 1 tells no items apart: what is wrong may follow, but for the data."""
    if all(one.fine for one in signs if one.title == KERNEL_VALUE):
        return signs
    kept = [one for one in signs if one.fine or one.title in (KERNEL_VALUE, SAME_VECTOR)]
    silenced = len(signs) - len(kept)
    return [replace(one, silenced=silenced) if one.title == KERNEL_VALUE else one for one in kept]


def _cause(signs: list[Finding]) -> str:
    """Why a score does not rise, if other findings say so; "" otherwise."""
    wrong = {one.title: one for one in signs if not one.fine}
    if CAPPED_UPDATES in wrong:
        return "its steps are capped by C"
    if TIED in wrong and wrong[TIED].remedy is not None:
        return "so few bits tell little apart"
    return ""


def complaints(now: Snapshot) -> list[Finding]:
    """The findings that are not fine."""
    return [finding for finding in findings(now) if not finding.fine]


def health(now: Snapshot, wrong: list[Finding] | None = None) -> Health:
    """One dot for all complaints, given if they are known; a run that is too short to judge is not called healthy."""
    if now.state == "error":
        return "failed"
    bad = sum(1 + one.silenced for one in (complaints(now) if wrong is None else wrong))
    if bad == 0:
        too_short: Health = "short" if now.state == "done" else "early"
        return "healthy" if now.t >= MIN_PAIRS and not _may_still_rise(now) else too_short
    return "look" if bad == 1 else "ill"


def _finding(title: str, value: str, fine: bool, advice: str, remedy: Remedy | None = None) -> Finding:
    return Finding(title, value, fine, "" if fine else advice, None if fine else remedy)


def _numerics(now: Snapshot) -> list[Finding]:
    n, signs = now.numbers, []
    gap = n.get("gap", math.nan)
    if math.isfinite(gap):
        limit = GAP.get(getattr(now.params.model, "dtype", ""), 1e-3)
        advice = "float32 has drifted: run in float64 to be sure"
        signs.append(_finding("certificate gap", f"{gap:.1e}", gap < limit, advice, Remedy("dtype", "float64")))
    if "required_C" in n and math.isfinite(n["required_C"]):
        share = n.get("share_C", 1.0)
        value = f"{n['required_C']:.2g}, met at {percent(share)} of updates"
        signs.append(Finding("C required by the bound", value, True, judged=False))
    degenerate = n.get("degenerate", 0.0) / max(1, now.t)
    advice = "zero vectors: look at the Data page"
    signs.append(_finding("degenerate pairs", percent(degenerate), degenerate < 0.01, advice))
    if "same_vector" in n:
        same, zero = n["same_vector"], n["zero_vectors"]
        value = f"{percent(same)}{', a zero vector' if 0 < same == zero else ''}"
        ask = "leave out or fill in what is zero" if same == zero else "does it stand for missing ones?"
        advice = f"they all get one code, and no setting tells them apart: {ask}"
        signs.append(_finding(SAME_VECTOR, value, same < HAVE_ONE, advice))
    kernel = n.get("mean_kernel", math.nan)
    if math.isfinite(kernel):
        remedy: Remedy | None
        fine, value = 1e-3 <= kernel <= 0.99, f"{kernel:.3f}"
        if not fine:
            value += ": all near 0, so no two items look alike" if kernel < 0.5 else ": all near 1, so all look alike"
        if kernel > 0.5 and _is_mostly_one_vector(now):
            advice, remedy = TOO_MANY_HAVE_ONE, None
        elif now.params.features.sigma:
            advice, remedy = "set σ to auto", Remedy("sigma", 0.0)
        else:
            advice, remedy = "σ is auto already: use no kernel", Remedy("kernel", "none")
        signs.append(_finding(KERNEL_VALUE, value, fine, advice, remedy))
    return signs


def _learning(now: Snapshot, cause: str) -> list[Finding]:
    """Steps, loss and recent pairs; `cause` is what the codes say is wrong."""
    n, signs = now.numbers, []
    if now.t < MIN_PAIRS:
        return []
    moved = n.get("updated", 0.0)
    C = getattr(now.model_at(now.t), "C", None)
    # Where the truth is the distance itself, short steps keep more of it: word vectors learn best with all capped.
    follows_labels = now.similar_by not in ("metric", "topk")
    if C is not None and moved >= MIN_UPDATES and "clipped_rate" in now.columns and follows_labels:
        capped = n["clipped_rate"]
        advice = f"raise C above {C:g}: hardly any step is as long as its pair asks for"
        larger = float(f"{2 * median_step(now):.1g}")  # with it most steps are taken in full
        remedy = Remedy("C", larger) if larger > C else None
        if _sigma_is_wide(now):
            advice = f"σ = {now.params.features.sigma:g} is wide, so all items look alike: set σ to auto"
            remedy = Remedy("sigma", 0.0)
        elif C >= USUAL_C and _has_few_anchors(now):
            advice = f"{now.params.features.m} anchors tell too little apart, and a larger C does not help: use more"
            remedy = Remedy("m", MORE_ANCHORS)
        value = f"{percent(capped)} of recent ones"
        if capped >= CAPPED and _is_chosen(C, now.params):
            chosen = f"{value}; C = {C:g} was chosen for this data set; no larger one that was tried is clearly better"
            signs.append(Finding(CAPPED_UPDATES, chosen, True, judged=False))
        else:
            signs.append(_finding(CAPPED_UPDATES, value, capped < CAPPED, advice, remedy))
    if n.get("cum_R_frozen", 0.0) > 0 and moved:
        ratio = n["cum_R"] / n["cum_R_frozen"]
        noisy = now.params.stream.noise > 0
        one_sided = _one_sided(now)
        reason = one_sided or (TOO_MANY_HAVE_ONE if _is_mostly_one_vector(now) else cause)
        why = _wrong_answers(now) if noisy else reason or "try another β, or check what the pairs call similar"
        remedy = (None if noisy else _more_dissimilar(now)) or _settings(now)
        if not (noisy or reason or remedy or follows_labels) and C is not None:
            why, remedy = "random codes keep the distance already, and a smaller C costs less", _shorter_steps(now, C)
        advice = f"learning costs more than not learning: {why}"
        value = f"{ratio:.{2 if abs(ratio - 1) > 0.01 else 4}f} times that of the first codes"
        fine = ratio <= ABOVE_FROZEN + loss_ratio_error(now)
        if not fine and ratio < HARDLY_ABOVE and _score_rose(now):
            fine, value = True, f"{value}, while {TRUTH_SCORES[truth_column(now.similar_by)]} has risen"
        signs.append(_finding("cumulative loss", value, fine, advice, remedy))
    auc = n.get("auc", math.nan)
    if math.isfinite(auc):
        advice = "similar and dissimilar pairs are not told apart: are the labels noisy, or the features too poor?"
        remedy = None
        if now.params.stream.noise > 0:
            advice, remedy = f"{advice.partition(':')[0]}: {_wrong_answers(now)}", Remedy("noise", 0.0)
        elif _one_sided(now):
            advice, remedy = f"{advice.partition(':')[0]}: {_one_sided(now)}", _more_dissimilar(now)
        elif _is_mostly_one_vector(now):
            advice = f"{advice.partition(':')[0]}: {TOO_MANY_HAVE_ONE}"
        signs.append(_finding("pair-AUC of recent pairs", f"{auc:.2f}", auc > SAME_AS_CHANCE, advice, remedy))
    return signs


def _sigma_is_wide(now: Snapshot) -> bool:
    """Whether a σ set by hand makes items look so alike that a larger C does not make up for it."""
    return now.params.features.sigma > 0 and now.numbers.get("mean_kernel", math.nan) > ALIKE


def _has_few_anchors(now: Snapshot) -> bool:
    """Whether the kernel has so few anchors that steps are long because items differ little in them."""
    features = now.params.features
    return features.kernel == "rbf" and features.m < FEW_ANCHORS


def _shorter_steps(now: Snapshot, C: float) -> Remedy | None:
    """Half the median step, unless the score has risen with the long ones."""
    smaller = float(f"{median_step(now) / 2:.1g}")
    return Remedy("C", smaller) if 0 < smaller < C and not _score_rose(now) else None


def _is_chosen(C: float, params: ExperimentParams) -> bool:
    """Whether C is what was measured to be best for the data set (`choosing_defaults`), with its own features."""
    spec = datasets.lookup(params.dataset)
    if spec is None or not spec.defaults_note or params.content:
        return False
    usual = experiment(params.dataset, params.method)
    return bool(getattr(usual.model, "C", None) == C and usual.features == params.features)


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
    """The median of the steps that recent updates asked for, in one digit; 0 without any."""
    steps = now.columns.get("ratio_q50", np.empty(0))
    steps = steps[np.isfinite(steps)]
    return float(f"{steps[-1]:.1g}") if len(steps) else 0.0


def _wrong_answers(now: Snapshot) -> str:
    return f"{percent(now.params.stream.noise)} of the answers are wrong"


def _one_sided(now: Snapshot) -> str:
    """What is wrong where hardly anything is dissimilar, as if one class has nearly all items; "" elsewhere."""
    pairs, items = (now.numbers.get(name, 0.0) for name in ("similar_share", "map_chance"))
    if pairs > ONE_SIDED:
        return f"{percent(pairs)} of the pairs are similar, and few say what to keep apart"
    return f"{percent(items)} of the items are relevant to a query: little to tell apart" if items > ONE_SIDED else ""


def _is_mostly_one_vector(now: Snapshot) -> bool:
    return now.numbers.get("same_vector", 0.0) >= MOST_HAVE_ONE


def _more_dissimilar(now: Snapshot) -> Remedy | None:
    """As many dissimilar pairs as similar ones, where the stream can draw them so."""
    few = now.numbers.get("similar_share", 0.0) > ONE_SIDED
    any_share = now.similar_by in ("label", "track") or now.params.stream.order not in ("time", "once")
    return Remedy("similar_share", BALANCED) if few and any_share else None


def _score_rose(now: Snapshot) -> bool:
    n, column = now.numbers, truth_column(now.similar_by)
    has_both = math.isfinite(n.get(column, math.nan)) and math.isfinite(n.get(f"{column}_start", math.nan))
    return has_both and change_since_start(n, column) == "better"


def _may_still_rise(now: Snapshot) -> bool:
    """Whether the score of a run that learns has not risen beyond its uncertainty, and had no time for it."""
    n, column = now.numbers, truth_column(now.similar_by)
    start, end = n.get(f"{column}_start", math.nan), n.get(column, math.nan)
    if not (n.get("updated", 0.0) and now.t < HAD_TIME and start < GOOD_START and math.isfinite(end)):
        return False
    return change_since_start(n, column) == "about as well"


def _scores(now: Snapshot, changed: bool, cause: str) -> list[Finding]:
    """Whether the score has risen by more than its uncertainty, which the headline says in the same words.

    `changed` says that the stream has changed since the start, `cause` what another finding says is wrong.
    """
    n, signs = now.numbers, []
    column = truth_column(now.similar_by)
    start, end = n.get(f"{column}_start", math.nan), n.get(column, math.nan)
    if not (math.isfinite(start) and math.isfinite(end) and n.get("updated", 0.0)):
        return []
    change = change_since_start(n, column)
    if now.t < MIN_PAIRS and not (now.state == "done" and change == "worse"):
        return []
    had_time = now.t >= HAD_TIME and start < GOOD_START
    value = f"{start:.3f} at the start, {end:.3f} now: {change_text(n, column)}"
    seen = "it is below its start" if change == "worse" else "it has not risen beyond its uncertainty"
    advice = f"{seen}: {_to_try(now)}" if _to_try(now) else seen
    if now.params.stream.noise > 0:
        advice = f"{seen}: {_wrong_answers(now)}"
    elif changed:
        advice = f"{seen}: the stream has changed"
    elif cause:
        advice = f"{seen}: {cause}"
    elif _one_sided(now):
        advice = f"{seen}: {_one_sided(now)}"
    elif _is_mostly_one_vector(now):
        cause = TOO_MANY_HAVE_ONE
        advice = f"{seen}: {cause}"
    elif change != "worse" and now.similar_by in ("metric", "topk"):
        advice = f"{seen}; random codes keep the distance already"
    elif _ranks_like_chance(now) and _features(now) is not None:
        advice = f"{seen}: {RANKS_LIKE_CHANCE}"
    fine = change == "better" or (change == "about as well" and not had_time)
    own = [reason for reason in (cause, RANKS_LIKE_CHANCE) if reason and advice.endswith(reason)]
    remedy = None if own else _settings(now)  # the cause has its own
    if _one_sided(now) and advice.endswith(_one_sided(now)):
        remedy = _more_dissimilar(now) or remedy
    signs.append(replace(_finding(TRUTH_SCORES[column], value, fine, advice, remedy), judged=not _may_still_rise(now)))
    chance = n.get("map_chance", math.nan)
    if now.t >= MIN_PAIRS and math.isfinite(chance) and math.isfinite(n.get("map", math.nan)):
        same = TOO_MANY_HAVE_ONE if _is_mostly_one_vector(now) else ""
        advice = f"{RANKS_LIKE_CHANCE}: {_one_sided(now) or same or _other_features(now)}"
        fine, remedy = not _ranks_like_chance(now), None if same else _features(now)
        signs.append(_finding("mAP of a random order", f"{chance:.3f}", fine, advice, remedy))
    return signs


def _ranks_like_chance(now: Snapshot) -> bool:
    return now.numbers.get("map", math.nan) <= min(NEAR_CHANCE * now.numbers.get("map_chance", math.nan), 0.95)


def _settings(now: Snapshot) -> Remedy | None:
    """Right answers where some are wrong on purpose, the usual β where another was chosen, a kernel where none is."""
    if now.params.stream.noise > 0:  # no C from 0.001 to 0.1 made up for noise of 0.3 and more
        return Remedy("noise", 0.0)
    lo, hi, usual = USUAL_BETA
    beta = getattr(now.model_at(now.t), "beta", usual)
    if not lo <= beta <= hi:
        return Remedy("beta", usual)
    labelled = now.similar_by not in ("metric", "topk")
    return Remedy("kernel", "rbf") if now.params.features.kernel == "none" and labelled else None


def _to_try(now: Snapshot) -> str:
    """The settings that this run has, in words: no kernel where one is on, and no β or C of a method without."""
    model = now.model_at(now.t)
    named = [symbol for key, symbol in (("beta", "β"), ("C", "C")) if hasattr(model, key)]
    if now.params.features.kernel == "rbf":
        named.append("σ")
    tried = [f"another {' or '.join(part for part in (', '.join(named[:-1]), *named[-1:]) if part)}"] if named else []
    if now.params.features.kernel != "rbf" and now.similar_by not in ("metric", "topk"):
        tried.append("a kernel")
    return f"try {', or '.join(tried)}" if tried else ""


def _other_features(now: Snapshot) -> str:
    """What is left to try of the features, in words."""
    features = now.params.features
    left = ["try a kernel"] if features.kernel != "rbf" else []
    if features.normalize and features.kernel != "given":
        left.append("switch unit length off")
    if left:
        return ", or ".join(left)
    return _wrong_answers(now) if now.params.stream.noise > 0 else "the features do not tell the labels apart"


def _features(now: Snapshot) -> Remedy | None:
    """Other features: a kernel where there is none, or the vectors' own lengths; nothing if both are tried."""
    features = now.params.features
    if features.kernel == "none":
        return Remedy("kernel", "rbf")
    return Remedy("normalize", False) if features.kernel == "rbf" and features.normalize else None


def _drift(now: Snapshot) -> list[Finding]:
    """R has risen again, and has not come back to what it was."""
    alarms = now.alarms.get("page_hinkley_R", ())
    if not alarms:
        return []
    at = alarms[-1]
    before, after = loss_per_pair(now, at - RECENT - BEFORE, at - RECENT), loss_per_pair(now, at, now.t)
    recent = loss_per_pair(now, max(at, now.t - RECENT), now.t)
    fine = bool(recent <= RECOVERED * before or not math.isfinite(before + after))
    value = f"R rose again near pair {at:,}" + (", and has come down since" if fine else "")
    advice = "the stream has changed: only more pairs teach it again, no setting does"
    return [_finding("drift", value, fine, advice)]


def _mean_is_stale(now: Snapshot) -> bool:
    """Whether vectors have moved away from the mean that is subtracted: on purpose, or so that bits became constant."""
    center = getattr(now.params.model, "center", "ema")
    return center != "ema" and (now.params.drift.drift in MOVING or _constant_bits(now) >= CONSTANT_BITS)


def loss_per_pair(now: Snapshot, start: int, stop: int) -> float:
    """The mean of R over pairs start to stop, from the rows that were kept; NaN without two of them."""
    pairs, total = now.columns["pairs"], now.columns.get("cum_R", np.empty(0))
    if len(pairs) < 2 or len(total) != len(pairs) or stop <= max(0, start):
        return math.nan
    a, b = np.interp([max(0, start), stop], pairs, total)
    return float((b - a) / (stop - max(0, start)))


def _constant_bits(now: Snapshot) -> float:
    """The share of bits that are the same in nearly all codes."""
    ones = now.bit_ones
    return float(np.mean(np.maximum(ones, 1 - ones) > CONSTANT)) if ones.size else 0.0


def _codes(now: Snapshot, stale_mean: bool) -> list[Finding]:
    n, signs = now.numbers, []
    if "map_low" in n and math.isfinite(n["map_low"]):
        spread = n["map_high"] - n["map_low"]
        value = f"mAP between {n['map_low']:.3f} and {n['map_high']:.3f}"
        few = n.get("bits", math.inf) <= FEW_BITS
        advice = f"{2 ** n['bits']:.0f} codes are all there can be: use more bits" if few else COLLAPSED
        if not few and max(n.get("same_vector", 0.0) / HAVE_ONE, n.get("repeated_vectors", 0.0) / REPEATED) >= 1:
            advice = f"{COLLAPSED}, since they have one vector"
        signs.append(_finding(TIED, value, spread < TIES, advice, Remedy("r", MORE_BITS) if few else None))
    updates = now.bit_updates
    if updates.size and updates.sum() >= MIN_UPDATES * updates.size:
        idle = float(np.mean(updates == 0))
        signs.append(_finding("bits that never moved", percent(idle), idle < IDLE_BITS, "fewer bits would do the same"))
    if now.bit_ones.size and now.t >= MIN_PAIRS:
        constant = _constant_bits(now)
        advice, remedy = "these bits tell nothing apart: fewer bits would do the same", None
        if stale_mean:
            advice = "these bits tell nothing apart, since the mean of the vectors has changed"
        elif getattr(now.params.model, "center", "") == "none":
            advice = "these bits tell nothing apart: centre the vectors, or use fewer bits"
            remedy = Remedy("center", "frozen")
        signs.append(
            _finding("bits that are the same in all codes", percent(constant), constant < CONSTANT_BITS, advice, remedy)
        )
    return signs
