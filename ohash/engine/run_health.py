"""The health of a run: a short list of computed findings, each with what to do about it and the setting that does it.

A run is judged only after it had a chance: MIN_PAIRS pairs and MIN_UPDATES updates, and HAD_TIME pairs for its score to
rise. Of one that has ended before, all that is judged is whether its score fell. Thresholds are far from what healthy
runs of the embedded data show.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ohash.engine.judge import TRUTH_SCORES, truth_column
from ohash.engine.narrative import change_since_start, change_text
from ohash.engine.remedies import (
    Remedy,
    features_to_try,
    more_dissimilar,
    other_features,
    settings_to_try,
    shorter_steps,
    usual_settings,
)
from ohash.engine.run_signs import (
    CONSTANT_BITS,
    GOOD_START,
    HAD_TIME,
    constant_bits,
    has_few_anchors,
    is_chosen,
    is_mostly_one_vector,
    loss_per_pair,
    loss_ratio_error,
    may_still_rise,
    mean_is_stale,
    median_step,
    one_sided,
    ranks_like_chance,
    score_rose,
    sigma_is_wide,
    wrong_answers,
)
from ohash.engine.snapshot import Snapshot
from ohash.number_formats import percent

Health = Literal["early", "short", "healthy", "look", "ill", "failed"]
MIN_PAIRS, MIN_UPDATES = 2_000, 200
CAPPED = 0.95  # share of recent updates whose step is C
ABOVE_FROZEN = 1.0  # times the loss of the model that never learns, beyond the uncertainty of that ratio
HARDLY_ABOVE = 1.02  # times that loss, which is no matter while the score rises beyond its uncertainty
SAME_AS_CHANCE = 0.55  # pair AUC of recent pairs
IDLE_BITS = 0.25  # share of bits that no update has moved, after MIN_UPDATES updates per bit
TIES = 0.2  # mAP between relevant last and relevant first in ties
MORE_ANCHORS, USUAL_C = 64, 0.1  # what to try where there are few, with a C of at least this
FEW_BITS, MORE_BITS = 8, 32  # too few codes to tell items apart, and what to try then
COLLAPSED = "codes have collapsed: many items share one code"
GAP = {"float64": 1e-9}  # of the certificate; elsewhere 1e-3
RECOVERED = 1.25  # times the loss per pair before R rose again
RECENT, BEFORE = 1_000, 3_000  # pairs over which R is taken now, and before its rise, which took up to RECENT pairs
RANKS_LIKE_CHANCE = "codes rank like chance"
STALE_MEAN = "the stream has changed, and the mean of its vectors with it: centre them by a mean that forgets"
CAPPED_UPDATES, KERNEL_VALUE, TIED = "updates capped by C", "mean kernel value", "ties"
ONE_VECTOR, ONE_VECTOR_SHARE = "items with the same vector", 0.1  # share of items, which all get the same code
REPEATED = 0.5  # share of items whose vector another one has, too, which explains ties
ONE_VECTOR_REASON = "too many items share one vector"


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
    stale = risen and mean_is_stale(now)
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
    signs = _merge_by_cause([*_numerics(now), *learning, *scores, *drift, *codes])
    offered: set[str] = set()
    for at, one in enumerate(signs):
        if one.remedy is not None and one.remedy.key in offered:
            signs[at] = replace(one, remedy=None)
        elif one.remedy is not None:
            offered.add(one.remedy.key)
    return signs


def _merge_by_cause(signs: list[Finding]) -> list[Finding]:
    """A kernel whose values are all near 0 or 1 tells no items apart: what is wrong may follow, but for the data."""
    if all(one.fine for one in signs if one.title == KERNEL_VALUE):
        return signs
    kept = [one for one in signs if one.fine or one.title in (KERNEL_VALUE, ONE_VECTOR)]
    silenced = len(signs) - len(kept)
    return [replace(one, silenced=silenced) if one.title == KERNEL_VALUE else one for one in kept]


def _cause(signs: list[Finding]) -> str:
    """Why a score does not rise, if other findings say so; "" otherwise."""
    wrong = {one.title: one for one in signs if not one.fine}
    if CAPPED_UPDATES in wrong:
        return "its steps are capped by C"
    if TIED in wrong and wrong[TIED].remedy is not None:
        return "so few bits distinguish little"
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
        return "healthy" if now.t >= MIN_PAIRS and not may_still_rise(now) else too_short
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
        ask = "fill in or leave out zero vectors" if same == zero else "does it stand for missing ones?"
        advice = f"they all get the same code, and no setting tells them apart: {ask}"
        signs.append(_finding(ONE_VECTOR, value, same < ONE_VECTOR_SHARE, advice))
    kernel = n.get("mean_kernel", math.nan)
    if math.isfinite(kernel):
        remedy: Remedy | None
        fine, value = 1e-3 <= kernel <= 0.99, f"{kernel:.3f}"
        if not fine:
            value += ": all near 0, so no two items look alike" if kernel < 0.5 else ": all near 1, so all look alike"
        if kernel > 0.5 and is_mostly_one_vector(now):
            advice, remedy = ONE_VECTOR_REASON, None
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
        advice = f"raise C above {C:g}: hardly any step reaches its uncapped size"
        larger = float(f"{2 * median_step(now):.1g}")  # with it most steps are not capped
        remedy = Remedy("C", larger) if larger > C else None
        if sigma_is_wide(now):
            advice = f"σ = {now.params.features.sigma:g} is wide, so all items look alike: set σ to auto"
            remedy = Remedy("sigma", 0.0)
        elif C >= USUAL_C and has_few_anchors(now):
            few = f"{now.params.features.m} anchors are too few to tell items apart"
            advice = f"{few}, and a larger C does not help: use more"
            remedy = Remedy("m", MORE_ANCHORS)
        value = f"{percent(capped)} of recent ones"
        if capped >= CAPPED and is_chosen(C, now.params):
            chosen = f"{value}; C = {C:g} was chosen for this data set; no larger one that was tried is clearly better"
            signs.append(Finding(CAPPED_UPDATES, chosen, True, judged=False))
        else:
            signs.append(_finding(CAPPED_UPDATES, value, capped < CAPPED, advice, remedy))
    if n.get("cum_R_frozen", 0.0) > 0 and moved:
        ratio = n["cum_R"] / n["cum_R_frozen"]
        noisy = now.params.stream.noise > 0
        reason = one_sided(now) or (ONE_VECTOR_REASON if is_mostly_one_vector(now) else cause)
        why = wrong_answers(now) if noisy else reason or "try another β, or check what the pairs call similar"
        remedy = (None if noisy else more_dissimilar(now)) or usual_settings(now)
        if not (noisy or reason or remedy or follows_labels) and C is not None:
            why, remedy = "random codes already keep the distance, and a smaller C costs less", shorter_steps(now, C)
        advice = f"learning costs more than not learning: {why}"
        value = f"{ratio:.{2 if abs(ratio - 1) > 0.01 else 4}f} times that of the first codes"
        fine = ratio <= ABOVE_FROZEN + loss_ratio_error(now)
        if not fine and ratio < HARDLY_ABOVE and score_rose(now):
            fine, value = True, f"{value}, while {TRUTH_SCORES[truth_column(now.similar_by)]} has risen"
        signs.append(_finding("cumulative loss", value, fine, advice, remedy))
    auc = n.get("auc", math.nan)
    if math.isfinite(auc):
        advice = "similar and dissimilar pairs are not told apart: are the labels noisy, or the features too poor?"
        remedy = None
        if now.params.stream.noise > 0:
            advice, remedy = f"{advice.partition(':')[0]}: {wrong_answers(now)}", Remedy("noise", 0.0)
        elif one_sided(now):
            advice, remedy = f"{advice.partition(':')[0]}: {one_sided(now)}", more_dissimilar(now)
        elif is_mostly_one_vector(now):
            advice = f"{advice.partition(':')[0]}: {ONE_VECTOR_REASON}"
        signs.append(_finding("pair AUC of recent pairs", f"{auc:.2f}", auc > SAME_AS_CHANCE, advice, remedy))
    return signs


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
    advice = f"{seen}: {settings_to_try(now)}" if settings_to_try(now) else seen
    if now.params.stream.noise > 0:
        advice = f"{seen}: {wrong_answers(now)}"
    elif changed:
        advice = f"{seen}: the stream has changed"
    elif cause:
        advice = f"{seen}: {cause}"
    elif one_sided(now):
        advice = f"{seen}: {one_sided(now)}"
    elif is_mostly_one_vector(now):
        cause = ONE_VECTOR_REASON
        advice = f"{seen}: {cause}"
    elif change != "worse" and now.similar_by in ("metric", "topk"):
        advice = f"{seen}; random codes already keep the distance"
    elif ranks_like_chance(now) and other_features(now) is not None:
        advice = f"{seen}: {RANKS_LIKE_CHANCE}"
    fine = change == "better" or (change == "about as well" and not had_time)
    own = [reason for reason in (cause, RANKS_LIKE_CHANCE) if reason and advice.endswith(reason)]
    remedy = None if own else usual_settings(now)  # the cause has its own
    if one_sided(now) and advice.endswith(one_sided(now)):
        remedy = more_dissimilar(now) or remedy
    signs.append(replace(_finding(TRUTH_SCORES[column], value, fine, advice, remedy), judged=not may_still_rise(now)))
    chance = n.get("map_chance", math.nan)
    if now.t >= MIN_PAIRS and math.isfinite(chance) and math.isfinite(n.get("map", math.nan)):
        same = ONE_VECTOR_REASON if is_mostly_one_vector(now) else ""
        advice = f"{RANKS_LIKE_CHANCE}: {one_sided(now) or same or features_to_try(now)}"
        fine, remedy = not ranks_like_chance(now), None if same else other_features(now)
        signs.append(_finding("mAP of a random order", f"{chance:.3f}", fine, advice, remedy))
    return signs


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
    advice = "the stream has changed: more pairs are needed, and no setting helps"
    return [_finding("drift", value, fine, advice)]


def _codes(now: Snapshot, stale_mean: bool) -> list[Finding]:
    n, signs = now.numbers, []
    if "map_low" in n and math.isfinite(n["map_low"]):
        spread = n["map_high"] - n["map_low"]
        value = f"mAP between {n['map_low']:.3f} and {n['map_high']:.3f}"
        few = n.get("bits", math.inf) <= FEW_BITS
        advice = f"{2 ** n['bits']:.0f} codes are all that fit: use more bits" if few else COLLAPSED
        repeated = n.get("same_vector", 0.0) >= ONE_VECTOR_SHARE or n.get("repeated_vectors", 0.0) >= REPEATED
        if repeated and not few:
            advice = f"{COLLAPSED}, since they share one vector"
        signs.append(_finding(TIED, value, spread < TIES, advice, Remedy("r", MORE_BITS) if few else None))
    updates = now.bit_updates
    if updates.size and updates.sum() >= MIN_UPDATES * updates.size:
        idle = float(np.mean(updates == 0))
        signs.append(_finding("bits that never moved", percent(idle), idle < IDLE_BITS, "fewer bits would do the same"))
    if now.bit_ones.size and now.t >= MIN_PAIRS:
        constant = constant_bits(now)
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
