"""Ranks, and how well two orders agree."""

import math
from typing import Any

import numpy as np
from jaxtyping import Float64


def ranks(values: Any) -> Float64[np.ndarray, " place"]:
    """The rank of every number, from 1 for the least; numbers that tie share the mean of theirs."""
    numbers = np.asarray(values).ravel()
    _, group, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)  # the highest rank in each group of equal numbers
    shared: Float64[np.ndarray, " place"] = (last - (sizes - 1) / 2)[group.ravel()]
    return shared


def spearman(one: Any, other: Any) -> float:
    """The rank correlation of two arrays of one size; NaN where either has no order at all."""
    first, second = (ranks(values) for values in (one, other))
    first, second = first - first.mean(), second - second.mean()
    length = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / length if length else math.nan
