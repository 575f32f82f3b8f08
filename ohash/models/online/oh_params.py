"""The parameters of OH, which MMOH shares, and the columns that learning pairs gives."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ohash.core.loss import dissimilar_threshold
from ohash.core.parameters import param, parameter_table, precision_param, seed_param, validate
from ohash.models.base import Trace

USUAL_C = 0.1  # the paper's


@dataclass(frozen=True)
class PairTrace(Trace):
    """OH: columns (n,). MMOH: columns (n, T): D_h and R of every model, the rest 0 where a model did not move.

    `loss` is the prediction loss l, `ratio` is l/norm2 before the cap, `tau` = min(C, ratio); 0 without an update. With
    `rounds` > 1 the columns describe the first round.
    """

    R: npt.NDArray[np.float64]
    loss: npt.NDArray[np.float64]
    ratio: npt.NDArray[np.float64]
    tau: npt.NDArray[np.float64]
    norm2: npt.NDArray[np.float64]
    p0: npt.NDArray[np.int64]
    degenerate: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class OHParams:
    """The parameters of OH; MMOH adds T."""

    r: int = param(
        48, symbol="r", title="bits", lo=1, hi=8192, slider=(8, 1024), scale="log",
        help="Length of a code. More bits: better retrieval, more memory.", eq="Eq. (1)",
        tex=r"h(x) = \operatorname{sign}(W^{T} x) \in \{-1, 1\}^{r}",
    )  # fmt: skip
    alpha: int = param(
        0, symbol="α", title="similar threshold", lo=0, hi=8192, slider=(0, 16), step=1,
        help="A similar pair may differ in this many bits without loss. The paper uses 0.", eq="Eq. (3)",
        tex=r"R = \max(0,\ D_h - \alpha)\quad\text{for } s = 1",
    )  # fmt: skip
    beta: float = param(
        0.5, symbol="β", title="dissimilar threshold", lo=0, hi=1, lo_open=True, slider=(0.05, 1), step=0.01, live=True,
        help="A dissimilar pair should differ in at least this share of the bits. 0.4 to 0.6 do about equally well.",
        eq="Eq. (3)", tex=r"R = \max(0,\ \beta r - D_h)\quad\text{for } s = -1",
    )  # fmt: skip
    C: float = param(
        USUAL_C, symbol="C", title="aggressiveness", lo=0, hi=1e6, lo_open=True, slider=(1e-5, 10), scale="log",
        live=True, alias="auto",
        help="Cap on the step size τ; auto = twice the median uncapped step of the warm-up pairs. The "
        "paper uses 0.1, which suits its kernel features; vectors without one often need longer steps.",
        eq="Eq. (10)",
        tex=r"W \leftarrow W + \tau\, x (g - h)^{T},\quad \tau = \min\{C,\ \ell / \lVert x (g - h)^{T} \rVert_F^2\}",
    )  # fmt: skip
    center: str = param(
        "none", symbol="μ", title="centring", choices=("none", "frozen", "running", "ema"),
        help="Which mean is subtracted from the vector W multiplies: none, the warm-up's, a running mean, or a "
        "forgetting one. Centring matters more than any other choice.", eq="Eq. (1)",
        tex=r"h(x) = \operatorname{sign}(W^{T} (x - \mu))",
    )  # fmt: skip
    ema: float = param(
        0.01, symbol="η", title="forgetting rate", lo=0, hi=1, lo_open=True, slider=(1e-4, 0.1), scale="log",
        help="Weight of a new point in the mean when centring is 'ema'.",
        tex=r"\mu \leftarrow (1 - \eta)\,\mu + \eta\, x",
        active_if=("center", "ema"),
    )  # fmt: skip
    select: str = param(
        "smallest", symbol="δ", title="bits to flip", choices=("smallest", "largest"),
        help="Which margins are flipped first. 'largest' is an experiment, not the paper.", eq="Eq. (19)",
        tex=r"\delta_k = \min(|w_k^{T} x_i|,\ |w_k^{T} x_j|)",
    )  # fmt: skip
    rounds: int = param(
        1, symbol="", title="rounds per pair", lo=1, hi=5, slider=(1, 5), step=1,
        help="Repeat the update with h recomputed until R = 0. The paper does one.", eq="Eq. (9)",
    )  # fmt: skip
    dtype: str = precision_param(
        "float32 is fast; float64 is the archival mode: on every machine the same decisions, and W to 1e-10."
    )
    seed: int = seed_param("Draws the first W. Same seed, same run.")

    def __post_init__(self) -> None:
        """Validate every field, then what two of them must satisfy together."""
        validate(self)
        check_thresholds(self.r, self.alpha, self.beta)


def check_thresholds(r: int, alpha: int, beta: float) -> None:
    """A margin must lie between similar and dissimilar: beta r > alpha."""
    br = dissimilar_threshold(beta, r)
    if br <= alpha:
        raise ValueError(
            f"beta * r must be larger than alpha, got beta={beta:g}, r={r} (beta * r = {br:g}) and alpha={alpha}; "
            "raise beta or r, or lower alpha"
        )


def check_C(value: float | str) -> float:
    """C as `OHParams` stores it: "auto" is 0. A 0 that is given is refused, as whoever writes it means no learning."""
    row = parameter_table(OHParams)["C"]
    if not isinstance(value, str) and np.isscalar(value) and value == 0:
        raise ValueError(f"C must be {row.allowed}, got {value!r}; the default is {USUAL_C:g}")
    number: float = row.convert(value)
    return number
