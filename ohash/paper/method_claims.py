"""The paper's claims about other methods, online and batch: mAP against theirs.

Each method works on the features it was made for, and that decides; the same comparison with every method on OH's RBF
map, and with OH on no kernel, is shown beside it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ohash.core.arrays import Floats
from ohash.engine.narrative import join_names
from ohash.models.registry import find
from ohash.paper.figures import ONLINE, SUPERVISED, describe_batch_methods
from ohash.paper.findings import Claim, Judge
from ohash.paper.measurements import Measurements, MissingCellError
from ohash.paper.protocol import COMMON_R, variant, variant_title
from ohash.paper.quality_claims import ap_gain, map_gain
from ohash.paper.settings import PAPER_KINDS, Kind, Setting
from ohash.paper.verdicts import EQUAL, Part, above, equal

KLSH = (
    "KLSH is Kernel LSH, as the paper describes it: random hyperplanes on the RBF map of OH. That of Kulis and Grauman "
    "is another method; it is in the figure of every method, and no claim is judged on it."
)


def _on_rbf(method: str) -> str:
    """The method in the second protocol."""
    return method if find(method).features == "kernel" else variant(method, "rbf")


def _on_other_features(
    measurements: Measurements,
    setting: Setting,
    figure: str,
    a: str,
    b: str,
    *,
    always: bool = False,
    recommended: str = "",
) -> Iterable[Part]:
    """The same comparison at r = 64 with all on RBF, and with OH on no kernel; shown, and not decisive."""
    pairs = [(_on_rbf(a), _on_rbf(b), "all on RBF")] if _on_rbf(b) != b or _on_rbf(a) != a or always else []
    if a == "oh":
        pairs.append((variant("oh", "none"), recommended or b, "OH without kernel"))
    for first, second, how in pairs:
        try:
            effect = map_gain(measurements, setting, figure, (first, COMMON_R), (second, COMMON_R))
        except MissingCellError:
            continue
        what = f"r = {COMMON_R}, {how}, minus {variant_title(second)}"
        yield Part.from_test(setting.title, what, effect, above, decisive=False)


def _run_and_left_out(
    measurements: Measurements, figure: str, setting: Setting, methods: Sequence[str], r: int
) -> tuple[list[str], str]:
    """The methods that were run at this length, and, in words, those that were left out or have not been run yet.

    Where none has been run yet, those that the profile runs.
    """
    planned = [method for method in methods if not measurements.profile.leaves_out(method, setting, r)]
    run = [method for method in planned if measurements.has_run(figure, setting, method, r)] or planned
    missing = [variant_title(method) for method in methods if method not in run]
    return run, f" ({join_names(missing)} not run)" if missing else ""


def _with_rivals_missing(part: Part, missing: bool) -> Part:
    """Against fewer rivals a claim may fail, and that counts; that it holds would prove nothing."""
    return replace(part, decisive=False) if missing and part.verdict == "holds" else part


def _at_equal_bits(measurements: Measurements, setting: Setting, figure: str, rivals: Sequence[str]) -> Iterable[Part]:
    """MMOH of four models against the best rival of four times the bits; shown, and not decisive."""
    for r in (r for r in measurements.profile.bits if 4 * r in measurements.profile.bits):
        run_methods, _ = _run_and_left_out(measurements, figure, setting, rivals, 4 * r)
        try:
            other = measurements.best(figure, setting, [(method, 4 * r) for method in run_methods])
            effect = map_gain(measurements, setting, figure, ("mmoh", r), other)
        except MissingCellError:
            continue
        what = f"equal bits: MMOH of 4 × {r} minus {variant_title(other[0])} of {4 * r}"
        yield Part.from_test(setting.title, what, effect, above, decisive=False)


def _versus(figure: str, a: str, b: str, bits: Callable[[int], bool] = lambda r: True) -> Judge:
    """`a` above `b` at every such r; MMOH is shown at equal bits, too."""

    def judge(measurements: Measurements, setting: Setting) -> Iterable[Part]:
        profile = measurements.profile
        for r in filter(bits, profile.bits):
            if profile.leaves_out(a, setting, r) or profile.leaves_out(b, setting, r):
                continue
            effect = map_gain(measurements, setting, figure, (a, r), (b, r))
            yield Part.from_test(setting.title, f"r = {r}", effect, above)
        if a == "mmoh":
            yield from _at_equal_bits(measurements, setting, figure, [b])
        yield from _on_other_features(measurements, setting, figure, a, b)

    return judge


def _gap_grows(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    few, many = measurements.profile.bits[0], measurements.profile.bits[-1]
    aps = {
        (method, r): measurements.ap(measurements.seeds("8", setting, method, r))
        for method in ("oh", "kernel_lsh") for r in (few, many)
    }  # fmt: skip
    wide = [a - b for a, b in zip(aps["oh", many], aps["kernel_lsh", many], strict=True)]
    narrow = [a - b for a, b in zip(aps["oh", few], aps["kernel_lsh", few], strict=True)]
    effect = ap_gain(measurements, wide, narrow)
    yield Part.from_test(setting.title, f"gap at r = {many} minus gap at r = {few}", effect, above)


def _best_online(method: str, without: Sequence[str] = ()) -> Judge:
    """`method` above the best of the other online methods for r > 32; on tracks LEGO-LSH is left out as its equal."""

    def judge(measurements: Measurements, setting: Setting) -> Iterable[Part]:
        others = [one for one in ONLINE if one != method and one not in without]
        if setting.kind == "tracks":
            others.remove("lego")
        for r in (r for r in measurements.profile.bits if r > 32):
            run_methods, missing = _run_and_left_out(measurements, "6", setting, others, r)
            other = measurements.best("6", setting, [(one, r) for one in run_methods])
            effect = map_gain(measurements, setting, "6", (method, r), other)
            what = f"r = {r}, minus the next best{missing}, {find(other[0]).title}"
            yield _with_rivals_missing(Part.from_test(setting.title, what, effect, above), bool(missing))
        if method == "mmoh":
            yield from _at_equal_bits(measurements, setting, "6", others)
        try:
            best, _ = measurements.best("6", setting, [(_on_rbf(one), COMMON_R) for one in others])
        except MissingCellError:
            return
        next_best, _ = measurements.best("6", setting, [(one, COMMON_R) for one in others])
        yield from _on_other_features(
            measurements, setting, "6", method, best.partition("@")[0], always=True, recommended=next_best
        )

    return judge


def _lead(measurements: Measurements, setting: Setting, r: int, rival_r: int) -> tuple[list[Floats], str, bool]:
    """AP of MMOH of r bits per model minus that of the best other online method, per seed; its name; if any is missing.

    The rival has `rival_r` bits, and is chosen on validation queries.
    """
    others = [one for one in ONLINE if one != "mmoh"]
    run_methods, missing = _run_and_left_out(measurements, "6", setting, others, rival_r)
    best = measurements.best("6", setting, [(one, rival_r) for one in run_methods])
    mine = measurements.ap(measurements.seeds("6", setting, "mmoh", r))
    theirs = measurements.ap(measurements.seeds("6", setting, *best))
    return [a - b for a, b in zip(mine, theirs, strict=False)], find(best[0]).title, bool(missing)


def _lead_grows(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    bits = measurements.profile.bits
    few, many = bits[0], bits[-1]
    (narrow, first, some), (wide, last, more) = (_lead(measurements, setting, r, r) for r in (few, many))
    effect = ap_gain(measurements, wide, [0 * each for each in wide])
    ahead = Part.from_test(setting.title, f"r = {many}, minus the next best, {last}", effect, above)
    yield _with_rivals_missing(ahead, more)
    what = f"lead at r = {many} (over {last}) minus lead at r = {few} (over {first})"
    n = min(len(narrow), len(wide))
    grown = Part.from_test(setting.title, what, ap_gain(measurements, wide[:n], narrow[:n]), above)
    yield _with_rivals_missing(grown, some or more)
    equal_bits = [r for r in bits if 4 * r in bits]
    if len(equal_bits) < 2:
        return
    few, many = equal_bits[0], equal_bits[-1]
    (narrow, first, _), (wide, last, _) = (_lead(measurements, setting, r, 4 * r) for r in (few, many))
    effect = ap_gain(measurements, wide, [0 * each for each in wide])
    what = f"equal bits: MMOH of 4 × {many} minus {last} of {4 * many}"
    yield Part.from_test(setting.title, what, effect, above, decisive=False)
    n = min(len(narrow), len(wide))
    what = f"equal bits: lead at {4 * many} (over {last}) minus lead at {4 * few} (over {first})"
    yield Part.from_test(setting.title, what, ap_gain(measurements, wide[:n], narrow[:n]), above, decisive=False)


def _lego_equals_oh(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    for r in (r for r in measurements.profile.bits if r > 32):
        effect = map_gain(measurements, setting, "6", ("lego", r), ("oh", r))
        yield Part.from_test(setting.title, f"r = {r}", effect, equal)


def _mmoh_above_supervised(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    pairwise = [method for method in SUPERVISED if find(method).pairwise]
    for r in (r for r in measurements.profile.bits if r > 16):
        run_methods, missing = _run_and_left_out(measurements, "8", setting, pairwise, r)
        other = measurements.best("8", setting, [(method, r) for method in run_methods])
        effect = map_gain(measurements, setting, "8", ("mmoh", r), other)
        what = f"r = {r}, minus the better of the two{missing}, {find(other[0]).title}"
        yield _with_rivals_missing(Part.from_test(setting.title, what, effect, above), bool(missing))
    yield from _at_equal_bits(measurements, setting, "8", pairwise)


def _batch_above_mmoh(measurements: Measurements, setting: Setting) -> Iterable[Part]:
    def rivals(r: int) -> tuple[int, int, int]:
        run, _ = _run_and_left_out(measurements, "8", setting, SUPERVISED, r)
        return sum(measurements.has_run("8", setting, method, r) for method in run), len(run), r

    r = max(measurements.profile.bits, key=rivals)
    batch = measurements.best("8", setting, [(method, r) for method in SUPERVISED])
    effect = map_gain(measurements, setting, "8", batch, ("mmoh", r))
    yield Part.from_test(setting.title, f"r = {r}, {find(batch[0]).title} (the best) minus MMOH", effect, above)


def _pairwise(other: str, figure: str, kinds: tuple[Kind, ...] = PAPER_KINDS) -> Claim:
    """MMOH against one other method."""
    title = find(other).title.partition(" (")[0]
    where = {"6": "Figure 6", "8": "Figure 8"}[figure]
    but = "" if "tracks" in kinds else ", except on Photo Tourism"
    return Claim(
        f"mmoh-{other}", f"MMOH performs better than {title}{but}.",
        f"Section VII-C, {where}", f"MMOH (T = 4, so 4 r bits) beats {title} at each r > 32; at equal total bits it is "
        "shown in italics.", (figure,),
        _versus(figure, "mmoh", other, lambda r: r > 32), kinds,
    )  # fmt: skip


METHOD_CLAIMS = (
    Claim(
        "klsh",
        "OH beats KLSH at every r.",
        "Section VII-C, Figure 8",
        f"OH beats KLSH at each r. {KLSH}",
        ("8",),
        _versus("8", "oh", "kernel_lsh"),
    ),
    Claim(
        "klsh-gap",
        "The gap between OH and KLSH grows with r.",
        "Section VII-C, Figure 8",
        f"The gap is larger for the longest codes than for the shortest. {KLSH}",
        ("8",),
        _gap_grows,
    ),
    Claim(
        "itq",
        "OH beats ITQ above 32 bits.",
        "Section VII-C, Figure 8",
        "OH beats ITQ at each r > 32.",
        ("8",),
        _versus("8", "oh", "itq", lambda r: r > 32),
    ),
    Claim(
        "mmoh-first",
        "MMOH is the best online method above 32 bits.",
        "Section VII-C, Figure 6",
        "At each r > 32 MMOH (T = 4, so 4 r bits) beats the best of the others, chosen on validation queries; on "
        "tracks without LEGO-LSH, which the paper excepts. At equal total bits it is shown in italics.",
        ("6",),
        _best_online("mmoh"),
    ),
    Claim(
        "mmoh-lead",
        "The longer the code, the clearer MMOH leads the compared methods on CIFAR-10.",
        "Section VII-C, Figure 6",
        "MMOH (T = 4, so 4 r bits) beats the best of the others with the longest codes, and by more than with the "
        "shortest; the best of the others is chosen on validation queries at each r. At equal total bits it is shown "
        "in italics.",
        ("6",),
        _lead_grows,
        ("labels",),
    ),
    Claim(
        "oh-second",
        "OH is the second-best online method above 32 bits.",
        "Section VII-C, Figure 6",
        "At each r > 32 OH beats the best of the others except MMOH; on tracks without LEGO-LSH, which the paper "
        "excepts.",
        ("6",),
        _best_online("oh", without=("mmoh",)),
    ),
    Claim(
        "lego",
        "LEGO-LSH and OH are about equal on Photo Tourism.",
        "Section VII-C, Figure 6",
        f"At each r > 32 they differ by less than {EQUAL:g}.",
        ("6",),
        _lego_equals_oh,
        ("tracks",),
    ),
    Claim(
        "ksh-metric",
        "MMOH beats KSH and FastHash on GIST1M above 16 bits.",
        "Section VII-C, Figure 8",
        "At each r > 16 MMOH (T = 4, so 4 r bits) beats the better of the two, chosen on validation queries; at equal "
        f"total bits it is shown in italics. {describe_batch_methods()}",
        ("8",),
        _mmoh_above_supervised,
        ("metric",),
    ),
    Claim(
        "batch",
        "Supervised batch methods beat MMOH where there are labels.",
        "Section VII-C, Figure 8",
        "With the longest codes that all were run with, the best of KSH, SDH and FastHash, chosen on validation "
        f"queries, beats MMOH. {describe_batch_methods()}",
        ("8",),
        _batch_above_mmoh,
        ("labels", "tracks"),
    ),
    *(_pairwise(other, "6") for other in ("sketch_hash", "mlh")),
    _pairwise("lego", "6", ("metric", "labels")),
    *(_pairwise(other, "8") for other in ("itq", "kernel_lsh")),
)  # fmt: skip
