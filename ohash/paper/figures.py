"""The paper's figures 2 to 8, the effect of what it recommends, two claims it does not test, and every method here.

The last figure has the embedded data that stand for none of the paper's.

`protocol` says how the methods are run.

Figures that compare methods also have those of plugins that learn as theirs do; the claims are about the paper's only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ohash.core.parameters import Settings
from ohash.models.registry import find, own_methods
from ohash.paper.protocol import BASE, COMMON_R, Profile, able_methods, method_case, needs_labels, other_kernels
from ohash.paper.settings import PAPER_KINDS, Kind, Setting, settings
from ohash.streams.datasets.paper_setting import PAPER_R
from ohash.sweeps.specification import build_sweep
from ohash.sweeps.sweep import Sweep

BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
CS = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
ONLINE = ("oh", "mmoh", "lego", "mlh", "ssbc", "sketch_hash")
TIMED = ("oh", "mmoh", "mlh", "adapthash", "sketch_hash", "lego", "ssbc")
UNSUPERVISED, SUPERVISED = ("kernel_lsh", "itq"), ("ksh", "sdh", "fasthash")
SKETCHES = ("sketch_hash", "ssbc")
ONLINE_INPUTS = ("pairs", "points", "chunks")  # what methods that learn online consume
ANY_INPUT = (*ONLINE_INPUTS, "batch", "nothing")
# Every method with codes of r bits, then those whose codes are as long as the vectors: one bit or byte per dimension.
EVERY = (
    "oh", "mmoh", "okh_style", "adapthash", "mlh", "lego", "click_whitening", "mihash", "oecc", "hcoh", "hmoh", "bsodh",
    "sdoh", "ohweu", "sketch_hash", "ssbc", "unifdiag", "ksh", "sdh", "fasthash", "itq", "lsh", "kernel_lsh", "klsh",
    "rotated", "rabitq", "turboquant", "pq",
)  # fmt: skip
LONG_AS_VECTORS = ("sign", "bbq", "int8")
LENGTHS_TEXT = (
    "Beside the 64 bits RaBitQ stores two floats per item and TurboQuant one. The codes of sign, BBQ and int8 are as "
    "long as the vectors, with one bit or, for int8, one byte per dimension: they are shown with their own bytes, and "
    "none of them is called the best."
)
CHANCE_OF_HIT = 0.004  # hit@10 of a random order of the Debian packages
MIN_CLASSES = 6  # of data whose classes arrive one after another
BEFORE_NEW, AFTER_NEW = 10_000, 30_000  # pairs after which half of the classes, and all of them, have arrived
EARLY, LATE, AFTER_CHANGE = 500, 10_000, 2_000  # pairs before the change of figure "change", and after it


def describe_batch_methods() -> str:
    """How much the most expensive batch methods learn from, in words; their parameters are those of their cards."""
    ksh, fasthash = find("ksh").params(), find("fasthash").params()
    return (
        f"KSH learns from {ksh.labelled:,} points in up to {ksh.iterations} iterations per bit, as its authors had it; "
        f"FastHash from up to {fasthash.labelled:,} points with {fasthash.trees} trees of depth {fasthash.depth} per "
        "bit, where its authors grew 200."
    )


@dataclass(frozen=True)
class Figure:
    """One figure: what the paper did, what is done here, and the parameter that varies.

    Methods of plugins that consume one of `own_inputs` are in it, too.
    """

    key: str
    title: str
    place: str
    paper: str
    ours: str
    varies: str
    methods: tuple[str, ...] = ("oh",)
    only: tuple[Kind, ...] = PAPER_KINDS  # kinds of data
    two_protocols: bool = False
    own_inputs: tuple[str, ...] = ()

    @property
    def own_methods(self) -> tuple[str, ...]:
        """The methods of plugins that are in it."""
        return tuple(key for key in own_methods() if find(key).consumes in self.own_inputs)

    @property
    def all_methods(self) -> tuple[str, ...]:
        """The methods of the figure, then those of plugins."""
        return (*self.methods, *self.own_methods)

    def usable_methods(self, methods: Sequence[str], data: Sequence[Setting] | None = None) -> tuple[str, ...]:
        """The `methods` that are in it and can learn from some of its data."""
        able = {key for setting in self.settings(data) for key in able_methods(self.all_methods, setting)}
        return tuple(key for key in self.all_methods if key in methods and key in able)

    @property
    def judged(self) -> bool:
        """Whether claims are judged on its data, by the average precision of every query."""
        return bool(set(self.only) & set(PAPER_KINDS))

    @property
    def needs(self) -> str:
        """What data must have to be drawn in it, in words; "" if any will do.

        >>> FIGURES["2"].needs, FIGURES["7"].needs, FIGURES["arrival"].needs
        ('', 'tracks', 'labels or tracks, 6 of them at least')
        """
        kinds = " or ".join(self.only) if self.only != PAPER_KINDS else ""
        return kinds + (f", {MIN_CLASSES} of them at least" if self.key == "arrival" else "")

    def settings(self, data: Sequence[Setting] | None = None) -> tuple[Setting, ...]:
        """The settings it is drawn for, of `data` or of all that are available."""
        return tuple(
            one
            for one in (settings() if data is None else data)
            if one.kind in self.only and (self.key != "arrival" or one.classes >= MIN_CLASSES)
        )

    def sweep(self, profile: Profile, data: Sequence[Setting] | None = None, only: Sequence[str] = ()) -> Sweep:
        """The figure as a sweep; with `only`, what it has of these methods: at least one, see `among`."""
        chosen = tuple(key for key in self.all_methods if not only or key in only)
        return _sweep(self, profile, self.settings(data), chosen)


FIGURES = {
    one.key: one
    for one in (
        Figure(
            "2", "mAP against β", "Figure 2, Section VII-B1",
            "OH, β from 0.1 to 0.9, r = 64, on all four datasets.", "OH with the same β and r.", "beta",
        ),
        Figure(
            "3", "mAP against the number of models T", "Figure 3, Section VII-B2",
            "MMOH, T from 1 to 4, r = 64; multi-index search.",
            "The same values of T and r; the distance over T models is the smallest, ties broken by the sum. T models "
            "have T · r bits.",
            "T", ("mmoh",),
        ),
        Figure(
            "4", "mAP against C", "Figure 4, Section VII-B3",
            "OH, C from 0.00001 to 0.1, r = 64.", "The same values, and C = 1 and 10, which the text mentions.", "C",
        ),
        Figure(
            "5", "Cumulative similarity loss against C", "Figure 5, Section VII-B3",
            "OH on Photo Tourism, more than a million pairs, C from 0.00001 to 10, r = 64.",
            "The same values of C and r, and a million pairs.", "C", ("oh",), ("tracks",),
        ),
        Figure(
            "6", "mAP of the online methods against r", "Figure 6, Section VII-C",
            "LEGO-LSH, MLH, SSBC, OSH, OH, and MMOH with T = 4; r from 16 to 128.",
            "The same methods, each with its published parameters and on the features it was made for; all see the "
            "same stream of pairs. Beside it at r = 64: all on OH's RBF map, and OH without the kernel.",
            "r", ONLINE, two_protocols=True, own_inputs=ONLINE_INPUTS,
        ),
        Figure(
            "7", "Training time", "Figure 7, Section VII-C",
            "80,000 training points of Photo Tourism, one thread; time against samples at r = 64, and against r.",
            "20,000 pairs, that is 40,000 points, of patches; CPU seconds of the method's own update on one thread, "
            "without the first tenth of the stream; the kernel map is the same for all and is not counted.",
            "r", TIMED, ("tracks",), own_inputs=ONLINE_INPUTS,
        ),
        Figure(
            "8", "mAP of KLSH, batch methods and OH against r", "Figure 8, Section VII-C",
            "KLSH, ITQ, KSH, FastHash, SDH, OH, MMOH; r from 16 to 128; SDH only where there are labels.",
            "The same methods and code lengths; SDH only where there are labels or tracks; elsewhere KSH and FastHash "
            f"learn which points of a sample are near. Batch methods are fitted to all points of the stream. "
            f"{describe_batch_methods()} Each method on the features it was made for; beside it at r = 64: all on OH's "
            "RBF map, and OH without kernel.",
            "r", (*UNSUPERVISED, *SUPERVISED, "oh", "mmoh"), two_protocols=True, own_inputs=ANY_INPUT,
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
        Figure(
            "arrival", "mAP on new classes, before and after they arrive", "Section I",
            "Stated without an experiment: where new data differ much from those collected, hashing fitted to the "
            "latter loses its efficiency on them.",
            f"Classes (or tracks) arrive one after another. Judged after {BEFORE_NEW:,} pairs, when half of them have "
            f"arrived, and after {AFTER_NEW:,}, when all have; on test queries of those that had not arrived at first. "
            "Batch methods are fitted to the points that had arrived by then. The features (mean, anchors) are those "
            "of the warm-up, so of the first two classes.",
            "pairs", ("ksh", "sdh", "itq", "oh", "mmoh"), ("labels", "tracks"), own_inputs=ANY_INPUT,
        ),
        Figure(
            "change", "mAP after an early and after a late change of the data", "Section II",
            "Stated without an experiment: a sketch keeps what it has seen, so it may not adapt well to new data after "
            "many samples.",
            f"The feature space is rotated at random after {EARLY:,} or {LATE:,} pairs; judged on the rotated data, "
            f"{AFTER_CHANGE:,} pairs later in both cases.",
            "drift_at", (*SKETCHES, "oh", "mmoh"), own_inputs=ONLINE_INPUTS,
        ),
        Figure(
            "methods", "Every method here at 64 bits", "Section VII-C",
            "Compares seven online and five other methods.",
            "Every method of this package, but for the references, and of your plugins, with codes of 64 bits in total "
            "(MMOH: 4 models of 16), on the features it was made for, after the same stream; batch methods are fitted "
            "to all of its points. "
            f"{LENGTHS_TEXT} Methods that need labels are left out where there are none; KSH and FastHash learn there "
            "which points of a sample are similar. On tracks BSODH has its authors' parameters for Places205, which "
            "has hundreds of classes, too.",
            "method", (*EVERY, *LONG_AS_VECTORS), own_inputs=ANY_INPUT,
        ),
        Figure(
            "texts", "Every method here on texts, at 64 bits", "Section VII-A",
            "Four data sets of pictures; texts and clicks are in none of its experiments.",
            "Every method that needs no labels, with codes of 64 bits in total (MMOH: 4 models of 16) and β = 0.5, on "
            "the features it was made for, after the same stream; KSH and FastHash learn which points of a sample are "
            f"similar. {LENGTHS_TEXT} Words are similar if either is among the other's nearest 10 by cosine, so that "
            "mAP asks for much the same neighbours as recall@10. Debian packages are similar if one depends on or "
            "recommends the other; that stands for a "
            f"click, and is judged by hit@10 on later clicks, where a random order has {CHANCE_OF_HIT:g}. No claim is "
            "judged on these data.",
            "method", tuple(key for key in (*EVERY, *LONG_AS_VECTORS) if not needs_labels(key)),
            ("nearest", "clicks"),
            own_inputs=ANY_INPUT,
        ),
    )
}  # fmt: skip


@lru_cache(maxsize=64)
def _sweep(figure: Figure, profile: Profile, data: tuple[Setting, ...], methods: tuple[str, ...]) -> Sweep:
    base = {**BASE, "pairs": {"5": 1_000_000, "7": 20_000}.get(figure.key, profile.pairs)}
    if figure.key == "7":
        base["judged_at"] = "tenths"
    if figure.key == "arrival":
        base["order"] = "class"
    if figure.key == "change":
        base["drift"] = "rotate"
    cases = [
        {**_case(figure, profile, setting, method), **_values(figure, x)}
        for setting in data
        for method in able_methods(methods, setting)
        for x in _xs(figure, profile, method)
        if figure.key == "7" or not profile.leaves_out(method, setting, x if figure.varies == "r" else PAPER_R)
    ]
    if figure.two_protocols:
        cases += [
            {**_case(figure, profile, setting, method), "r": COMMON_R, "kernel": kernel}
            for setting in data
            for method in able_methods(methods, setting)
            for kernel in other_kernels(method)
            if not profile.leaves_out(method, setting, COMMON_R)
        ]
    if data and not cases:
        raise ValueError(f"figure {figure.key} has no experiment with {' or '.join(methods)}")
    sweep = build_sweep(f"paper {figure.key} ({profile.key})", base=base, cases=cases, seeds=profile.seeds)
    return sweep if cases else replace(sweep, cases=())


def _xs(figure: Figure, profile: Profile, method: str) -> tuple[Any, ...]:
    """The values of the parameter that a figure varies."""
    values: dict[str, tuple[Any, ...]] = {
        "beta": BETAS, "C": CS, "T": (1, 2, 3, 4), "r": profile.timed_bits if figure.key == "7" else profile.bits,
        "kernel": ("rbf", "none"), "center": ("frozen", "none"), "select": ("smallest", "largest"), "rounds": (1, 5),
        "pairs": (BEFORE_NEW, AFTER_NEW), "drift_at": (EARLY, LATE), "method": (method,),
    }  # fmt: skip
    return values[figure.varies]


def _values(figure: Figure, x: Any) -> Settings:
    """The parameters of one point."""
    return {figure.varies: x, **({"pairs": x + AFTER_CHANGE} if figure.varies == "drift_at" else {})}


def _case(figure: Figure, profile: Profile, setting: Setting, method: str) -> Settings:
    """The parameters of a method on a data set, but for the one that the figure varies."""
    case = method_case(profile, setting, method)
    if method == "mmoh" and figure.varies == "method":
        case["r"] = PAPER_R // case["T"]
    if figure.key == "arrival":
        case["period"] = arrival_period(setting.classes)
    case.pop(figure.varies, None)
    return case


def arrival_period(classes: int) -> int:
    """Pairs between two new classes, so that half of them have arrived after BEFORE_NEW pairs, a warm-up included.

    >>> period = arrival_period(10)
    >>> [2 + (pairs + warm_up) // period for pairs in (BEFORE_NEW, AFTER_NEW) for warm_up in (150, 1000)]
    [5, 5, 12, 12]
    """
    return int(BEFORE_NEW / (classes / 2 - 1.5))
