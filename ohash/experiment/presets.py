"""Presets: experiments that tell a story, each with a takeaway filled in by the run's own numbers."""

from dataclasses import dataclass, field
from typing import Any

from ohash.experiment.params import ExperimentParams, experiment
from ohash.experiment.snapshot import Snapshot


@dataclass(frozen=True)
class Preset:
    """A named experiment. `beside` are parameters of a second run shown as a ghost; {names} are `Snapshot.numbers`."""

    key: str
    title: str
    story: str
    takeaway: str
    values: dict[str, Any] = field(default_factory=dict)
    beside: dict[str, Any] | None = None

    def params(self) -> ExperimentParams:
        """The experiment."""
        return experiment(**{"dataset": "fashion", "method": "oh", **self.values})

    def beside_params(self) -> ExperimentParams | None:
        """The experiment to compare with, if there is one."""
        if self.beside is None:
            return None
        return experiment(**{"dataset": "fashion", "method": "oh", **self.values, **self.beside})

    def conclusion(self, now: Snapshot) -> str:
        """The takeaway with this run's numbers; empty until they are there."""
        numbers = {**now.numbers, "gain": now.numbers.get("map", 0) - now.numbers.get("map_start", 0)}
        try:
            return self.takeaway.format(**numbers)
        except (KeyError, ValueError):
            return ""


PRESETS = (
    Preset(
        "start", "Start here",
        "OH learns 48-bit codes for pictures of clothes from pairs: same kind of garment, or not.",
        "Labels: mAP {map_start:.2f} → {map:.2f}. Distance: recall@10 {recall_10_start:.2f} → {recall_10:.2f}. "
        "The two move apart: codes follow your pairs, not the pixels.",
    ),
    Preset(
        "timid", "Too timid",
        "C = 0.00001 caps every step: the model sees its mistakes and hardly moves.",
        "{clipped_rate:.0%} of the updates hit the cap, and mAP moved by {gain:+.3f}. Raise C and watch.",
        {"C": 1e-5},
    ),
    Preset(
        "drift", "The world changes",
        "After 10,000 pairs the feature space is rotated. A frozen hash never recovers; OH does.",
        "After the change mAP is {map:.2f}. It started at {map_start:.2f}.",
        {"drift": "rotate", "drift_at": 10_000, "drift_size": 0.5, "C": 1.0, "center": "ema"},
        {"C": 1e-6},
    ),
    Preset(
        "small-beta", "β too small",
        "Dissimilar pairs are content with 10 % different bits: everything crowds together.",
        "mAP ends at {map:.2f}; pair-AUC is {auc:.2f}. The hills overlap because nothing pushes them apart.",
        {"beta": 0.1}, {"beta": 0.5},
    ),
    Preset(
        "large-beta", "β too large",
        "Dissimilar pairs should differ in 90 % of the bits, which cannot hold for ten classes at once.",
        "{update_rate:.0%} of the pairs still trigger an update, and mAP is {map:.2f}.",
        {"beta": 0.9}, {"beta": 0.5},
    ),
    Preset(
        "mmoh", "MMOH against OH",
        "Four models of 24 bits against one of 96: the same storage, so the comparison is fair.",
        "MMOH at {bits:.0f} bits in all reaches mAP {map:.2f}; the thin line is OH with the same bits.",
        {"method": "mmoh", "T": 4, "r": 24}, {"method": "oh", "r": 96},
    ),
    Preset(
        "no-centring", "No centring",
        "Kernel values are all positive, so without their mean most hyperplanes miss the data.",
        "Without centring mAP is {map:.2f}. No other choice matters as much.",
        {"center": "none"}, {"center": "frozen"},
    ),
    Preset(
        "noise", "Noisy clicks",
        "30 % of the pairs carry the wrong label, as real clicks do.",
        "With 30 % wrong labels mAP still goes {map_start:.2f} → {map:.2f}.",
        {"noise": 0.3}, {"noise": 0.0},
    ),
    Preset(
        "paper", "The paper's setting",
        "σ = 1, natural pairs, 64 bits, C = 0.1, as in the paper's experiments.",
        "mAP {map_start:.2f} → {map:.2f} with {bits:.0f} bits; cumulative loss {cum_R:,.0f}, with W frozen "
        "{cum_R_frozen:,.0f}.",
        {"sigma": 1.0, "r": 64, "beta": 0.5, "C": 0.1},
    ),
)  # fmt: skip


def preset(key: str) -> Preset:
    """A preset by its key."""
    for one in PRESETS:
        if one.key == key:
            return one
    raise ValueError(f"preset must be one of {', '.join(one.key for one in PRESETS)}, got {key!r}")
