"""The verdict says what the numbers say: made-up snapshots with known answers."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from ohash.comparison.equal_bytes import codes_within_budget, truth_gap
from ohash.comparison.export import CHANCE, result_rows, to_latex
from ohash.comparison.fairness import fairness
from ohash.comparison.gaps import declines, gap, scores_by_seed
from ohash.comparison.params import LABEL_METHODS, build_comparison
from ohash.comparison.results import ComparisonSnapshot, EvaluationSetup, LengthResult, MethodResult, dips
from ohash.comparison.sentences import methods_by_supervision
from ohash.comparison.verdict import leaders_text, verdict
from ohash.evaluation.significance import few_seeds_margin, paired_bootstrap
from ohash.plots.compare import by_bits, truths
from ohash.ui.compare.cards import dips_html, progress, results_html
from tests.comparison.snapshots import QUERIES, record, snapshot, with_recalls


def sentences(now):
    return {one.topic: one.text for one in verdict(now)}


def test_a_gap_is_a_paired_bootstrap_over_the_same_queries_widened_for_one_seed():
    now = snapshot({"oh": 0.7, "itq": 0.55})
    a, b = (now.record(at).ap for at in (0, 1))
    expected, margin = paired_bootstrap(a, b, resamples=1000), few_seeds_margin(1)
    difference = gap(now, 0, 1)
    assert difference.difference == expected.difference
    assert (difference.low, difference.high) == pytest.approx((expected.low - margin, expected.high + margin))
    assert difference.significant and difference.magnitude.endswith("(one seed)") and "±" not in difference.magnitude
    assert math.isnan(difference.spread)
    assert gap(now, 0).difference == pytest.approx(np.mean(a - now.references[0].scores["map"]))


def test_a_gap_over_seeds_has_their_spread():
    now = snapshot({"oh": 0.7, "itq": 0.55}, seeds=(0, 1, 2))
    difference = gap(now, 0, 1)
    each = [
        np.mean(one.record.ap - other.record.ap)
        for one, other in zip(now.results_of(0), now.results_of(1), strict=True)
    ]
    assert difference.seeds == 3
    assert difference.spread == pytest.approx(np.std(each, ddof=1))
    assert re.fullmatch(r"\.1\d\d ± \.\d{3} over 3 seeds", difference.magnitude)


@pytest.mark.parametrize("shared", [QUERIES, QUERIES * 9 // 10])
def test_seeds_that_share_their_queries_are_no_more_queries(shared):
    settings = {"noise": 0.3, "seeds": (0, 1, 2)}
    apart, together = (snapshot({"oh": 0.7, "itq": 0.55}, shared=some, **settings) for some in (0, shared))
    one, other = (scores_by_seed(together, at) for at in (0, 1))
    common = np.mean([(one[seed] - other[seed])[:shared] for seed in (0, 1, 2)], axis=0)
    alone = np.concatenate([(one[seed] - other[seed])[shared:] for seed in (0, 1, 2)])
    each = np.concatenate([common, alone])
    wide = gap(together, 0, 1)
    assert wide.half_width >= paired_bootstrap(each, np.zeros(len(each)), resamples=1000).high - each.mean()
    assert wide.half_width > gap(apart, 0, 1).half_width and wide.seeds == 3
    assert truth_gap(*codes_within_budget(together), "map") == wide
    assert truth_gap(*codes_within_budget(apart), "map") == gap(apart, 0, 1)


def test_few_queries_in_common_are_as_good_as_none():
    apart, some = (snapshot({"oh": 0.7, "itq": 0.55}, seeds=(0, 1, 2), shared=few) for few in (0, QUERIES // 10))
    assert gap(some, 0, 1) == gap(apart, 0, 1)


def test_shared_queries_count_once_against_the_start_and_against_chance():
    now, shared = (snapshot({"oh": 0.2, "itq": 0.2}, seeds=(0, 1, 2), shared=some) for some in (0, QUERIES))
    hardness = np.std(scores_by_seed(now, 0)[0], ddof=1)
    mean, half = now.score(0, "map"), 1.96 * hardness / QUERIES**0.5
    level = mean - 0.8 * half  # within the interval of 200 queries, outside that of 600
    remark = "can be told apart from a random order"
    for snap, texts in ((now, False), (shared, True)):
        text = sentences(replace(snap, chance={"map": level}))["To follow your labels"]
        assert (remark in text) == texts
    falls = [replace(one, checkpoints={**one.checkpoints, "map": np.array([mean + 0.8 * half, mean])})
             for one in now.results]  # fmt: skip
    assert [len(declines(replace(snap, results=tuple(falls)))) for snap in (now, shared)] == [2, 0]


def test_one_seed_proves_only_what_no_other_seed_would_overturn():
    small, large = (gap(snapshot({"oh": 0.5 + effect, "itq": 0.5}, noise=0.01), 0, 1) for effect in (0.05, 0.1))
    assert not small.significant and large.significant
    three = gap(snapshot({"oh": 0.55, "itq": 0.5}, noise=0.01, seeds=(0, 1, 2)), 0, 1)
    assert three.significant


def test_the_best_code_is_named_whatever_it_learns_from_then_the_best_that_learns_online():
    now = snapshot({"oh": 0.6, "sdh": 0.9, "itq": 0.4})
    text = sentences(now)["To follow your labels"]
    assert text.startswith("at 8 bytes per item SDH (learns from labels, 64 bits) is best, mAP .9")
    assert "The best that learns online is OH (learns from pairs, 64 bits): .6" in text
    assert "SDH needs the labels themselves (which say more than pairs) and all points at once" in text
    assert re.search(r"Exact search with the float vectors reaches \.\d+, lower by \.\d+ \(one seed\)", text)
    assert methods_by_supervision(now) == {"labels": [1], "pairs": [0], "none": [2]}


@pytest.mark.parametrize(
    ("similar_by", "reached", "reason"),
    [
        ("label", 0.5, ", and has learnt nothing from your labels."),
        ("clicks", 0.2, ", and has learnt nothing from your clicks."),
        ("topk", 0.888, "; an item is also relevant if the query is among its own nearest, which that order does not"),
        ("metric", 1.0, "."),  # of the nearest of the query alone: the exact order is the truth
    ],
)
def test_what_exact_search_is_and_why_it_does_not_reach_one_is_said(similar_by, reached, reason):
    now = snapshot({"oh": 0.6, "itq": 0.4}, float_map=reached)
    text = verdict(replace(now, setup=replace(now.setup, similar_by=similar_by)))[0].text
    assert f"That is the order by cosine of the vectors themselves, uncompressed, 2,048 bytes each{reason}" in text


def test_a_code_without_supervision_is_named_if_it_is_best():
    text = sentences(snapshot({"oh": 0.42, "itq": 0.66}))["To follow your labels"]
    assert text.startswith("at 8 bytes per item ITQ (unsupervised, 64 bits) is best, mAP .66")
    assert "ITQ needs all points at once" in text and "labels themselves" not in text
    text = sentences(snapshot({"oh": 0.42, "rotated": 0.66}))["To follow your labels"]
    assert "Rotated sign does not learn, so it cannot follow a change" in text


def test_the_best_that_learns_online_is_not_named_twice():
    text = sentences(snapshot({"oh": 0.7, "itq": 0.5}))["To follow your labels"]
    assert text.startswith("at 8 bytes per item OH") and "OH learns online." in text and "The best that" not in text


def test_what_cannot_be_told_apart_is_not_ranked():
    texts = sentences(snapshot({"oh": 0.502, "itq": 0.5}, noise=0.2))
    assert "OH (learns from pairs, 64 bits) is best, mAP .5" in texts["To follow your labels"]
    assert re.search(r"ITQ \(\.\d+\) cannot be told apart from it", texts["To follow your labels"])
    assert texts["OH compared with the others"] == "not distinguishable from ITQ (unsupervised); one seed."


def test_the_best_that_learns_online_is_not_ranked_above_others_that_cannot_be_told_apart_from_it():
    now = with_recalls(snapshot({"oh": 0.6, "mlh": 0.59, "lego": 0.2, "sdh": 0.9}), (0.3, 0.29, 0.1, 0.6))
    texts = sentences(now)
    following, keeping = texts["To follow your labels"], texts["To keep cosine"]
    assert re.search(
        r"OH .*: \.6\d+, .* behind; of the others that learn online, MLH \(\.\d+\) cannot be told apart from OH\. ",
        following,
    )
    assert keeping.endswith("behind; of the others that learn online, MLH (.290) cannot be told apart from OH.")
    apart = sentences(with_recalls(snapshot({"oh": 0.6, "mlh": 0.3, "sdh": 0.9}), (0.4, 0.1, 0.6)))
    assert not any("cannot be told apart" in text for text in apart.values())


def test_larger_codes_are_not_ranked_with_smaller_ones():
    now = snapshot({"oh": 0.6, "itq": 0.5, "int8": 0.95})
    large = tuple(
        MethodResult(**{**vars(one), "bytes": 512, "bits": 4096}) if one.entry == 2 else one for one in now.results
    )
    text = sentences(ComparisonSnapshot(**{**vars(now), "results": large}))["To follow your labels"]
    assert text.startswith("at 8 bytes per item OH") and "not ranked here: int8 (512 bytes)" in text
    shorter = (LengthResult(2, 64, 8, 0.8, 0.9, now.record(2).ap, {}),)
    text = sentences(ComparisonSnapshot(**{**vars(now), "results": large, "lengths": shorter}))["To follow your labels"]
    assert text.startswith("at 8 bytes per item int8 (unsupervised, 64 bits) is best, mAP .8") and "ranked" not in text


def test_keeping_the_distance_names_the_best_and_the_ceiling_of_its_features():
    now = with_recalls(snapshot({"oh": 0.7, "itq": 0.5}), (0.3, 0.6))
    now = ComparisonSnapshot(**{**vars(now), "ceilings": (0.5, 0.75)})
    texts = sentences(now)
    assert texts["To keep cosine"].startswith(
        "at 8 bytes per item ITQ (unsupervised, 64 bits) is best, recall@10 .600 (exact search in its features: .750)"
    )
    assert "learns online is OH (learns from pairs, 64 bits): .300, .300 behind" in texts["To keep cosine"]
    assert "cannot be told apart" not in texts["To keep cosine"]
    near = sentences(with_recalls(now, (0.55, 0.6)))["To keep cosine"]
    assert "OH (.550) cannot be told apart from it" in near, "one seed, and 0.05 is no more than seeds change"
    assert re.match(
        r"ITQ .* loses least: 7\d % of the best mAP and 100 % of the best recall@10; OH", texts["For both at once"]
    )
    assert texts["For both at once"].endswith(
        "The best that learns online is OH (learns from pairs, 64 bits): 100 % of the best mAP and 50 % of the best "
        "recall@10. ITQ needs all points at once, to be fitted again when they change."
    )
    online = sentences(with_recalls(now, (0.6, 0.3)))["For both at once"]
    assert online == "OH (learns from pairs, 64 bits) is best (one seed). OH learns online."
    title = truths(now).title
    assert title == "At 8 bytes per item OH follows your labels best, ITQ keeps the distance best"


def test_no_code_is_best_for_both_if_another_cannot_be_told_apart_by_either_score():
    now = with_recalls(snapshot({"oh": 0.42, "itq": 0.44, "lsh": 0.2}), (0.57, 0.6, 0.2))
    both = sentences(now)["For both at once"]
    assert both == (
        "ITQ (unsupervised, 64 bits) and OH (learns from pairs, 64 bits) cannot be told apart, neither by mAP nor by "
        "recall@10 (one seed). Of these, OH learns online."
    )
    assert truths(now).title == "At 8 bytes per item ITQ and OH cannot be told apart by either truth"
    judged = with_recalls(snapshot({"oh": 0.42, "itq": 0.7}), (0.3, 0.6))
    assert sentences(judged)["For both at once"].startswith("ITQ (unsupervised, 64 bits) is best (one seed).")
    assert truths(judged).title == "At 8 bytes per item ITQ is best by both truths"


def test_a_code_that_one_score_alone_proves_best_is_called_so_with_that_score():
    now = with_recalls(snapshot({"oh": 0.42, "itq": 0.44}), (0.3, 0.6))
    both = sentences(now)["For both at once"]
    assert both.startswith(
        "ITQ (unsupervised, 64 bits) is best; by mAP alone OH cannot be told apart from it (one seed)"
    )
    title = "At 8 bytes per item ITQ and OH cannot be told apart by your labels, ITQ keeps the distance best"
    assert truths(now).title == title


def test_for_both_a_code_that_is_better_by_one_score_and_no_worse_by_the_other_comes_first():
    now = with_recalls(snapshot({"oh": 0.65, "itq": 0.29, "pq": 0.265}), (0.08, 0.3, 0.41))
    both = sentences(now)["For both at once"]
    assert both.startswith("Product quantisation (unsupervised, 64 bits) loses least: 41 % of the best mAP and 100 %")
    assert "by mAP alone ITQ cannot be told apart from it" in both
    worse = with_recalls(snapshot({"oh": 0.65, "itq": 0.4, "pq": 0.265}), (0.08, 0.3, 0.41))
    assert sentences(worse)["For both at once"].startswith("ITQ (unsupervised, 64 bits) loses least: 62 %")


def with_lengths(now, gains):
    """Codes of 16 and 256 bits, the longer ones better by these gains."""
    ap = now.record(0).ap
    ends = ((at, bits, gain * (bits == 256)) for at, gain in enumerate(gains) for bits in (16, 256))
    lengths = (
        LengthResult(at, bits, bits // 8, float(ap.mean()) + gain, 0.3, ap + gain, {}) for at, bits, gain in ends
    )
    return replace(now, lengths=tuple(lengths))


@pytest.mark.parametrize(
    ("gains", "title"),
    [
        ((0.14, 0.15), "More bits help all methods about equally: mAP +.14 to +.15"),
        ((0.12, 0.4), "More bits help ITQ most: mAP +.40"),
        ((0.3, 0.33, 0.12), "More bits help OH and ITQ most, and about equally: mAP +.30 to +.33"),
        ((0.12, 0.18), "More bits help all methods (in no clear order): mAP +.12 to +.18"),
        (
            (0.3, 0.36, 0.12),
            "More bits help OH and ITQ most (in no clear order): mAP +.30 to +.36",
        ),
        ((0.01, 0.02), "No gain in mAP from more bits is beyond chance: at most +.02"),
    ],
)
def test_more_bits_help_a_method_most_only_where_the_gains_can_be_told_apart(gains, title):
    now = snapshot(dict(zip(("oh", "itq", "lsh"), (0.4, 0.4, 0.4)[: len(gains)], strict=False)))
    assert by_bits(with_lengths(now, gains)).title == title


def test_a_method_of_one_length_is_not_among_all_that_more_bits_help():
    now = snapshot({"oh": 0.4, "itq": 0.4, "int8": 0.4})
    title = "More bits help OH and ITQ about equally: mAP +.14 to +.15"
    assert by_bits(with_lengths(now, (0.14, 0.15))).title == title


def test_one_code_alone_is_not_called_the_best():
    now = with_recalls(snapshot({"oh": 0.7}), [0.4])
    texts = sentences(now)
    assert "OH (learns from pairs, 64 bits) is the only code, mAP .700" in texts["To follow your labels"]
    assert "is the only code, recall@10 .400" in next(text for topic, text in texts.items() if "To keep" in topic)
    assert truths(now).title == leaders_text(now) == "At 8 bytes per item there is only OH"
    several = snapshot({"oh": 0.7, "itq": 0.5})
    assert "is best" in sentences(several)["To follow your labels"] and "only" not in leaders_text(several)


def test_one_bit_is_one_bit():
    now = snapshot({"sign": 0.7})
    now = replace(now, results=tuple(replace(one, bits=1) for one in now.results))
    texts = " ".join(sentences(now).values())
    assert "(unsupervised, 1 bit)" in texts and "1 bits" not in texts


def test_a_verdict_says_which_kinds_of_methods_nobody_compared():
    """Without them, the best is not the best there is."""
    texts = sentences(snapshot(dict.fromkeys(("oh", "itq", "lsh"), 0.5)))["Not compared"]
    assert "learn from labels, such as HCOH and SDH, may follow your labels better; product quantisation may" in texts
    assert "Not compared" not in sentences(snapshot({"oh": 0.6, "hcoh": 0.7, "pq": 0.5}))
    assert "labels" not in sentences(snapshot({"oh": 0.6, "ksh": 0.7}))["Not compared"]
    assert "quantisation" not in sentences(snapshot({"oh": 0.6, "pq": 0.5}))["Not compared"]
    assert "Not compared" not in sentences(snapshot(dict.fromkeys(LABEL_METHODS, 0.5))), "those labels are opened with"
    clicks = snapshot({"oh": 0.6, "pq": 0.5})
    assert "Not compared" not in sentences(replace(clicks, setup=replace(clicks.setup, similar_by="clicks")))
    dots = replace(clicks.setup, metric="dot", similar_by="metric")
    assert "Not compared" not in sentences(replace(snapshot({"oh": 0.6, "itq": 0.5}), setup=dots))
    plane = replace(dots, metric="l2", d=2)
    assert "Not compared" not in sentences(replace(snapshot({"oh": 0.6, "itq": 0.5}), setup=plane)), "no 64 bits of PQ"
    short = replace(snapshot({"oh": 0.6, "itq": 0.5}, bits=16), setup=plane)
    assert "quantisation" in sentences(short)["Not compared"], "16 bits are 8 for each column"


def test_the_first_method_against_each_of_the_others():
    seeds = (0, 1, 2)
    text = sentences(snapshot({"oh": 0.6, "mmoh": 0.7, "itq": 0.5, "lsh": 0.4, "sdh": 0.6}, noise=0.02, seeds=seeds))[
        "OH compared with the others"
    ]
    ahead, alike, behind, of = text.split("; ")
    assert of == "3 seeds."
    assert re.fullmatch(r"ahead of ITQ by \.1\d\d ± \.\d+, LSH by \.2\d\d ± \.\d+ \(unsupervised\)", ahead)
    assert alike == "not distinguishable from SDH (learns from labels)"
    assert re.fullmatch(r"behind MMOH by \.(09\d|10\d) ± \.\d+ \(learns from pairs\)", behind)
    assert "OH compared with the others" not in sentences(snapshot({"oh": 0.6}))


def test_codes_no_better_than_a_random_order_are_seen_to_be_so():
    now = replace(snapshot({"oh": 0.26, "itq": 0.258}), chance={"map": 0.2551, "hit_10": 0.9})
    text = sentences(now)["To follow your labels"]
    assert re.search(r"is highest, mAP \.\d+ \(chance \.255\)[;.] ", text) and "hit@10" not in text
    assert "is best" not in text, "what a random order may be is no best"
    remark = "By mAP no code here can be told apart from a random order."
    assert remark in text
    both = sentences(now)["For both at once"]
    assert both == "only the distance decides, as no code here is seen to follow your labels."
    above = replace(snapshot({"oh": 0.05, "itq": 0.3}), chance={"map": 0.2551})
    assert remark not in sentences(above)["To follow your labels"], "one code is better than chance"
    assert "only the distance" not in sentences(above)["For both at once"]
    little = replace(snapshot({"oh": 0.04, "itq": 0.02}), chance={"map": 0.001})
    assert ") (" not in sentences(little)["To follow your labels"]
    assert remark not in sentences(little)["To follow your labels"], "one seed proves that codes are not random"


def test_where_no_code_finds_a_click_none_is_named():
    now = snapshot({"oh": 0.4, "itq": 0.3}, float_map=0.01)
    nothing = [
        replace(
            one,
            checkpoints={**one.checkpoints, "hit_10": np.zeros(3)},
            record=replace(one.record, hits={10: np.zeros(QUERIES)}),
        )
        for one in now.results
    ]
    setup = EvaluationSetup("x", 2500, 512, "cosine", "clicks", QUERIES, 20_000, True, 0.002)
    clicks = replace(now, setup=setup, results=tuple(nothing))
    text = sentences(clicks)["To follow your clicks"]
    begin = (
        "at 8 bytes per item no code finds anything relevant among its ten nearest, hit@10 .000 (chance .002); one seed"
    )
    assert text.startswith(begin) and "By hit@10 no code here can be told apart from a random order" in text
    assert "OH" not in text and "ITQ" not in text and "best code" not in text and "Exact search" in text
    some = replace(clicks, results=(nothing[0], replace(clicks.results[1], **vars(now.results[1]))))
    assert "ITQ (unsupervised, 64 bits) is best, hit@10" in sentences(some)["To follow your clicks"]


def test_clicks_are_judged_by_hits_with_the_level_of_chance():
    now = snapshot({"oh": 0.44, "itq": 0.3})
    setup = EvaluationSetup("x", 2500, 512, "cosine", "clicks", QUERIES, 20_000, True, 0.0005)
    clicks = ComparisonSnapshot(**{**vars(now), "setup": setup})
    text = sentences(clicks)["To follow your clicks"]
    assert (
        text.startswith("at 8 bytes per item OH (learns from pairs, 64 bits) is best, hit@10 .44") and "mAP" not in text
    )
    assert "(chance .001)" in text or "(chance .000)" in text
    assert not any(one["method"] == CHANCE for one in result_rows(clicks))
    chance = {"hit_10": 0.0005, "mrr": 0.0007, "ndcg_10": 0.002, "auc_later": 0.5}
    known = replace(clicks, chance=chance)
    *_, random, floats = result_rows(known)
    assert random["method"] == CHANCE and {key: random[key] for key in chance} == chance
    assert floats["method"].startswith("float vectors")
    assert "by chance also MRR .001, nDCG@10 .002, AUC .500)" in sentences(known)["To follow your clicks"]
    table = results_html(known, dark=False)
    assert CHANCE in table and ">0.500<" in table.partition(CHANCE)[2]
    assert CHANCE not in results_html(replace(now, chance=chance), dark=False), "mAP has another level for every query"
    row = result_rows(clicks)[0]
    assert {"hit_10", "mrr", "ndcg_10", "auc_later", "hit_10_minus_first"} <= set(row) and "map" not in row
    assert "hit@10" in to_latex(clicks) and "mAP" not in to_latex(clicks)
    assert truths(clicks).y.label == "hit@10: agreement with your clicks"


def test_references_win_nothing():
    texts = sentences(snapshot({"random_codes": 0.9, "float": 0.95}))
    assert "only reference methods" in texts["To follow your labels"]


def test_what_compresses_the_distance():
    reranked = {
        "sign": {1: 0.6, 2: 0.8, 4: 0.95, 16: 1.0},
        "itq": {1: 0.5, 2: 0.7, 4: 0.85, 16: 0.99},
        "oh": {1: 0.99, 2: 1.0, 4: 1.0, 16: 1.0},  # supervised: not asked
    }
    texts = sentences(snapshot({"oh": 0.7, "itq": 0.5, "sign": 0.5}, reranked=reranked))
    text = texts["The smallest code for cosine"]
    assert text.startswith("Sign at 64 bits with 4 × re-ranking finds 95 % of the ten exact neighbours")
    assert "8 bytes per vector, 1/256 of the floats, which must be kept" in text


@pytest.mark.parametrize(
    ("d", "share"),
    [(1, "2.0 times the floats"), (2, "as many as the floats"), (3, "67 % of the floats"), (4, "1/2 of the floats")],
)
def test_a_code_about_as_large_as_the_floats_is_no_share_of_one(d, share):
    now = snapshot({"itq": 0.5}, reranked={"itq": {1: 0.95, 2: 0.96, 4: 0.97, 16: 0.99}})
    text = sentences(replace(now, setup=replace(now.setup, d=d)))["The smallest code for cosine"]
    assert text.endswith(f"at 8 bytes per vector, {share}.")


def test_re_ranking_much_of_a_small_database_proves_nothing():
    now = snapshot({"itq": 0.5}, reranked={"itq": {1: 0.5, 2: 0.7, 4: 0.85, 16: 0.99}})
    small = ComparisonSnapshot(
        **{**vars(now), "setup": EvaluationSetup("x", 2500, 512, "cosine", "label", QUERIES, 1500, True)}
    )
    text = sentences(small)["The smallest code for cosine"]
    assert "with 2 × re-ranking finds 70 %" in text
    limit = "no unsupervised code here reaches 90 % with at most 2 × re-ranking"
    assert f"{limit} (4 × would re-rank 3 % of the items)" in text


def test_more_bits_are_worth_a_word():
    now = snapshot({"oh": 0.6, "itq": 0.5})
    ap = now.record(0).ap
    lengths = tuple(
        LengthResult(0, bits, bits // 8, float(np.mean(ap)) + gain, 0.3, ap + gain, {})
        for bits, gain in ((16, -0.1), (64, 0.0), (256, 0.1))
    )
    longer = ComparisonSnapshot(**{**vars(now), "lengths": lengths})
    assert "At 256 bits OH reaches .7" in sentences(longer)["To follow your labels"]
    two = snapshot({"oh": 0.6, "itq": 0.5}, seeds=(0, 1))
    of_the_first = ComparisonSnapshot(**{**vars(two), "lengths": lengths})
    assert "At 256 bits, with the first seed, OH reaches .7" in sentences(of_the_first)["To follow your labels"]
    assert "the first of 2 seeds" in by_bits(of_the_first).caption


def test_more_bits_are_worth_a_word_where_all_is_small_and_of_a_rival_that_is_told_the_same():
    now = snapshot({"oh": 0.03, "click_whitening": 0.035, "itq": 0.02})
    ap = now.record(0).ap
    lengths = tuple(
        LengthResult(entry, bits, bits // 8, level, 0.3, ap - ap.mean() + level, {})
        for entry, bits, level in ((0, 64, 0.03), (0, 256, 0.043), (1, 64, 0.035), (1, 256, 0.042), (2, 256, 0.9))
    )
    texts = sentences(ComparisonSnapshot(**{**vars(now), "lengths": lengths}))["To follow your labels"]
    assert "Click whitening (learns from pairs, 64 bits) is best" in texts and "At 256 bits OH reaches .043" in texts


def test_nothing_is_said_before_there_are_numbers():
    one = build_comparison()
    assert verdict(ComparisonSnapshot(one, one.entries, "waiting", "curves", 0, 100)) == []


def test_what_has_not_learnt_is_not_judged():
    now = snapshot({"oh": 0.7})
    first = {name: column[:1] for name, column in now.results[0].checkpoints.items()}
    start = MethodResult(**{**vars(now.results[0]), "checkpoints": first, "t": 0})
    assert verdict(ComparisonSnapshot(**{**vars(now), "results": (start,)})) == []


def test_dips_of_a_drift():
    now = snapshot({"oh": 0.7, "lsh": 0.5}, drift="rotate", drift_at=300)
    pairs = np.array([0.0, 100, 200, 300, 400, 500])
    curves = ([0.8, 0.8, 0.8, 0.3, 0.5, 0.8], [0.6, 0.6, 0.6, 0.2, 0.2, 0.2])
    results = tuple(
        MethodResult(**{**vars(one), "checkpoints": {**one.checkpoints, "pairs": pairs, "map": np.array(curve)}})
        for one, curve in zip(now.results, curves, strict=True)
    )
    oh, lsh = dips(ComparisonSnapshot(**{**vars(now), "results": results}))
    assert (oh.before, oh.depth, oh.recovery) == pytest.approx((0.8, 0.5, 200))
    assert lsh.depth == pytest.approx(0.4)
    assert math.isnan(lsh.recovery)
    assert dips(snapshot({"oh": 0.7})) == []


def test_dips_of_clicks_are_those_of_their_score():
    now = snapshot({"oh": 0.7}, drift="rotate", drift_at=300)
    pairs, falls, flat = np.array([0.0, 200, 300]), np.array([0.8, 0.8, 0.3]), np.full(3, 0.1)
    checkpoints = {**now.results[0].checkpoints, "pairs": pairs, "hit_10": falls, "map": flat}
    clicks = EvaluationSetup(**{**vars(now.setup), "similar_by": "clicks"})
    one = MethodResult(**{**vars(now.results[0]), "checkpoints": checkpoints})
    now = ComparisonSnapshot(**{**vars(now), "results": (one,), "setup": clicks})
    assert dips(now)[0].depth == pytest.approx(0.5)
    assert "hit@10 before" in dips_html(now) and "mAP" not in dips_html(now)


def test_a_method_that_ends_below_its_start_is_remarked_on():
    assert "Worse than at the start" not in sentences(snapshot({"oh": 0.7, "itq": 0.55}))
    now = snapshot({"oh": 0.7, "mlh": 0.05, "lsh": 0.19}, noise=0.01)  # the made-up start is .2
    assert sentences(now)["Worse than at the start"] == (
        "MLH, .200 → .050 (mAP). It ends below the first codes, beyond the interval."
    ), "LSH ends lower, too, but within the interval of one seed"


def test_a_verdict_speaks_of_the_seeds_that_have_ended():
    now = snapshot({"oh": 0.7, "mmoh": 0.6}, seeds=(0, 1, 2))
    assert "(3 seeds)" in verdict(now)[0].text and now.ended_seeds == (0, 1, 2)
    first = [one for one in now.results if one.seed == 0]
    ahead = replace(
        next(one for one in now.results if one.seed == 1 and one.entry == 1), record=record([0.99] * QUERIES)
    )
    ahead = replace(ahead, checkpoints=ahead.checkpoints | {"map": np.array([0.2, 0.9, 0.99])})
    begun = replace(now, results=(*first, ahead), state="running", phase="costs")
    assert begun.ended_seeds == (0,) and "(1 of 3 seeds has ended)" in verdict(begun)[0].text
    assert begun.score(1, "map") == now.results[1].last("map"), "a seed that OH has not ended does not count for MMOH"
    assert "1 of 3 seeds" in fairness(begun) and "3 seeds" not in progress(begun, "running").replace("of 3 seeds", "")
    assert progress(begun, "running").endswith("curves of 1 of 3 seeds finished")
    running = replace(now, results=tuple(replace(one, state="running") for one in first), state="running")
    assert "(so far; none of 3 seeds has ended)" in verdict(running)[0].text
    assert verdict(replace(running, results=running.results[:1])) == [], "MMOH may turn out to be better"
