"""The paper's figures 2 to 8, and the effect of what it recommends, each as a sweep.

Common to all: α = 0, C = 0.1, r = 64, unit-length vectors centred with the mean of a warm-up of 300 points, unless a
figure varies it. Codes are judged before the first and after the last pair.

Two protocols. "As recommended", which decides the verdicts: each method works on the features its authors made it for,
as its spec declares; for OH, MMOH and the other kernel methods that is an RBF map of σ = 1 on 300 anchors. Beside it at
r = 64, "all on RBF": every method on that map. OH without the kernel is shown beside OH, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ohash.models.registry import find
from ohash.paper.settings import Setting, settings
from ohash.streams.datasets.paper_setting import PAPER_FEATURES, PAPER_MODEL, PAPER_R
from ohash.sweeps.sweep import Sweep, build_sweep

BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
CS = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
ONLINE = ("oh", "mmoh", "lego", "mlh", "ssbc", "sketch_hash")
TIMED = ("oh", "mmoh", "mlh", "adapthash", "sketch_hash", "lego", "ssbc")
UNSUPERVISED, SUPERVISED = ("kernel_lsh", "itq"), ("ksh", "sdh", "fasthash")
BASE: dict[str, Any] = {"r": PAPER_R, **PAPER_FEATURES, "warm": PAPER_FEATURES["m"], "judged_at": "ends"}
COMMON_R = PAPER_R  # of the second protocol


@dataclass(frozen=True)
class Profile:
    """How much is run. `lighter` sets cheaper parameters for the most expensive batch methods."""

    key: str
    title: str
    seeds: int
    bits: tuple[int, ...]
    timed_bits: tuple[int, ...]
    pairs: int
    lighter: dict[str, dict[str, Any]] = field(compare=False)
    left_out: tuple[tuple[str, str], ...] = ()

    def describe(self) -> str:
        """The profile on one line."""
        bits = ", ".join(map(str, self.bits))
        return f"{self.seeds} seed{'s' if self.seeds > 1 else ''}, r in {{{bits}}}, {self.pairs:,} pairs"


QUICK = Profile(
    "quick", "Quick: under a quarter of an hour on two cores", 1, (16, 64), (16, 64, 128), 10_000,
    {
        "ksh": {"labelled": 500, "iterations": 50},
        "fasthash": {"labelled": 500, "trees": 5, "neighbours": 10, "sweeps": 1},
    },
    left_out=(("fasthash", "tracks"),),  # a graph cut for each of hundreds of tracks and each bit takes minutes
)  # fmt: skip
FULL = Profile(
    "full", "Full: five seeds", 5, (16, 64), (16, 64, 128), 10_000, QUICK.lighter, QUICK.left_out
)  # fmt: skip
PROFILES = {profile.key: profile for profile in (QUICK, FULL)}


@dataclass(frozen=True)
class Figure:
    """One figure: what the paper did, what is done here, and the parameter that varies."""

    key: str
    title: str
    place: str
    paper: str
    ours: str
    varies: str
    methods: tuple[str, ...] = ("oh",)
    only: tuple[str, ...] = ()  # kinds of data
    two_protocols: bool = False

    def settings(self) -> tuple[Setting, ...]:
        """The settings it is drawn for."""
        return tuple(one for one in settings() if not self.only or one.kind in self.only)

    def sweep(self, profile: Profile) -> Sweep:
        """The figure as a sweep."""
        return _sweep(self, profile, self.settings())


FIGURES = {
    one.key: one
    for one in (
        Figure(
            "2", "mAP against β", "Figure 2, Section VII-B1",
            "OH, β from 0.1 to 0.9, r = 64, on all four datasets.", "The same.", "beta",
        ),
        Figure(
            "3", "mAP against the number of models T", "Figure 3, Section VII-B2",
            "MMOH, T from 1 to 4, r = 64; multi-index search.",
            "The same; the distance over T models is the smallest, ties broken by the sum. T models have T · r bits.",
            "T", ("mmoh",),
        ),
        Figure(
            "4", "mAP against C", "Figure 4, Section VII-B3",
            "OH, C from 0.00001 to 0.1, r = 64.", "The same, and C = 1 and 10, which the text mentions.", "C",
        ),
        Figure(
            "5", "Cumulative similarity loss against C", "Figure 5, Section VII-B3",
            "OH on Photo Tourism, more than a million pairs, C from 0.00001 to 10, r = 64.",
            "The same on patches of photographs by track, a million pairs.", "C", ("oh",), ("tracks",),
        ),
        Figure(
            "6", "mAP of the online methods against r", "Figure 6, Section VII-C",
            "LEGO-LSH, MLH, SSBC, OSH, OH, and MMOH with T = 4; r from 16 to 128.",
            "The same methods, each with its published parameters and on the features it was made for; all see the "
            "same stream of pairs. Beside it at r = 64: all on OH's RBF map, and OH without the kernel.",
            "r", ONLINE, two_protocols=True,
        ),
        Figure(
            "7", "Training time", "Figure 7, Section VII-C",
            "80,000 training points of Photo Tourism, one thread; time against samples at r = 64, and against r.",
            "20,000 pairs, that is 40,000 points, of patches; CPU seconds of the method's own update on one thread, "
            "without the first tenth of the stream; the kernel map is the same for all and is not counted.",
            "r", TIMED, ("tracks",),
        ),
        Figure(
            "8", "mAP of KLSH, batch methods and OH against r", "Figure 8, Section VII-C",
            "KLSH, ITQ, KSH, FastHash, SDH, OH, MMOH; r from 16 to 128; SDH only where there are labels.",
            "The same; SDH only where there are labels or tracks; elsewhere KSH and FastHash learn which points of a "
            "sample are near. Batch methods are fitted to all points of the stream; to save hours KSH learns from 500 "
            "labels in 50 iterations, FastHash from 500 with 5 trees per bit, and not on tracks. Each method on the "
            "features it was made for; beside it at r = 64: all on OH's RBF map, and OH without the kernel.",
            "r", (*UNSUPERVISED, *SUPERVISED, "oh", "mmoh"), two_protocols=True,
        ),
        Figure(
            "kernel", "mAP of OH with and without the kernel", "Section VII-B",
            "The RBF kernel is the default; a study of its effect is announced.",
            "OH on the kernel features, and on the centred vectors.", "kernel",
        ),
        Figure(
            "centring", "mAP of OH with and without centring", "Section III",
            "Data are centred.", "OH with the mean of the warm-up subtracted after the kernel, and without.", "center",
        ),
        Figure(
            "selection", "mAP of OH with the smallest and the largest δ", "Section IV",
            "The bits with the smallest potential loss are flipped.", "OH, and OH with the largest instead.", "select",
        ),
        Figure(
            "rounds", "mAP of OH with one update per pair and with five", "Section III-A",
            "One update per pair.", "OH, and OH whose update of each pair is repeated up to five times.", "rounds",
        ),
    )
}  # fmt: skip


def variant(method: str, kernel: str) -> str:
    """The name of a method on features other than its own.

    >>> variant("itq", "rbf")
    'itq@rbf'
    """
    return f"{method}@{kernel}"


def variant_title(name: str) -> str:
    """The title of a method or variant."""
    method, _, kernel = name.partition("@")
    title = find(method).title.partition(" (")[0]
    return title + {"": "", "rbf": " on RBF", "none": " without kernel"}[kernel]


@lru_cache(maxsize=64)
def _sweep(figure: Figure, profile: Profile, data: tuple[Setting, ...]) -> Sweep:
    base = {**BASE, "pairs": {"5": 1_000_000, "7": 20_000}.get(figure.key, profile.pairs)}
    if figure.key == "7":
        base["judged_at"] = "tenths"
    cases = [
        {**_case(figure, profile, setting, method), figure.varies: x}
        for setting in data
        for method in _methods(figure, profile, setting)
        for x in _values(figure, profile)
    ]
    if figure.two_protocols:
        cases += [
            {**_case(figure, profile, setting, method), "r": COMMON_R, "kernel": kernel}
            for setting in data
            for method in _methods(figure, profile, setting)
            for kernel in _other_kernels(method)
        ]
    return build_sweep(f"paper {figure.key} ({profile.key})", base=base, cases=cases, seeds=profile.seeds)


def _values(figure: Figure, profile: Profile) -> tuple[Any, ...]:
    values: dict[str, tuple[Any, ...]] = {
        "beta": BETAS, "C": CS, "T": (1, 2, 3, 4), "r": profile.timed_bits if figure.key == "7" else profile.bits,
        "kernel": ("rbf", "none"), "center": ("frozen", "none"), "select": ("smallest", "largest"), "rounds": (1, 5),
    }  # fmt: skip
    return values[figure.varies]


def _other_kernels(method: str) -> tuple[str, ...]:
    """The features of a method in the second protocol, and of OH without its kernel."""
    if method == "oh":
        return ("none",)
    return ("rbf",) if find(method).features != "kernel" else ()


def _methods(figure: Figure, profile: Profile, setting: Setting) -> Iterable[str]:
    for method in figure.methods:
        without_labels = setting.kind == "metric" and method in SUPERVISED and not find(method).pairwise
        if not without_labels and (method, setting.kind) not in profile.left_out:
            yield method


def _case(figure: Figure, profile: Profile, setting: Setting, method: str) -> dict[str, Any]:
    case: dict[str, Any] = {**setting.values, "method": method, **profile.lighter.get(method, {})}
    if method in ("oh", "mmoh"):
        case |= {**PAPER_MODEL, "beta": setting.beta}
    if method == "mmoh":
        case["T"] = 4
    case.pop(figure.varies, None)
    return case
