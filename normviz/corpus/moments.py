"""Counts, means and spreads that can be merged: any split of a corpus gives the same."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

Cells = Float64[np.ndarray, "*cell"]

CERTAINTY = 1.96
"""How many standard errors to either side hold 95% of a normal distribution."""


@dataclass(frozen=True, eq=False)
class Moments:
    """How many values each cell has seen, their mean, and the sum of squares around it.

    Merged by the formulas of Chan, Golub and LeVeque (1979), which lose nothing to cancellation.
    """

    count: Int64[np.ndarray, "*cell"]
    mean: Cells
    squares: Cells

    @classmethod
    def of(cls, values: Any) -> "Moments":
        """One value for each cell; NaN is none at all."""
        found = np.asarray(values, dtype=np.float64)
        known = ~np.isnan(found)
        return cls(known.astype(np.int64), np.where(known, found, 0.0), np.zeros(found.shape))

    @classmethod
    def along(cls, values: Any) -> "Moments":
        """All values along the last axis, for the cells of the others."""
        found = np.asarray(values, dtype=np.float64)
        mean = found.mean(axis=-1)
        squares = ((found - mean[..., None]) ** 2).sum(axis=-1)
        return cls(np.full(mean.shape, found.shape[-1], dtype=np.int64), mean, squares)

    def __add__(self, other: "Moments") -> "Moments":
        """Both together."""
        count = self.count + other.count
        whole = np.maximum(count, 1)
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.count / whole)
        cross = apart**2 * (self.count * (other.count / whole))
        return Moments(count, mean, self.squares + other.squares + cross)

    @property
    def means(self) -> Cells:
        """The mean of each cell; NaN where nothing was seen."""
        return np.where(self.count > 0, self.mean, math.nan)

    @property
    def deviation(self) -> Cells:
        """The standard deviation of each cell's values; NaN for fewer than two."""
        rest = np.maximum(self.count - 1, 1)
        return np.where(self.count > 1, np.sqrt(self.squares / rest), math.nan)

    @property
    def interval(self) -> Cells:
        """Half the width of the 95% confidence interval of each mean."""
        half: Cells = CERTAINTY * self.deviation / np.sqrt(np.maximum(self.count, 1))
        return half
