"""The paper's protocol for one run, as in its figures: parameters, features and neighbours of each dataset.

Differs from the paper: of its four datasets CIFAR-10 has GIST-512 here instead of deep features that were never
published, and is searched itself instead of Tiny Images; beside the paper's test queries there are validation queries.
"""

from typing import Any

from ohash.engine.params import ExperimentParams, experiment, rows_of
from ohash.models import registry as methods
from ohash.streams.datasets.paper_setting import paper_params
from ohash.streams.registry import datasets

# For a dataset the paper does not know.
DEFAULTS_FOR_OTHER_DATA = paper_params(beta=0.5, similar_by="auto")


def paper_key(dataset: str) -> str:
    """The dataset with the features the protocol wants.

    >>> paper_key("cifar10"), paper_key("labelme")
    ('cifar10-gist', 'labelme')
    """
    known = datasets().get(dataset)
    return dataset if known is None else known.paper_key or dataset


def protocol(dataset: str, method: str = "oh", **values: Any) -> ExperimentParams:
    """The experiment; `values` are set on top. A method gets the parameters it knows.

    >>> params = protocol("cifar10", pairs=5000)
    >>> params.dataset, params.model.r, params.model.beta, params.features.sigma, params.run.pairs
    ('cifar10-gist', 64, 0.4, 1.0, 5000)
    """
    key = paper_key(dataset)
    base = experiment(key, method)
    known = rows_of(base)
    presets = datasets()[key].presets if key in datasets() else {}
    wanted = {name: value for name, value in (presets or DEFAULTS_FOR_OTHER_DATA).items() if name in known}
    if methods.find(method).features != "kernel":
        wanted.pop("kernel", None)  # the paper names the kernel for its own models
    return base.with_values(**{**wanted, **values})
