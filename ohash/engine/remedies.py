"""Settings that help a run which is not well, as values for a button and in words."""

from dataclasses import dataclass

from ohash.core.parameters import Value
from ohash.engine.run_signs import ONE_SIDED, median_step, score_rose, wrong_answers
from ohash.engine.snapshot import Snapshot

USUAL_BETA = 0.3, 0.7, 0.5  # from, to, and what to try outside
BALANCED = 0.5  # share of similar pairs to try where hardly any are dissimilar


@dataclass(frozen=True)
class Remedy:
    """A setting that a finding asks for."""

    key: str
    value: Value


def shorter_steps(now: Snapshot, C: float) -> Remedy | None:
    """Half the median step, unless the score has risen with the long ones."""
    smaller = float(f"{median_step(now) / 2:.1g}")
    return Remedy("C", smaller) if 0 < smaller < C and not score_rose(now) else None


def more_dissimilar(now: Snapshot) -> Remedy | None:
    """As many dissimilar pairs as similar ones, where the stream can draw them so."""
    few = now.numbers.get("similar_share", 0.0) > ONE_SIDED
    any_share = now.similar_by in ("label", "track") or now.params.stream.order not in ("time", "once")
    return Remedy("similar_share", BALANCED) if few and any_share else None


def usual_settings(now: Snapshot) -> Remedy | None:
    """Right answers where some are wrong on purpose, the usual β where another was chosen, a kernel where none is."""
    if now.params.stream.noise > 0:  # no C from 0.001 to 0.1 made up for noise of 0.3 and more
        return Remedy("noise", 0.0)
    lo, hi, usual = USUAL_BETA
    beta = getattr(now.model_at(now.t), "beta", usual)
    if not lo <= beta <= hi:
        return Remedy("beta", usual)
    labelled = now.similar_by not in ("metric", "topk")
    return Remedy("kernel", "rbf") if now.params.features.kernel == "none" and labelled else None


def other_features(now: Snapshot) -> Remedy | None:
    """Other features: a kernel where there is none, or the vectors' own lengths; nothing if both are tried."""
    features = now.params.features
    if features.kernel == "none":
        return Remedy("kernel", "rbf")
    return Remedy("normalize", False) if features.kernel == "rbf" and features.normalize else None


def settings_to_try(now: Snapshot) -> str:
    """The settings that this run has, in words: no kernel where one is on, and no β or C of a method without."""
    model = now.model_at(now.t)
    named = [symbol for key, symbol in (("beta", "β"), ("C", "C")) if hasattr(model, key)]
    if now.params.features.kernel == "rbf":
        named.append("σ")
    tried = [f"another {' or '.join(part for part in (', '.join(named[:-1]), *named[-1:]) if part)}"] if named else []
    if now.params.features.kernel != "rbf" and now.similar_by not in ("metric", "topk"):
        tried.append("a kernel")
    return f"try {', or '.join(tried)}" if tried else ""


def features_to_try(now: Snapshot) -> str:
    """What is left to try of the features, in words."""
    features = now.params.features
    left = ["try a kernel"] if features.kernel != "rbf" else []
    if features.normalize and features.kernel in ("rbf", "none"):
        left.append("switch unit length off")
    if left:
        return ", or ".join(left)
    return wrong_answers(now) if now.params.stream.noise > 0 else "the features do not tell the labels apart"
