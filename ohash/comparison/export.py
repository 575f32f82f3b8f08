"""A comparison as files: the checkpoints of every run, one row per method, JSON, LaTeX, BibTeX and Python code."""

import json
import math
from typing import Any

import numpy as np

from ohash import table_files
from ohash.comparison.equal_bytes import budget
from ohash.comparison.fairness import fairness
from ohash.comparison.gaps import FLOATS, Gap, gap
from ohash.comparison.params import Comparison
from ohash.comparison.results import ComparisonSnapshot
from ohash.comparison.verdict import verdict
from ohash.core.arrays import Array
from ohash.engine.export import PLACEHOLDER_FILES, Files, own_data_code
from ohash.engine.judge import RERANKED
from ohash.evaluation.significance import ENOUGH_SEEDS
from ohash.models.registry import plugin_code
from ohash.runtime.environment import environment
from ohash.streams import registry as datasets
from ohash.table_files import bibliography, escape_latex

ResultRow = dict[str, Any]  # one row of the table of results
TRUTH_COLUMNS = {"map": ("map",), "hit_10": ("hit_10", "mrr", "ndcg_10", "auc_later")}
CHANCE = "random order (chance)"
UNSUPERVISED = "nothing"  # what the exported column `learns_from` says of a method without supervision
CURVES = (
    "map", "map_low", "map_high", "precision_10", "hit_10", "mrr", "ndcg_10", "auc_later", "recall_10", "recall_100",
    "recomputed", "flipped", "cpu_learn", "cpu_encode",
)  # fmt: skip


def result_rows(snapshot: ComparisonSnapshot) -> list[ResultRow]:
    """One row per method, compared with the first; the float vectors come last, as a reference.

    With clicks, the scores of a random order come before them.

    Fewer than three seeds give a difference, but no interval. With clicks there is hit@10 instead of mAP.
    """
    rows: list[ResultRow] = []
    truth = snapshot.truth_column
    for at, name in enumerate(snapshot.names):
        record, cost = snapshot.record(at), snapshot.costs[at] if snapshot.costs else None
        to_first = gap(snapshot, at, 0) if at > 0 and snapshot.judged else None
        to_floats = gap(snapshot, at, FLOATS)
        rows.append(
            {
                "method": name,
                "learns_from": snapshot.supervision(at).replace("none", UNSUPERVISED),
                "bits": snapshot.bits(at) or None,
                **{column: snapshot.score(at, column) for column in TRUTH_COLUMNS[truth]},
                f"{truth}_seed_spread": snapshot.spread(at, truth),
                f"{truth}_minus_first": math.nan if to_first is None else to_first.difference,
                f"{truth}_minus_first_half": _half_width(to_first),
                f"{truth}_minus_first_seed_spread": math.nan if to_first is None else to_first.spread,
                f"{truth}_minus_floats": math.nan if to_floats is None else to_floats.difference,
                f"{truth}_minus_floats_half": _half_width(to_floats),
                "features": snapshot.features_text(at),
                "recall_10": snapshot.score(at, "recall_10"),
                "recall_10_of_features": snapshot.ceiling(at),
                **{f"recall_10_reranked_{c}": snapshot.reranked(at, c) for c in RERANKED[1:]},
                "precision_radius_2": math.nan if record is None else record.precision_radius,
                "empty_balls": math.nan if record is None else record.empty_ball,
                "recomputed_bits": snapshot.score(at, "recomputed"),
                "cpu_seconds": snapshot.score(at, "cpu_learn") + snapshot.score(at, "cpu_encode"),
                "bytes": math.nan if cost is None else cost.bytes,
                "encode_p50_s": math.nan if cost is None else cost.encode[0],
                "encode_p99_s": math.nan if cost is None else cost.encode[1],
                "scan_p50_s": math.nan if cost is None else cost.scan[0],
                "scan_p99_s": math.nan if cost is None else cost.scan[1],
                "error": snapshot.errors.get(name, ""),
            }
        )
    by_chance = truth != "map" and bool(snapshot.chance)
    empty = dict.fromkeys(rows[0], math.nan) | {"learns_from": UNSUPERVISED, "error": ""}
    chance = {name: value for name, value in snapshot.chance.items() if name in rows[0]}
    return [
        *rows,
        *([{**empty, "method": CHANCE, "bits": None, **chance, "features": "none"}] if by_chance else []),
        {
            **empty,
            "method": "float vectors (reference)",
            "bits": 32 * snapshot.setup.d or None,
            **{column: snapshot.float_score(column) for column in TRUTH_COLUMNS[truth]},
            "recall_10": 1.0,
            "features": "vectors as given",
            "recall_10_of_features": 1.0,
            "bytes": 4.0 * snapshot.setup.d or math.nan,
        },
    ]


def columns(snapshot: ComparisonSnapshot) -> dict[str, Array]:
    """Every checkpoint of every run in one long table: method, seed, pairs, scores."""
    parts = [result for result in snapshot.results if len(result.checkpoints.get("pairs", ()))]
    sizes = [len(result.checkpoints["pairs"]) for result in parts]
    table: dict[str, Array] = {
        "method": np.repeat(np.array([snapshot.names[result.entry] for result in parts], dtype=np.str_), sizes),
        "seed": np.repeat(np.array([result.seed for result in parts], np.int64), sizes),
    }
    for name in ("pairs", *CURVES):
        table[name] = np.concatenate([result.checkpoints[name] for result in parts]) if parts else np.empty(0)
    return table


def code_for(comparison: Comparison, files: Files = PLACEHOLDER_FILES) -> str:
    """Python code that repeats a comparison; `files` are those of own data."""
    arguments = [repr(comparison.dataset), repr([entry.text() for entry in comparison.entries])]
    arguments += [f"{key}={value!r}" for key, value in comparison.differences().items()]
    if comparison.seeds != (0,):
        arguments.append(f"seeds={comparison.seeds}")
    if comparison.content:
        arguments += ["content=data.fingerprint()", "data=data"]
    return (
        f"{plugin_code(entry.method for entry in comparison.entries)}"
        f"import ohash\n\n{own_data_code(comparison.content, files) if comparison.content else ''}"
        f"results = ohash.compare({', '.join(arguments)})\n"
        "for entry, name in enumerate(results.names):\n"
        '    scores = results.score(entry, results.truth_column), results.score(entry, "recall_10")\n'
        '    print(f"{name:>20}  {results.truth_label} {scores[0]:.3f}  recall@10 {scores[1]:.3f}")\n'
        "for sentence in ohash.verdict(results):\n"
        '    print(f"{sentence.topic}: {sentence.text}")\n'
    )


def to_json(snapshot: ComparisonSnapshot) -> str:
    """The comparison with its results, trials, lengths, verdict and environment, as JSON."""
    rows = [{key: _json_value(value) for key, value in row.items()} for row in result_rows(snapshot)]
    lengths = [
        {
            "method": snapshot.names[one.entry],
            "bits": one.bits,
            snapshot.truth_column: _json_value(one.truth),
            "recall_10": _json_value(one.recall_10),
            **{f"recall_10_reranked_{c}": _json_value(value) for c, value in one.reranked.items() if c > 1},
        }
        for one in snapshot.lengths
    ]
    trials = [
        {
            "method": snapshot.names[one.entry],
            "values": dict(one.values),
            "score": _json_value(one.truth),
            "error": one.error,
        }
        for one in snapshot.trials
    ]
    document = {
        "query": snapshot.comparison.to_query(),
        "state": snapshot.state,
        "methods_in_force": [entry.text() for entry in snapshot.entries],
        "fairness": fairness(snapshot),
        "verdict": [f"{one.topic}: {one.text}" for one in verdict(snapshot)],
        "results": rows,
        "by_bits": lengths,
        "trials": trials,
        "data": {**vars(snapshot.setup), "notes": list(snapshot.setup.notes)},
        "environment": environment(),
    }
    return json.dumps(document, indent=2)


def to_latex(snapshot: ComparisonSnapshot) -> str:
    """A booktabs table, one group per supervision; the best of several codes of equal bytes is bold, a reference never.

    Equal means no larger than a code of the comparison's length.
    """
    rows, truth = result_rows(snapshot), snapshot.truth_column
    scored = (truth, *RECALLS)
    groups = []
    for kind in ("none", "pairs", "labels"):
        group = [at for at in range(len(snapshot.entries)) if snapshot.supervision(at) == kind]
        rivals = [at for at in group if not snapshot.entries[at].spec.reference and _fits(snapshot, at)]
        best = {key: _best([rows[at][key] for at in rivals]) for key in scored}
        if group:
            groups.append([_cells(rows[at], scored, best if at in rivals else {}) for at in group])
    header = ("method", "supervision", "bits", snapshot.truth_label, "recall@10", r"recall@10, 4$\times$", "bytes")
    caption = f"{escape_latex(snapshot.setup.title)}: {escape_latex(fairness(snapshot))}."
    return "% \\usepackage{booktabs}\n" + table_files.to_latex(
        header, [*groups, [_cells(rows[-1], scored, {})]], caption=caption, align="llrrrrr"
    )


def to_bibtex(snapshot: ComparisonSnapshot) -> str:
    """The sources of every method and of the data, each once."""
    entries = [entry.spec.bibtex for entry in snapshot.entries]
    spec = datasets.lookup(snapshot.comparison.dataset)
    return bibliography([*entries, "" if spec is None else spec.bibtex])


RECALLS = ("recall_10", "recall_10_reranked_4")


def _best(scores: list[float]) -> float:
    """The best of two or more scores; a single score has no rival."""
    finite = [score for score in scores if math.isfinite(score)]
    return max(finite) if len(finite) > 1 else math.nan


def _fits(snapshot: ComparisonSnapshot, entry: int) -> bool:
    """Whether a method's code is no larger than one of the comparison's length."""
    results = snapshot.results_of(entry)
    return bool(results) and results[0].bytes <= budget(snapshot)


def _half_width(difference: Gap | None) -> float:
    """Half of the interval of a difference; NaN for fewer than three seeds, which have none."""
    return math.nan if difference is None or difference.seeds < ENOUGH_SEEDS else difference.half_width


def _cells(row: ResultRow, scored: tuple[str, ...], best: dict[str, float]) -> list[str]:
    supervision = row["learns_from"].replace(UNSUPERVISED, "none")
    cells = [escape_latex(row["method"]), supervision, "--" if not row["bits"] else str(row["bits"])]
    for key in scored:
        value = row[key]
        shown = _share(value) if math.isfinite(value) else "--"
        if math.isfinite(row.get(f"{key}_seed_spread", math.nan)):
            shown += rf" $\pm$ {_share(row[f'{key}_seed_spread'])}"
        cells.append(rf"\textbf{{{shown}}}" if math.isfinite(value) and best.get(key) == value else shown)
    size = row["bytes"]
    return [*cells, "--" if not math.isfinite(size) else f"{size:.0f}"]


def _share(value: float) -> str:
    return f"{value:.3f}".lstrip("0") if value < 1 else "1"


def _json_value(value: object) -> object:
    """NaN and infinity as None, which JSON can write."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
