"""Models that have learnt a little, and their export by the command."""

import numpy as np

import ohash
from ohash.cli.main import main
from ohash.models import registry

RNG = np.random.default_rng(0)
X = (RNG.normal(size=(400, 10)) + 1).astype(np.float32)


def taught(key, feature_map, dtype="float32"):
    spec = registry.find(key)
    model = spec.build(
        spec.params(**{k: v for k, v in {"r": 21, "seed": 1, "dtype": dtype}.items() if k in spec.table})
    )
    Z = X if feature_map is None else feature_map.transform(X)
    if hasattr(model, "warm_up"):
        model.warm_up(Z[:100])
    if spec.consumes == "batch":
        model.fit(Z, RNG.integers(0, 3, len(Z)))
    elif spec.consumes == "pairs":
        model.learn(Z, *RNG.integers(0, 400, (2, 50)), RNG.choice([-1, 1], 50))
    model.feature_map = feature_map
    return model, Z


def exported(tmp_path, key, *options):
    feature_map = ohash.FeatureMap(kernel="none", dtype="float64").fit(X)
    model, _ = taught(key, feature_map, "float64")
    ohash.save(model, tmp_path / "model.npz")
    np.save(tmp_path / "x.npy", X)
    files = [str(tmp_path / "model.npz"), "--features", str(tmp_path / "x.npy"), "--out", str(tmp_path / "out")]
    return main(["index", *files, *options]), model
