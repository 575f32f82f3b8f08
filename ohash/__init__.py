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

from ohash._version import __version__ as __version__
from ohash.runtime import kernel_cache as _kernel_cache

_kernel_cache.ensure_writable(_Path(__file__).parent)
_kernel_cache.drop_stale(_Path(__file__).parent)

if _TYPE_CHECKING:
    from ohash import models as models
    from ohash.comparison.params import Comparison
    from ohash.comparison.results import ComparisonSnapshot
    from ohash.comparison.runner import compare
    from ohash.comparison.verdict import verdict
    from ohash.core.features import FeatureMap, KernelWarning
    from ohash.core.gist import gist512
    from ohash.engine.history import History
    from ohash.engine.live.runner import Runner
    from ohash.engine.params import Change, ExperimentParams, experiment
    from ohash.engine.run import Run, run
    from ohash.engine.snapshot import Snapshot
    from ohash.evaluation.metric_descriptions import METRICS as metrics  # noqa: N811
    from ohash.evaluation.neighbour_recall import recall_at_k
    from ohash.evaluation.neighbours import exact_neighbours
    from ohash.evaluation.ranking import mean_ap, retrieval
    from ohash.index.hamming_index import HammingIndex
    from ohash.models.online.mmoh import MMOH
    from ohash.models.online.oh import OH
    from ohash.models.online.passive_aggressive import UncentredWarning
    from ohash.models.registry import hashers as methods
    from ohash.models.storage import load, save
    from ohash.models.storage import load as load_model
    from ohash.models.storage import save as save_model
    from ohash.production.follower import follow
    from ohash.store.store import Store
    from ohash.streams.dataset import Dataset
    from ohash.streams.pairs import pair_stream
    from ohash.streams.registry import datasets, load_dataset
    from ohash.sweeps.execution import sweep
    from ohash.sweeps.results import SweepResults
    from ohash.sweeps.sweep import Sweep
    from ohash.web.notebook import playground

__all__ = [
    "MMOH", "OH", "Change", "Comparison", "ComparisonSnapshot", "Dataset", "ExperimentParams", "FeatureMap",
    "HammingIndex", "History", "KernelWarning", "Run", "Runner", "Snapshot", "Store", "Sweep", "SweepResults",
    "UncentredWarning", "compare", "datasets", "exact_neighbours", "experiment", "follow", "gist512", "load",
    "load_dataset", "load_model", "mean_ap", "methods", "metrics", "models", "pair_stream", "playground", "recall_at_k",
    "retrieval", "run", "save", "save_model", "sweep", "verdict",
]  # fmt: skip

# The public face: name -> module, or module:name there. Imported when first asked for: a notebook that only hashes
# does not wait for the engine, nor a page for the kernels.
_FACE = {
    "Change": "engine.params",
    "Comparison": "comparison.params",
    "ComparisonSnapshot": "comparison.results",
    "Dataset": "streams.dataset",
    "ExperimentParams": "engine.params",
    "FeatureMap": "core.features",
    "HammingIndex": "index.hamming_index",
    "History": "engine.history",
    "KernelWarning": "core.features",
    "UncentredWarning": "models.online.passive_aggressive",
    "MMOH": "models.online.mmoh",
    "OH": "models.online.oh",
    "Run": "engine.run",
    "Runner": "engine.live.runner",
    "Snapshot": "engine.snapshot",
    "Store": "store.store",
    "Sweep": "sweeps.sweep",
    "SweepResults": "sweeps.results",
    "compare": "comparison.runner",
    "datasets": "streams.registry",
    "exact_neighbours": "evaluation.neighbours",
    "experiment": "engine.params",
    "follow": "production.follower",
    "gist512": "core.gist",
    "load": "models.storage",
    "load_dataset": "streams.registry",
    "load_model": "models.storage:load",
    "mean_ap": "evaluation.ranking",
    "methods": "models.registry:hashers",
    "metrics": "evaluation.metric_descriptions:METRICS",
    "pair_stream": "streams.pairs",
    "playground": "web.notebook",
    "recall_at_k": "evaluation.neighbour_recall",
    "retrieval": "evaluation.ranking",
    "run": "engine.run",
    "save": "models.storage",
    "save_model": "models.storage:save",
    "sweep": "sweeps.execution",
    "verdict": "comparison.verdict",
}


def __getattr__(name: str) -> object:
    """Import what is asked for."""
    if name == "models":  # every method as a class: ohash.models.ITQ(r=32)
        return _importlib.import_module("ohash.models")
    if name not in _FACE:
        raise AttributeError(f"module 'ohash' has no attribute {name!r}")
    module, _, original = _FACE[name].partition(":")
    value = getattr(_importlib.import_module(f"ohash.{module}"), original or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """What there is, imported or not."""
    return sorted({*globals(), *_FACE, "models"})
