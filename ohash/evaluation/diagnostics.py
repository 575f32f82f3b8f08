"""Diagnostics of the codes alone, without queries: constant bits, correlated bits, items with the same code."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core import validation
from ohash.evaluation.packed_codes import bit_length, code_array

Bits = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CodeDiagnostics:
    """`ones` and `entropy` are (T, r), one number per bit; the others are summaries.

    `balance` is the mean of 1 - |2 p - 1| over the bits, p the share of ones: 1 when every bit halves the data, 0 when
    all are constant. `correlation` is the mean of |correlation| over pairs of bits of one model, leaving out `constant`
    bits; NaN if no pair remains. `distinct` is the number of distinct codes (of all models together) per item.
    """

    ones: Bits
    entropy: Bits
    balance: float
    mean_entropy: float
    correlation: float
    constant: int
    distinct: float


def code_diagnostics(
    codes: npt.NDArray[np.uint8], r: int | None = None, *, correlation_rows: int = 20_000
) -> CodeDiagnostics:
    """Diagnostics of packed codes (n, ceil(r/8)) or (T, n, ceil(r/8)).

    The correlation is taken over at most `correlation_rows` items, evenly spaced, as it costs n r² for each model.

    >>> result = code_diagnostics(np.uint8([[0b001], [0b011], [0b111], [0b101]]), r=3)
    >>> result.ones, result.constant, result.correlation, result.distinct
    (array([[1. , 0.5, 0.5]]), 1, 0.0, 1.0)
    """
    packed = code_array("codes", codes)
    own_r = getattr(codes, "r", -1)
    r = bit_length(packed.shape[2], own_r if r is None and own_r > 0 else r)
    rows = validation.integer("correlation_rows", correlation_rows, 2)
    n = packed.shape[1]
    ones = np.stack([_bits(model, r).mean(axis=0, dtype=np.float64) for model in packed])
    some = np.unique(np.linspace(0, n - 1, min(n, rows)).astype(np.int64))
    total, pairs = 0.0, 0
    for model in packed:
        sum_of_model, pairs_of_model = _absolute_correlation(_bits(model[some], r))
        total, pairs = total + sum_of_model, pairs + pairs_of_model
    rows_of_bytes = np.ascontiguousarray(packed.transpose(1, 0, 2)).reshape(n, -1)
    return CodeDiagnostics(
        ones=ones,
        entropy=_entropy(ones),
        balance=float((1 - np.abs(2 * ones - 1)).mean()),
        mean_entropy=float(_entropy(ones).mean()),
        correlation=total / pairs if pairs else float("nan"),
        constant=int(((ones == 0) | (ones == 1)).sum()),
        distinct=len(np.unique(rows_of_bytes, axis=0)) / n,
    )


def _bits(codes: npt.NDArray[np.uint8], r: int) -> npt.NDArray[np.uint8]:
    return np.unpackbits(codes, axis=-1, count=r, bitorder="little")


def _entropy(p: Bits) -> Bits:
    """Binary entropy in bits, 0 at p = 0 and p = 1."""
    q = np.stack([p, 1 - p])
    entropy: Bits = -(q * np.log2(np.where(q > 0, q, 1))).sum(axis=0)
    return np.maximum(entropy, 0.0)


def _absolute_correlation(bits: npt.NDArray[np.uint8]) -> tuple[float, int]:
    """(Σ |correlation|, how many) over the pairs of bits that vary."""
    columns = bits.astype(np.float32) - bits.mean(axis=0, dtype=np.float32)
    norm = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    columns = columns[:, norm > 0] / norm[norm > 0]
    varying = columns.shape[1]
    correlation = np.abs(columns.T @ columns)
    return float(correlation.sum() - np.trace(correlation)) / 2, varying * (varying - 1) // 2
