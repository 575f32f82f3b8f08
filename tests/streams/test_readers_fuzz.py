"""Whatever bytes come, under whatever name: a table or a ValueError that names the file, and soon."""

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ohash.streams.readers.file_formats import READERS, read_upload
from ohash.streams.readers.source import Limits
from tests.streams.files import read_labels_upload, read_pairs_upload

SMALL = Limits(2**20, rows=10_000, columns=1000, values=10**6, decoded=2**22, where="here")
# The first bytes of each format, so that the fuzz comes past the door.
STARTS = [
    b"",
    b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
    b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
    b"PAR1",
    b"\x89HDF\r\n\x1a\n\x00\x00\x00\x00\x00\x08\x08\x00",
    b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM\x0f\x00\x00\x00\x20\x00\x00\x00",
    b"\x04\x00\x00\x00",
    b"i,j,s\n1,2,",
    b"\x80\x04",
]
ENDS = [
    b"",
    b"PAR1",
    b"\x10\x00\x00\x00PAR1",
    b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00",
]
EXTENSIONS = [*READERS, ".pkl", ".txt", ""]


@pytest.mark.parametrize("read", [read_upload, read_pairs_upload, read_labels_upload])
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    extension=st.sampled_from(EXTENSIONS),
    start=st.sampled_from(STARTS),
    middle=st.binary(max_size=200) | st.text(alphabet='0123456789,;.-\n\tei"ab', max_size=200).map(str.encode),
    end=st.sampled_from(ENDS),
)
def test_random_bytes(read, extension, start, middle, end) -> None:  # type: ignore[no-untyped-def]
    name = f"fuzz{extension}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            read(name, start + middle + end, SMALL)
        except ValueError as error:
            assert name in str(error)
