"""Arrays in, arrays out: the equations of the paper, twice, and what they stand on.

`loss` has Algorithms 1 to 3 in readable form, `kernels` and `frozen_loss` in fast form; `codes` states the conventions
of the whole package and packs bits; `certificate` bounds the loss of a run. `features` maps vectors before W multiplies
them, `gist` describes images, `distances` and `rows` measure vectors in files of any size. `parameters` declares a
method's parameters once, for validation, sliders, links and documentation; `validation` checks arrays.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.core.certificate import Certificate
    from ohash.core.codes import Codes, hamming, pack, sgn, unpack
    from ohash.core.features import FeatureMap, KernelWarning
    from ohash.core.gist import gist512
    from ohash.core.loss import PairStep, explain, similarity_loss, update, zero_loss_codes
    from ohash.core.parameters import Parameter

__all__ = [
    "Certificate", "Codes", "FeatureMap", "KernelWarning", "PairStep", "Parameter", "explain", "gist512", "hamming",
    "pack", "sgn", "similarity_loss", "unpack", "update", "zero_loss_codes",
]  # fmt: skip

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "certificate": ("Certificate",),
        "codes": ("Codes", "hamming", "pack", "sgn", "unpack"),
        "features": ("FeatureMap", "KernelWarning"),
        "gist": ("gist512",),
        "loss": ("PairStep", "explain", "similarity_loss", "update", "zero_loss_codes"),
        "parameters": ("Parameter",),
    },
)
