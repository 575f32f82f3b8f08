"""Presets: experiments that tell a story, each with a takeaway filled in by the run's own numbers."""

from dataclasses import dataclass, field

from ohash.core.parameters import Settings
from ohash.engine.narrative import change_since_start
from ohash.engine.params import FIRST_DATASET, FIRST_SEED, ExperimentParams, experiment
from ohash.engine.snapshot import Snapshot
from ohash.number_formats import percent


@dataclass(frozen=True)
class Companion:
    """A second run to compare with: what it is called, and what differs (None: the default of its method)."""

    label: str
    values: Settings


@dataclass(frozen=True)
class Preset:
    """A named experiment. {names} in the takeaway are `Snapshot.numbers`, {companion_...} those of its companion.

    A rate stands there in per cent.
    """

    key: str
    title: str
    story: str
    takeaway: str
    values: Settings = field(default_factory=dict)
    companion: Companion | None = None

    def params(self) -> ExperimentParams:
        """The experiment."""
        return experiment(**{"dataset": FIRST_DATASET, "method": "oh", "seed": FIRST_SEED, **self.values})

    def companion_params(self, seed: int = FIRST_SEED) -> ExperimentParams | None:
        """The experiment to compare with, if there is one; on the same stream, hence of the same seed."""
        if self.companion is None:
            return None
        values = {"dataset": FIRST_DATASET, "method": "oh", "seed": seed, **self.values, **self.companion.values}
        return experiment(**{key: value for key, value in values.items() if value is not None})

    def conclusion(self, now: Snapshot, companion: Snapshot | None = None) -> str:
        """The takeaway with the runs' own numbers; empty until they are there."""
        numbers = {**now.numbers, "gain": round(now.numbers.get("map", 0) - now.numbers.get("map_start", 0), 3) + 0.0}
        edges = now.params.drift.boundaries
        if edges and now.t > edges[0]:
            numbers["since"] = now.t - edges[0]
        known = [column for column in ("map", "recall_10") if {column, f"{column}_start"} <= numbers.keys()]
        words = {f"{column}_change": change_since_start(numbers, column) for column in known}
        if companion is not None:
            numbers |= {f"companion_{name}": value for name, value in companion.numbers.items()}
        rates = {name: percent(value) for name, value in numbers.items() if name.endswith("_rate")}
        try:
            return self.takeaway.format(**numbers | rates, **words)
        except (KeyError, ValueError):
            return ""


PRESETS = (
    Preset(
        "start", "Start here",
        "OH learns 48-bit codes for pictures of clothes from pairs: same kind of garment, or not.",
        "Codes follow your pairs, not the pixels: compared with the start, they agree {map_change} with labels and "
        "{recall_10_change} with the original distance (recall@10 {recall_10_start:.2f} → {recall_10:.2f}).",
    ),
    Preset(
        "timid", "Too timid",
        "C = 0.00001 caps every step: the model sees its mistakes and hardly moves.",
        "{clipped_rate} of the updates hit the cap, and mAP moved by {gain:+.3f}. Raise C and watch.",
        {"C": 1e-5},
    ),
    Preset(
        "drift", "The world changes",
        "After 10,000 pairs the feature space is rotated. A copy that stops learning there never recovers; OH does.",
        "{since:,.0f} pairs after the change mAP is {map:.2f}; the copy that stopped learning has {companion_map:.2f}.",
        {"drift": "rotate", "drift_at": 10_000, "drift_size": 0.5, "C": 1.0, "center": "ema"},
        Companion("frozen at the change", {"changes": ((10_000, "C", 1e-9),)}),
    ),
    Preset(
        "small-beta", "β too small",
        "Dissimilar pairs need only 10 % different bits, so few of them teach anything.",
        "{update_rate} of the pairs still trigger an update; with β = 0.5, {companion_update_rate} do. mAP is "
        "{map:.2f}; with β = 0.5 it is {companion_map:.2f}.",
        {"beta": 0.1}, Companion("β = 0.5", {"beta": 0.5}),
    ),
    Preset(
        "large-beta", "β too large",
        "Dissimilar pairs should differ in 90 % of the bits, which cannot hold for ten classes at once.",
        "{update_rate} of the pairs still trigger an update, and mAP is {map:.2f}; with β = 0.5 it is "
        "{companion_map:.2f}.",
        {"beta": 0.9}, Companion("β = 0.5", {"beta": 0.5}),
    ),
    Preset(
        "mmoh", "MMOH against OH",
        "Four models of 24 bits against one of 96: the same storage, so the comparison is fair.",
        "With {bits:.0f} total bits MMOH reaches mAP {map:.2f} and OH {companion_map:.2f}.",
        {"method": "mmoh", "T": 4, "r": 24}, Companion("OH with 96 bits", {"method": "oh", "r": 96, "T": None}),
    ),
    Preset(
        "no-centring", "No centring",
        "Kernel values are all positive: without subtracting their mean, most of the first hyperplanes miss the data.",
        "Without centring mAP goes {map_start:.2f} → {map:.2f}, with it {companion_map_start:.2f} → "
        "{companion_map:.2f}.",
        {"center": "none"}, Companion("centred", {"center": "frozen"}),
    ),
    Preset(
        "noise", "Noisy clicks",
        "30 % of the pairs carry the wrong label, as happens with real clicks.",
        "With 30 % wrong labels mAP goes {map_start:.2f} → {map:.2f}; with none it reaches {companion_map:.2f}.",
        {"noise": 0.3}, Companion("no wrong labels", {"noise": 0.0}),
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
