"""Frames come out as they went in, and a cut stream is noticed."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ohash.runtime.frames import read_frame, write_frame

KINDS = st.sampled_from(["<f4", "<f8", "<i8", "|u1", "|b1", "<U7", ">i4"])
ARRAYS = st.dictionaries(
    st.text(max_size=8),
    KINDS.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))),
    max_size=4,
)


@given(st.lists(ARRAYS, max_size=3))
def test_frames_come_out_as_they_went_in(several):
    pipe = io.BytesIO()
    for at, arrays in enumerate(several):
        write_frame(pipe, {"at": at, "name": "β"}, arrays)
    pipe.seek(0)
    for at, arrays in enumerate(several):
        values, received = read_frame(pipe)
        assert values == {"at": at, "name": "β"} and received.keys() == arrays.keys()
        for name, array in arrays.items():
            assert received[name].dtype == array.dtype and received[name].shape == array.shape
            assert received[name].tobytes() == array.tobytes()
    assert read_frame(pipe) is None


@given(st.integers(1, 200))
def test_a_cut_stream_is_noticed(kept):
    pipe = io.BytesIO()
    write_frame(pipe, {"task": "fit"}, {"X": np.arange(20.0)})
    whole = pipe.getvalue()
    with pytest.raises(EOFError):
        read_frame(io.BytesIO(whole[: min(kept, len(whole) - 1)]))


def test_no_objects_and_no_foreign_streams():
    with pytest.raises(ValueError, match="plain numbers or texts"):
        write_frame(io.BytesIO(), {}, {"X": np.array([{}], dtype=object)})
    with pytest.raises(ValueError, match="length of its header"):
        read_frame(io.BytesIO(b"\xff" * 64))


def test_arrays_that_are_not_contiguous():
    pipe = io.BytesIO()
    X = np.arange(24.0).reshape(4, 6)
    write_frame(pipe, {}, {"X": X[::2, ::-3], "t": X.T})
    pipe.seek(0)
    _, arrays = read_frame(pipe)
    assert np.array_equal(arrays["X"], X[::2, ::-3]) and np.array_equal(arrays["t"], X.T)
