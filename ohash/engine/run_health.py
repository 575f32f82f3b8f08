"""The health of a run: a short list of computed findings, each with what to do about it.

A run is judged only after it had a chance: MIN_PAIRS pairs and MIN_UPDATES updates. Thresholds are far from what
healthy runs of the embedded data show.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ohash.engine.snapshot import Snapshot

Health = Literal["early", "healthy", "look", "ill"]
MIN_PAIRS, MIN_UPDATES = 2_000, 200
CAPPED = 0.95  # share of recent updates whose step is C
FALLEN = 0.01  # mAP below its start
ABOVE_FROZEN = 1.05  # times the loss of the model that never learns
NEAR_CHANCE = 1.1  # times the mAP of a random order
SAME_AS_CHANCE = 0.55  # pair-AUC of recent pairs
IDLE_BITS = 0.25  # share of bits that no update has moved, after MIN_UPDATES updates per bit
TIES = 0.2  # mAP between relevant last and relevant first in ties
GAP = {"float64": 1e-9}  # of the certificate; elsewhere 1e-3


@dataclass(frozen=True)
class Finding:
    """One sign of health: what was measured, whether it is fine, and what to do."""

    title: str
    value: str
    fine: bool
    advice: str = ""


def findings(now: Snapshot) -> list[Finding]:
    """Everything the health dot stands for."""
    signs = (*_numerics(now), *_learning(now), *_codes(now))
    return [sign for sign in signs if sign is not None]


def health(now: Snapshot) -> Health:
    """One dot for all findings; a run that has just begun is not called healthy."""
    bad = sum(not finding.fine for finding in findings(now))
    if bad == 0:
        return "healthy" if now.t >= MIN_PAIRS or now.state == "done" else "early"
    return "look" if bad == 1 else "ill"


def _finding(title: str, value: str, fine: bool, advice: str) -> Finding:
    return Finding(title, value, fine, "" if fine else advice)


def _numerics(now: Snapshot) -> list[Finding]:
    n, signs = now.numbers, []
    gap = n.get("gap", math.nan)
    if math.isfinite(gap):
        limit = GAP.get(getattr(now.params.model, "dtype", ""), 1e-3)
        advice = "float32 has drifted: run in float64 (precision) to be sure"
        signs.append(_finding("certificate gap", f"{gap:.1e}", gap < limit, advice))
    if "required_C" in n and math.isfinite(n["required_C"]):
        share = n.get("share_C", 1.0)
        signs.append(Finding("C required by the bound", f"{n['required_C']:.2g}, met at {share:.0%} of updates", True))
    degenerate = n.get("degenerate", 0.0) / max(1, now.t)
    advice = "zero vectors: look at the Data page"
    signs.append(_finding("degenerate pairs", f"{degenerate:.1%}", degenerate < 0.01, advice))
    kernel = n.get("mean_kernel", math.nan)
    if math.isfinite(kernel):
        signs.append(_finding("mean kernel value", f"{kernel:.3f}", 1e-3 <= kernel <= 0.99, "set σ to auto"))
    return signs


def _learning(now: Snapshot) -> list[Finding]:
    n, signs = now.numbers, []
    if now.t < MIN_PAIRS:
        return []
    moved = n.get("updated", 0.0)
    if hasattr(now.params.model, "C") and moved >= MIN_UPDATES:
        capped = n["clipped_rate"]
        advice = f"raise C above {now.params.in_force().model.C:g}: hardly any step is as long as its pair asks for"
        signs.append(_finding("updates capped by C", f"{capped:.0%} of recent ones", capped < CAPPED, advice))
    if n.get("cum_R_frozen", 0.0) > 0 and moved:
        ratio = n["cum_R"] / n["cum_R_frozen"]
        advice = "learning costs more than not learning: lower C, or check what the pairs call similar"
        value = f"{ratio:.2f} times that of the first codes"
        signs.append(_finding("cumulative loss", value, ratio < ABOVE_FROZEN, advice))
    auc = n.get("auc", math.nan)
    if math.isfinite(auc):
        advice = "similar and dissimilar pairs are not told apart: are the labels noisy, or the features too poor?"
        signs.append(_finding("pair-AUC of recent pairs", f"{auc:.2f}", auc > SAME_AS_CHANCE, advice))
    start, end = n.get("map_start", math.nan), n.get("map", math.nan)
    if math.isfinite(start) and math.isfinite(end) and moved:
        advice = "it ends below its start: try another β, C or kernel, or more bits"
        signs.append(_finding("mAP", f"{start:.3f} at the start, {end:.3f} now", end > start - FALLEN, advice))
        chance = n.get("map_chance", math.nan)
        if math.isfinite(chance):
            advice = "codes rank like chance: try a kernel, or switch unit length off"
            fine = end > min(NEAR_CHANCE * chance, 0.95)
            signs.append(_finding("mAP of a random order", f"{chance:.3f}", fine, advice))
    return signs


def _codes(now: Snapshot) -> list[Finding]:
    n, signs = now.numbers, []
    if "map_low" in n and math.isfinite(n["map_low"]):
        spread = n["map_high"] - n["map_low"]
        value = f"mAP between {n['map_low']:.3f} and {n['map_high']:.3f}"
        signs.append(_finding("ties", value, spread < TIES, "codes have collapsed: many items share one"))
    updates = now.bit_updates
    if updates.size and updates.sum() >= MIN_UPDATES * updates.size:
        idle = float(np.mean(updates == 0))
        signs.append(_finding("bits that never moved", f"{idle:.0%}", idle < IDLE_BITS, "fewer bits would do the same"))
    return signs
