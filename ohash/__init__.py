"""Online Hashing (Huang, Yang, Zheng, TNNLS 2017): binary codes learnt from a stream of pairs, in one pass.

The paper's symbols are the names in the code:

========= ============ =============================================================================
paper     code         meaning
========= ============ =============================================================================
W         ``W``        hash projection matrix (d, r); h = sgn(Wᵀx), Eq. (1)
x_i, x_j  ``x_i, x_j`` a pair of points; ``s`` = +1 similar, -1 dissimilar
h, g      ``h, g``     predicted code pair; zero-loss code pair
D_h       ``D_h``      Hamming distance of the predicted codes
R         ``R``        similarity loss, Eq. (3)
ℓ         ``loss``     prediction loss, Eq. (6)
τ         ``tau``      step size, Eq. (16)
C         ``C``        aggressiveness, the cap on τ
α, β      ``alpha``,   similar pairs may differ in α bits; dissimilar ones should differ in β r bits
          ``beta``
p_0       ``p0``       bits an update flips
δ_k       ``delta``    potential loss of bit k, Eq. (19)
r, T      ``r, T``     bits of a code; number of models (MMOH)
F²        ``F2``       largest ‖x (g - h)ᵀ‖²_F so far
========= ============ =============================================================================
"""

import importlib as _importlib
from pathlib import Path as _Path
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ohash.runtime import kernel_cache as _kernel_cache

_kernel_cache.ensure_writable(_Path(__file__).parent)
_kernel_cache.drop_stale(_Path(__file__).parent)

if _TYPE_CHECKING:
    from ohash.core.features import FeatureMap, KernelWarning
    from ohash.core.gist import gist512
    from ohash.engine.history import History
    from ohash.engine.params import ExperimentParams
    from ohash.engine.run import run
    from ohash.engine.runner import Runner
    from ohash.evaluation.ranking import mean_ap, retrieval
    from ohash.index.hamming_index import HammingIndex
    from ohash.models.online.mmoh import MMOH
    from ohash.models.online.oh import OH
    from ohash.models.storage import load, save
    from ohash.streams.dataset import Dataset
    from ohash.streams.pairs import pair_stream

__all__ = [
    "MMOH", "OH", "Dataset", "ExperimentParams", "FeatureMap", "HammingIndex", "History", "KernelWarning", "Runner",
    "gist512", "load", "mean_ap", "pair_stream", "retrieval", "run", "save",
]  # fmt: skip
__version__ = "0.1.0"

# Imported when first asked for: a notebook that only hashes does not wait for the engine, nor a page for the kernels.
_LAZY = {
    "Dataset": "ohash.streams.dataset",
    "ExperimentParams": "ohash.engine.params",
    "FeatureMap": "ohash.core.features",
    "HammingIndex": "ohash.index.hamming_index",
    "History": "ohash.engine.history",
    "KernelWarning": "ohash.core.features",
    "MMOH": "ohash.models.online.mmoh",
    "OH": "ohash.models.online.oh",
    "Runner": "ohash.engine.runner",
    "gist512": "ohash.core.gist",
    "load": "ohash.models.storage",
    "mean_ap": "ohash.evaluation.ranking",
    "pair_stream": "ohash.streams.pairs",
    "retrieval": "ohash.evaluation.ranking",
    "run": "ohash.engine.run",
    "save": "ohash.models.storage",
}


def __getattr__(name: str) -> object:
    """Import what is asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module 'ohash' has no attribute {name!r}")
    globals()[name] = found = getattr(_importlib.import_module(_LAZY[name]), name)
    return found


def __dir__() -> list[str]:
    """What there is, imported or not."""
    return sorted({*globals(), *_LAZY})
