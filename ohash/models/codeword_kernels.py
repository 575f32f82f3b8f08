"""Steps of the methods that pull a point's projections towards the codeword of its class: HCOH, HMOH, OECC.

Bits do not depend on each other (but for boosting, where a bit's weight depends on the bits before), so each is
projected and moved at once, while its w is in the cache.
"""

import math
from typing import Any

from ohash.core.compile import inlined, kernel
from ohash.core.kernels import dot

# Exponents of the exponential loss are held within this, against overflow.
MOST = 30.0


@inlined
def _add(w: Any, factor: float, x: Any) -> None:
    f = w.dtype.type(factor)
    for c in range(w.shape[0]):
        w[c] += f * x[c]


@kernel
def learn_hcoh(Wt: Any, bit_updates: Any, clock: Any, rows: Any, words: Any, eta: float) -> None:
    """w_k -= eta (F_k - b_k)(1 - F_k²) x with F = tanh(Wᵀx): gradient of |F - b|²/2."""
    for t in range(rows.shape[0]):
        x = rows[t]
        moved = False
        for k in range(Wt.shape[0]):
            F = math.tanh(dot(Wt[k], x))
            step = eta * (words[t, k] - F) * (1.0 - F * F)
            if step != 0.0:
                _add(Wt[k], step, x)
                bit_updates[k] += 1
                moved = True
        clock[0] += 1
        clock[1] += moved


@kernel
def learn_hmoh(
    Wt: Any, sums: Any, bit_updates: Any, clock: Any, rows: Any, words: Any, eta: float, every: bool
) -> None:
    """A perceptron a bit: where sgn(w_kᵀx) is not b_k, w_k += eta b_k x.

    `sums` adds up w_k after each of its mistakes, or after every point; bit_updates counts changes of the sum.
    """
    for t in range(rows.shape[0]):
        x = rows[t]
        moved = False
        for k in range(Wt.shape[0]):
            wrong = (dot(Wt[k], x) >= 0) != (words[t, k] > 0)
            if wrong:
                _add(Wt[k], eta * words[t, k], x)
            if wrong or every:
                _add(sums[k], 1.0, Wt[k])
                bit_updates[k] += 1
                moved = True
        clock[0] += 1
        clock[1] += moved


@kernel
def learn_oecc(Wt: Any, bit_updates: Any, clock: Any, rows: Any, words: Any, eta: float, boosted: bool) -> None:
    """Hinge: where c_k w_kᵀx < 1, w_k += eta c_k x. Boosted: every bit, weighted by the exponential loss so far."""
    for t in range(rows.shape[0]):
        x = rows[t]
        before = 0.0
        moved = False
        for k in range(Wt.shape[0]):
            margin = words[t, k] * dot(Wt[k], x)
            step = 0.0
            if boosted:
                before += margin
                step = eta * math.exp(min(MOST, max(-MOST, -before)))
            elif margin < 1.0:
                step = eta
            if step != 0.0:
                _add(Wt[k], step * words[t, k], x)
                bit_updates[k] += 1
                moved = True
        clock[0] += 1
        clock[1] += moved
