"""Data sets and the streams of pairs that are drawn from them.

`registry` finds data sets by key: those of `datasets`, those of plugins, and the files of the data folder, which
`readers` opens. `similarity` decides which pairs are similar, `pairs` draws them, and `drift` changes the world under
them. `summary` and `overview` measure a data set before a run.
"""

from typing import TYPE_CHECKING

from ohash.runtime import lazy

if TYPE_CHECKING:
    from ohash.streams.data_split import Split, split
    from ohash.streams.dataset import Dataset, DatasetSpec
    from ohash.streams.drift import Drift, DriftParams
    from ohash.streams.overview import draw_examples, make_overview
    from ohash.streams.pairs import PairStream, StreamParams, make_stream, pair_stream
    from ohash.streams.registry import find_dataset, load_by_key, load_dataset
    from ohash.streams.summary import Summary, summarize

__all__ = [
    "Dataset", "DatasetSpec", "Drift", "DriftParams", "PairStream", "Split", "StreamParams", "Summary", "draw_examples",
    "find_dataset", "load_by_key", "load_dataset", "make_overview", "make_stream", "pair_stream", "split", "summarize",
]  # fmt: skip

# `registry.datasets` is not among them: `ohash.streams.datasets` is the package of the data sets.
__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "data_split": ("Split", "split"),
        "dataset": ("Dataset", "DatasetSpec"),
        "drift": ("Drift", "DriftParams"),
        "overview": ("draw_examples", "make_overview"),
        "pairs": ("PairStream", "StreamParams", "make_stream", "pair_stream"),
        "registry": ("find_dataset", "load_by_key", "load_dataset"),
        "summary": ("Summary", "summarize"),
    },
)
