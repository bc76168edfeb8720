"""Ranks, and how well two orders agree."""

import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64

Rows = Float64[np.ndarray, "*row place"]
"""Numbers whose last axis is put in order, row by row."""


def ranks(values: Any) -> Float64[np.ndarray, " place"]:
    """The rank of every number, from 1 for the least; numbers that tie share the mean of theirs."""
    return ranks_in_rows(np.asarray(values, dtype=np.float64).ravel())


def spearman(one: Any, other: Any) -> float:
    """The rank correlation of two arrays of one size; NaN where either has no order at all."""
    first, second = (np.asarray(values, dtype=np.float64).ravel() for values in (one, other))
    return float(spearman_in_rows(first, second, np.ones(first.shape, dtype=bool)))


def ranks_in_rows(values: Rows) -> Rows:
    """The ranks along the last axis, each row for itself; ties share the mean of theirs."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    count = values.shape[-1]
    is_new = np.ones(values.shape, dtype=bool)
    is_new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    is_last = np.ones(values.shape, dtype=bool)
    is_last[..., :-1] = is_new[..., 1:]
    place = np.arange(count)
    first = np.maximum.accumulate(np.where(is_new, place, 0), axis=-1)
    last = np.where(is_last, place, count)[..., ::-1]
    last = np.minimum.accumulate(last, axis=-1)[..., ::-1]
    found = np.empty(values.shape)
    np.put_along_axis(found, order, (first + last) / 2 + 1, axis=-1)
    return found


def spearman_in_rows(
    one: Rows, other: Rows, counted: Bool[np.ndarray, "*row place"]
) -> Float64[np.ndarray, "*row"]:
    """The rank correlation of each pair of rows over the places that count; NaN without order."""
    middle = (counted.sum(axis=-1, keepdims=True) + 1) / 2  # the mean of the ranks 1 to n
    # What does not count goes to the end, where it changes no other rank.
    first, second = (
        np.where(counted, ranks_in_rows(np.where(counted, values, math.inf)) - middle, 0.0)
        for values in (one, other)
    )
    length = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    both = (first * second).sum(axis=-1)
    found = np.full(both.shape, math.nan)
    np.divide(both, length, out=found, where=length > 0)
    return found


def highest_in_rows(
    values: Rows, counted: Bool[np.ndarray, "*row place"], size: Int64[np.ndarray, "*row"]
) -> Bool[np.ndarray, "*row place"]:
    """Which places hold the so many highest numbers of each row; of equals the earlier counts."""
    order = np.argsort(np.where(counted, -values, math.inf), axis=-1, kind="stable")
    found = np.empty(values.shape, dtype=bool)
    among = np.arange(values.shape[-1]) < size[..., None]
    np.put_along_axis(found, order, among, axis=-1)
    return found
