"""Ranks, and how well two orders agree."""

import math
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64, Int64

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Rows = Float64[np.ndarray, "*row entry"]
"""Numbers whose last axis is ranked, row by row."""


def ranks(values: "ArrayLike") -> Float64[np.ndarray, " entry"]:
    """Return the rank of every number, from 1 for the lowest; ties share their mean rank."""
    return ranks_in_rows(np.asarray(values, dtype=np.float64).ravel())


def spearman(first: "ArrayLike", second: "ArrayLike") -> float:
    """Return the rank correlation of two arrays of one size; NaN where either is constant."""
    one, other = (np.asarray(values, dtype=np.float64).ravel() for values in (first, second))
    return float(spearman_in_rows(one, other, np.ones(one.shape, dtype=bool)))


def ranks_in_rows(values: Rows) -> Rows:
    """Return the ranks along the last axis, row by row; ties share their mean rank."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    count = values.shape[-1]
    is_new = np.ones(values.shape, dtype=bool)
    is_new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    is_last = np.ones(values.shape, dtype=bool)
    is_last[..., :-1] = is_new[..., 1:]
    position = np.arange(count)
    first = np.maximum.accumulate(np.where(is_new, position, 0), axis=-1)
    last = np.where(is_last, position, count)[..., ::-1]
    last = np.minimum.accumulate(last, axis=-1)[..., ::-1]
    ranked = np.empty(values.shape)
    np.put_along_axis(ranked, order, (first + last) / 2 + 1, axis=-1)
    return ranked


def spearman_in_rows(
    first: Rows, second: Rows, counted: Bool[np.ndarray, "*row entry"]
) -> Float64[np.ndarray, "*row"]:
    """Return the rank correlation of each pair of rows over counted entries; NaN if constant."""
    middle = (counted.sum(axis=-1, keepdims=True) + 1) / 2  # the mean of the ranks 1 to n
    # Entries that do not count are ranked last, where they change no other rank.
    one, other = (
        np.where(counted, ranks_in_rows(np.where(counted, values, math.inf)) - middle, 0.0)
        for values in (first, second)
    )
    norm = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    product = (one * other).sum(axis=-1)
    correlation = np.full(product.shape, math.nan)
    np.divide(product, norm, out=correlation, where=norm > 0)
    return correlation


def highest_in_rows(
    values: Rows, counted: Bool[np.ndarray, "*row entry"], size: Int64[np.ndarray, "*row"]
) -> Bool[np.ndarray, "*row entry"]:
    """Return which counted entries are the `size` highest of each row; the earlier of equals."""
    order = np.argsort(np.where(counted, -values, math.inf), axis=-1, kind="stable")
    highest = np.empty(values.shape, dtype=bool)
    np.put_along_axis(highest, order, np.arange(values.shape[-1]) < size[..., None], axis=-1)
    return highest
