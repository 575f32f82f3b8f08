"""The answer in one sentence, computed from differences and their intervals, and what would change it.

The best that takes nothing from clicks and the best that learns from them are chosen on the validation clicks, among
what fits into one bit per dimension, and compared on the later clicks. ± is the larger side of the 95 % interval over
queries and splits. A difference within its ± is a tie.
"""

from dataclasses import dataclass
from typing import Literal

from ohash.advice.results import AdviceSnapshot, paired_difference
from ohash.evaluation.significance import ENOUGH_SEEDS, Difference

Decision = Literal["waiting", "learn", "rotate", "tie"]
MIN_ANSWERS = 20  # queries, and documents they click, that decide anything
NOTHING = 1e-12  # a difference that is 0 but for rounding


@dataclass(frozen=True)
class Verdict:
    """`free` and `learnt` are the keys of the two that are compared."""

    decision: Decision
    sentence: str
    changes: tuple[str, ...] = ()
    free: str = ""
    learnt: str = ""


WAITING = Verdict("waiting", "No answer yet: the first contenders are being measured.")


def best(snapshot: AdviceSnapshot, kind: Literal["free", "learnt"], bits: int = 1) -> str:
    """The contender of a kind with most validation clicks within so many bits per dimension; "" if none is known."""
    keys = snapshot.measured_keys(kind, bits)
    return max(keys, key=snapshot.validation) if keys else ""


def best_learnt(snapshot: AdviceSnapshot) -> str:
    """The learnt contender that the answer is about."""
    return best(snapshot, "learnt")


def verdict(snapshot: AdviceSnapshot) -> Verdict:
    """The answer so far."""
    free, learnt = best(snapshot, "free"), best_learnt(snapshot)
    if not free or not learnt:
        return WAITING
    early = "" if snapshot.state == "done" else "So far: "
    few = _too_few(snapshot) or _nothing_found(snapshot)
    gain, kept = snapshot.difference(learnt, free, "truth"), snapshot.difference(learnt, free, "recall")
    numbers = f"{_truth_text(gain, snapshot)} and {_recall_text(kept)}{_keeper_text(snapshot, free)}"
    names = snapshot.contender(learnt).title, snapshot.contender(free).title
    if few:
        decision: Decision = "tie"
        sentence = f"No difference that these {snapshot.source} can show: {few}."
    elif clear(gain) and gain.difference > 0:
        decision = "learn"
        sentence = f"Learn with {names[0]} ({_bytes(snapshot, learnt)}): against {names[1]} it {numbers}."
    elif clear(gain) or (clear(kept) and kept.difference < 0):
        decision = "rotate"
        without = f"best without {snapshot.source}: {names[1]}, {_bytes(snapshot, free)}"
        sentence = f"Rotate ({without}): learning ({names[0]}) {numbers}."
    else:
        decision = "tie"
        sentence = (
            f"No difference that these {snapshot.source} can show: against {names[1]} learning ({names[0]}) {numbers}."
        )
    changes = () if few else tuple(_changes(snapshot, decision, free, learnt))
    return Verdict(decision, early + sentence, changes, free, learnt)


def half_width(gain: Difference) -> float:
    """The larger side of an interval."""
    return max(gain.high - gain.difference, gain.difference - gain.low)


def clear(gain: Difference) -> bool:
    """Whether a difference is beyond its ±."""
    return abs(gain.difference) > half_width(gain)


def number(value: float, digits: int = 3) -> str:
    """Three digits without the leading zero.

    >>> number(0.0123), number(-0.5), number(1.0), number(0)
    ('.012', '-.500', '1.000', '.000')
    """
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 0.9995 else text


def amount(gain: Difference) -> str:
    """A difference without its sign, and its ±; with as many digits as show which is larger.

    >>> amount(Difference(0.14833, 0.00013, 0.2)), amount(Difference(-0.5, -0.6, -0.4))
    ('.1483 ± .1482', '.500 ± .100')
    """
    values = abs(gain.difference), half_width(gain)
    texts = [[number(value, digits) for value in values] for digits in (3, 4, 5)]
    return " ± ".join(next((pair for pair in texts if pair[0] != pair[1]), texts[0]))


def _too_few(snapshot: AdviceSnapshot) -> str:
    """Why too few queries ask, or about too few documents, to decide anything; "" if they are enough."""
    asked, per_split = snapshot.asked, snapshot.params.options.queries
    if asked < MIN_ANSWERS:
        one = asked == 1
        sampled = all(len(rows) == per_split for rows in snapshot.queries)
        who = f"only {asked} {'query' if one else 'queries'}"
        if sampled or snapshot.source == "labels":
            return f"{who} ask{'s' * one}{f', {per_split} per split as set' * sampled}, fewer than {MIN_ANSWERS}"
        return f"{who} {'has' if one else 'have'} a later answer, fewer than {MIN_ANSWERS}"
    if snapshot.source == "clicks" and snapshot.answers < MIN_ANSWERS:
        where = f"{snapshot.answers} document{'s' * (snapshot.answers != 1)}"
        return f"later clicks fall on {where}, fewer than {MIN_ANSWERS}"
    return ""


def _nothing_found(snapshot: AdviceSnapshot) -> str:
    """That no contender finds anything, which tells none of them from another."""
    if any(snapshot.mean(one.key, "truth") > 0 for one in snapshot.contenders):
        return ""
    what = "a later answer" if snapshot.source == "clicks" else "a row of the same label"
    return f"no contender finds {what} among its ten nearest"


def _truth_text(gain: Difference, snapshot: AdviceSnapshot) -> str:
    on = "on later clicks" if snapshot.source == "clicks" else "on labels of rows not trained on"
    return _change_text(gain, f"{snapshot.truth} {on}")


def _recall_text(gain: Difference) -> str:
    return _change_text(gain, "recall@10 of the float vectors")


def _change_text(gain: Difference, score: str) -> str:
    """What learning does to a score, as the end of the sentence "learning ..."."""
    if abs(gain.difference) > NOTHING:
        return f"{'gains' if gain.difference > 0 else 'loses'} {amount(gain)} {score}{_tie(gain)}"
    half = half_width(gain)
    return f"changes {score} by 0 ± {number(half)}" if half > NOTHING else f"leaves {score} as it is"


def _keeper_text(snapshot: AdviceSnapshot, free: str) -> str:
    """Who keeps clearly more of the distance than the best without clicks, and is not clearly behind it by them.

    The clicks often cannot tell the contenders without clicks apart, so that the best of them may be a poor one by
    the distance, against which learning seems to lose little.
    """
    more = {key: snapshot.difference(key, free, "recall") for key in snapshot.measured_keys("free", 1) if key != free}
    keepers = [
        key for key, one in more.items()
        if one.difference > 0 and clear(one) and not _clearly_behind(snapshot.difference(key, free, "truth"))
    ]  # fmt: skip
    if not keepers:
        return ""
    keeper = max(keepers, key=lambda key: more[key].difference)
    than = snapshot.contender(free).title
    title = f"{snapshot.contender(keeper).title} ({_bytes(snapshot, keeper)})"
    shown = f"which these {snapshot.source} do not show to find less than {than}"
    return f"; {title}, {shown}, keeps {amount(more[keeper])} more of it"


def _clearly_behind(gain: Difference) -> bool:
    return gain.difference < 0 and clear(gain)


def _tie(gain: Difference) -> str:
    return "" if clear(gain) else " (a tie)"


def _bytes(snapshot: AdviceSnapshot, key: str) -> str:
    size = f"{snapshot.cost(key, 'bytes'):,.0f}"
    return f"{size} byte{'s' * (size != '1')} per item"


def _changes(snapshot: AdviceSnapshot, decision: Decision, free: str, learnt: str) -> list[str]:
    """What would change the answer, as far as it was measured."""
    texts = [_with_rescoring(snapshot, decision, free, learnt)]
    texts += [_more_bytes(snapshot, bits, free, learnt) for bits in (2, 4)]
    texts += [_codes_or_adapter(snapshot), _fewer_bytes(snapshot, free), _more_clicks(snapshot, learnt)]
    if snapshot.splits < ENOUGH_SEEDS or len(snapshot.results_of(learnt)) < ENOUGH_SEEDS:
        texts.append(f"Intervals are wider with fewer than {ENOUGH_SEEDS} splits.")
    return [text for text in texts if text]


def _with_rescoring(snapshot: AdviceSnapshot, decision: Decision, free: str, learnt: str) -> str:
    gain = snapshot.difference(learnt, free, "rescored_truth")
    kept = snapshot.difference(learnt, free, "rescored_recall")
    after = _decide(gain, kept)
    same = "the answer stays" if after == decision else f"the answer becomes “{WORDS[after]}”"
    return (
        f"With the nearest 100 rescored by the float vectors {same}: learning {_truth_text(gain, snapshot)} and "
        f"{_recall_text(kept)}."
    )


WORDS = {"learn": "learn", "rotate": "rotate", "tie": "no difference", "waiting": "no answer"}


def _decide(gain: Difference, kept: Difference) -> Decision:
    if clear(gain) and gain.difference > 0:
        return "learn"
    return "rotate" if clear(gain) or (clear(kept) and kept.difference < 0) else "tie"


def _more_bytes(snapshot: AdviceSnapshot, bits: int, free: str, learnt: str) -> str:
    """The question with more bits per dimension, if others are then the best than with half as many."""
    others = best(snapshot, "free", bits), best(snapshot, "learnt", bits)
    fewer = best(snapshot, "free", bits // 2), best(snapshot, "learnt", bits // 2)
    if others in ((free, learnt), fewer) or len(snapshot.results_of(others[0])) < snapshot.splits:
        return ""
    gain = snapshot.difference(others[1], others[0], "truth")
    kept = snapshot.difference(others[1], others[0], "recall")
    names = snapshot.contender(others[1]).title, snapshot.contender(others[0]).title
    return (
        f"With {bits} bits per dimension: {WORDS[_decide(gain, kept)]} ({names[0]} against {names[1]} "
        f"{_truth_text(gain, snapshot)} and {_recall_text(kept)})."
    )


def _codes_or_adapter(snapshot: AdviceSnapshot) -> str:
    """Learnt codes against the adapter followed by RaBitQ, within one bit per dimension."""
    keys = [key for key in snapshot.measured_keys("learnt", 1) if not key.startswith("adapter")]
    if not keys or "adapter_rabitq_1" not in snapshot.measured_keys("learnt", 1):
        return ""
    code = max(keys, key=snapshot.validation)
    gain = snapshot.difference(code, "adapter_rabitq_1", "truth")
    names = snapshot.contender(code).title, snapshot.contender("adapter_rabitq_1").title
    word = "no clear difference" if not clear(gain) else "more" if gain.difference > 0 else "less"
    return (
        f"The best learnt codes ({names[0]}, {_bytes(snapshot, code)}) against {names[1]}: "
        f"{word}, {number(gain.difference)} ± {number(half_width(gain))} {snapshot.truth}."
    )


def _fewer_bytes(snapshot: AdviceSnapshot, free: str) -> str:
    """The smallest learnt code that finds clearly more than the best without clicks, if it is smaller.

    Of several of one size, the one with most validation clicks comes first.
    """
    size = snapshot.cost(free, "bytes")
    smaller = [key for key in snapshot.measured_keys("learnt") if snapshot.cost(key, "bytes") < size]
    for key in sorted(smaller, key=lambda key: (snapshot.cost(key, "bytes"), -snapshot.validation(key))):
        gain = snapshot.difference(key, free, "truth")
        if clear(gain) and gain.difference > 0:
            return (
                f"With fewer bytes: {snapshot.contender(key).title} ({_bytes(snapshot, key)}) still gains "
                f"{amount(gain)} {snapshot.truth} over {snapshot.contender(free).title} ({_bytes(snapshot, free)})."
            )
    return ""


def _more_clicks(snapshot: AdviceSnapshot, learnt: str) -> str:
    """Whether the learnt contender was still improving between half and all of the clicks."""
    half = [one for one in snapshot.half if one.key == learnt]
    if len(half) < snapshot.splits:
        return ""
    gain = paired_difference(snapshot.results_of(learnt), half, lambda one: one.scores.truth, "truth")
    pairs = snapshot.pairs_text
    what = f"from half of the {pairs} to all of them {snapshot.contender(learnt).title}"
    if clear(gain) and gain.difference > 0:
        return f"With more {pairs}: {what} still gained {amount(gain)} {snapshot.truth}."
    change = f"{number(gain.difference)} ± {number(half_width(gain))}"
    return f"That more {pairs} help is not shown: {what} changed by {change} {snapshot.truth}."
