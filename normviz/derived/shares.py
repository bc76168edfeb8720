"""A measure as shares: how each query divides what it takes among the keys."""

import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from normviz.core.catalog import MEASURES
from normviz.core.stream import Stream

Planes = Float64[np.ndarray, "head query key"]
"""One layer of a measure in double precision; all heads together are one head."""


def planes(stream: Stream, measure: str, layer: int) -> Planes:
    """One layer of a measure with all three axes; without queries, it counts for each of them."""
    axes = MEASURES[measure].axes
    values = stream.at(measure, layer).astype(np.float64)
    if "query" not in axes:
        rows = (*values.shape[:-1], stream.size("query"), stream.size("key"))
        values = np.broadcast_to(values[..., None, :], rows)
    return values if "head" in axes else values[None]


def heads_of(stream: Stream, *measures: str) -> tuple[int | None, ...]:
    """The heads that measures are told apart by; `(None,)` where none of them has heads."""
    has_heads = any("head" in MEASURES[name].axes for name in measures)
    return stream.heads if has_heads else (None,)


def said_of(stream: Stream, heads: tuple[int | None, ...]) -> str:
    """Which layers and heads of which stream, in words."""
    together = "all heads together" if heads == (None,) else f"{len(heads)} heads"
    return f"{stream.name}, {len(stream.layers)} layers × {together}"


def divided(values: Planes) -> Planes:
    """The size of each number as a share of its row; NaN in a row that holds nothing."""
    sizes = np.abs(values)
    whole = sizes.sum(axis=-1, keepdims=True)
    found = np.full(sizes.shape, math.nan)
    np.divide(sizes, whole, out=found, where=whole > 0)
    return found


def visible(stream: Stream, measure: str) -> Bool[np.ndarray, "query key"]:
    """Which keys a query may see: in a decoder those up to itself, elsewhere all of them.

    A pair that the measure gives anything to is seen in any case, as in the prefix of a prefix
    language model.
    """
    shape = stream.size("query"), stream.size("key")
    if stream.name != "decoder":
        return np.ones(shape, dtype=bool)
    seen = np.tri(*shape, dtype=bool)
    if "query" in MEASURES[measure].axes:
        for layer in stream.layers:
            seen |= (planes(stream, measure, layer) != 0).any(axis=0)
    return seen


def mean_known(values: Any, axis: int = -1) -> Any:
    """The mean of what is known along an axis; NaN where nothing is."""
    numbers = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(numbers)
    count = known.sum(axis=axis)
    total = np.where(known, numbers, 0.0).sum(axis=axis)
    return np.divide(total, count, out=np.full(total.shape, math.nan), where=count > 0)
