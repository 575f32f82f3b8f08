"""Files as a browser sends them."""

import io
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Sent:
    """A name and bytes."""

    name: str
    data: bytes


def vectors(n: int = 120, d: int = 6) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 3
    return (rng.normal(size=(n, d)) + 4 * np.eye(3, d)[labels]).astype(np.float32), labels


def npy(array: npt.NDArray[np.generic], name: str = "x.npy") -> Sent:
    stream = io.BytesIO()
    np.save(stream, array)
    return Sent(name, stream.getvalue())


def clicks(n: int = 120, count: int = 200) -> Sent:
    rng = np.random.default_rng(1)
    i = rng.integers(0, n - 3, count)
    text = "i,j\n" + "".join(f"{a},{a + 3}\n" for a in i)
    return Sent("clicks.csv", text.encode())
