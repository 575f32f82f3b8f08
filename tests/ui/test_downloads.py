"""A file that is made when it is asked for is there until the browser has fetched it."""

from types import SimpleNamespace

import pytest
from streamlit import runtime  # noqa: TID251
from streamlit.runtime.media_file_manager import MediaFileManager  # noqa: TID251
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage  # noqa: TID251

from ohash.ui.workarounds import downloads


def test_a_file_outlives_the_next_runs_of_a_page_and_makes_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    files = MemoryMediaFileStorage("/media")
    manager = MediaFileManager(files)
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(media_file_mgr=manager))

    def press(content: str) -> str:
        make = downloads.keep_download(lambda: content, "a.csv", "text/csv")
        return manager.execute_deferred(manager.add_deferred(make, "text/csv", "0.1", "a.csv")).rpartition("/")[2]

    first = press("pairs,mAP")
    for _ in range(5):
        manager.remove_orphaned_files()
    assert files.get_file(first).content == b"pairs,mAP"
    for at in range(downloads.MAX_KEPT):
        press(f"number {at}")
    for _ in range(2):
        manager.remove_orphaned_files()
    assert len(files._files_by_id) == downloads.MAX_KEPT, "memory does not grow"
