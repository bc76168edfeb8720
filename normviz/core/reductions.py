"""Heads combined into one map, and rows as shares: each answered once, for every package."""

import math

import numpy as np
from jaxtyping import Float

from normviz.core.catalog import MEASURES

Values = Float[np.ndarray, "..."]
"""Numbers of one layer, in either precision."""


def combine_heads(values: Values, measure: str, axis: int = 0) -> Values:
    """Return one map for all heads: their mean or their sum, as the catalog says of the measure.

    Weights are averaged, so that rows still add up to one; norms are added up.
    """
    if MEASURES[measure].over_heads == "mean":
        mean: Values = values.mean(axis=axis)
        return mean
    total: Values = values.sum(axis=axis)
    return total


def row_shares(values: Values, *, keep_empty: bool = False) -> Values:
    """Return each number divided by the sum of the absolute values of its row (the last axis).

    A row without any value is NaN, or with `keep_empty` stays as it is; signs are kept.
    """
    total = np.abs(values).sum(axis=-1, keepdims=True)
    shares: Values = values / np.where(total > 0, total, 1.0 if keep_empty else math.nan)
    return shares
