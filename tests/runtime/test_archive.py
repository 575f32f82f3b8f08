"""Files of our own hold arrays, and nothing that would have to be unpickled."""

import io

import numpy as np
import pytest

from ohash.runtime.files import read_archive, save_arrays, write_archive


def test_what_is_written_is_read_and_nothing_else(tmp_path):
    arrays = {"W": np.eye(2), "names": np.array(["a", "β"])}
    write_archive(tmp_path / "one.npz", {"what": "model", "format": 1}, arrays)
    header, back = read_archive(tmp_path / "one.npz", "model", 1)
    assert header == {"what": "model", "format": 1} and back.keys() == arrays.keys()
    assert all(np.array_equal(back[name], array) for name, array in arrays.items())


@pytest.mark.parametrize("bad", [np.array([{}]), np.array([(1, None)], [("n", "i4"), ("what", "O")])])
def test_objects_are_refused_and_the_old_file_stays(tmp_path, bad):
    with pytest.raises(ValueError, match="got objects in W"):
        save_arrays(io.BytesIO(), {"b": np.zeros(1), "W": bad})
    (tmp_path / "one.npz").write_bytes(b"old")
    with pytest.raises(ValueError, match="got objects in W"):
        write_archive(tmp_path / "one.npz", {}, {"W": bad})
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("one.npz", b"old")]
