"""Counts, means and variances that can be merged: any split of a corpus gives the same."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

Cells = Float64[np.ndarray, "*cell"]

Z_95 = 1.96
"""How many standard errors on either side hold 95% of a normal distribution."""


@dataclass(frozen=True, eq=False)
class Moments:
    """For each cell the number of values, their mean, and the sum of squared deviations from it.

    Merged by the formulas of Chan, Golub and LeVeque (1979), which lose nothing to cancellation.
    """

    count: Int64[np.ndarray, "*cell"]
    mean: Cells
    squares: Cells

    @classmethod
    def of(cls, values: Any) -> "Moments":
        """Return the moments of one value for each cell; NaN counts as no value."""
        array = np.asarray(values, dtype=np.float64)
        known = ~np.isnan(array)
        return cls(known.astype(np.int64), np.where(known, array, 0.0), np.zeros(array.shape))

    @classmethod
    def over_last_axis(cls, values: Any) -> "Moments":
        """Return the moments of all values along the last axis, for the cells of the others."""
        array = np.asarray(values, dtype=np.float64)
        mean = array.mean(axis=-1)
        squares = ((array - mean[..., None]) ** 2).sum(axis=-1)
        return cls(np.full(mean.shape, array.shape[-1], dtype=np.int64), mean, squares)

    def __add__(self, other: "Moments") -> "Moments":
        """Return the moments of the values of both."""
        count = self.count + other.count
        whole = np.maximum(count, 1)
        difference = other.mean - self.mean
        mean = self.mean + difference * (other.count / whole)
        cross = difference**2 * (self.count * (other.count / whole))
        return Moments(count, mean, self.squares + other.squares + cross)

    @property
    def means(self) -> Cells:
        """The mean of each cell; NaN for cells without values."""
        return np.where(self.count > 0, self.mean, math.nan)

    @property
    def deviation(self) -> Cells:
        """The standard deviation of each cell's values; NaN for fewer than two."""
        freedom = np.maximum(self.count - 1, 1)
        return np.where(self.count > 1, np.sqrt(self.squares / freedom), math.nan)

    @property
    def interval(self) -> Cells:
        """Half the width of the 95% confidence interval of each mean."""
        half: Cells = Z_95 * self.deviation / np.sqrt(np.maximum(self.count, 1))
        return half
