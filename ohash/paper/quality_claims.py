"""The paper's claims about its own parameters: mAP against β, T, C, the bits, the kernel, and its design choices."""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from ohash.core.arrays import Floats
from ohash.core.parameters import Value
from ohash.evaluation.significance import ENOUGH_SEEDS
from ohash.paper.figures import BETAS, CS, FIGURES
from ohash.paper.findings import Claim, Judge
from ohash.paper.measurements import Measurements, MissingCellError
from ohash.paper.settings import Setting
from ohash.paper.verdicts import (  # fmt: skip
    EQUAL,
    Effect,
    Part,
    Test,
    above,
    below,
    difference,
    equal,
    range_over_seeds,
    spread_ratio,
    within,
)

LARGE_GAIN = 0.05
NEGLIGIBLE = 0.01  # a β that is better by less counts as equally good


def ap_gain(measurements: Measurements, a: Sequence[Floats], b: Sequence[Floats]) -> Effect:
    """MAP of one minus that of another: average precisions of all test queries, one array per seed."""
    return difference(a, b, measurements.intervals, same_queries=measurements.same_queries)


def map_gain(
    measurements: Measurements, setting: Setting, figure: str, a: tuple[str, Value], b: tuple[str, Value]
) -> Effect:
    """MAP of one (method, x) minus that of another, on the same queries and seeds."""
    first, second = measurements.seeds(figure, setting, *a), measurements.seeds(figure, setting, *b)
    n = min(len(first), len(second))
    return ap_gain(measurements, measurements.ap(first[:n]), measurements.ap(second[:n]))


def _beta_shape(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    middle = measurements.best("2", setting, [("oh", beta) for beta in BETAS if 0.2 < beta < 0.7])
    for end in (0.1, 0.9):
        effect = map_gain(measurements, setting, "2", middle, ("oh", end))
        yield Part.from_test(setting.title, f"β = {middle[1]:g} minus β = {end:g}", effect, above)


def _beta_best(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    near = measurements.best("2", setting, [("oh", 0.4), ("oh", 0.5)])
    other = measurements.best("2", setting, [("oh", beta) for beta in BETAS if not 0.4 <= beta <= 0.6])
    effect = map_gain(measurements, setting, "2", near, other)
    what = f"β = {near[1]:g} minus the best outside 0.4 … 0.6 (β = {other[1]:g})"
    yield Part.from_test(setting.title, what, effect, partial(above, than=-NEGLIGIBLE))
    beyond = map_gain(measurements, setting, "2", ("oh", 0.6), near)
    what = f"β = 0.6 minus β = {near[1]:g}: not better by {NEGLIGIBLE:g}"
    yield Part.from_test(setting.title, what, beyond, partial(below, than=NEGLIGIBLE), decisive=False)


def _more_models(verdict: Test) -> Judge:
    def judge(measurements: Measurements, setting: Setting) -> Iterable[Part]:
        effect = map_gain(measurements, setting, "3", ("mmoh", 4), ("mmoh", 1))
        yield Part.from_test(setting.title, "T = 4 minus T = 1", effect, verdict)

    return judge


def _each_model_helps(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    for T in (2, 3, 4):
        effect = map_gain(measurements, setting, "3", ("mmoh", T), ("mmoh", T - 1))
        yield Part.from_test(setting.title, f"T = {T} minus T = {T - 1}", effect, above)


def _more_stable(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    many, one = (
        [seed.score() for seed in measurements.seeds("3", setting, "mmoh", T)] for T in (4, 1)
    )  # fmt: skip
    effect = spread_ratio(many, one)
    if effect is None:
        few = f"a spread over seeds needs at least {ENOUGH_SEEDS} of them"
        yield Part(setting.title, "spread over seeds", None, "cannot tell", few)
        return
    yield Part.from_test(setting.title, "spread over seeds, T = 4 / T = 1", effect, partial(below, than=1.0))


def _models_help_distances_more(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    gain = map_gain(measurements, setting, "3", ("mmoh", 4), ("mmoh", 1))
    by_track = [
        one
        for one in measurements.settings(FIGURES["3"])
        if one.kind == "tracks" and measurements.has("3", one, "mmoh")
    ]
    if not by_track:
        raise MissingCellError("there are no data with tracks to compare with")
    for tracks in by_track:
        other = map_gain(measurements, tracks, "3", ("mmoh", 4), ("mmoh", 1))
        half = float(np.hypot(gain.high - gain.low, other.high - other.low)) / 2
        value = gain.value - other.value
        effect = Effect(value, value - half, value + half, seeds=gain.seeds, interval="95 %, of independent gains")
        yield Part.from_test(setting.title, f"its gain from T = 1 to 4 minus that on {tracks.title}", effect, above)


def _equal_bits(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    bits = measurements.profile.bits
    for r in (r for r in bits if 4 * r in bits):
        effect = map_gain(measurements, setting, "6", ("mmoh", r), ("oh", 4 * r))
        yield Part.from_test(setting.title, f"MMOH of 4 × {r} bits minus OH of {4 * r} bits", effect, above)


def _slight_gain(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    effect = map_gain(measurements, setting, "4", ("oh", 0.1), ("oh", 1e-2))
    yield Part.from_test(
        setting.title, "C = 0.1 minus C = 0.01", effect, partial(within, low=-NEGLIGIBLE, high=LARGE_GAIN)
    )


def _larger_beta_updates_more(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    for beta, before in zip(BETAS[1:], BETAS, strict=False):
        more, fewer = (
            [seed.number("updated") for seed in measurements.seeds("2", setting, "oh", value)]
            for value in (beta, before)
        )
        ratios = np.array(more) / np.array(fewer)
        effect = range_over_seeds(list(ratios), 0.01, "± 0.01 assumed", "x")
        yield Part(setting.title, f"updates at β = {beta:g} / at β = {before:g}", effect, above(effect, 1.0))


def _choice(figure: str, best: str, other: str, what: str) -> Judge:
    """OH with what the paper recommends beats OH without it."""

    def judge(measurements: Measurements, setting: Setting) -> Iterable[Part]:
        effect = map_gain(measurements, setting, figure, ("oh", best), ("oh", other))
        yield Part.from_test(setting.title, what, effect, above)

    return judge


def _several_updates_help(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    effect = map_gain(measurements, setting, "rounds", ("oh", 5), ("oh", 1))
    yield Part.from_test(setting.title, "up to five updates per pair minus one", effect, above)


def _small_c_hurts(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    effect = map_gain(measurements, setting, "4", ("oh", 1e-2), ("oh", 1e-5))
    yield Part.from_test(setting.title, "C = 0.01 minus C = 0.00001", effect, partial(above, than=LARGE_GAIN))


def _large_c_changes_nothing(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    for C in (1.0, 10.0):
        effect = map_gain(measurements, setting, "4", ("oh", C), ("oh", 0.1))
        yield Part.from_test(setting.title, f"C = {C:g} minus C = 0.1", effect, equal)


def _c_tenth_is_best(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    other = measurements.best("4", setting, [("oh", C) for C in CS if C < 0.1])
    effect = map_gain(measurements, setting, "4", ("oh", 0.1), other)
    yield Part.from_test(setting.title, f"C = 0.1 minus the best smaller C = {other[1]:g}", effect, above)


def _more_bits(figure: str, methods: Sequence[str]) -> Judge:
    def judge(measurements: Measurements, setting: Setting) -> Iterable[Part]:
        bits = measurements.profile.bits
        for method in methods:
            effect = map_gain(measurements, setting, figure, (method, bits[-1]), (method, bits[0]))
            yield Part.from_test(setting.title, f"{method.upper()}: r = {bits[-1]} minus r = {bits[0]}", effect, above)

    return judge


QUALITY_CLAIMS = (
    Claim(
        "beta-shape", "mAP first rises with β, then falls.", "Section VII-B1, Figure 2",
        "The best β in 0.3 … 0.6, chosen on validation queries, beats β = 0.1 and β = 0.9.", ("2",), _beta_shape,
    ),
    Claim(
        "beta-best", "The best β is about 0.4 to 0.5 (here 0.6, the next step, counts as about 0.5).",
        "Section VII-B1, Figure 2",
        f"Equivalence: no β outside 0.4 … 0.6 beats the better of 0.4 and 0.5 by {NEGLIGIBLE:g} or more, both "
        "chosen on validation queries; the whole interval must lie above that. β = 0.6 is taken for about 0.5, so that "
        "it neither supports nor refutes the claim, even where it is the highest; whether it is better is shown in "
        "italics.", ("2",), _beta_best,
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
        "T-each", "More models are always better, except on CIFAR-10.", "Section VII-B2, Figure 3",
        "Each of T = 2, 3, 4 beats one model fewer.", ("3",), _each_model_helps, ("metric", "tracks"),
    ),
    Claim(
        "T-stable", "MMOH performs more stably with more models.", "Section VII-B2, Figure 3",
        "The standard deviation of mAP over seeds is smaller at T = 4 than at T = 1.", ("3",), _more_stable,
    ),
    Claim(
        "T-kinds", "More models help more where similarity is distance than on Photo Tourism.",
        "Section VII-B2, Figure 3", "The gain from T = 1 to T = 4 is larger than that on tracks.", ("3",),
        _models_help_distances_more, ("metric",),
    ),
    Claim(
        "T-bits", "MMOH is worth its models at equal total bits (the paper compares it at T times the bits).",
        "Section VII-C, Figure 6", "Four models of 16 bits beat OH of 64 bits, and four of 32 beat OH of 128.", ("6",),
        _equal_bits,
    ),
    Claim(
        "beta-updates", "A larger β causes more updates.", "Section VII-B1",
        "The number of updates rises with every step of β.", ("2",), _larger_beta_updates_more,
    ),
    Claim(
        "C-slight", "Raising C beyond 0.01 gains only slightly.", "Section VII-B3, Figure 4",
        f"C = 0.1 is better than C = 0.01 by less than {LARGE_GAIN:g}, and not worse by {NEGLIGIBLE:g}.", ("4",),
        _slight_gain,
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
        "kernel", "The RBF kernel helps OH.", "Section III-C", "OH with the kernel beats OH without it.", ("kernel",),
        _choice("kernel", "rbf", "none", "RBF minus no kernel"),
    ),
    Claim(
        "centring", "Centring improves performance.", "Section III",
        "OH with the mean of the warm-up subtracted beats OH without.", ("centring",),
        _choice("centring", "frozen", "none", "centred minus not centred"),
    ),
    Claim(
        "selection", "The bits with the smallest potential loss are the ones to flip.", "Section IV",
        "OH beats OH that flips the bits with the largest δ.", ("selection",),
        _choice("selection", "smallest", "largest", "smallest δ minus largest δ"),
    ),
    Claim(
        "rounds", "Iterating the update on one pair may further improve the model.", "Section III-A",
        "Up to five updates per pair beat one. The paper suggests it in theory, and does not do it.", ("rounds",),
        _several_updates_help,
    ),
)  # fmt: skip
