"""How the methods of the paper's figures are run: their parameters and features, and how much of it a profile runs.

Common to all: α = 0, C = 0.1, r = 64, unit-length vectors centred with the mean of a warm-up of 300 points, unless a
figure varies it. Codes are judged before the first and after the last pair. Every parameter that a data set may have a
default for is set here, so the cells do not depend on what the dashboard opens a data set with.

Two protocols. "As recommended", which decides the verdicts: each method works on the features its authors made it for,
as its spec declares; for OH, MMOH and the other kernel methods that is an RBF map of σ = 1 on 300 anchors. Beside it at
r = 64, "all on RBF": every method on that map. OH without the kernel is shown beside OH, too.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace

from ohash.core.features import FeatureParams
from ohash.core.parameters import Settings
from ohash.engine.params import RunParams, kernel_for
from ohash.models.registry import find, own_methods
from ohash.paper.settings import LABELLED, Setting
from ohash.streams.datasets.paper_setting import PAPER_FEATURES, PAPER_MODEL, PAPER_R, PAPER_WARM
from ohash.streams.drift import DriftParams
from ohash.streams.pairs import StreamParams

# What no data set decides: how pairs come, what a run does, and the features but for the kernel, which is the method's.
BASE: Settings = {
    **asdict(FeatureParams()), **asdict(StreamParams()), **asdict(DriftParams()), **asdict(RunParams()),
    **PAPER_FEATURES, "r": PAPER_R, "warm": PAPER_WARM, "judged_at": "ends",
}  # fmt: skip
# Parameters of a method that a data set may have a default for.
OF_DATA = ("alpha", "beta", "C", "center")
# What authors set where there are hundreds of classes, as on tracks: BSODH on Places205.
MANY_CLASSES = 100
FOR_MANY_CLASSES: dict[str, Settings] = {"bsodh": {"similar": 1.0, "dissimilar": 0.0, "fit": 0.8, "lambda_": 0.9}}
COMMON_R = PAPER_R  # of the second protocol


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
        applies = (not self.kinds or setting.kind in self.kinds) and (not self.bits or r in self.bits)
        return applies and method == self.method


@dataclass(frozen=True)
class Profile:
    """How much is run. `lighter` sets cheaper parameters for some methods; those of a profile here have none."""

    key: str
    title: str
    seeds: int
    bits: tuple[int, ...]
    timed_bits: tuple[int, ...]
    pairs: int
    lighter: dict[str, Settings] = field(default_factory=dict, compare=False)
    left_out: tuple[Omission, ...] = ()

    def describe(self) -> str:
        """The profile on one line."""
        bits = ", ".join(map(str, self.bits))
        seeds = "one seed" if self.seeds == 1 else f"{self.seeds} seeds"
        return f"{seeds}, r in {{{bits}}}, {self.pairs:,} pairs"

    def leaves_out(self, method: str, setting: Setting, r: int) -> bool:
        """Whether a cell is not run."""
        return any(one.covers(method, setting, r) for one in self.left_out)


QUICK = Profile(
    "quick", "Quick: about a quarter of an hour on two cores", 1, (16, 64), (16, 64, 128), 10_000,
)  # fmt: skip
FULL = replace(
    QUICK, key="full", title="Full: five seeds", seeds=5, bits=(16, 32, 64, 128),
)  # fmt: skip
PROFILES = {profile.key: profile for profile in (QUICK, FULL)}


def able_methods(methods: Iterable[str], setting: Setting) -> Iterable[str]:
    """The methods that can learn from this data set."""
    return (method for method in methods if setting.kind in LABELLED or not needs_labels(method))


def needs_labels(method: str) -> bool:
    """Whether a method cannot learn where no labels say what is similar.

    >>> needs_labels("sdh"), needs_labels("ksh"), needs_labels("oh")
    (True, False, False)
    """
    spec = find(method)
    return spec.supervision == "labels" and not spec.pairwise


def learns_from(method: str, settings: Iterable[Setting]) -> str:
    """What a method learns from on these data: "labels", "pairs" or "none".

    Methods that learn from labels are given, where there are none, which pairs of a sample are similar.

    >>> from ohash.paper.settings import EMBEDDED, TEXTS
    >>> learns_from("ksh", EMBEDDED), learns_from("ksh", TEXTS), learns_from("itq", TEXTS)
    ('labels', 'pairs', 'none')
    """
    supervision = find(method).supervision
    return "pairs" if supervision == "labels" and not any(one.kind in LABELLED for one in settings) else supervision


def method_case(profile: Profile, setting: Setting, method: str) -> Settings:
    """The parameters of a method on a data set, before a figure varies one of them."""
    spec = find(method)
    own = spec.params()
    case: Settings = {**setting.values, "method": method, "kernel": own_kernel(method)}
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
    return case


def own_kernel(method: str) -> str:
    """The kernel of the features that a method was made for."""
    return kernel_for(find(method), "rbf")


def other_kernels(method: str) -> tuple[str, ...]:
    """The features of a method in the second protocol, and of OH without its kernel."""
    if method == "oh":
        return ("none",)
    return ("rbf",) if find(method).features != "kernel" else ()


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
