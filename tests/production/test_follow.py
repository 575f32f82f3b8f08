"""Shadow mode: nothing is lost, nothing is learnt twice, whatever happens to the process."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ohash
from ohash.cli.main import main
from ohash.models.storage import load_with_companion, save
from ohash.production.follower import ALARM_NAMES, CAPACITY, FollowOptions, Ticks
from ohash.production.kafka import KafkaSource
from ohash.production.sources import FileSource, parse_lines
from ohash.production.stale_codes import StalenessPrice, price_staleness
from ohash.production.watch import key_of, list_watched, read_watched
from tests.optional import optional

N, D = 400, 12
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 4, N)
X = (RNG.normal(size=(4, D))[LABELS] + 0.7 * RNG.normal(size=(N, D))).astype(np.float32)


def triples(n, seed=1):
    i, j = np.random.default_rng(seed).integers(0, N, (2, n))
    return np.column_stack([i, j, np.where(LABELS[i] == LABELS[j], 1, -1)])


def write_pairs(path, rows, mode="w"):
    with path.open(mode) as file:
        file.writelines(f"{i},{j},{s}\n" for i, j, s in rows.tolist())


@pytest.fixture
def start(tmp_path):
    """A saved model and its vectors, with a feature map whose rounding depends on the rows mapped together."""
    model = ohash.OH(r=16, seed=0)
    model.feature_map = ohash.FeatureMap(kernel="rbf", m=20).fit(X)
    ohash.save(model, tmp_path / "model.npz")
    np.save(tmp_path / "x.npy", X)
    return tmp_path


def contents(path):
    """Everything in the file but the clock of the checks."""
    model, (values, arrays) = load_with_companion(path)
    state = model.state()
    monitor = {name: array.tobytes() for name, array in arrays.items() if name.startswith("monitor/")}
    numbers = {name: values[name] for name in ("t", "learnt", "skipped", "position", "loss_sum", "loss_count")}
    return state[0], {name: array.tobytes() for name, array in state[1].items()}, monitor, numbers


def learn_all(folder, out, **options):
    source = FileSource(folder / "pairs.csv", wait=False)
    *_, last = ohash.follow(source, X, folder / "model.npz", folder / out, options=FollowOptions(**options))
    return last


def test_it_learns_what_learn_learns(start):
    rows = triples(700)
    write_pairs(start / "pairs.csv", rows)
    last = learn_all(start, "out.npz", batch=100)
    model = ohash.load(start / "model.npz")
    Z = model.feature_map.transform(X)
    model.learn(Z, rows[:, 0], rows[:, 1], rows[:, 2])
    np.testing.assert_allclose(ohash.load(start / "out.npz").W, model.W, atol=1e-4)
    assert last.t == last.learnt == 700 and ohash.load(start / "out.npz").pairs == 700


def test_stopping_anywhere_changes_nothing(start):
    write_pairs(start / "pairs.csv", triples(1000))
    learn_all(start, "whole.npz", batch=64, negatives=1)
    for stop in (1, 4, 9):
        options = FollowOptions(batch=64, negatives=1, save_seconds=0)
        source = FileSource(start / "pairs.csv", wait=False)
        for count, _ in enumerate(ohash.follow(source, X, start / "model.npz", start / "parts.npz", options=options)):
            if count == stop:
                break
    learn_all(start, "parts.npz", batch=64, negatives=1)
    assert contents(start / "parts.npz") == contents(start / "whole.npz")


def test_vectors_that_are_cut_are_said_and_what_was_learnt_is_kept(start):
    write_pairs(start / "pairs.csv", triples(1000))
    source, options = FileSource(start / "pairs.csv", wait=False), FollowOptions(batch=100, save_seconds=0)
    mapped = np.load(start / "x.npy", mmap_mode="r")
    going = ohash.follow(source, mapped, start / "model.npz", start / "out.npz", options=options)
    for follower in going:
        if follower.t == 500:
            break
    os.truncate(start / "x.npy", 200)
    with pytest.raises(ValueError, match=r"x\.npy must keep its"):
        list(going)
    del going, follower
    assert ohash.load(start / "out.npz").pairs == 500
    np.save(start / "x.npy", X)
    assert learn_all(start, "out.npz", batch=100).t == 1000


def test_a_growing_file_with_half_a_line(start):
    rows = triples(300)
    write_pairs(start / "pairs.csv", rows[:150])
    with (start / "pairs.csv").open("a") as file:
        file.write("7,")  # the writer is in the middle of a line
    learn_all(start, "out.npz", batch=64)
    assert ohash.load(start / "out.npz").pairs == 150
    with (start / "pairs.csv").open("a") as file:
        file.write("8,1\n")
    write_pairs(start / "pairs.csv", rows[150:], "a")
    assert learn_all(start, "out.npz", batch=64).t == 301


def test_what_is_no_pair_is_counted_once(start):
    (start / "pairs.csv").write_text("i,j,s\n1,2,1\noops\n3,4,0\n5,6,-1\n7,9999,1\n8,9\n")
    last = learn_all(start, "out.npz")
    assert (last.t, last.learnt, last.skipped) == (4, 3, 3)  # a word, s = 0, a row that is not there


def test_parsing_is_the_same_fast_and_slowly():
    rows = triples(50)
    text = "".join(f"{i},{j},{s}\n" for i, j, s in rows.tolist()).encode()
    fast, slow = parse_lines(text), parse_lines(text + b"oops\n")
    np.testing.assert_array_equal(fast[0], rows)
    np.testing.assert_array_equal(slow[0], rows)
    np.testing.assert_array_equal(fast[1], slow[1])
    assert slow[2].tolist() == [len(text) + 5]


def test_another_or_a_shorter_file_is_refused(start):
    write_pairs(start / "pairs.csv", triples(100))
    learn_all(start, "out.npz")
    write_pairs(start / "pairs.csv", triples(100, seed=2))
    with pytest.raises(ValueError, match="not the file that was followed before"):
        learn_all(start, "out.npz")
    write_pairs(start / "pairs.csv", triples(100)[:60])
    with pytest.raises(ValueError, match="shorter than what was read"):
        learn_all(start, "out.npz")


def test_one_learner_only(start):
    write_pairs(start / "pairs.csv", triples(300))
    arguments = (X, start / "model.npz", start / "out.npz")
    first = ohash.follow(FileSource(start / "pairs.csv", wait=False), *arguments, options=FollowOptions(batch=100))
    next(first)
    with pytest.raises(ValueError, match="exactly one learner"):
        next(ohash.follow(FileSource(start / "pairs.csv", wait=False), *arguments))
    first.close()
    assert [one.t for one in ohash.follow(FileSource(start / "pairs.csv", wait=False), *arguments)][-1] == 300


def test_any_iterator(start):
    rows = [tuple(row) for row in triples(500).tolist()]
    for pairs in (rows, lambda begin: iter(rows[begin:])):
        out = start / f"{callable(pairs)}.npz"
        next(ohash.follow(pairs, X, start / "model.npz", out, options=FollowOptions(batch=64, save_seconds=-1)))
        *_, last = ohash.follow(pairs, X, start / "model.npz", out, options=FollowOptions(batch=64))
        assert last.t == 500
    assert contents(start / "True.npz") == contents(start / "False.npz")


def test_the_price_of_stale_codes(tmp_path):
    rng = np.random.default_rng(5)
    groups = np.arange(N) % 40
    Y = (rng.normal(size=(40, 32))[groups] + 1.2 * rng.normal(size=(N, 32))).astype(np.float32)
    i = rng.integers(0, N, 40_000)
    j = np.where(rng.random(len(i)) < 0.5, (i + 40 * rng.integers(1, 10, len(i))) % N, rng.integers(0, N, len(i)))
    write_pairs(tmp_path / "pairs.csv", np.column_stack([i, j, np.where(groups[i] == groups[j], 1, -1)]))
    ohash.save(started(Y, 32), tmp_path / "model.npz")
    options = FollowOptions(batch=500, check_every=10_000)
    source = FileSource(tmp_path / "pairs.csv", wait=False)
    *_, last = ohash.follow(source, Y, tmp_path / "model.npz", tmp_path / "out.npz", options=options)
    assert last.history["pairs"].tolist() == [10_000, 20_000, 30_000, 40_000]
    price = last.price
    assert price.queries > 200 and price.items == N and price.encode_bytes == 4 * N
    assert price.lost > 0.1 and price.sentence().startswith(
        "the deployed codes lose"
    )  # a random hash against a learnt one
    assert f"it pays after {price.encode_seconds / (price.lost * 0.001):,.0f} queries" in price.sentence(0.001)
    same = price_staleness(ohash.load(tmp_path / "out.npz"), ohash.load(tmp_path / "out.npz"), Y, triples(900), 0)
    assert same.lost == 0 and same.sentence().startswith("re-encoding does not pay")
    nothing = price_staleness(last.model, last.model, Y, triples(900)[:0], 0)
    assert nothing.sentence().startswith("no similar pair")


def test_the_price_says_no_more_than_was_measured(start):
    def says(queries, hit_now, half_width, value=None):
        return StalenessPrice(queries, N, hit_now, 0.5, half_width, 2.0, 2 * N).sentence(value)

    assert (
        says(1, 0.5, float("nan")) == "what stale codes cost cannot be told from 1 similar pair in a batch; it takes 20"
    )
    assert "cannot be told from 2 similar pairs" in says(2, 1.0, 0.0, 0.001)
    assert says(100, 0.4, 0.05).startswith("re-encoding does not pay: the deployed codes gain 10.0 ± 5.0 hits")
    assert says(100, 0.52, 0.05).startswith(
        "re-encoding does not pay, as far as can be told: the deployed codes lose 2.0"
    )
    assert says(100, 0.6, 0.05).startswith("the deployed codes lose 10.0 ± 5.0 hits per 100 queries; encoding")
    write_pairs(start / "pairs.csv", triples(30))
    assert learn_all(start, "out.npz", batch=1, check_every=1).t == 30


def started(Y, r):
    """A model with its first, random hash."""
    model = ohash.OH(r=r, seed=0, center="frozen")
    model.warm_up(Y)
    return model


def test_drift_raises_an_alarm(start):
    rows = triples(8000)
    rows[5000:, 2] *= -1  # the world turns over
    write_pairs(start / "pairs.csv", rows)
    follower = learn_all(start, "out.npz")
    assert min(positions[0] for positions in follower.monitor.alarms.values() if positions) >= 0
    assert set(follower.monitor.alarms) == set(ALARM_NAMES)
    assert re.search(r"^(Page-Hinkley|ADWIN) on .* at learnt pair \d,\d{3}$", follower.latest_alarm())
    assert any(5000 <= position < 7000 for positions in follower.monitor.alarms.values() for position in positions)


def test_the_command(start, capsys):
    write_pairs(start / "pairs.csv", triples(3000))
    files = [str(start / "model.npz"), "--features", str(start / "x.npy"), "--file", str(start / "pairs.csv"), "--once"]
    more = ["--out", str(start / "out.npz"), "--check", "1000", "--history", str(start / "history.csv")]
    more += ["--page", str(start / "follow.html")]
    assert main(["follow", *files, *more]) == 0
    out = capsys.readouterr().out
    assert "pair 2,048: the deployed codes lose" in out or "re-encoding does not pay" in out
    assert "3,000 pairs of the stream" in out
    assert len((start / "history.csv").read_text().splitlines()) == 4
    page = (start / "follow.html").read_text()
    assert page.count("<svg") == 2 and "3,000 pairs; " in page and "hits per 100 queries" in page
    assert main(["follow", *files, *more]) == 0
    assert "3,000 pairs of the stream" in capsys.readouterr().out
    assert main(["follow", str(start / "out.npz"), *files[1:], "--out", str(start / "model.npz")]) == 2
    assert "does not follow a stream" in capsys.readouterr().err


def test_the_command_says_what_the_first_price_waits_for(start, capsys):
    write_pairs(start / "pairs.csv", triples(600))
    files = [str(start / "model.npz"), "--features", str(start / "x.npy"), "--file", str(start / "pairs.csv"), "--once"]

    def lines_of(out, *options):
        assert main(["follow", *files, "--out", str(start / out), "--batch", "200", *options]) == 0
        return capsys.readouterr().out.splitlines()[1:]

    waits, end = lines_of("a.npz", "--check", "1000")
    assert waits.startswith(
        "the cost of stale codes is not known yet: the first check comes when pair 1,000 is in a full batch"
    )
    assert end.startswith("600 pairs")
    same, second, third, _ = lines_of("b.npz", "--check", "200")
    assert same.startswith(
        "pair 200: the cost of stale codes is not known yet: nothing had been learnt before this batch"
    )
    assert same.endswith("the next check comes at pair 400")
    assert second.startswith("pair 400: ") and third.startswith("pair 600: ") and "hits per 100 queries" in third
    other = str(start / "b.npz")
    first, *_ = lines_of("c.npz", "--check", "200", "--deployed", other)
    assert first.startswith("pair 200: ") and "hits per 100 queries" in first


def test_a_call_that_goes_on_prints_the_price_of_its_first_batch(start, capsys):
    write_pairs(start / "pairs.csv", triples(400))
    files = [str(start / "model.npz"), "--features", str(start / "x.npy"), "--file", str(start / "pairs.csv"), "--once"]
    command = ["follow", *files, "--out", str(start / "out.npz"), "--batch", "200", "--check", "200"]
    assert main(command) == 0
    write_pairs(start / "pairs.csv", triples(200, seed=2), "a")
    capsys.readouterr()
    assert main(command) == 0
    assert "pair 600: " in capsys.readouterr().out.splitlines()[1]


def test_ticks_are_the_same_however_often_it_stops(start):
    write_pairs(start / "pairs.csv", triples(3000))
    whole = learn_all(start, "whole.npz", batch=64, negatives=1)
    for stop in (5, 9):
        options = FollowOptions(batch=64, negatives=1, save_seconds=0)
        source = FileSource(start / "pairs.csv", wait=False)
        for count, _ in enumerate(ohash.follow(source, X, start / "model.npz", start / "parts.npz", options=options)):
            if count == stop:
                break
    parts = learn_all(start, "parts.npz", batch=64, negatives=1)
    ours, theirs = parts.ticks.columns(), whole.ticks.columns()
    assert ours["pairs"][-1] == 3000 and 0 < ours["rate"].min() <= ours["rate"].max() <= 1
    for name, column in theirs.items():
        np.testing.assert_array_equal(ours[name], column)


def test_ticks_are_merged_exactly():
    ticks, means = Ticks(), []
    rng = np.random.default_rng(0)
    for batch in range(1, 3001):
        sums = np.array([10.0, *rng.random(3)])
        means.append(sums[1:] / 10)
        ticks.add(10 * batch, sums, batch // 1000)
    columns = ticks.columns()
    assert len(columns["pairs"]) <= CAPACITY and columns["pairs"][-1] == 30_000 and ticks.batches == 8
    np.testing.assert_allclose(columns["loss"][3], np.mean([one[0] for one in means[24:32]]))
    assert columns["alarms"][-1] == 3


def test_a_file_from_before_ticks_goes_on(start):
    write_pairs(start / "pairs.csv", triples(300))
    learn_all(start, "out.npz")
    model, (values, arrays) = load_with_companion(start / "out.npz")
    del values["ticks"]
    old = {name: array for name, array in arrays.items() if not name.startswith("ticks/")}
    save(model, start / "out.npz", (values, old))
    write_pairs(start / "pairs.csv", triples(100, seed=3), "a")
    last = learn_all(start, "out.npz")
    assert last.t == 400 and last.ticks.columns()["pairs"].tolist() == [400]


def test_what_a_watcher_sees(start, monkeypatch, capsys):
    monkeypatch.setenv("OHASH_HOME", str(start / "home"))
    write_pairs(start / "pairs.csv", triples(3000))
    files = [str(start / "model.npz"), "--features", str(start / "x.npy"), "--file", str(start / "pairs.csv"), "--once"]
    assert main(["follow", *files, "--out", str(start / "out.npz"), "--check", "1000"]) == 0
    key = key_of(start / "out.npz")
    assert f"/?follow={key} " in capsys.readouterr().out
    seen = read_watched(key)
    assert (seen.t, seen.state, seen.title) == (3000, "ended", "out.npz follows pairs.csv")
    assert seen.ticks["pairs"][-1] == 3000 and len(seen.checks["pairs"]) == 3 and "deployed codes" in seen.price
    assert [one.key for one in list_watched()] == [key]
    silent = replace(seen, state="learning")
    assert silent.status(silent.at + 5) == "learning"
    assert silent.status(silent.at + 200) == "no sign of life for 3 min: killed, or busy"
    (start / "home" / "follow" / f"{key}.json").write_text('{"key": "')
    assert read_watched(key) is None and list_watched() == []
    assert read_watched("../../etc/passwd") is None


@pytest.mark.slow
def test_killed_again_and_again_it_equals_an_undisturbed_run(start):
    write_pairs(start / "pairs.csv", triples(40_000))
    learn_all(start, "whole.npz", batch=64, negatives=1)
    files = ["model.npz", "--features", "x.npy", "--file", "pairs.csv", "--out", "killed.npz"]
    command = [sys.executable, "-m", "ohash", "follow", *files, "--once", "--batch", "64", "--negatives", "1"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    reached = []
    while len(reached) < 40:
        process = subprocess.Popen([*command, "--save-seconds", "0"], cwd=start, env=environment)
        before = (start / "killed.npz").stat().st_mtime_ns if reached else 0
        while process.poll() is None:
            if (start / "killed.npz").exists() and (start / "killed.npz").stat().st_mtime_ns != before:
                time.sleep(float(RNG.uniform(0.05, 1.0)))  # it learns and saves at full speed
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.01)
        if process.wait() == 0:
            break
        reached.append(ohash.load(start / "killed.npz").pairs)
    assert len(reached) >= 2 and reached == sorted(reached)
    assert contents(start / "killed.npz") == contents(start / "whole.npz")


@pytest.mark.slow
def test_kafka_by_its_own_protocol(start):
    confluent_kafka = optional("confluent_kafka", "kafka")
    rows = triples(2000)
    producer = confluent_kafka.Producer({"test.mock.num.brokers": 1, "topic.metadata.refresh.interval.ms": 100})
    broker = next(iter(producer.list_topics(timeout=20).brokers.values()))
    for at, (i, j, s) in enumerate(rows.tolist()):
        value = f"{i},{j},{s}" if at % 2 else f'{{"i": {i}, "j": {j}, "s": {s}}}'
        producer.produce("clicks", value.encode(), partition=0)
        if at == 1000:
            producer.produce("clicks", b"no pair", partition=0)
    assert producer.flush(30) == 0
    address = f"{broker.host}:{broker.port}/clicks"
    options = FollowOptions(batch=64, save_seconds=-1)
    for stop in (3, 10, 1000):
        source = KafkaSource(address, wait=False)
        for count, _ in enumerate(ohash.follow(source, X, start / "model.npz", start / "kafka.npz", options=options)):
            if count == stop:
                break
        source.close()
    write_pairs(start / "pairs.csv", rows)
    learn_all(start, "file.npz", batch=64)
    ours, theirs = contents(start / "kafka.npz"), contents(start / "file.npz")
    assert ours[:3] == theirs[:3]
    assert ours[3]["t"] == 2000 and ours[3]["skipped"] == 1
    partitions = ours[3]["position"]["offsets"]
    assert partitions["0"] == 2001


def test_a_wrong_address_is_refused():
    with pytest.raises(ValueError, match="HOST/TOPIC"):
        KafkaSource("localhost")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
def test_a_full_disk_stops_no_learner_before_it_has_something_to_save(start):
    (start / ".out.npz.lock").symlink_to("/dev/full")
    write_pairs(start / "pairs.csv", triples(100))
    assert learn_all(start, "out.npz").t == 100
    assert (start / "out.npz").exists()
