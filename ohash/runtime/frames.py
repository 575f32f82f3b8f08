"""Messages between processes: a JSON header and raw buffers, never pickle.

A frame is the length of the header (8 bytes, little endian), the header in JSON with plain values and the name, dtype
and shape of every array, then the bytes of the arrays one after another.
"""

import json
import struct
from collections.abc import Callable
from math import prod
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]
JsonObject = dict[str, Any]  # plain values by name, as JSON has them
Frame = tuple[JsonObject, Arrays]
Report = Callable[[JsonObject], None]  # takes how far a task is

# Frames that another process has sent for the tasks to come, by key.
shared: dict[str, Frame] = {}

LENGTH = struct.Struct("<Q")
LONGEST_HEADER = 2**28


def write_frame(stream: IO[bytes], values: JsonObject, arrays: Arrays | None = None) -> None:
    """Write one frame and flush.

    >>> from io import BytesIO
    >>> pipe = BytesIO()
    >>> write_frame(pipe, {"task": "fit"}, {"X": np.eye(2)})
    >>> _ = pipe.seek(0)
    >>> read_frame(pipe)
    ({'task': 'fit'}, {'X': array([[1., 0.],
           [0., 1.]])})
    """
    buffers = {name: np.ascontiguousarray(array).reshape(np.shape(array)) for name, array in (arrays or {}).items()}
    for name, array in buffers.items():
        if array.dtype.hasobject:
            raise ValueError(f"array {name} must hold plain numbers or texts, got dtype {array.dtype}")
    described = [[name, array.dtype.str, array.shape] for name, array in buffers.items()]
    header = json.dumps({"values": values, "arrays": described}).encode()
    stream.write(LENGTH.pack(len(header)))
    stream.write(header)
    for array in buffers.values():
        if array.size:
            stream.write(array.reshape(-1).view(np.uint8).data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Frame | None:
    """The next frame, None at the end of the stream; a stream that ends inside a frame is an EOFError."""
    start = stream.read(LENGTH.size)
    if not start:
        return None
    (length,) = LENGTH.unpack(
        start if len(start) == LENGTH.size else start + _read_exactly(stream, LENGTH.size - len(start))
    )
    if length > LONGEST_HEADER:
        raise ValueError(f"a frame must begin with the length of its header, at most {LONGEST_HEADER}, got {length}")
    header = json.loads(bytes(_read_exactly(stream, length)))
    arrays = {}
    for name, dtype, shape in header["arrays"]:
        kind = np.dtype(dtype)
        data = _read_exactly(stream, kind.itemsize * prod(shape))
        arrays[name] = np.frombuffer(data, kind).reshape(shape)
    return header["values"], arrays


def _read_exactly(stream: IO[bytes], size: int) -> bytearray:
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        some = stream.readinto(view[got:])  # type: ignore[attr-defined]
        if not some:
            raise EOFError(f"the stream ended after {got} of {size} bytes")
        got += some
    return data


def group_of(arrays: Arrays, group: str) -> Arrays:
    """The arrays called "group/name", by their names.

    >>> group_of({"state/W": np.eye(1), "x": np.eye(2)}, "state")
    {'W': array([[1.]])}
    """
    return {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{group}/")}
