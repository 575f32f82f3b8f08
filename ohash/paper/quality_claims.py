"""The paper's claims about retrieval quality: mAP against β, T, C, the bits and the other methods."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ohash.models.registry import find
from ohash.paper.figures import BETAS, CS, ONLINE, SUPERVISED
from ohash.paper.findings import Claim, Judge
from ohash.paper.measurements import Measurements
from ohash.paper.settings import Setting
from ohash.paper.verdicts import EQUAL, Effect, Part, Verdict, above, difference, equal

LARGE_GAIN = 0.05
NEGLIGIBLE = 0.01  # a β that is better by less counts as equally good


def map_gain(measured: Measurements, setting: Setting, figure: str, a: tuple[str, Any], b: tuple[str, Any]) -> Effect:
    """MAP of one (method, x) less that of another on the same queries."""
    one, other = measured.seeds(figure, setting, *a), measured.seeds(figure, setting, *b)
    both = min(len(one), len(other))
    return difference(measured.ap(one[:both]), measured.ap(other[:both]))


def _beta_shape(measured: Measurements, setting: Setting) -> Iterable[Part]:
    middle = measured.best("2", setting, [("oh", beta) for beta in BETAS if 0.2 < beta < 0.7])
    for end in (0.1, 0.9):
        effect = map_gain(measured, setting, "2", middle, ("oh", end))
        yield Part(setting.title, f"β = {middle[1]:g} less β = {end:g}", effect, above(effect))


def _beta_best(measured: Measurements, setting: Setting) -> Iterable[Part]:
    near = measured.best("2", setting, [("oh", 0.4), ("oh", 0.5)])
    other = measured.best("2", setting, [("oh", beta) for beta in BETAS if not 0.4 <= beta <= 0.6])
    effect = map_gain(measured, setting, "2", near, other)
    what = f"β = {near[1]:g} less the best outside 0.4 … 0.6, β = {other[1]:g}"
    yield Part(setting.title, what, effect, above(effect, -NEGLIGIBLE))


def _models(verdict: Callable[[Effect], Verdict]) -> Judge:
    def judged(measured: Measurements, setting: Setting) -> Iterable[Part]:
        effect = map_gain(measured, setting, "3", ("mmoh", 4), ("mmoh", 1))
        yield Part(setting.title, "T = 4 less T = 1", effect, verdict(effect))

    return judged


def _c_small(measured: Measurements, setting: Setting) -> Iterable[Part]:
    effect = map_gain(measured, setting, "4", ("oh", 1e-2), ("oh", 1e-5))
    yield Part(setting.title, "C = 0.01 less C = 0.00001", effect, above(effect, LARGE_GAIN))


def _c_large(measured: Measurements, setting: Setting) -> Iterable[Part]:
    for C in (1.0, 10.0):
        effect = map_gain(measured, setting, "4", ("oh", C), ("oh", 0.1))
        yield Part(setting.title, f"C = {C:g} less C = 0.1", effect, equal(effect))


def _c_best(measured: Measurements, setting: Setting) -> Iterable[Part]:
    other = measured.best("4", setting, [("oh", C) for C in CS if C < 0.1])
    effect = map_gain(measured, setting, "4", ("oh", 0.1), other)
    yield Part(setting.title, f"C = 0.1 less the best of the smaller, C = {other[1]:g}", effect, above(effect))


def _longer(figure: str, methods: Sequence[str]) -> Judge:
    def judged(measured: Measurements, setting: Setting) -> Iterable[Part]:
        bits = measured.profile.bits
        for method in methods:
            effect = map_gain(measured, setting, figure, (method, bits[-1]), (method, bits[0]))
            yield Part(setting.title, f"{method.upper()}: r = {bits[-1]} less r = {bits[0]}", effect, above(effect))

    return judged


def _versus(figure: str, a: str, b: str, bits: Callable[[int], bool]) -> Judge:
    """`a` above `b` at every such r."""

    def judged(measured: Measurements, setting: Setting) -> Iterable[Part]:
        for r in filter(bits, measured.profile.bits):
            effect = map_gain(measured, setting, figure, (a, r), (b, r))
            yield Part(setting.title, f"r = {r}", effect, above(effect))

    return judged


def _gap_grows(measured: Measurements, setting: Setting) -> Iterable[Part]:
    few, many = measured.profile.bits[0], measured.profile.bits[-1]
    aps = {
        (method, r): measured.ap(measured.seeds("8", setting, method, r))
        for method in ("oh", "kernel_lsh") for r in (few, many)
    }  # fmt: skip
    wide = [a - b for a, b in zip(aps["oh", many], aps["kernel_lsh", many], strict=True)]
    narrow = [a - b for a, b in zip(aps["oh", few], aps["kernel_lsh", few], strict=True)]
    effect = difference(wide, narrow)
    yield Part(setting.title, f"the gap at r = {many} less that at r = {few}", effect, above(effect))


def _first(method: str, without: Sequence[str] = ()) -> Judge:
    """`method` above the best of the other online methods for r > 32; LEGO-LSH is its equal on tracks."""

    def judged(measured: Measurements, setting: Setting) -> Iterable[Part]:
        others = [one for one in ONLINE if one != method and one not in without]
        if setting.kind == "tracks":
            others.remove("lego")
        for r in (r for r in measured.profile.bits if r > 32):
            other = measured.best("6", setting, [(one, r) for one in others])
            effect = map_gain(measured, setting, "6", (method, r), other)
            yield Part(setting.title, f"r = {r}, less the next, {find(other[0]).title}", effect, above(effect))

    return judged


def _lego(measured: Measurements, setting: Setting) -> Iterable[Part]:
    for r in (r for r in measured.profile.bits if r > 32):
        effect = map_gain(measured, setting, "6", ("lego", r), ("oh", r))
        yield Part(setting.title, f"r = {r}", effect, equal(effect))


def _supervised_metric(measured: Measurements, setting: Setting) -> Iterable[Part]:
    told = [method for method in SUPERVISED if find(method).pairwise]
    for r in (r for r in measured.profile.bits if r > 16):
        other = measured.best("8", setting, [(method, r) for method in told])
        effect = map_gain(measured, setting, "8", ("mmoh", r), other)
        yield Part(setting.title, f"r = {r}, less the better, {find(other[0]).title}", effect, above(effect))


def _batch_above(measured: Measurements, setting: Setting) -> Iterable[Part]:
    r = measured.profile.bits[-1]
    chosen = measured.best("8", setting, [(method, r) for method in SUPERVISED])
    effect = map_gain(measured, setting, "8", chosen, ("mmoh", r))
    yield Part(setting.title, f"r = {r}, {find(chosen[0]).title}, the best of them", effect, above(effect))


def _kernel(measured: Measurements, setting: Setting) -> Iterable[Part]:
    effect = map_gain(measured, setting, "kernel", ("oh", "rbf"), ("oh", "none"))
    yield Part(setting.title, "RBF less no kernel", effect, above(effect))


QUALITY_CLAIMS = (
    Claim(
        "beta-shape", "mAP rises with β and falls again.", "Section VII-B1, Figure 2",
        "The best β in 0.3 … 0.6, chosen on validation queries, is above 0.1 and above 0.9.", ("2",), _beta_shape,
    ),
    Claim(
        "beta-best", "The best β is about 0.4 to 0.5.", "Section VII-B1, Figure 2",
        f"Equivalence: no β outside 0.4 … 0.6 is above the better of 0.4 and 0.5 by {NEGLIGIBLE:g} or more, both "
        "chosen on validation queries; the whole interval must lie above that.", ("2",), _beta_best,
    ),
    Claim(
        "T-metric", "More models help on data with distances.", "Section VII-B2, Figure 3", "T = 4 is above T = 1.",
        ("3",), _models(above), ("metric",),
    ),
    Claim(
        "T-tracks", "More models help on Photo Tourism.", "Section VII-B2, Figure 3", "T = 4 is above T = 1.",
        ("3",), _models(above), ("tracks",),
    ),
    Claim(
        "T-labels", "The number of models hardly matters on CIFAR-10.", "Section VII-B2, Figure 3",
        f"T = 4 and T = 1 differ by less than {EQUAL:g}.", ("3",), _models(equal), ("labels",),
    ),
    Claim(
        "C-small", "From C = 0.00001 to 0.01 mAP improves by a large margin.", "Section VII-B3, Figure 4",
        f"C = 0.01 is above C = 0.00001 by more than {LARGE_GAIN:g}.", ("4",), _c_small,
    ),
    Claim(
        "C-best", "C = 0.1 is the best of 0.00001 to 0.1.", "Section VII-B3, Figure 4",
        "0.1 is above the best of the smaller ones on validation queries.", ("4",), _c_best,
    ),
    Claim(
        "C-large", "Beyond C = 0.1 nothing changes.", "Section VII-B3",
        f"C = 1 and C = 10 are within {EQUAL:g} of C = 0.1.", ("4",), _c_large,
    ),
    Claim(
        "r", "OH and MMOH get better with more bits.", "Section VII-C, Figure 6", "The most bits are above the fewest.",
        ("6",), _longer("6", ("oh", "mmoh")),
    ),
    Claim(
        "klsh", "OH is above KLSH at every r.", "Section VII-C, Figure 8", "OH is above KLSH at each r.", ("8",),
        _versus("8", "oh", "kernel_lsh", lambda r: True),
    ),
    Claim(
        "klsh-gap", "The gap between OH and KLSH grows with r.", "Section VII-C, Figure 8",
        "The gap at the most bits is above that at the fewest.", ("8",), _gap_grows,
    ),
    Claim(
        "itq", "OH is above ITQ for more than 32 bits.", "Section VII-C, Figure 8", "OH is above ITQ at each r > 32.",
        ("8",), _versus("8", "oh", "itq", lambda r: r > 32),
    ),
    Claim(
        "mmoh-first", "MMOH is the best online method for more than 32 bits.", "Section VII-C, Figure 6",
        "At each r > 32 MMOH (T = 4, so 4 r bits) is above the best of the others, chosen on validation queries.",
        ("6",), _first("mmoh"),
    ),
    Claim(
        "oh-second", "OH is the second best online method for more than 32 bits.", "Section VII-C, Figure 6",
        "At each r > 32 OH is above the best of the others but MMOH.", ("6",), _first("oh", without=("mmoh",)),
    ),
    Claim(
        "lego", "On Photo Tourism LEGO-LSH and OH are about equal.", "Section VII-C, Figure 6",
        f"At each r > 32 they differ by less than {EQUAL:g}.", ("6",), _lego, ("tracks",),
    ),
    Claim(
        "ksh-metric", "MMOH is above KSH and FastHash on GIST1M for more than 16 bits.", "Section VII-C, Figure 8",
        "MMOH is above the better of both, chosen on validation queries.", ("8",), _supervised_metric, ("metric",),
    ),
    Claim(
        "batch", "Batch supervised methods are above MMOH where there are labels.", "Section VII-C, Figure 8",
        "At the most bits the best of KSH, SDH and FastHash, chosen on validation queries, is above MMOH.", ("8",),
        _batch_above, ("labels", "tracks"),
    ),
    Claim(
        "kernel", "The RBF kernel helps OH.", "Section VII-B", "OH with the kernel is above OH without.", ("kernel",),
        _kernel,
    ),
)  # fmt: skip
