"""Encoding data sets partition by partition: every row once, whoever was killed, wherever they are."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ohash
from ohash.cli.main import main
from ohash.models.registry import find
from ohash.production import encoding, partitions
from ohash.production.encoding import MANIFEST, UNFINISHED
from tests.optional import optional

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
D = 16


def vectors_table(X, ids, kind="fixed"):
    flat = pa.array(X.ravel())
    if kind == "fixed":
        lists = pa.FixedSizeListArray.from_arrays(flat, X.shape[1])
    else:
        lists = pa.ListArray.from_arrays(np.arange(0, X.size + 1, X.shape[1], dtype=np.int32), flat)
    columns = {"embedding": lists, "title": [f"no. {one}" for one in ids]}
    return pa.table({"id": ids} | columns)


@pytest.fixture
def data(tmp_path):
    """Three files of one to three row groups, a saved model with a feature map, and all codes."""
    X = RNG.normal(size=(900, D)).astype(np.float32)
    ids = [f"item-{at}" for at in range(900)]
    (tmp_path / "in" / "more").mkdir(parents=True)
    for name, rows in (("a", slice(0, 500)), ("b", slice(500, 600)), ("more/c", slice(600, 900))):
        kind = "list" if name == "b" else "fixed"
        pq.write_table(vectors_table(X[rows], ids[rows], kind), tmp_path / f"in/{name}.parquet", row_group_size=200)
    model = ohash.MMOH(r=11, T=2, seed=0, center="frozen")
    model.feature_map = ohash.FeatureMap(kernel="none").fit(X)
    Z = model.feature_map.transform(X)
    model.warm_up(Z)
    ohash.save(model, tmp_path / "model.npz")
    bits = np.concatenate(np.unpackbits(np.asarray(model.encode(Z)), axis=2, count=11, bitorder="little"), axis=1)
    return tmp_path, dict(zip(ids, map(bytes, np.packbits(bits, axis=1, bitorder="little")), strict=True))


def codes_in(folder):
    """{id: code} of all files; an id must be there once."""
    tables = [pq.read_table(file) for file in sorted(folder.rglob("*.parquet"))]
    pairs = [
        pair for table in tables for pair in zip(*(table[name].to_pylist() for name in ("id", "code")), strict=True)
    ]
    assert len({one for one, _ in pairs}) == len(pairs)
    return dict(pairs)


def encode(folder, *options):
    return main(["encode", str(folder / "model.npz"), str(folder / "in"), str(folder / "out"), *options])


@pytest.mark.slow
def test_every_row_once_and_nothing_twice(data, capsys, monkeypatch):
    folder, expected = data
    monkeypatch.setattr(partitions, "PARTITION_ROWS", 300)
    assert encode(folder, "--workers", "1") == 0
    printed = capsys.readouterr().out
    assert "900 rows in 4 partitions\n" in printed
    assert "the bits of 2 models: engines rank by the sum of their distances" in printed
    assert codes_in(folder / "out") == expected
    schema = pq.read_schema(folder / "out" / "a-00000.parquet")
    assert schema.field("code").type == pa.binary(3) and schema.metadata[b"ohash.bits"] == b"22"
    times = {file: file.stat().st_mtime_ns for file in (folder / "out").rglob("*.parquet")}
    (folder / "out" / "b-00000.parquet").unlink()
    (folder / "out" / f"{UNFINISHED}0-b-00000.parquet").write_bytes(b"half of it")
    assert encode(folder, "--workers", "1") == 0
    assert "4 partitions, 3 of them done before" in capsys.readouterr().out
    assert codes_in(folder / "out") == expected
    assert {file for file, changed in times.items() if file.stat().st_mtime_ns != changed} == {
        folder / "out" / "b-00000.parquet"
    }
    assert not list((folder / "out").rglob(f"{UNFINISHED}*"))


@pytest.mark.slow
def test_other_models_data_and_folders_are_refused(data, capsys):
    folder, _ = data
    assert encode(folder, "--workers", "1") == 0
    model = ohash.load(folder / "model.npz")
    other = ohash.MMOH(r=12, T=2)
    other.start(D)
    ohash.save(other, folder / "other.npz")
    assert main(["encode", str(folder / "other.npz"), str(folder / "in"), str(folder / "out")]) == 2
    assert "codes of another model" in capsys.readouterr().err
    pq.write_table(vectors_table(np.ones((3, D), np.float32), ["x", "y", "z"]), folder / "in" / "d.parquet")
    assert encode(folder) == 2
    assert "other data" in capsys.readouterr().err
    assert main(["encode", str(folder / "model.npz"), str(folder / "in"), str(folder)]) == 2
    assert "must be empty" in capsys.readouterr().err
    assert encode(folder, "--column", "title") == 2
    assert "--column must be a column of vectors" in capsys.readouterr().err
    assert main(["encode", str(folder / "model.npz"), str(folder / "nowhere"), str(folder / "out")]) == 2
    assert "with rows, got none" in capsys.readouterr().err
    assert main(["encode", str(folder / "model.npz"), str(folder / "in" / "d.parquet"), str(folder / "out")]) == 2
    assert "must be a folder of .parquet files" in capsys.readouterr().err
    assert (folder / "out" / MANIFEST).exists() and model.T == 2


@pytest.mark.slow
def test_half_floats_without_ids(tmp_path):
    X = RNG.normal(size=(50, D)).astype(np.float16)
    (tmp_path / "in").mkdir()
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), D)
    for at in range(2):
        pq.write_table(pa.table({"v": lists[25 * at : 25 * at + 25]}), tmp_path / "in" / f"{at}.parquet")
    model = ohash.OH(r=8, center="frozen")
    model.warm_up(X.astype(np.float32))
    ohash.save(model, tmp_path / "model.npz")
    assert encode(tmp_path, "--workers", "1") == 0
    codes = np.asarray(model.encode(X.astype(np.float32)))
    assert codes_in(tmp_path / "out") == {row: bytes(code) for row, code in enumerate(codes)}


def big_data(folder, files=8, rows=40_000):
    """Enough for a second or two."""
    (folder / "in").mkdir(exist_ok=True)
    for at in range(files):
        X = np.random.default_rng(at).normal(size=(rows, 64)).astype(np.float32)
        lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 64)
        pq.write_table(pa.table({"id": np.arange(rows) + at * rows, "v": lists}), folder / "in" / f"{at}.parquet")
    model = ohash.OH(r=64, center="frozen")
    model.feature_map = ohash.FeatureMap(kernel="rbf", m=300).fit(X[:500])
    model.warm_up(model.feature_map.transform(X[:500]))
    ohash.save(model, folder / "model.npz")
    return files * rows


def children(pid):
    return [int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()]


def test_a_full_disk_is_said_and_nothing_unfinished_stays(data, monkeypatch):
    folder, _ = data
    out = folder / "out"
    out.mkdir()
    write = encoding._write_codes

    def fill_the_disk(model, partition, system, file):
        write(model, partition, system, file)
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")

    monkeypatch.setattr(encoding, "_write_codes", fill_the_disk)
    content = np.frombuffer((folder / "model.npz").read_bytes(), np.uint8)
    first = partitions.list_partitions(str(folder / "in"))[0]
    message = r"^a-00000\.parquet could not be encoded \(.*: No space left on device\); .* goes on from there$"
    with pytest.raises(ValueError, match=message):
        encoding.encode_partition({"partition": first.to_json(), "target": str(out)}, {"model": content})
    assert list(out.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
def test_a_killed_worker_and_a_killed_command(tmp_path):
    rows = big_data(tmp_path)
    command = [sys.executable, "-m", "ohash", "encode", "model.npz", "in", "out", "--workers", "2"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def finished():
        return {file.name: file.stat().st_mtime_ns for file in (tmp_path / "out").glob("[0-9]*.parquet")}

    first = subprocess.Popen(command, cwd=tmp_path, env=environment)
    wait_for(finished)
    first.kill()  # and its workers end with it
    first.wait()
    before = finished()
    second = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    wait_for(lambda: len(finished()) > len(before))
    workers = children(second.pid)
    if workers:
        os.kill(workers[0], signal.SIGKILL)
    assert second.wait(120) == 0
    assert f"{len(before)} of them done before" in second.stdout.read()
    second.stdout.close()
    assert workers and finished().items() >= before.items()
    codes = codes_in(tmp_path / "out")
    assert sorted(codes) == list(range(rows))
    model, X = ohash.load(tmp_path / "model.npz"), np.random.default_rng(5).normal(size=(40_000, 64)).astype(np.float32)
    expected = np.asarray(model.encode(model.feature_map.transform(X)))
    assert np.mean([codes[200_000 + at] == bytes(code) for at, code in enumerate(expected)]) > 0.999  # rounding
    assert not list((tmp_path / "out").rglob(f"{UNFINISHED}*"))


def wait_for(condition, seconds=120):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


@pytest.mark.slow
def test_on_a_cluster(data):
    distributed = optional("distributed", "cluster")
    folder, expected = data
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        assert encode(folder, "--cluster", cluster.scheduler_address) == 0
    assert codes_in(folder / "out") == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of botocore and its server
def test_object_storage(data, monkeypatch):
    s3fs, moto = optional("s3fs", "object-storage"), optional("moto.server", "engines")
    folder, expected = data
    server = moto.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        s3 = s3fs.S3FileSystem()
        s3.mkdir("lake")
        s3.put(str(folder / "in"), "lake/in", recursive=True)
        s3.put(str(folder / "model.npz"), "lake/model.npz")
        command = ["encode", "s3://lake/model.npz", "s3://lake/in", "s3://lake/out", "--workers", "2"]
        assert main(command) == 0
        s3.invalidate_cache()
        s3.get("lake/out", str(folder / "back"), recursive=True)
        assert codes_in(folder / "back") == expected
        assert main(command) == 0
    finally:
        server.stop()


@pytest.mark.slow
def test_lance(data):
    lance = optional("lance", "engines")
    folder, expected = data
    rows = pa.concat_tables([pq.read_table(folder / f"in/{name}.parquet") for name in ("a", "more/c")])
    lance.write_dataset(rows, str(folder / "in.lance"), max_rows_per_file=300)
    command = ["encode", str(folder / "model.npz"), str(folder / "in.lance"), str(folder / "out"), "--workers", "1"]
    assert main(command) == 0
    got = codes_in(folder / "out")
    assert len(got) == 800 and got.items() <= expected.items()


def test_a_model_that_was_never_trained_is_refused(data, capsys):
    folder, _ = data
    ohash.save(ohash.OH(r=16), folder / "new.npz")
    assert main(["encode", str(folder / "new.npz"), str(folder / "in"), str(folder / "out")]) == 2
    assert "train it first, for example by python3 -m ohash run" in capsys.readouterr().err
    assert not (folder / "out").exists()


@pytest.mark.parametrize("key", ["int8", "rabitq"])
def test_codes_that_need_more_than_themselves_are_not_written_alone(data, capsys, key):
    folder, _ = data
    spec = find(key)
    model = spec.build(spec.params(r=8 * D if key == "int8" else D))
    model.warm_up(RNG.normal(size=(300, D)).astype(np.float32))
    ohash.save(model, folder / "own.npz")
    assert main(["encode", str(folder / "own.npz"), str(folder / "in"), str(folder / "out"), "--workers", "1"]) == 2
    assert "ranks items by its own distance" in capsys.readouterr().err and not (folder / "out").exists()
