"""Kernel LSH, "KLSH" as the Online Hashing paper uses the name: sign random projections of the RBF features.

The feature map belongs to the experiment, so this is LSH under another name, to be run with kernel 'rbf'. The method of
Kulis and Grauman is `klsh`.
"""

from ohash.models.base import HasherSpec
from ohash.models.online.oh import BIBTEX
from ohash.models.quantizers import lsh
from ohash.models.quantizers.lsh import LSH


class KernelLSH(LSH):
    """LSH on kernel features."""

    key = "kernel_lsh"


HASHER = HasherSpec(
    hasher=KernelLSH,
    title="Kernel LSH (the paper's KLSH)",
    aliases=("rff_lsh", "lsh-k"),
    cite="Huang, Yang, Zheng: Online Hashing, TNNLS 2017 (as a baseline); Charikar, STOC 2002",
    bibtex=f"{BIBTEX}\n\n{lsh.HASHER.bibtex}",
    supervision="none",
    kernel_features=True,
    consumes="nothing",
    differs="The paper says only 'RBF kernel, W randomly sampled': read as LSH on the mapped features. Run it with "
    "kernel='rbf'; without a kernel it is LSH.",
)
