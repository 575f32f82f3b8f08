"""Encode a data set of any size with a saved model, partition by partition.

The codes of a partition are written under another name and then renamed, so a file that is there is whole. Whatever
was interrupted is done again, whatever is there is not; a partition that two workers do gives the same file twice.
A manifest in the folder says of which model and data the codes are: others are refused.
"""

import hashlib
import json
import secrets
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ohash.index.distance_export import refuse_codes_alone
from ohash.index.export import concatenate_models
from ohash.models.base import OnlineHasher
from ohash.models.storage import load, refuse_untrained
from ohash.production.partitions import (
    Partition,
    list_files,
    list_partitions,
    open_place,
    read_batches,
    read_bytes,
    write_bytes,
)
from ohash.production.stale_codes import encode_vectors
from ohash.runtime.files import describe_error
from ohash.runtime.frames import Arrays, Frame, JsonObject
from ohash.runtime.pool import WorkerPool
from ohash.sweeps.executors import DaskExecutor, capacity

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

MANIFEST = "_ohash.json"
UNFINISHED = "unfinished-"


@dataclass(frozen=True)
class EncodingState:
    """How far it is: partitions and rows, in total, done before, and done now."""

    partitions: int
    rows: int
    done_before: int
    done: int
    rows_done: int
    seconds: float  # of all workers, summed
    models: int = 1  # whose codes follow each other in one


def encode_dataset(
    model: str, source: str, target: str, executor: Executor, *, column: str | None = None, identity: str | None = None
) -> Iterator[EncodingState]:
    """Encode what is not encoded yet; yields after each partition, and first of all."""
    content = read_bytes(*open_place(model))
    hasher = _model(content)
    refuse_untrained(hasher, model)
    refuse_codes_alone(hasher)
    models = int(getattr(getattr(hasher, "params", None), "T", 1))
    partitions = list_partitions(source, column, identity)
    _check_manifest(target, source, hashlib.sha256(content).hexdigest(), partitions)
    system, folder = open_place(target)
    existing = set(list_files(system, folder))
    waiting = [one for one in partitions if one.name not in existing]
    rows = sum(one.rows for one in partitions)
    done, rows_done, seconds = 0, 0, 0.0

    def state() -> EncodingState:
        return EncodingState(len(partitions), rows, len(partitions) - len(waiting), done, rows_done, seconds, models)

    yield state()
    for partition, spent in _run(executor, waiting, target, content):
        done, rows_done, seconds = done + 1, rows_done + partition.rows, seconds + spent
        yield state()
    for name in list_files(system, folder):
        if name.rpartition("/")[2].startswith(UNFINISHED):  # of a worker that was killed
            system.delete_file(f"{folder}/{name}")


def _run(
    executor: Executor, waiting: list[Partition], target: str, content: bytes
) -> Iterator[tuple[Partition, float]]:
    """(partition, CPU seconds) as they are done; a few more than there are workers are submitted at a time."""
    queue = list(reversed(waiting))
    pending: dict[Future[Frame], Partition] = {}
    try:
        while queue or pending:
            while queue and len(pending) < capacity(executor):
                partition = queue.pop()
                pending[_submit(executor, partition, target, content)] = partition
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                partition = pending.pop(future)
                yield partition, float(future.result()[0]["seconds"])
    finally:
        for future in pending:
            future.cancel()


def _submit(executor: Executor, partition: Partition, target: str, content: bytes) -> Future[Frame]:
    values = {"partition": partition.to_json(), "target": target}
    arrays = {"model": np.frombuffer(content, np.uint8)}
    if isinstance(executor, DaskExecutor):
        return executor.submit_task(encode_partition, values, arrays)
    return executor.submit(encode_partition, values, arrays)


def encode_partition(values: JsonObject, arrays: Arrays, report: object = None) -> Frame:
    """The task: read, encode and write one partition; gives its rows and CPU seconds."""
    start = time.thread_time()
    partition = Partition.from_json(values["partition"])
    model = _model(arrays["model"].tobytes())
    system, folder = open_place(values["target"])
    subfolder, _, name = f"{folder}/{partition.name}".rpartition("/")
    unfinished = f"{subfolder}/{UNFINISHED}{secrets.token_hex(8)}-{name}"
    try:
        system.create_dir(subfolder, recursive=True)
        rows = _write_codes(model, partition, system, unfinished)
        if rows != partition.rows:
            raise ValueError(f"{partition.place}/{partition.file} changed while it was read; encode again")
        system.move(unfinished, f"{subfolder}/{name}")
    except Exception as error:
        with suppress(OSError):  # it takes space that may be what is missing
            system.delete_file(unfinished)
        if isinstance(error, OSError):
            raise ValueError(
                f"{partition.name} could not be encoded ({describe_error(error)}); what is in {values['target']} is "
                "whole, and the same command goes on from there"
            ) from error
        raise
    return {"rows": rows, "seconds": time.thread_time() - start}, {}


def _write_codes(model: OnlineHasher, partition: Partition, system: "FileSystem", file: str) -> int:
    """Write the codes of a partition; gives the number of rows."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    rows = 0
    with system.open_output_stream(file) as stream:
        writer = None
        for ids, vectors in read_batches(partition):
            packed, bits = concatenate_models(encode_vectors(model, vectors))
            codes = pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(packed.shape[1]), len(packed), [None, pa.py_buffer(np.ascontiguousarray(packed))]
            )
            table = pa.table({"id": ids, "code": codes})
            if writer is None:
                note = {"ohash.bits": str(bits), "ohash.bitorder": "little"}
                writer = pq.ParquetWriter(stream, table.schema.with_metadata(note), compression="none")
            writer.write_table(table)
            rows += len(table)
        if writer is not None:
            writer.close()
    return rows


@cache
def _model(content: bytes) -> OnlineHasher:
    with tempfile.TemporaryDirectory(prefix="ohash-") as folder:
        file = Path(folder) / "model.npz"
        file.write_bytes(content)
        model: OnlineHasher = load(file)
    return model


def _check_manifest(target: str, source: str, model: str, partitions: list[Partition]) -> None:
    """Write what the codes are of, or compare."""
    system, folder = open_place(target)
    data = hashlib.sha256(json.dumps([one.to_json() for one in partitions]).encode()).hexdigest()
    manifest = {"model": model, "source": source, "data": data}
    files = list_files(system, folder)
    if MANIFEST not in files:
        if files:
            raise ValueError(f"{target} must be empty or hold codes of an earlier call, got {next(iter(files))}")
        write_bytes(system, f"{folder}/{MANIFEST}", json.dumps(manifest, indent=2).encode())
        return
    before = json.loads(read_bytes(system, f"{folder}/{MANIFEST}"))
    for key, what in (("model", "another model"), ("data", "other data, or data that have changed")):
        if before.get(key) != manifest[key]:
            raise ValueError(f"{target} holds codes of {what}; name another folder")


def make_executor(workers: int | None, cluster: str | None) -> Executor:
    """Processes of this machine, or a Dask cluster."""
    return WorkerPool(workers) if cluster is None else DaskExecutor(cluster)
