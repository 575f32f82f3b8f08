"""Hashing methods: ``ITQ(r=32).fit(X)``, ``OH(r=32).learn(X, i, j, s)``, ``LSH(r=32).encode(X)``.

One file per method: `online` learns from a stream, `batch` is fitted to all data, `quantizers` need little or no
learning. `linear` is the base of methods whose bits are half-spaces, `hasher` that of all; `registry` finds methods,
`storage` saves and loads them, `HashingEstimator` wraps any of them for scikit-learn. Names are imported when first
used.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ohash.core.parameters import did_you_mean as _did_you_mean

if _TYPE_CHECKING:
    from ohash.core.parameters import param
    from ohash.models.base import HasherSpec, OnlineHasher, Trace
    from ohash.models.batch.click_whitening import ClickWhitening
    from ohash.models.batch.fasthash import FastHash
    from ohash.models.batch.itq import ITQ
    from ohash.models.batch.klsh import KLSH
    from ohash.models.batch.ksh import KSH
    from ohash.models.batch.sdh import SDH
    from ohash.models.estimator import HashingEstimator
    from ohash.models.hasher import Hasher
    from ohash.models.online.adapthash import AdaptHash
    from ohash.models.online.bsodh import BSODH
    from ohash.models.online.hcoh import HCOH
    from ohash.models.online.hmoh import HMOH
    from ohash.models.online.lego import LEGO
    from ohash.models.online.mihash import MIHash
    from ohash.models.online.mlh import MLH
    from ohash.models.online.mmoh import MMOH
    from ohash.models.online.oecc import OECC
    from ohash.models.online.oh import OH
    from ohash.models.online.ohweu import OHWEU
    from ohash.models.online.okh_style import OKHStyle
    from ohash.models.online.sdoh import SDOH
    from ohash.models.online.sketch_hash import SketchHash
    from ohash.models.online.ssbc import SSBC
    from ohash.models.online.unifdiag import UnifDiag
    from ohash.models.quantizers.bbq import BBQ
    from ohash.models.quantizers.float_vectors import FloatVectors
    from ohash.models.quantizers.int8 import Int8
    from ohash.models.quantizers.lsh import LSH, KernelLSH
    from ohash.models.quantizers.pq import PQ
    from ohash.models.quantizers.rabitq import RaBitQ
    from ohash.models.quantizers.random_codes import RandomCodes
    from ohash.models.quantizers.rotated import Rotated
    from ohash.models.quantizers.sign import Sign
    from ohash.models.quantizers.turboquant import TurboQuant
    from ohash.models.registry import find, hashers
    from ohash.models.storage import load, save

__all__ = [
    "BBQ", "BSODH", "HCOH", "HMOH", "ITQ", "KLSH", "KSH", "LEGO", "LSH", "MLH", "MMOH", "OECC", "OH", "OHWEU", "PQ",
    "SDH", "SDOH", "SSBC", "AdaptHash", "ClickWhitening", "FastHash", "FloatVectors", "Hasher", "HasherSpec",
    "HashingEstimator", "Int8", "KernelLSH", "MIHash", "OKHStyle", "OnlineHasher", "RaBitQ", "RandomCodes", "Rotated",
    "Sign", "SketchHash", "Trace", "TurboQuant", "UnifDiag", "find", "hashers", "load", "param", "save",
]  # fmt: skip

_SHARED = {
    "Hasher": "ohash.models.hasher",
    "HasherSpec": "ohash.models.base",
    "HashingEstimator": "ohash.models.estimator",
    "OnlineHasher": "ohash.models.base",
    "Trace": "ohash.models.base",
    "find": "ohash.models.registry",
    "hashers": "ohash.models.registry",
    "load": "ohash.models.storage",
    "param": "ohash.core.parameters",
    "save": "ohash.models.storage",
}


def __getattr__(name: str) -> object:
    """Import a shared name, or find the class of a method, also of a plugin's."""
    if name in _SHARED:
        value: object = getattr(_importlib.import_module(_SHARED[name]), name)
    elif name[0].isupper():
        registry = _importlib.import_module("ohash.models.registry")
        classes = {spec.hasher.__name__: spec.hasher for spec in registry.hashers().values() if spec.hasher}
        if name not in classes:
            hint = _did_you_mean(name, classes)
            raise AttributeError(f"ohash.models has no {name!r}{hint}; its methods are {', '.join(sorted(classes))}")
        value = classes[name]
    else:
        hint = _did_you_mean(name, [one for one in __all__ if one.lower() == name.lower()])
        raise AttributeError(f"module 'ohash.models' has no attribute {name!r}{hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Every public name, imported or not."""
    return sorted({*globals(), *__all__})
