"""An empty data folder."""

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    monkeypatch.setenv("OHASH_DATA", str(data))
    monkeypatch.setenv("OHASH_HOME", str(tmp_path / "home"))
    return data
