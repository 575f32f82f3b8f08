"""Pairs from a Kafka topic: one message per pair, ``i,j,s`` or ``i,j`` or JSON with these names.

Offsets are kept with the model, not by the broker: no consumer group, no commit. With one partition the order, and so
the model, is the same however often the follower was interrupted; with several it is the order of arrival.
"""

import importlib
import json
import time

import numpy as np

from ohash.production.sources import NO_TRIPLES, Batch, Position

CONNECT_SECONDS = 20.0


class KafkaSource:
    """All partitions of one topic, from the beginning or from given offsets."""

    def __init__(self, address: str, *, wait: bool = True, **settings: object) -> None:
        """`address` is HOST/TOPIC; `settings` are those of librdkafka. ``wait=False`` ends at the present end."""
        servers, slash, topic = address.rpartition("/")
        if not (slash and servers and topic):
            raise ValueError(f"kafka must be HOST/TOPIC, for example localhost:9092/clicks, got {address!r}")
        try:
            self._kafka = importlib.import_module("confluent_kafka")
        except ImportError as error:
            raise ValueError('Kafka needs its client: python3 -m pip install "ohash[kafka]"') from error
        self._topic, self._wait = topic, wait
        options = {"bootstrap.servers": servers, "group.id": "ohash", "enable.auto.commit": False, **settings}
        self._consumer = self._kafka.Consumer({**options, "enable.partition.eof": True})
        self._offsets: dict[int, int] = {}
        self._at_end: set[int] = set()
        self._left: list[object] = []

    def seek(self, position: Position) -> None:
        """Read every partition from its offset."""
        offsets = {int(number): int(offset) for number, offset in position.get("offsets", {}).items()}
        try:
            topics = self._consumer.list_topics(self._topic, timeout=CONNECT_SECONDS).topics
        except self._kafka.KafkaException as error:
            raise ValueError(f"no answer from Kafka: {error}") from error
        partitions = topics[self._topic].partitions
        if topics[self._topic].error is not None or not partitions:
            raise ValueError(f"the topic {self._topic!r} is not there: {topics[self._topic].error}")
        self._offsets = {number: offsets.get(number, 0) for number in partitions}
        self._at_end, self._left = set(), []
        self._consumer.assign(
            [self._kafka.TopicPartition(self._topic, number, offset) for number, offset in self._offsets.items()]
        )

    def read(self, count: int, timeout: float) -> Batch:
        """Poll until there are `count` pairs."""
        limit = time.monotonic() + timeout
        rows: list[tuple[int, int, int]] = []
        skipped = 0
        while len(rows) < count and time.monotonic() < limit and not self._ended():
            for message in self._consumer.consume(count - len(rows), timeout=0.1):
                error = message.error()
                if error is not None:
                    if error.code() != self._kafka.KafkaError._PARTITION_EOF:
                        raise ValueError(f"Kafka: {error}")
                    self._at_end.add(message.partition())
                    continue
                self._at_end.discard(message.partition())
                self._offsets[message.partition()] = message.offset() + 1
                pair = parse_message(message.value())
                if pair is None:
                    skipped += 1
                else:
                    rows.append(pair)
        triples = np.array(rows, np.int64).reshape(-1, 3) if rows else NO_TRIPLES
        position = {"offsets": {str(number): offset for number, offset in self._offsets.items()}}
        return Batch(triples, position, skipped, self._ended())

    def close(self) -> None:
        """Leave."""
        self._consumer.close()

    def _ended(self) -> bool:
        return not self._wait and len(self._at_end) == len(self._offsets)


def parse_message(value: bytes | None) -> tuple[int, int, int] | None:
    """A pair, or None if it is not one.

    >>> parse_message(b"3,5,-1"), parse_message(b'{"i": 3, "j": 5}'), parse_message(b"3")
    ((3, 5, -1), (3, 5, 1), None)
    """
    try:
        text = (value or b"").decode()
        if text.lstrip().startswith("{"):
            fields = json.loads(text)
            numbers = [int(fields["i"]), int(fields["j"]), int(fields.get("s", 1))]
        else:
            numbers = [*map(int, text.split(",")), 1][:3]
        i, j, s = numbers
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return (i, j, s) if s in (1, -1) else None
