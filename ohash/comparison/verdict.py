"""The verdict of a comparison in sentences computed from its numbers.

For each need (to follow the labels or clicks, to keep the distance, both) it names the best code at equal bytes, then
the best that learns online, and what the difference costs. A difference comes with its interval
(`comparison.gaps`), or with the words "one seed"; what cannot be told apart is not ranked.
"""

import math
from collections.abc import Sequence

from ohash.comparison.equal_bytes import (
    Code,
    budget,
    chance_text,
    codes_within_budget,
    indistinguishable_by_recall,
    indistinguishable_by_truth,
    leaders,
    random_remark,
    recall_gap,
    truth_gap,
)
from ohash.comparison.gaps import FLOATS, Gap, declines, gap, gap_over_seeds, score_text, scores_by_seed
from ohash.comparison.params import has_codes
from ohash.comparison.results import ComparisonSnapshot, supervision_text
from ohash.comparison.sentences import (
    DISTANCES,
    Sentence,
    first_seed_note,
    float_bytes,
    methods_by_supervision,
    truth_name,
)
from ohash.comparison.smallest_code import smallest_code
from ohash.engine.narrative import amount, join_names
from ohash.models.base import BY_LABEL
from ohash.number_formats import percent

# Codes of another length are mentioned if they gain so much, or this share of a small score.
WORTH, WORTH_SHARE = 0.01, 0.1
# Features whose exact search finds fewer of the neighbours than this are remarked on.
LOSSLESS = 0.99
MAX_NAMED = 3  # codes in a title
SAME_SHARE = 0.03  # of the best score: a smaller difference decides nothing
AHEAD, INDISTINGUISHABLE, BEHIND = "ahead of", "not distinguishable from", "behind"
ONLINE = ("pairs", "points", "chunks")


def verdict(snapshot: ComparisonSnapshot) -> list[Sentence]:
    """Sentences, most important first; none until there are numbers."""
    if not snapshot.judged or (not snapshot.ended_seeds and _some_have_not_begun(snapshot)):
        return []
    sentences = (
        _best_for_truth(snapshot), _best_for_distance(snapshot), _best_for_both(snapshot), smallest_code(snapshot),
        _one_by_one(snapshot), _below_start(snapshot), _not_compared(snapshot),
    )  # fmt: skip
    return [sentence for sentence in sentences if sentence is not None]


def _some_have_not_begun(snapshot: ComparisonSnapshot) -> bool:
    """Whether a method that has not failed has no score yet: the best of the others might not be the best."""
    begun = {*snapshot.judged, *(result.entry for result in snapshot.results if result.error)}
    return any(at not in begun for at in range(len(snapshot.entries)))


def _below_start(snapshot: ComparisonSnapshot) -> Sentence | None:
    """Methods that learning has made worse."""
    worse = [f"{snapshot.names[d.entry]}, {score_text(d.start)} → {score_text(d.end)}" for d in declines(snapshot)]
    if not worse:
        return None
    ends = "They end" if len(worse) > 1 else "It ends"
    text = f"{'; '.join(worse)} ({snapshot.truth_label}). {ends} below the first codes, beyond the interval."
    return Sentence("Worse than at the start", text)


def _not_compared(snapshot: ComparisonSnapshot) -> Sentence | None:
    """The kinds of methods that are often best for a need, and none of which was compared."""
    specs = [entry.spec for entry in snapshot.entries if not entry.spec.reference]
    missing = []
    if snapshot.setup.similar_by in BY_LABEL and not any(spec.supervision == "labels" for spec in specs):
        missing.append(
            f"methods that learn from labels, such as HCOH and SDH, may follow {truth_name(snapshot)} better"
        )
    own_distance = any(snapshot.entries[code.entry].spec.asymmetric for code in codes_within_budget(snapshot))
    bits, d, metric = snapshot.comparison.options.bits, snapshot.setup.d, snapshot.setup.metric
    if not own_distance and has_codes("pq", bits, d, metric) and all(spec.key != "pq" for spec in specs):
        missing.append("product quantisation may keep the distance better")
    return Sentence("Not compared", f"{'; '.join(missing)}.") if missing and specs else None


def _with_seeds(text: str, snapshot: ComparisonSnapshot) -> str:
    """The text and how many seeds it rests on: in brackets, unless it ends with some."""
    return f"{text}; {snapshot.seeds_text}" if text.endswith(")") else f"{text} ({snapshot.seeds_text})"


# -- the best code at equal bytes ----------------------------------------------------------------------------------


def _best_for_truth(snapshot: ComparisonSnapshot) -> Sentence:
    """The best truth score at equal bytes, the best that learns online, and what the difference costs."""
    topic = f"To follow {truth_name(snapshot)}"
    codes = sorted(codes_within_budget(snapshot), key=lambda code: -code.truth)
    if not codes:
        return Sentence(topic, f"{_nothing_fits(snapshot)}.")
    best = codes[0]
    score, random = snapshot.truth_label, random_remark(snapshot, codes)
    rank = "highest" if random and len(codes) > 1 else _rank(codes)
    column, none = snapshot.truth_column, best.truth == 0
    what = "no code finds anything relevant among its ten nearest" if none else f"{_name(snapshot, best)} is {rank}"
    text = f"at {_size(snapshot)} {what}, {score} {score_text(best.truth)}{chance_text(snapshot)}"
    equals = [] if none else indistinguishable_by_truth(best, codes, column)
    if equals:
        names = ", ".join(f"{snapshot.names[code.entry]} ({score_text(code.truth)})" for code in equals)
        text += f"; {names} cannot be told apart from it"
    text = _with_seeds(text, snapshot)
    floats = gap_over_seeds(best.each, scores_by_seed(snapshot, FLOATS), column, snapshot.queries)
    parts = [text, random]
    online = None if none else next((code for code in codes if _learns_online(snapshot, code)), None)
    if online is not None and online is not best:
        deficit = _deficit_text(truth_gap(best, online, column))
        text = f"The best that learns online is {_name(snapshot, online)}: {score_text(online.truth)}, {deficit}"
        rivals = [code for code in indistinguishable_by_truth(online, codes, column) if _learns_online(snapshot, code)]
        parts.append(text + _as_good_online(snapshot, online, {code: code.truth for code in rivals}))
        parts.append(_price(snapshot, best, online))
    elif online is not None:
        parts.append(f"{snapshot.names[best.entry]} learns online")
    if math.isfinite(snapshot.floats):
        against = _against_floats(floats, "these codes" if none else "the best code")
        parts.append(f"Exact search with the float vectors reaches {score_text(snapshot.floats)}{against}")
        parts.append(_about_floats(snapshot))
    left_out = _larger_codes_text(snapshot, codes)
    return Sentence(topic, ". ".join(part for part in parts if part) + f".{_other_length(snapshot, best)}{left_out}")


def _best_for_distance(snapshot: ComparisonSnapshot) -> Sentence | None:
    """The best recall@10 at equal bytes, and the best that learns online."""
    codes = [code for code in codes_within_budget(snapshot) if math.isfinite(code.recall)]
    if not codes:
        return None
    codes.sort(key=lambda code: -code.recall)
    best = codes[0]
    ceiling = snapshot.ceiling(best.entry)
    limit = f" (exact search in its features: {score_text(ceiling)})" if ceiling < LOSSLESS else ""
    text = f"at {_size(snapshot)} {_name(snapshot, best)} is {_rank(codes)}, recall@10 {score_text(best.recall)}{limit}"
    equals = indistinguishable_by_recall(best, codes)
    if equals:
        names = ", ".join(f"{snapshot.names[code.entry]} ({score_text(code.recall)})" for code in equals)
        text += f"; {names} cannot be told apart from it"
    text = _with_seeds(text, snapshot)
    online = next((code for code in codes if _learns_online(snapshot, code)), None)
    if online is not None and online is not best:
        lost = recall_gap(best, online)
        deficit = f"{lost.size} behind" if lost is not None and lost.significant else _deficit_text(lost)
        text += f". The best that learns online is {_name(snapshot, online)}: {score_text(online.recall)}, {deficit}"
        rivals = [code for code in indistinguishable_by_recall(online, codes) if _learns_online(snapshot, code)]
        text += _as_good_online(snapshot, online, {code: code.recall for code in rivals})
    return Sentence(f"To keep {DISTANCES[snapshot.setup.metric]}", f"{text}.")


def _best_for_both(snapshot: ComparisonSnapshot) -> Sentence | None:
    """The code that keeps most of the best of both; the smaller of its two shares counts.

    Codes that cannot be told apart from it by either score are named with it, and none of them is called the best.
    Where all follow the truth like a random order, shares of the best of them would say nothing.
    """
    topic = "For both at once"
    codes = [code for code in codes_within_budget(snapshot) if math.isfinite(code.recall) and code.truth > 0]
    if len(codes) < 2:
        return None
    if random_remark(snapshot, codes_within_budget(snapshot)):
        return Sentence(topic, f"only the distance decides, as no code here is seen to follow {truth_name(snapshot)}.")
    score = snapshot.truth_label
    best_scores = max(code.truth for code in codes), max(code.recall for code in codes)
    if min(best_scores) <= 0:
        return None
    shares = {code.entry: (code.truth / best_scores[0], code.recall / best_scores[1]) for code in codes}
    best = _least_lost(codes, shares, snapshot.truth_column)
    followed, kept = shares[best.entry]
    in_truth, in_recall = (
        indistinguishable_by_truth(best, codes, snapshot.truth_column),
        indistinguishable_by_recall(best, codes),
    )
    equals = [code for code in in_truth if code in in_recall]
    if equals:
        names = join_names([_name(snapshot, code) for code in (best, *equals)])
        text = f"{names} cannot be told apart, neither by {score} nor by recall@10"
    elif followed == kept == 1:
        text = f"{_name(snapshot, best)} is best{_by_one_score(snapshot, in_truth, in_recall)}"
    else:
        text = (
            f"{_name(snapshot, best)} loses least: {percent(followed)} of the best {score} and {percent(kept)} of the "
            "best recall@10"
        )
        follower = max(codes, key=lambda code: code.truth)
        if follower is not best:
            share = shares[follower.entry][1]
            rival = snapshot.names[follower.entry]
            text += f"; {rival}, which has the best {score}, keeps {percent(share)} of that recall"
        text += _by_one_score(snapshot, in_truth, in_recall)
    text = _with_seeds(text, snapshot)
    parts = [text]
    learners = [code for code in codes if _learns_online(snapshot, code)]
    online = _least_lost(learners, shares, snapshot.truth_column) if learners else None
    tied_learners = [snapshot.names[code.entry] for code in (best, *equals) if _learns_online(snapshot, code)]
    if equals and tied_learners:
        parts.append(f"Of these, {join_names(tied_learners)} learn{'s' * (len(tied_learners) == 1)} online")
    elif online is best:
        parts.append(f"{snapshot.names[best.entry]} learns online")
    elif online is not None:
        followed, kept = shares[online.entry]
        name = _name(snapshot, online)
        parts.append(
            f"The best that learns online is {name}: {percent(followed)} of the best {score} and {percent(kept)} of "
            "the best recall@10"
        )
        parts.append(_price(snapshot, best, online))
    return Sentence(topic, f"{'. '.join(part for part in parts if part)}.")


def _by_one_score(snapshot: ComparisonSnapshot, in_truth: Sequence[Code], in_recall: Sequence[Code]) -> str:
    """The codes that only one of both scores tells apart from the best."""
    text = ""
    for codes, score in ((in_truth, snapshot.truth_label), (in_recall, "recall@10")):
        if codes:
            names = join_names([snapshot.names[code.entry] for code in codes])
            text += f"; by {score} alone {names} cannot be told apart from it"
    return text


def leaders_text(snapshot: ComparisonSnapshot) -> str:
    """Who leads by each truth at equal bytes, as short as a title; codes that cannot be told apart share the lead."""
    best = leaders(snapshot)
    if best is None:
        return ""
    (follower, keeper), codes = best, codes_within_budget(snapshot)
    in_truth = [follower, *indistinguishable_by_truth(follower, codes, snapshot.truth_column)]
    in_recall = [keeper, *indistinguishable_by_recall(keeper, [code for code in codes if math.isfinite(code.recall)])]
    what, size = truth_name(snapshot), f"At {_size(snapshot)}"
    if len(codes) == 1:
        return f"{size} there is only {snapshot.names[follower.entry]}"
    if in_truth == in_recall == [follower]:
        return f"{size} {snapshot.names[follower.entry]} is best by both truths"
    both = [code for code in in_truth if code in in_recall]
    if follower in both and keeper in both and len(both) > 1:
        return f"{size} {_short_list(snapshot, both)} cannot be told apart by either truth"
    parts = []
    for tied, does, by in ((in_truth, f"follows {what}", what), (in_recall, "keeps the distance", "the distance")):
        names = _short_list(snapshot, tied)
        parts.append(f"{names} {does} best" if len(tied) == 1 else f"{names} cannot be told apart by {by}")
    return f"{size} {', '.join(parts)}"


def _rank(codes: Sequence[Code]) -> str:
    """What the first of these codes is: one alone is no better than any other."""
    return "best" if len(codes) > 1 else "the only code"


def _short_list(snapshot: ComparisonSnapshot, codes: Sequence[Code]) -> str:
    """The names of codes; of many, the first and how many others."""
    names = [snapshot.names[code.entry] for code in codes]
    return join_names(names) if len(names) <= MAX_NAMED else f"{names[0]} and {len(names) - 1} others"


def _least_lost(codes: Sequence[Code], shares: dict[int, tuple[float, float]], column: str) -> Code:
    """The code whose smaller share is largest; shares within SAME_SHARE are equal, and the sum of both decides.

    Unless others cannot be told apart from it by one score and are better by the other: then it is among those.
    """
    best_share = max(min(shares[code.entry]) for code in codes)
    best = max(
        (code for code in codes if min(shares[code.entry]) > best_share - SAME_SHARE),
        key=lambda code: sum(shares[code.entry]),
    )
    better = [code for code in codes if _is_better(code, best, column)]
    return _least_lost(better, shares, column) if better else best


def _is_better(code: Code, other: Code, column: str) -> bool:
    """Whether a code is significantly better by one score, and not significantly worse by the other."""
    gaps = truth_gap(code, other, column), recall_gap(code, other)
    signs = [math.copysign(1, one.difference) if one is not None and one.significant else 0 for one in gaps]
    return min(signs) >= 0 < max(signs)


def _price(snapshot: ComparisonSnapshot, best: Code, online: Code) -> str:
    """What the better code asks for that the one that learns online does not."""
    spec = snapshot.entries[best.entry].spec
    given, other = (snapshot.supervision(code.entry) for code in (best, online))
    asks = []
    if given == "labels" and other != "labels":
        asks.append("the labels themselves" + (" (which say more than pairs)" if other == "pairs" else ""))
    if given == "pairs" and other == "none":
        asks.append("pairs that say what is similar")
    if spec.consumes == "batch":
        asks.append("all points at once, to be fitted again when they change")
    if spec.consumes == "nothing":
        return f"{snapshot.names[best.entry]} does not learn, so it cannot follow a change"
    return f"{snapshot.names[best.entry]} needs {' and '.join(asks)}" if asks else ""


def _larger_codes_text(snapshot: ComparisonSnapshot, codes: Sequence[Code]) -> str:
    """The methods that have no code within the budget."""
    within = {code.entry for code in codes}
    larger = [
        f"{snapshot.names[at]} ({amount(snapshot.results_of(at)[0].bytes, 'byte')})"
        for at in snapshot.judged
        if at not in within and not snapshot.entries[at].spec.reference
    ]
    return f" Larger, and therefore not ranked here: {', '.join(larger)}." if larger else ""


def _nothing_fits(snapshot: ComparisonSnapshot) -> str:
    references = all(snapshot.entries[at].spec.reference for at in snapshot.judged)
    return "only reference methods have been measured" if references else f"no code fits into {_size(snapshot)}"


def _deficit_text(difference: Gap | None) -> str:
    """How far the best that learns online is behind the best."""
    if difference is None or not difference.significant:
        return "which cannot be told apart from it"
    return f"{difference.magnitude} behind"


def _as_good_online(snapshot: ComparisonSnapshot, online: Code, rivals: dict[Code, float]) -> str:
    """The others that learn online and cannot be told apart from the best of them, with their scores."""
    names = ", ".join(f"{snapshot.names[code.entry]} ({score_text(score)})" for code, score in rivals.items())
    return (
        f"; of the others that learn online, {names} cannot be told apart from {snapshot.names[online.entry]}"
        if rivals
        else ""
    )


def _against_floats(floats: Gap | None, codes: str) -> str:
    if floats is None:
        return ""
    if not floats.significant:
        return f", which cannot be told apart from {codes}"
    return f", {'lower' if floats.difference > 0 else 'higher'} by {floats.magnitude}"


def _about_floats(snapshot: ComparisonSnapshot) -> str:
    """What exact search is, and why it does not reach 1."""
    distance, size = DISTANCES[snapshot.setup.metric], f"{float_bytes(snapshot):,} bytes each"
    text = f"That is the order by {distance} of the vectors themselves, uncompressed, {size}"
    if snapshot.setup.similar_by in ("metric", "topk"):
        both_ways = "an item is also relevant if the query is among its own nearest, which that order does not show"
        return f"{text}; {both_ways}" if snapshot.floats < LOSSLESS else text
    return f"{text}, and has learnt nothing from {truth_name(snapshot)}"


def _learns_online(snapshot: ComparisonSnapshot, code: Code) -> bool:
    return snapshot.entries[code.entry].spec.consumes in ONLINE


def _one_by_one(snapshot: ComparisonSnapshot, first: int = 0) -> Sentence | None:
    """The first method against each of the others, grouped by supervision."""
    others = [at for at in snapshot.judged if at != first]
    if first not in snapshot.judged or not others:
        return None
    groups: dict[str, dict[str, list[str]]] = {AHEAD: {}, INDISTINGUISHABLE: {}, BEHIND: {}}
    for at in sorted(others, key=lambda at: -snapshot.score(at, snapshot.truth_column)):
        difference = gap(snapshot, first, at)
        if difference is None:
            continue
        relation = AHEAD if difference.difference > 0 else BEHIND
        text = f"{snapshot.names[at]} by {difference.size}"
        if not difference.significant:
            relation, text = INDISTINGUISHABLE, snapshot.names[at]
        groups[relation].setdefault(snapshot.supervision(at), []).append(text)
    parts = [
        f"{relation} {', '.join(methods)} ({supervision_text(kind, several=len(methods) > 1)})"
        for relation, kinds in groups.items()
        for kind, methods in kinds.items()
    ]
    if not parts:
        return None
    return Sentence(f"{snapshot.names[first]} compared with the others", f"{_with_seeds('; '.join(parts), snapshot)}.")


def _other_length(snapshot: ComparisonSnapshot, best: Code) -> str:
    """What another length would gain, for this method or one of the same supervision."""
    rivals = methods_by_supervision(snapshot)[snapshot.supervision(best.entry)]
    lengths = [one for one in snapshot.lengths if one.entry in rivals]
    if not lengths:
        return ""
    longest = max(lengths, key=lambda one: one.truth)
    if longest.truth < best.truth + min(WORTH, WORTH_SHARE * best.truth):
        return ""
    method = snapshot.names[longest.entry]  # sentences about others may stand in between
    return f" At {longest.bits} bits{first_seed_note(snapshot)} {method} reaches {score_text(longest.truth)}."


# -- formatting ----------------------------------------------------------------------------------------------------


def _name(snapshot: ComparisonSnapshot, code: Code) -> str:
    supervision = supervision_text(snapshot.supervision(code.entry))
    return f"{snapshot.names[code.entry]} ({supervision}, {amount(code.bits, 'bit')})"


def _size(snapshot: ComparisonSnapshot) -> str:
    limit = budget(snapshot)
    return f"{limit} byte{'s' * (limit > 1)} per item"
