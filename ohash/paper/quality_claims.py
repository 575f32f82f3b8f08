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


def map_gain(
    measurements: Measurements, setting: Setting, figure: str, a: tuple[str, Any], b: tuple[str, Any]
) -> Effect:
    """MAP of one (method, x) minus that of another, on the same queries and seeds."""
    first, second = measurements.seeds(figure, setting, *a), measurements.seeds(figure, setting, *b)
    n = min(len(first), len(second))
    return difference(measurements.ap(first[:n]), measurements.ap(second[:n]))


def _beta_shape(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    middle = measurements.best("2", setting, [("oh", beta) for beta in BETAS if 0.2 < beta < 0.7])
    for end in (0.1, 0.9):
        effect = map_gain(measurements, setting, "2", middle, ("oh", end))
        yield Part(setting.title, f"β = {middle[1]:g} minus β = {end:g}", effect, above(effect))


def _beta_best(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    near = measurements.best("2", setting, [("oh", 0.4), ("oh", 0.5)])
    other = measurements.best("2", setting, [("oh", beta) for beta in BETAS if not 0.4 <= beta <= 0.6])
    effect = map_gain(measurements, setting, "2", near, other)
    what = f"β = {near[1]:g} minus the best outside 0.4 … 0.6 (β = {other[1]:g})"
    yield Part(setting.title, what, effect, above(effect, -NEGLIGIBLE))


def _more_models(verdict: Callable[[Effect], Verdict]) -> Judge:
    def judged(measurements: Measurements, setting: Setting) -> Iterable[Part]:
        effect = map_gain(measurements, setting, "3", ("mmoh", 4), ("mmoh", 1))
        yield Part(setting.title, "T = 4 minus T = 1", effect, verdict(effect))

    return judged


def _small_c_hurts(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    effect = map_gain(measurements, setting, "4", ("oh", 1e-2), ("oh", 1e-5))
    yield Part(setting.title, "C = 0.01 minus C = 0.00001", effect, above(effect, LARGE_GAIN))


def _large_c_changes_nothing(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    for C in (1.0, 10.0):
        effect = map_gain(measurements, setting, "4", ("oh", C), ("oh", 0.1))
        yield Part(setting.title, f"C = {C:g} minus C = 0.1", effect, equal(effect))


def _c_tenth_is_best(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    other = measurements.best("4", setting, [("oh", C) for C in CS if C < 0.1])
    effect = map_gain(measurements, setting, "4", ("oh", 0.1), other)
    yield Part(setting.title, f"C = 0.1 minus the best smaller C = {other[1]:g}", effect, above(effect))


def _more_bits(figure: str, methods: Sequence[str]) -> Judge:
    def judged(measurements: Measurements, setting: Setting) -> Iterable[Part]:
        bits = measurements.profile.bits
        for method in methods:
            effect = map_gain(measurements, setting, figure, (method, bits[-1]), (method, bits[0]))
            yield Part(setting.title, f"{method.upper()}: r = {bits[-1]} minus r = {bits[0]}", effect, above(effect))

    return judged


def _versus(figure: str, a: str, b: str, bits: Callable[[int], bool]) -> Judge:
    """`a` above `b` at every such r."""

    def judged(measurements: Measurements, setting: Setting) -> Iterable[Part]:
        for r in filter(bits, measurements.profile.bits):
            effect = map_gain(measurements, setting, figure, (a, r), (b, r))
            yield Part(setting.title, f"r = {r}", effect, above(effect))

    return judged


def _gap_grows(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    few, many = measurements.profile.bits[0], measurements.profile.bits[-1]
    aps = {
        (method, r): measurements.ap(measurements.seeds("8", setting, method, r))
        for method in ("oh", "kernel_lsh") for r in (few, many)
    }  # fmt: skip
    wide = [a - b for a, b in zip(aps["oh", many], aps["kernel_lsh", many], strict=True)]
    narrow = [a - b for a, b in zip(aps["oh", few], aps["kernel_lsh", few], strict=True)]
    effect = difference(wide, narrow)
    yield Part(setting.title, f"gap at r = {many} minus gap at r = {few}", effect, above(effect))


def _best_online(method: str, without: Sequence[str] = ()) -> Judge:
    """`method` above the best of the other online methods for r > 32; on tracks LEGO-LSH is left out as its equal."""

    def judged(measurements: Measurements, setting: Setting) -> Iterable[Part]:
        others = [one for one in ONLINE if one != method and one not in without]
        if setting.kind == "tracks":
            others.remove("lego")
        for r in (r for r in measurements.profile.bits if r > 32):
            other = measurements.best("6", setting, [(one, r) for one in others])
            effect = map_gain(measurements, setting, "6", (method, r), other)
            yield Part(setting.title, f"r = {r}, minus the next best, {find(other[0]).title}", effect, above(effect))

    return judged


def _lego_equals_oh(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    for r in (r for r in measurements.profile.bits if r > 32):
        effect = map_gain(measurements, setting, "6", ("lego", r), ("oh", r))
        yield Part(setting.title, f"r = {r}", effect, equal(effect))


def _mmoh_above_supervised(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    pairwise = [method for method in SUPERVISED if find(method).pairwise]
    for r in (r for r in measurements.profile.bits if r > 16):
        other = measurements.best("8", setting, [(method, r) for method in pairwise])
        effect = map_gain(measurements, setting, "8", ("mmoh", r), other)
        yield Part(
            setting.title, f"r = {r}, minus the better of the two, {find(other[0]).title}", effect, above(effect)
        )


def _batch_above_mmoh(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    r = measurements.profile.bits[-1]
    batch = measurements.best("8", setting, [(method, r) for method in SUPERVISED])
    effect = map_gain(measurements, setting, "8", batch, ("mmoh", r))
    yield Part(setting.title, f"r = {r}, {find(batch[0]).title} (the best) minus MMOH", effect, above(effect))


def _kernel_helps(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    effect = map_gain(measurements, setting, "kernel", ("oh", "rbf"), ("oh", "none"))
    yield Part(setting.title, "RBF minus no kernel", effect, above(effect))


QUALITY_CLAIMS = (
    Claim(
        "beta-shape", "mAP first rises with β, then falls.", "Section VII-B1, Figure 2",
        "The best β in 0.3 … 0.6, chosen on validation queries, beats β = 0.1 and β = 0.9.", ("2",), _beta_shape,
    ),
    Claim(
        "beta-best", "The best β is about 0.4 to 0.5.", "Section VII-B1, Figure 2",
        f"Equivalence: no β outside 0.4 … 0.6 beats the better of 0.4 and 0.5 by {NEGLIGIBLE:g} or more, both "
        "chosen on validation queries; the whole interval must lie above that.", ("2",), _beta_best,
    ),
    Claim(
        "T-metric", "More models help where similarity is distance.", "Section VII-B2, Figure 3", "T = 4 beats T = 1.",
        ("3",), _more_models(above), ("metric",),
    ),
    Claim(
        "T-tracks", "More models help on Photo Tourism.", "Section VII-B2, Figure 3", "T = 4 beats T = 1.",
        ("3",), _more_models(above), ("tracks",),
    ),
    Claim(
        "T-labels", "The number of models hardly matters on CIFAR-10.", "Section VII-B2, Figure 3",
        f"T = 4 and T = 1 differ by less than {EQUAL:g}.", ("3",), _more_models(equal), ("labels",),
    ),
    Claim(
        "C-small", "mAP improves by a large margin from C = 0.00001 to C = 0.01.", "Section VII-B3, Figure 4",
        f"C = 0.01 beats C = 0.00001 by more than {LARGE_GAIN:g}.", ("4",), _small_c_hurts,
    ),
    Claim(
        "C-best", "C = 0.1 is the best of 0.00001 to 0.1.", "Section VII-B3, Figure 4",
        "C = 0.1 beats the best smaller C, chosen on validation queries.", ("4",), _c_tenth_is_best,
    ),
    Claim(
        "C-large", "Raising C beyond 0.1 changes nothing.", "Section VII-B3",
        f"C = 1 and C = 10 are within {EQUAL:g} of C = 0.1.", ("4",), _large_c_changes_nothing,
    ),
    Claim(
        "r", "OH and MMOH get better with more bits.", "Section VII-C, Figure 6",
        "The longest codes beat the shortest.", ("6",), _more_bits("6", ("oh", "mmoh")),
    ),
    Claim(
        "klsh", "OH beats KLSH at every r.", "Section VII-C, Figure 8", "OH beats KLSH at each r.", ("8",),
        _versus("8", "oh", "kernel_lsh", lambda r: True),
    ),
    Claim(
        "klsh-gap", "The gap between OH and KLSH grows with r.", "Section VII-C, Figure 8",
        "The gap is larger for the longest codes than for the shortest.", ("8",), _gap_grows,
    ),
    Claim(
        "itq", "OH beats ITQ above 32 bits.", "Section VII-C, Figure 8", "OH beats ITQ at each r > 32.",
        ("8",), _versus("8", "oh", "itq", lambda r: r > 32),
    ),
    Claim(
        "mmoh-first", "MMOH is the best online method above 32 bits.", "Section VII-C, Figure 6",
        "At each r > 32 MMOH (T = 4, so 4 r bits) beats the best of the others, chosen on validation queries.",
        ("6",), _best_online("mmoh"),
    ),
    Claim(
        "oh-second", "OH is the second-best online method above 32 bits.", "Section VII-C, Figure 6",
        "At each r > 32 OH beats the best of the others except MMOH.", ("6",), _best_online("oh", without=("mmoh",)),
    ),
    Claim(
        "lego", "LEGO-LSH and OH are about equal on Photo Tourism.", "Section VII-C, Figure 6",
        f"At each r > 32 they differ by less than {EQUAL:g}.", ("6",), _lego_equals_oh, ("tracks",),
    ),
    Claim(
        "ksh-metric", "MMOH beats KSH and FastHash on GIST1M above 16 bits.", "Section VII-C, Figure 8",
        "At each r > 16 MMOH beats the better of the two, chosen on validation queries.", ("8",),
        _mmoh_above_supervised, ("metric",),
    ),
    Claim(
        "batch", "Supervised batch methods beat MMOH where there are labels.", "Section VII-C, Figure 8",
        "With the longest codes the best of KSH, SDH and FastHash, chosen on validation queries, beats MMOH.", ("8",),
        _batch_above_mmoh, ("labels", "tracks"),
    ),
    Claim(
        "kernel", "The RBF kernel helps OH.", "Section VII-B", "OH with the kernel beats OH without it.", ("kernel",),
        _kernel_helps,
    ),
)  # fmt: skip
