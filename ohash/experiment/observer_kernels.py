"""Following the recent pairs one by one: sliding windows, running totals, and rows at the pair counts that are kept."""

from typing import Any

import numpy as np

from ohash.core.compile import inlined, kernel

# What a pair did.
PASSIVE, UPDATED, CLIPPED = range(3)

# Running totals, and rows of `values` (N_TOTALS, pairs).
CUM_R, CUM_LOSS, CUM_R_FROZEN, CUM_LOSS_FROZEN, N_UPDATED, N_DEGENERATE, SUM_P0 = range(7)
N_TOTALS = 7

# Rows of `bins` (N_BINS, pairs), columns of the ring buffer: distances now and frozen, similar?, ratio, tau, outcome.
D_NOW, D_FROZEN, SIMILAR, RATIO, TAU, OUTCOME = range(6)
N_BINS = 6

# Columns of a row, after the totals.
AUC, AUC_FROZEN, UPDATE_RATE, CLIPPED_RATE, Q10, Q50, Q90 = range(N_TOTALS, N_TOTALS + 7)
N_ROW = N_TOTALS + 7


@inlined
def auc(similar: Any, dissimilar: Any) -> float:
    """P(a similar pair lies nearer than a dissimilar one), ties counting half."""
    nearer = 0
    twice = 0
    n_dissimilar = 0
    for D in range(similar.shape[0]):
        twice += dissimilar[D] * (2 * nearer + similar[D])
        nearer += similar[D]
        n_dissimilar += dissimilar[D]
    if nearer == 0 or n_dissimilar == 0:
        return np.nan
    return twice / (2.0 * nearer * n_dissimilar)


@inlined
def quantile_bin(counts: Any, total: int, q: float) -> float:
    """The bin that holds quantile q; NaN if there is nothing."""
    if total == 0:
        return np.nan
    reached = 0
    for b in range(counts.shape[0]):
        reached += counts[b]
        if reached >= q * total:
            return float(b)
    return float(counts.shape[0] - 1)


@kernel
def follow(
    start: int,
    bins: Any,
    values: Any,
    wanted: Any,
    ring: Any,
    totals: Any,
    D: Any,
    ratio: Any,
    tau: Any,
    outcome: Any,
    all_ratio: Any,
    all_tau: Any,
    rows: Any,
) -> None:
    """Take pairs start, start + 1, ... in; fill rows[k] when the pair count reaches wanted[k].

    D counts distances, (now and frozen, dissimilar and similar, r + 1); the other windows count bins. Totals are added
    strictly one after another, so that chunking cannot change them. Written without calls: one with five arrays costs
    more than all the rest.
    """
    window = ring.shape[0]
    k = 0
    place = start % window - 1
    for t in range(bins.shape[1]):
        place = place + 1 if place + 1 < window else 0
        for by in (-1, 1):  # the pair that leaves the window, then the one that enters it
            if by < 0:
                if start + t < window:
                    continue
            else:
                for c in range(N_BINS):
                    ring[place, c] = bins[c, t]
            # indices are made unsigned: numba then need not ask whether they count from the end
            similar = np.uint32(ring[place, SIMILAR])
            D[0, similar, np.uint32(ring[place, D_NOW])] += by
            D[1, similar, np.uint32(ring[place, D_FROZEN])] += by
            if ring[place, RATIO] >= 0:
                ratio[np.uint32(ring[place, RATIO])] += by
                tau[np.uint32(ring[place, TAU])] += by
            outcome[np.uint32(ring[place, OUTCOME])] += by
        if bins[RATIO, t] >= 0:
            all_ratio[np.uint32(bins[RATIO, t])] += 1
            all_tau[np.uint32(bins[TAU, t])] += 1
        for c in range(N_TOTALS):
            totals[c] += values[c, t]
        if k < wanted.shape[0] and start + t + 1 == wanted[k]:
            for c in range(N_TOTALS):
                rows[k, c] = totals[c]
            rows[k, AUC] = auc(D[0, 1], D[0, 0])
            rows[k, AUC_FROZEN] = auc(D[1, 1], D[1, 0])
            moved = outcome[UPDATED] + outcome[CLIPPED]
            rows[k, UPDATE_RATE] = moved / max(1, moved + outcome[PASSIVE])
            rows[k, CLIPPED_RATE] = outcome[CLIPPED] / max(1, moved)
            for column, q in ((Q10, 0.1), (Q50, 0.5), (Q90, 0.9)):
                rows[k, column] = quantile_bin(ratio, moved, q)
            k += 1
