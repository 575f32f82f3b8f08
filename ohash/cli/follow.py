"""Learn beside production: follow a stream of pairs, and say what stale codes cost.

MODEL.npz is where learning begins, and what production's codes are made with unless --deployed names another model.
The pairs are rows of --features with s = +1 or -1; without s they are clicks, and similar. They come from a file that
grows or from a Kafka topic. --out is a model like any other (`ohash index`, `ohash encode`) that also holds the place
in the stream: stop or kill the command whenever you like; called again, it goes on without losing or doubling a pair.

A batch is learnt when it is full, so a slow stream wants a small --batch. Every --check pairs the coming batch is first
used to judge: how often does i find j among its ten nearest, with codes of the present model and of the deployed one?
The link that is printed opens it on the dashboard of the same OHASH_HOME, where Runs lists it, too.

Examples:
  python3 -m ohash follow trained/model.npz --features x.npy --file clicks.csv --out shadow.npz
  python3 -m ohash follow trained/model.npz --features x.npy --kafka localhost:9092/clicks --negatives 1
"""

import argparse
from pathlib import Path

from ohash.production.follower import Follower, FollowOptions, follow
from ohash.production.kafka import KafkaSource
from ohash.production.sources import FileSource, PairSource
from ohash.production.watch import Watch
from ohash.runtime.files import write_file
from ohash.streams.readers.own_data import open_files
from ohash.table_files import to_csv

LIVE = "http://localhost:8501"  # where Streamlit serves unless told otherwise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("model", metavar="MODEL.npz", help="a model saved by ohash that learns from pairs")
    parser.add_argument("--features", metavar="FILE", required=True, help="vectors; pairs are rows of it")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--file", metavar="FILE", help="pairs i,j,s or i,j, one per line; it may grow")
    source.add_argument("--kafka", metavar="HOST/TOPIC", help='one pair per message (pip install "ohash[kafka]")')
    parser.add_argument("--out", metavar="FILE.npz", default="shadow.npz", help="the model that learns (shadow.npz)")
    parser.add_argument("--deployed", metavar="MODEL.npz", help="the model of production's codes (MODEL.npz)")
    parser.add_argument("--once", action="store_true", help="stop at the current end of the stream")
    parser.add_argument("--batch", type=int, default=1024, help="pairs learnt at a time (1024)")
    parser.add_argument("--check", type=int, default=50_000, help="pairs between two checks (50000)")
    parser.add_argument("--save-seconds", type=float, default=10.0, help="seconds between two saves (10)")
    parser.add_argument(
        "--negatives", type=int, default=0, help="dissimilar pairs drawn per similar one, for a stream of clicks (0)"
    )
    parser.add_argument(
        "--hit-value", type=float, help="worth of one hit in core seconds, to say when re-encoding pays"
    )
    parser.add_argument("--history", metavar="FILE.csv", help="write the checks as a table")
    parser.add_argument(
        "--page", metavar="FILE.html", help="draw the checks on a page that reloads itself in a browser"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the negatives and of the items of a check (0)")


def run(options: argparse.Namespace) -> int:
    """Follow, and print a line per check and per alarm."""
    source: PairSource = (
        FileSource(options.file, wait=not options.once)
        if options.file
        else KafkaSource(options.kafka, wait=not options.once)
    )
    settings = FollowOptions(options.batch, options.check, options.save_seconds, options.negatives, options.seed)
    X = open_files(options.features).X
    checks, alarms, last = -1, -1, None
    watch = Watch(options.out, _source_name(options), options.hit_value)
    try:
        for last in follow(source, X, options.model, options.out, deployed=options.deployed, options=settings):
            if alarms == -1:
                print(f"watch it on Live: {LIVE}/?follow={watch.key} (or where you serve the dashboard)", flush=True)
                print(_first_price(last, options), flush=True)
            if alarms not in (-1, last.alarms):
                print(f"pair {last.t:,}: drift alarm, {last.latest_alarm()}", flush=True)
            if checks not in (-1, len(last.history)) and last.price is not None:
                print(f"pair {last.t:,}: {last.price.sentence(options.hit_value)}", flush=True)
                _write(last, options)
            checks, alarms = len(last.history), last.alarms
            watch.show(last)
    except BaseException:
        if last is not None:
            watch.show(last, "stopped")
        raise
    if last is not None:
        watch.show(last, "ended")
        _write(last, options)
        skipped = f", {last.skipped:,} lines or messages were not pairs of these vectors" if last.skipped else ""
        print(
            f"{last.t:,} pairs of the stream, {last.learnt:,} learnt, including drawn negatives{skipped}; "
            f"saved as {options.out}"
        )
    return 0


def _first_price(first: Follower, options: argparse.Namespace) -> str:
    """What the first price of stale codes waits for; or that price, if the first batch is checked."""
    at = (first.t // options.check + 1) * options.check
    if first.price is None:
        waits = f"the first check comes when pair {at:,} is in a full batch (--check, --batch)"
        return f"the cost of stale codes is not known yet: {waits}"
    if first.t <= options.batch and not options.deployed:
        same = "nothing had been learnt before this batch, so the deployed codes are the present ones"
        return (
            f"pair {first.t:,}: the cost of stale codes is not known yet: {same}; the next check comes at pair {at:,}"
        )
    return f"pair {first.t:,}: {first.price.sentence(options.hit_value)}"


def _source_name(options: argparse.Namespace) -> str:
    """What is followed, in words."""
    return Path(options.file).name if options.file else str(options.kafka)


def _write(follower: Follower, options: argparse.Namespace) -> None:
    """The table and the page, if they are wanted."""
    if options.history is not None:
        write_file(options.history, to_csv(follower.history.snapshot()))
    if options.page is not None:
        from ohash.plots.follow import follow_page  # noqa: PLC0415 (heavy)

        price = follower.price
        text = f"{follower.t:,} pairs" + ("" if price is None else f"; {price.sentence(options.hit_value)}")
        title = f"{Path(options.out).name} follows {_source_name(options)}"
        page = follow_page(title, text, follower.history.snapshot())
        write_file(options.page, page)
