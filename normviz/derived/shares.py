"""One layer of a measure with all its axes, and what its queries can see."""

import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from normviz.core.catalog import MEASURES
from normviz.core.reductions import row_shares
from normviz.core.stream import Stream

Planes = Float64[np.ndarray, "head query key"]
"""One layer of a measure in double precision; all heads together are one head."""


def planes(stream: Stream, measure: str, layer: int) -> Planes:
    """Return one layer of a measure with all three axes; one without queries is repeated."""
    axes = MEASURES[measure].axes
    values = stream.at(measure, layer).astype(np.float64)
    if "query" not in axes:
        shape = (*values.shape[:-1], stream.size("query"), stream.size("key"))
        values = np.broadcast_to(values[..., None, :], shape)
    return values if "head" in axes else values[None]


def absolute_shares(values: Planes) -> Planes:
    """Return the absolute value of each number as a share of its row; NaN in empty rows."""
    return row_shares(np.abs(values))


def heads_of(stream: Stream, *measures: str) -> tuple[int | None, ...]:
    """Return the heads that the measures have; `(None,)` where none of them has heads."""
    has_heads = any("head" in MEASURES[name].axes for name in measures)
    return stream.heads if has_heads else (None,)


def describe_size(stream: Stream, heads: tuple[int | None, ...]) -> str:
    """Return the name of a stream with its numbers of layers and heads, for a title."""
    together = "all heads together" if heads == (None,) else f"{len(heads)} heads"
    return f"{stream.name}, {len(stream.layers)} layers × {together}"


def visible_pairs(stream: Stream, measure: str) -> Bool[np.ndarray, "query key"]:
    """Return which keys a query can see: in a decoder those up to itself, elsewhere all.

    A pair with any nonzero value is visible in any case, as in the prefix of a prefix language
    model.
    """
    shape = stream.size("query"), stream.size("key")
    if stream.kind != "decoder":
        return np.ones(shape, dtype=bool)
    visible = np.tri(*shape, dtype=bool)
    if "query" in MEASURES[measure].axes:
        for layer in stream.layers:
            visible |= (planes(stream, measure, layer) != 0).any(axis=0)
    return visible


def mean_known(values: Any, axis: int = -1) -> Any:
    """Return the mean along an axis without NaN; NaN where nothing else is there."""
    numbers = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(numbers)
    count = known.sum(axis=axis)
    total = np.where(known, numbers, 0.0).sum(axis=axis)
    return np.divide(total, count, out=np.full(total.shape, math.nan), where=count > 0)
