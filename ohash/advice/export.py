"""An answer as tables: one row per contender, one row per contender and split, and one row per query."""

import math

from ohash.advice.contenders import Kind
from ohash.advice.results import AdviceSnapshot, ContenderResult
from ohash.advice.verdict import half_width, number, verdict

SCORES = ("truth", "ndcg", "recall", "rescored_truth", "rescored_ndcg", "rescored_recall")
NO_INDEX = "-"
ORDER: tuple[Kind, ...] = ("reference", "free", "learnt")


def kind_words(snapshot: AdviceSnapshot) -> dict[Kind, str]:
    """The kinds of contenders in words, in the order of the table."""
    words = "reference", f"without {snapshot.source}", f"learns from {snapshot.source}"
    return dict(zip(ORDER, words, strict=True))


def contender_rows(snapshot: AdviceSnapshot) -> list[dict[str, object]]:
    """One row per contender: bytes, means over all queries of all splits, differences from the best free one, costs."""
    answer = verdict(snapshot)
    floats = snapshot.cost("float", "query")
    rows = []
    for one in snapshot.contenders:
        if not snapshot.results_of(one.key):
            continue
        row: dict[str, object] = {
            "contender": one.title, "kind": kind_words(snapshot)[one.kind], "bits_per_dimension": one.bits,
            "bytes_per_item": snapshot.cost(one.key, "bytes"), "splits": len(snapshot.results_of(one.key)),
            "validation": snapshot.validation(one.key),
        }  # fmt: skip
        row |= {_name(snapshot, score): snapshot.mean(one.key, score) for score in SCORES}
        for score in ("truth", "recall") if answer.free else ():
            gain = snapshot.difference(one.key, answer.free, score)
            name = f"{_name(snapshot, score)}_minus_{answer.free}"
            row |= {name: gain.difference, f"{name}_half": half_width(gain)}
        row |= {f"{name}_seconds": snapshot.cost(one.key, name) for name in ("train", "encode")}
        row["reencode_seconds"] = snapshot.cost(one.key, "encode") if one.kind == "learnt" else 0.0
        query = snapshot.cost(one.key, "query")
        row |= {"query_seconds": query, "query_times_float": query / floats if floats else math.nan}
        row |= {
            "engine_query_seconds": snapshot.cost(one.key, "engine"),
            "engine": snapshot.results_of(one.key)[0].engine_note,
        }
        row["settings"] = " | ".join(result.settings for result in snapshot.results_of(one.key) if result.settings)
        rows.append(row)
    return rows


def query_rows(snapshot: AdviceSnapshot) -> list[dict[str, object]]:
    """One row per contender, split and query: what every mean and interval is computed from."""
    return [
        {
            "contender": snapshot.contender(one.key).title,
            "clicks_learnt": share,
            "split": one.split,
            "query_row": int(row),
            **{_name(snapshot, score): float(getattr(one.scores, score)[at]) for score in SCORES},
        }
        for share, results in (("all", snapshot.measured), ("half", snapshot.half))
        for one in results
        for at, row in enumerate(_queries(snapshot, one))
    ]


def _queries(snapshot: AdviceSnapshot, result: ContenderResult) -> list[int]:
    return [int(row) for row in snapshot.queries[snapshot.numbers.index(result.split)]]


def _name(snapshot: AdviceSnapshot, score: str) -> str:
    return (
        score.replace("truth", snapshot.truth.replace("@", "_"))
        .replace("ndcg", "ndcg_10")
        .replace("recall", "recall_10")
    )


def table(snapshot: AdviceSnapshot) -> list[list[str]]:
    """The table for a terminal and a page, its header first; by bytes within each kind."""
    header = [
        "", "bytes", snapshot.truth, "nDCG@10", "recall@10", f"{snapshot.truth}, rescored", "recall@10, rescored",
        "train", "encode", "query", "× float", "query, faiss",
    ]  # fmt: skip
    floats = snapshot.cost("float", "query")
    rows = []
    contenders = [one for one in snapshot.contenders if snapshot.results_of(one.key)]
    for one in sorted(contenders, key=lambda one: (ORDER.index(one.kind), snapshot.cost(one.key, "bytes"))):
        means = [number(snapshot.mean(one.key, score)) for score in SCORES if score != "rescored_ndcg"]
        query = snapshot.cost(one.key, "query")
        rows.append(
            [
                one.title,
                f"{snapshot.cost(one.key, 'bytes'):,.0f}",
                *means,
                seconds(snapshot.cost(one.key, "train")),
                seconds(snapshot.cost(one.key, "encode")),
                seconds(query),
                f"{query / floats:.2f}" if floats else "",
                seconds(engine) if math.isfinite(engine := snapshot.cost(one.key, "engine")) else NO_INDEX,
            ]
        )
    return [header, *rows]


def engine_notes(snapshot: AdviceSnapshot) -> list[str]:
    """Why some contenders have no time in faiss, one sentence per reason."""
    reasons: dict[str, list[str]] = {}
    for one in snapshot.contenders:
        for result in snapshot.results_of(one.key)[:1]:
            if math.isnan(result.engine):
                reasons.setdefault(result.engine_note, []).append(one.title)
    entries = sum(bool(snapshot.results_of(one.key)) for one in snapshot.contenders)
    return [
        f"{NO_INDEX}: {reason}." if len(titles) == entries else f"{NO_INDEX} for {'; '.join(titles)}: {reason}."
        for reason, titles in reasons.items()
    ]


def seconds(value: float) -> str:
    """A duration.

    >>> seconds(0), seconds(0.00123), seconds(4.567), seconds(123.4)
    ('0 s', '1.2 ms', '4.6 s', '123 s')
    """
    if value >= 100 or value == 0:
        return f"{value:.0f} s"
    return f"{value:.1f} s" if value >= 0.1 else f"{1000 * value:.2g} ms"


def protocol(snapshot: AdviceSnapshot) -> str:
    """What was measured, in one line."""
    what = _protocol(snapshot)
    return f"{what}; {snapshot.note}" if snapshot.note else what


def _protocol(snapshot: AdviceSnapshot) -> str:
    searches = sum(len(rows) for rows in snapshot.queries)
    queries = f"{snapshot.asked:,} {'query' if snapshot.asked == 1 else 'queries'}"
    if searches > snapshot.asked:  # some ask in several splits
        queries = f"{searches:,} searches by {queries}"
    what = f"{snapshot.n:,} documents x {snapshot.d:,}, {snapshot.splits} split{'s' * (snapshot.splits != 1)}"
    if snapshot.source == "labels":
        return (
            f"{what}, {snapshot.clicks:,} {snapshot.pairs_text} learnt in each, {queries} that no pair of their split "
            "holds (documents may be learnt from)"
        )
    order = "in order of time" if snapshot.timed else "in the order given (they have no times)"
    held = (
        "none of their clicks is learnt in a split where they ask"
        if snapshot.disjoint
        else "too few to keep their earlier clicks out of learning"
    )
    asked = f"{queries} with later clicks ({held}; documents may be learnt from)"
    return f"{what}, {snapshot.clicks:,} clicks {order}, {asked}"
