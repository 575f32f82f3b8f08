"""A heat map described as data: two parameters, one number in each cell."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Cells z (len(y), len(x)); NaN where nothing is known yet."""

    title: str
    x_label: str
    y_label: str
    value: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    z: npt.NDArray[np.float64]
    caption: str = ""
    alt: str = ""

    def __post_init__(self) -> None:
        """Check the shape."""
        if self.z.shape != (len(self.y), len(self.x)):
            raise ValueError(f"z must have shape {(len(self.y), len(self.x))}, got {self.z.shape}")

    @property
    def empty(self) -> bool:
        """Whether nothing is known yet."""
        return not bool(np.isfinite(self.z).any())

    def texts(self) -> list[list[str]]:
        """What stands in each cell.

        >>> HeatMap("", "r", "β", "mAP", ("16",), ("0.5", "0.6"), np.array([[0.5], [np.nan]])).texts()
        [['0.500'], ['']]
        """
        return [[f"{value:.3f}" if math.isfinite(value) else "" for value in row] for row in self.z.tolist()]

    def table(self) -> pd.DataFrame:
        """The same as a table: one row a y, one column an x."""
        found = pd.DataFrame(self.z, columns=list(self.x))
        found.insert(0, f"{self.y_label} \\ {self.x_label}", list(self.y))
        return found
