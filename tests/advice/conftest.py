"""Few contenders, so that an answer takes a second."""

import pytest

from ohash.advice import contenders, runner

KEPT = ("float", "rabitq_1", "sign", "adapter_rabitq_1", "rabitq_2", "adapter_rabitq_2")


@pytest.fixture
def few(monkeypatch):
    def some(log):
        return [one for one in contenders.contenders(log) if one.key in KEPT or one.key == f"oh_{min(log.d, 512)}"]

    monkeypatch.setattr(runner, "contenders", some)
