"""Names for the arrays that are passed around: what they hold, and in which dtype."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]  # of any dtype
Numbers = npt.NDArray[np.integer[Any] | np.floating[Any]]  # vectors as a dataset has them
Reals = npt.NDArray[np.floating[Any]]  # float32 or float64, whichever the method computes in
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]  # row numbers
Integers = npt.NDArray[np.integer[Any]]  # of any width
Counts = npt.NDArray[np.int64]  # how many
Bytes = npt.NDArray[np.uint8]  # packed bits
Signs = npt.NDArray[np.int8]  # +1 and -1
Flags = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.integer[Any] | np.bool_]  # class numbers (n,), or flags (n, labels)
