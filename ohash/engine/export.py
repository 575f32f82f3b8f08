"""A run as files: CSV, Parquet, JSON, the model, and the Python that repeats it."""

import io
import json
import math
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ohash._version import __version__
from ohash.core.arrays import Reals
from ohash.core.codes import Codes
from ohash.core.parameters import format_value
from ohash.engine.judge import CLICK_SCORES, CLICKS, TRUTH_SCORES, truth_column
from ohash.engine.params import OWN, ExperimentParams, flat, rows_of, unchecked_experiment
from ohash.engine.run import Run
from ohash.engine.snapshot import Snapshot
from ohash.index.distance_export import ranks_by_own_distance, write_search
from ohash.index.export import TARGETS, write_encoder
from ohash.index.faiss_export import write_faiss
from ohash.index.hamming_index import HammingIndex
from ohash.models.base import OnlineHasher
from ohash.models.registry import find, plugin_code
from ohash.models.storage import save
from ohash.runtime.environment import environment
from ohash.runtime.files import write_file
from ohash.runtime.frames import JsonObject
from ohash.streams import registry as datasets
from ohash.table_files import to_csv

Columns = dict[str, npt.NDArray[np.float64]]


def to_parquet(columns: Columns) -> bytes:
    """Columns as a Parquet file."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def checkpoint_columns(now: Snapshot) -> Columns:
    """The checkpoints as a file has them: of clicks hit@10 and the like come first.

    mAP stays among the others, for who reads it by name.
    """
    clicks = CLICK_SCORES if now.similar_by in CLICKS else ()
    first = [name for name in ("pairs", *clicks) if name in now.checkpoints]
    return {name: now.checkpoints[name] for name in dict.fromkeys([*first, *now.checkpoints])}


def summary(now: Snapshot) -> JsonObject:
    """Parameters, final numbers, and what they were measured with."""
    return {
        "params": json.loads(now.params.to_json()),
        "query": now.params.to_query(),
        "state": now.state,
        "pairs": now.t,
        "similar_by": now.similar_by,
        "numbers": {key: value if np.isfinite(value) else None for key, value in sorted(now.numbers.items())},
        "database_seen_in_training": now.database_seen,
        "alarms": {name: list(pairs) for name, pairs in now.alarms.items()},
        "notes": list(now.notes),
        "environment": environment(),
    }


# Quantities of the paper, by its symbols; the others by their titles.
SYMBOLS = ("r", "T", "alpha", "beta", "C", "m", "sigma")


def facts(now: Snapshot, data: str, link: str) -> dict[str, str]:
    """What a reader of an exported page must know to repeat the run; `data` is the title of the data set."""
    params = now.params
    values, rows = flat(params) | {"warm": params.features.warm_up}, rows_of(params)
    chosen = {"sigma": now.numbers.get("sigma", math.nan), "C": now.numbers.get("auto_C", math.nan)}
    settings = ", ".join(
        f"{rows[key].symbol if key in SYMBOLS else rows[key].title} = {format_value(rows[key], value)}"
        + (f" → {chosen[key]:.3g}" if rows[key].alias and value == rows[key].lo and key in chosen else "")
        for key, value in values.items()
        if key in rows and key != "seed" and rows[key].is_active(values)
    )
    changes = ", ".join(f"{change.name} = {change.value:g} at pair {change.at:,}" for change in params.changes)
    method = find(params.method).title
    return {
        "run": f"{method} on {data}",
        "data set": f"{data} (fingerprint {params.content})" if params.content else data,
        "method": method,
        "parameters": settings,
        "changes during the run": changes or "none",
        "pairs": f"{now.t:,}, {now.state}",
        "seed": str(params.seed),
        **({"notes": "; ".join(now.notes)} if now.notes else {}),
        "link": link,
        "version": f"ohash {__version__}",
    }


class Files(NamedTuple):
    """A user's own files and the distance they are read with, as arguments of `ohash.load_dataset`."""

    vectors: str
    labels: str | None = None
    pairs: str | None = None
    metric: str | None = None
    queries: str | None = None


PLACEHOLDER_FILES = Files("your vectors.npy")


def code_for(params: ExperimentParams, files: Files = PLACEHOLDER_FILES) -> str:
    """Python that repeats this run with the package; `files` are the user's own, if the run is on those."""
    base = flat(unchecked_experiment(params.dataset, params.method))
    values = {key: value for key, value in flat(params).items() if value != base.get(key)}
    arguments = [repr(params.dataset), repr(params.method), *(f"{key}={value!r}" for key, value in values.items())]
    if params.changes:
        arguments.append(f"changes={[(change.at, change.name, change.value) for change in params.changes]}")
    own = params.dataset == OWN
    if own:
        arguments.append("content=data.fingerprint()")
    truth = truth_column(_similar_by(params, files))
    return (
        f"{plugin_code([params.method])}import ohash\n\n{own_data_code(params.content, files) if own else ''}"
        f"params = ohash.experiment({', '.join(arguments)})\n"
        f"for now in ohash.run(params{', data' if own else ''}):\n"
        f"    print(f\"{{now.t:>9,}} pairs  {TRUTH_SCORES[truth]} {{now.numbers['{truth}']:.3f}}  recall@10 "
        "{now.numbers['recall_10']:.3f}\")\n"
    )


def _similar_by(params: ExperimentParams, files: Files) -> str:
    """What decides which pairs are similar, as far as it is known without the data."""
    if params.stream.similar_by != "auto":
        return params.stream.similar_by
    spec = datasets.lookup(params.dataset)
    if spec is not None:
        return spec.similar_by
    return "pairs" if files.pairs else ""


def own_data_code(content: str, files: Files) -> str:
    """The lines that load a user's own data and check that they are the same."""
    vectors, *others = files._asdict().items()
    arguments = ", ".join([repr(vectors[1]), *(f"{name}={value!r}" for name, value in others if value is not None)])
    return (
        f"data = ohash.load_dataset({arguments})\nassert data.fingerprint() == {content!r}, 'this is different data'\n"
    )


README = """{title}, {bits}, learnt from {pairs:,} pairs of {data} (seed {seed}).

model.npz   ohash.load("model.npz") goes on learning and encodes mapped rows; its feature map is part of it
codes.npy   packed codes of the {rows:,} {kind} of the data set, in their order{caution}
{more}"""


def encoder_archive(run: Run) -> bytes:
    """A zip with all that is needed to deploy the hash of a run: model, codes, index, encoder, codes for engines.

    What a method cannot give is named in its README.txt with the reason.
    """
    model = cast(OnlineHasher, run.model())
    X, dataset = run.world.raw(run.stage), run.world.dataset
    if dataset.two_sided:  # queries are encoded when they come
        X = X[dataset.documents]
    Z = run.world.feature_map.transform(np.ascontiguousarray(X))
    codes = model.encode(Z)
    buffer, lines = io.BytesIO(), []
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        out = Path(folder)
        save(model, out / "model.npz")
        np.save(out / "codes.npy", np.asarray(codes), allow_pickle=False)
        for name, text, make in _deployments(model, Z, codes, out):
            try:
                make()
                lines.append(f"{name:11} {text}")
            except ValueError as error:  # not linear, a distance of its own, or a library that is not installed
                lines.append(f"{name:11} left out: {error}")
        (out / "README.txt").write_text(
            README.format(
                title=run.spec.title, bits=_bits_text(codes), pairs=run.t, data=dataset.title, seed=run.params.seed,
                rows=len(X), kind="documents" if dataset.two_sided else "rows",
                caution="" if codes.hamming else "; they are numbers, which no Hamming distance ranks",
                more="\n".join(lines) + "\n",
            )
        )  # fmt: skip
        for file in sorted(path for path in out.rglob("*") if path.is_file()):
            archive.write(file, str(file.relative_to(out)))
    return buffer.getvalue()


def _bits_text(codes: Codes) -> str:
    """How long codes are, of how many models.

    >>> _bits_text(Codes(np.zeros((5, 2), np.uint8), 16, -1)), _bits_text(Codes(np.zeros((4, 5, 2), np.uint8), 16, -1))
    ('16 bits', '4 models of 16 bits')
    """
    models = len(codes) if codes.ndim == 3 else 1
    return f"{models} models of {codes.r} bits" if models > 1 else f"{codes.r} bits"


def _deployments(
    model: OnlineHasher, Z: Reals, codes: Codes, out: Path
) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """(folder or file, what it is, how it is written) of every way to search the codes elsewhere."""
    if ranks_by_own_distance(model):
        yield (
            "search.py",
            "a search with the distance of the method, in plain NumPy",
            lambda: write_search(model, Z, out),
        )
        yield (
            "faiss/",
            "an index that ranks by that distance, and queries.py",
            lambda: write_faiss(model, Z, out / "faiss"),
        )
        return
    index = HammingIndex(codes)
    yield "index.npz", "ohash.HammingIndex.load searches the codes", lambda: index.save(out / "index.npz")
    yield "encoder.py", "encodes queries in plain NumPy, without ohash", lambda: write_encoder(model, out)
    by_sum = ", ranked by the sum over the models" if index.T > 1 else ""
    for target in TARGETS:
        yield (
            f"{target}/",
            f"codes, and an encoder of queries for them{by_sum}",
            partial(_write_target, model, index, target, out),
        )


def _write_target(model: OnlineHasher, index: HammingIndex, target: str, out: Path) -> None:
    index.export(target, out / target)
    write_encoder(model, out / target, targets=(target,))


def write(now: Snapshot, hasher: OnlineHasher, folder: str | Path, files: Files = PLACEHOLDER_FILES) -> list[Path]:
    """Write history and checkpoints (CSV and Parquet), summary, code and model into `folder`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, columns in (("history", now.columns), ("checkpoints", checkpoint_columns(now))):
        write_file(folder / f"{name}.csv", to_csv(columns))
        write_file(folder / f"{name}.parquet", to_parquet(columns))
        written += [folder / f"{name}.csv", folder / f"{name}.parquet"]
    write_file(folder / "run.json", json.dumps(summary(now), indent=2))
    write_file(folder / "run.py", code_for(now.params, files))
    save(hasher, folder / "model.npz")
    return [*written, folder / "run.json", folder / "run.py", folder / "model.npz"]
