"""The paper's figures 2 to 8, the effect of what it recommends, two claims it does not test, and every method here.

Common to all: α = 0, C = 0.1, r = 64, unit-length vectors centred with the mean of a warm-up of 300 points, unless a
figure varies it. Codes are judged before the first and after the last pair. Every parameter that a data set may have a
default for is set here, so the cells do not depend on what the dashboard opens a data set with.

Two protocols. "As recommended", which decides the verdicts: each method works on the features its authors made it for,
as its spec declares; for OH, MMOH and the other kernel methods that is an RBF map of σ = 1 on 300 anchors. Beside it at
r = 64, "all on RBF": every method on that map. OH without the kernel is shown beside OH, too.

Figures that compare methods also have those of plugins that learn as theirs do; the claims are about the paper's only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

from ohash.core.features import FeatureParams
from ohash.engine.params import RunParams, kernel_for
from ohash.models.registry import find, own_methods
from ohash.paper.settings import Setting, settings
from ohash.streams.datasets.paper_setting import PAPER_FEATURES, PAPER_MODEL, PAPER_R
from ohash.streams.drift import DriftParams
from ohash.streams.pairs import StreamParams
from ohash.sweeps.sweep import Sweep, build_sweep

BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
CS = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
ONLINE = ("oh", "mmoh", "lego", "mlh", "ssbc", "sketch_hash")
TIMED = ("oh", "mmoh", "mlh", "adapthash", "sketch_hash", "lego", "ssbc")
UNSUPERVISED, SUPERVISED = ("kernel_lsh", "itq"), ("ksh", "sdh", "fasthash")
SKETCHES = ("sketch_hash", "ssbc")
ONLINE_INPUTS = ("pairs", "points", "chunks")  # what methods that learn online consume
ANY_INPUT = (*ONLINE_INPUTS, "batch", "nothing")
# Every method with codes of r bits: those of float, int8, sign and bbq are as long as the vectors, and the bits of
# turboquant are those of rotated.
EVERY = (
    "oh", "mmoh", "okh_style", "adapthash", "mlh", "lego", "click_whitening", "mihash", "oecc", "hcoh", "hmoh", "bsodh",
    "sdoh", "ohweu", "sketch_hash", "ssbc", "unifdiag", "ksh", "sdh", "fasthash", "itq", "lsh", "kernel_lsh", "klsh",
    "rotated", "rabitq", "pq",
)  # fmt: skip
# What no data set decides: how pairs come, what a run does, and the features but for the kernel, which is the method's.
BASE: dict[str, Any] = {
    **asdict(FeatureParams()), **asdict(StreamParams()), **asdict(DriftParams()), **asdict(RunParams()),
    **PAPER_FEATURES, "r": PAPER_R, "warm": PAPER_FEATURES["m"], "judged_at": "ends",
}  # fmt: skip
# Parameters of a method that a data set may have a default for.
OF_DATA = ("alpha", "beta", "C", "center")
# What authors set where there are hundreds of classes, as on tracks: BSODH on Places205.
MANY_CLASSES = 100
FOR_MANY_CLASSES: dict[str, dict[str, Any]] = {"bsodh": {"similar": 1.0, "dissimilar": 0.0, "fit": 0.8, "lambda_": 0.9}}
COMMON_R = PAPER_R  # of the second protocol
LEAST_CLASSES = 6  # of data whose classes arrive one after another
BEFORE_NEW, AFTER_NEW = 10_000, 30_000  # pairs after which half of the classes, and all of them, have arrived
EARLY, LATE, AFTER_CHANGE = 500, 10_000, 2_000  # pairs before the change of figure "change", and after it


@dataclass(frozen=True)
class Omission:
    """Cells that a profile leaves out, and why: a method on kinds of data, at code lengths (empty: all).

    The figure of training times has them all.
    """

    method: str
    reason: str
    kinds: tuple[str, ...] = ()
    bits: tuple[int, ...] = ()

    def __str__(self) -> str:
        """In words.

        >>> str(Omission("fasthash", "too slow", ("tracks",))), str(Omission("ssbc", "too slow", bits=(32, 128)))
        ('FastHash on tracks (too slow)', 'SSBC at 32 and 128 bits (too slow)')
        """
        where = f" on {' and '.join(self.kinds)}" if self.kinds else ""
        where += f" at {' and '.join(map(str, self.bits))} bits" if self.bits else ""
        return f"{variant_title(self.method)}{where} ({self.reason})"

    def covers(self, method: str, setting: Setting, r: int) -> bool:
        """Whether a cell is left out."""
        here = (not self.kinds or setting.kind in self.kinds) and (not self.bits or r in self.bits)
        return here and method == self.method


@dataclass(frozen=True)
class Profile:
    """How much is run. `lighter` sets cheaper parameters for some methods; those of a profile here have none."""

    key: str
    title: str
    seeds: int
    bits: tuple[int, ...]
    timed_bits: tuple[int, ...]
    pairs: int
    lighter: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False)
    left_out: tuple[Omission, ...] = ()

    def describe(self) -> str:
        """The profile on one line."""
        bits = ", ".join(map(str, self.bits))
        return f"{self.seeds} seed{'s' if self.seeds > 1 else ''}, r in {{{bits}}}, {self.pairs:,} pairs"

    def leaves_out(self, method: str, setting: Setting, r: int) -> bool:
        """Whether a cell is not run."""
        return any(one.covers(method, setting, r) for one in self.left_out)


QUICK = Profile(
    "quick", "Quick: under a quarter of an hour on two cores", 1, (16, 64), (16, 64, 128), 10_000,
)  # fmt: skip
FULL = replace(
    QUICK, key="full", title="Full: five seeds", seeds=5, bits=(16, 32, 64, 128),
)  # fmt: skip
PROFILES = {profile.key: profile for profile in (QUICK, FULL)}


def describe_batch_methods() -> str:
    """From how much the most expensive batch methods learn: their parameters are those of their cards."""
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
    only: tuple[str, ...] = ()  # kinds of data
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

    def among(self, methods: Sequence[str], data: Sequence[Setting] | None = None) -> tuple[str, ...]:
        """Those of `methods` that are in it and can learn from some of its data."""
        able = {key for setting in self.settings(data) for key in _able(self.all_methods, setting)}
        return tuple(key for key in self.all_methods if key in methods and key in able)

    @property
    def needs(self) -> str:
        """What data must have to be drawn in it, in words; "" if any will do.

        >>> FIGURES["2"].needs, FIGURES["7"].needs, FIGURES["arrival"].needs
        ('', 'tracks', 'labels or tracks, 6 of them at least')
        """
        return " or ".join(self.only) + (f", {LEAST_CLASSES} of them at least" if self.key == "arrival" else "")

    def settings(self, data: Sequence[Setting] | None = None) -> tuple[Setting, ...]:
        """The settings it is drawn for, of `data` or of all that are available."""
        return tuple(
            one
            for one in (settings() if data is None else data)
            if (not self.only or one.kind in self.only) and (self.key != "arrival" or one.classes >= LEAST_CLASSES)
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
            "Every method of this package, and of your plugins, with codes of 64 bits in total (MMOH: 4 models of 16), "
            "on the features it was made for, after the same stream; batch methods are fitted to all of its points. "
            "RaBitQ adds two floats per item. Methods that need labels are left out where there are none. On tracks "
            "BSODH has its authors' parameters for Places205, which has hundreds of classes, too.",
            "method", EVERY, own_inputs=ANY_INPUT,
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
    """The title of a method or variant; that of a plugin is marked."""
    method, _, kernel = name.partition("@")
    title = find(method).title.partition(" (")[0] + (" (yours)" if method in own_methods() else "")
    return title + {"": "", "rbf": " on RBF", "none": " without kernel"}[kernel]


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
        for method in _able(methods, setting)
        for x in _xs(figure, profile, method)
        if figure.key == "7" or not profile.leaves_out(method, setting, x if figure.varies == "r" else PAPER_R)
    ]
    if figure.two_protocols:
        cases += [
            {**_case(figure, profile, setting, method), "r": COMMON_R, "kernel": kernel}
            for setting in data
            for method in _able(methods, setting)
            for kernel in _other_kernels(method)
            if not profile.leaves_out(method, setting, COMMON_R)
        ]
    if data and not cases:
        raise ValueError(f"figure {figure.key} has nothing to run of {', '.join(methods)}")
    return build_sweep(f"paper {figure.key} ({profile.key})", base=base, cases=cases, seeds=profile.seeds)


def _xs(figure: Figure, profile: Profile, method: str) -> tuple[Any, ...]:
    """The values of the parameter that a figure varies."""
    values: dict[str, tuple[Any, ...]] = {
        "beta": BETAS, "C": CS, "T": (1, 2, 3, 4), "r": profile.timed_bits if figure.key == "7" else profile.bits,
        "kernel": ("rbf", "none"), "center": ("frozen", "none"), "select": ("smallest", "largest"), "rounds": (1, 5),
        "pairs": (BEFORE_NEW, AFTER_NEW), "drift_at": (EARLY, LATE), "method": (method,),
    }  # fmt: skip
    return values[figure.varies]


def _values(figure: Figure, x: Any) -> dict[str, Any]:
    """The parameters of one point."""
    return {figure.varies: x, **({"pairs": x + AFTER_CHANGE} if figure.varies == "drift_at" else {})}


def _other_kernels(method: str) -> tuple[str, ...]:
    """The features of a method in the second protocol, and of OH without its kernel."""
    if method == "oh":
        return ("none",)
    return ("rbf",) if find(method).features != "kernel" else ()


def _able(methods: Iterable[str], setting: Setting) -> Iterable[str]:
    """The methods that can learn from this data set."""
    for method in methods:
        spec = find(method)
        if setting.kind != "metric" or spec.supervision != "labels" or spec.pairwise:
            yield method


def _case(figure: Figure, profile: Profile, setting: Setting, method: str) -> dict[str, Any]:
    spec = find(method)
    own = spec.params()
    case: dict[str, Any] = {**setting.values, "method": method, "kernel": own_kernel(method)}
    case |= {key: getattr(own, key) for key in OF_DATA if key in spec.table}
    if "frozen" in getattr(spec.table.get("center"), "choices", ()):
        case["center"] = "frozen"
    case |= profile.lighter.get(method, {})
    if setting.classes >= MANY_CLASSES:
        case |= FOR_MANY_CLASSES.get(method, {})
    if method in ("oh", "mmoh"):
        case |= {**PAPER_MODEL, "beta": setting.beta}
    if method == "mmoh":
        case["T"] = 4
        if figure.key == "methods":
            case["r"] = PAPER_R // case["T"]
    if figure.key == "arrival":
        case["period"] = arrival_period(setting.classes)
    case.pop(figure.varies, None)
    return case


def own_kernel(method: str) -> str:
    """The kernel of the features that a method was made for."""
    return kernel_for(find(method), "rbf")


def arrival_period(classes: int) -> int:
    """Pairs between two new classes, so that half of them have arrived after BEFORE_NEW pairs, a warm-up included.

    >>> period = arrival_period(10)
    >>> [2 + (pairs + warm_up) // period for pairs in (BEFORE_NEW, AFTER_NEW) for warm_up in (150, 1000)]
    [5, 5, 12, 12]
    """
    return int(BEFORE_NEW / (classes / 2 - 1.5))
