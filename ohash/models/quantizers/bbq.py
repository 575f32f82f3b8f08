"""Binary codes as search engines store them: the signs of centred vectors, asked with queries of 4 bits per dimension.

RaBitQ without its rotation: b = sgn(x - mean) / √d, the query is rounded to 16 even steps between its smallest and
largest entry, and <q', x'> ≈ <q', b> / <x', b>. Elastic calls this kind of code better binary quantisation (BBQ).
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ohash.core.parameters import param
from ohash.models.base import HasherSpec
from ohash.models.quantizers.rabitq import RaBitQ
from ohash.models.quantizers.sign import SignParams, check_dimensions, chosen_axes


@dataclass(frozen=True)
class BBQParams(SignParams):
    """As sign, and the bits of items and queries per dimension."""

    dim_bits: int = param(
        1, symbol="B", title="bits per dimension", lo=1, hi=8, slider=(1, 8), step=1,
        help="More than 1 refines every sign by further bits, which are stored with the code.",
    )  # fmt: skip
    query_bits: int = param(
        4, symbol="", title="query bits", lo=0, hi=8, slider=(0, 8), step=1, alias="float",
        help="The query is rounded to so many bits per dimension; float: it is left as it is.",
    )  # fmt: skip


check_columns = partial(check_dimensions, instead="rabitq")


class BBQ(RaBitQ):
    """h = sgn(x - mean), with RaBitQ's estimate of the distance."""

    key = "bbq"
    Params = BBQParams  # type: ignore[assignment]
    params: BBQParams  # type: ignore[assignment]

    @property
    def r(self) -> int:
        """Bits of a code: d, once data have been seen."""
        return int(self.params.r) if self.d is None or not self._W.size else self._W.shape[1]

    def _draw(self, d: int) -> npt.NDArray[np.float64]:
        check_columns(self.params, d)
        return chosen_axes(d, self.params)


HASHER = HasherSpec(
    hasher=BBQ,
    title="BBQ-style (binary quantisation)",
    aliases=("better binary quantization", "better binary quantisation"),
    cite="Trent: Better Binary Quantization (BBQ) in Lucene and Elasticsearch, Elastic Search Labs 2024; "
    "Gao, Long: RaBitQ, SIGMOD 2024",
    bibtex="""@misc{trent2024bbq,
  title        = {Better Binary Quantization ({BBQ}) in {Lucene} and {Elasticsearch}},
  author       = {Trent, Benjamin},
  howpublished = {Elastic Search Labs},
  year         = {2024}
}""",
    supervision="none",
    features="distance",
    features_source="search engines quantise embeddings as they are",
    features_place="by its definition in search engines",
    consumes="nothing",
    asymmetric=True,
    check_columns=check_columns,
    differs="One centroid for all vectors, and RaBitQ's estimate of the distance; later versions of Lucene choose the "
    "two levels of every vector by optimisation instead. r is fixed to d, unless dims is 'first r'.",
)
