"""How far two measures agree, head by head: where attention weights mislead."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float64

from normviz.core.catalog import MEASURES, require_known
from normviz.core.flow import Flow
from normviz.core.keywords import refuse_unknown_keywords
from normviz.core.stream import Stream
from normviz.derived.ranks import highest_in_rows, spearman_in_rows
from normviz.derived.shares import (
    Planes,
    absolute_shares,
    describe_size,
    heads_of,
    mean_known,
    planes,
)
from normviz.errors import BadInput
from normviz.io.tables import dataframe_of

if TYPE_CHECKING:
    import pandas as pd

    from normviz.core.axes import StreamName
    from normviz.core.catalog import MeasureId
    from normviz.core.words import Comparison

PERFECT: "dict[Comparison, float]" = {"rank": 1.0, "overlap": 1.0, "distance": 0.0}
"""The comparisons, and the value of each for a measure and itself."""

TOP = 3
"""How many keys are the top ones by default."""

ByHead = Float64[np.ndarray, "layer head"]
ByQuery = Float64[np.ndarray, "head query"]


class HeadAgreement(NamedTuple):
    """How far two measures agree in one head, by each comparison."""

    layer: int
    head: int | None
    rank: float
    overlap: float
    distance: float


class Difference(NamedTuple):
    """A query for which two measures differ, and the key whose share differs most."""

    query: int
    query_piece: str
    key: int
    key_piece: str
    first_share: float
    """The key's share of what the query receives, by the first measure."""
    second_share: float
    rank: float
    overlap: float
    distance: float


@dataclass(frozen=True)
class PerQuery:
    """How far two measures agree for each query; NaN where there is nothing to compare."""

    rank: ByQuery
    overlap: ByQuery
    distance: ByQuery

    def disagreement(self, by: "Comparison") -> ByQuery:
        """Return how far they are from perfect agreement."""
        difference: ByQuery = np.abs(getattr(self, by) - PERFECT[by])
        return difference


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """How far two measures agree in every layer and head; see `normviz.agreement`."""

    first: str
    second: str
    layers: tuple[int, ...]
    heads: tuple[int | None, ...]
    """The heads, numbered as in the model; `(None,)` where neither measure has heads."""
    rank: ByHead
    """Spearman's rank correlation, from -1 to 1."""
    overlap: ByHead
    """The share of the top keys of one that are top keys of the other, from 0 to 1."""
    distance: ByHead
    """The Jensen-Shannon distance of the shares, from 0 to 1."""
    top: int
    stream: Stream = field(repr=False)

    def at(self, layer: int, head: int | None = None) -> HeadAgreement:
        """Return the three numbers of one head; omit the head where the measures have none."""
        require_known(layer, self.layers, "layer")
        require_known(head, self.heads, "head")
        index = self.layers.index(layer), self.heads.index(head)
        numbers = (float(getattr(self, name)[index]) for name in PERFECT)
        return HeadAgreement(layer, head, *numbers)

    def most_different(self, count: int = 5, *, by: "Comparison" = "rank") -> list[HeadAgreement]:
        """Return the heads in which the two agree least, the worst first; without NaN.

        Parameters
        ----------
        count
            How many, at most.
        by
            `rank`, `overlap` or `distance`.
        """
        require_known(by, PERFECT, "comparison")
        known = [head for head in self._every_head() if not math.isnan(getattr(head, by))]
        known.sort(key=lambda head: -abs(getattr(head, by) - PERFECT[by]))
        return known[:count]

    def _every_head(self) -> list[HeadAgreement]:
        return [self.at(layer, head) for layer in self.layers for head in self.heads]

    def where(
        self, layer: int, head: int | None = None, *, count: int = 5, by: "Comparison" = "distance"
    ) -> list[Difference]:
        """Return the queries of one head for which the two differ most, the worst first.

        Parameters
        ----------
        layer, head
            Numbered as in the model; no head where neither measure has heads.
        count
            How many, at most.
        by
            `rank`, `overlap` or `distance`; ties are broken by distance.
        """
        require_known(by, PERFECT, "comparison")
        self.at(layer, head)
        index = self.heads.index(head)
        pair = _paired_planes(self.stream, self.first, self.second, layer)
        one, other, visible = (values[[index]] for values in pair)
        rows = compare_rows(one, other, visible, self.top)
        first, second = (
            absolute_shares(np.where(visible, values, 0.0))[0] for values in (one, other)
        )
        differences = rows.disagreement(by)[0]
        order = np.lexsort(
            (-np.nan_to_num(rows.distance[0]), -np.nan_to_num(differences, nan=-1.0))
        )
        keys = np.nan_to_num(np.abs(first - second)).argmax(axis=-1)
        known = [int(query) for query in order if not math.isnan(differences[query])]
        return [self._difference(q, int(keys[q]), (first, second), rows) for q in known[:count]]

    def _difference(
        self, query: int, key: int, shares: tuple[np.ndarray, np.ndarray], rows: PerQuery
    ) -> Difference:
        queries, keys = self.stream.queries, self.stream.keys
        both_shares = (float(values[query, key]) for values in shares)
        numbers = (float(getattr(rows, name)[0, query]) for name in PERFECT)
        return Difference(query, queries[query], key, keys[key], *both_shares, *numbers)

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row for each layer and head."""
        every = self._every_head()
        table = {name: [getattr(head, name) for head in every] for name in HeadAgreement._fields}
        if self.heads == (None,):
            del table["head"]
        return dataframe_of(table)

    def __str__(self) -> str:
        """Return the means, and the heads that disagree most."""
        means = {name: float(mean_known(getattr(self, name).ravel())) for name in PERFECT}
        title = f"{self.first} against {self.second} ({describe_size(self.stream, self.heads)})"
        summary = (
            f"mean: rank correlation {means['rank']:.2f}, overlap of the top {self.top} keys "
            f"{means['overlap']:.2f}, Jensen-Shannon distance {means['distance']:.2f}"
        )
        heading = f"{'layer':>7}{'head':>6}{'rank':>8}{'overlap':>9}{'distance':>10}"
        lines = [
            f"{one.layer:>7}{'all' if one.head is None else one.head:>6}"
            f"{one.rank:>8.2f}{one.overlap:>9.2f}{one.distance:>10.2f}"
            for one in self.most_different()
        ]
        return "\n".join([title, summary, "they agree least in", heading, *lines])

    __repr__ = __str__


@refuse_unknown_keywords
def agreement(
    flow: Flow,
    a: "MeasureId",
    b: "MeasureId",
    *,
    top: int = TOP,
    stream: "StreamName | None" = None,
) -> Agreement:
    """Return how far two measures agree in every layer and head.

    For each query the keys it sees are compared (pairs that are zero in both measures, such as
    those that a mask forbids, are left out), and the queries are averaged: Spearman's rank
    correlation, the overlap of the top keys, and the Jensen-Shannon distance of the shares (the
    square root of the divergence to base 2, which is our choice). Pascual et al. 2021 discuss the
    gap between attention and attribution: `normviz.agreement(flow, "weight", "head-attribution")`.

    Parameters
    ----------
    flow
        A flow that holds both measures.
    a, b
        Any two measures. One without heads is compared with each head of the other; one without
        queries, such as `value-norm`, counts for every query. Negative numbers rank low, and
        count in shares by their absolute value.
    top
        How many keys are the top ones; for a query that sees no more, one fewer than it sees.
        Of equal keys the earlier comes first.
    stream
        Which attention, where there are several.

    Notes
    -----
    A query that sees only one key, or for which a measure is the same for all keys, has no order:
    it has no rank correlation and no overlap, and is left out of their means. NaN where no query
    is left.
    """
    if top < 1:
        raise BadInput(
            f"top is {top}.",
            "Expected at least one key to compare.",
            "Pass top=1 or more.",
        )
    chosen = flow.stream(stream)
    first, second = chosen.require_held(a), chosen.require_held(b)
    means: dict[str, list[np.ndarray]] = {name: [] for name in PERFECT}
    for layer in chosen.layers:
        rows = compare_rows(*_paired_planes(chosen, first, second, layer), top)
        for name, values in means.items():
            values.append(mean_known(getattr(rows, name)))
    heads = heads_of(chosen, first, second)
    arrays = {
        name: np.array(values, dtype=np.float64).reshape(len(chosen.layers), len(heads))
        for name, values in means.items()
    }
    return Agreement(first, second, chosen.layers, heads, **arrays, top=top, stream=chosen)


def _paired_planes(
    stream: Stream, first: str, second: str, layer: int
) -> tuple[Planes, Planes, Bool[np.ndarray, "head query key"]]:
    """Return two measures of a layer in one shape, and which keys each query sees."""
    one, other = np.broadcast_arrays(*(planes(stream, name, layer) for name in (first, second)))
    # A measure without queries does not show what a mask forbids.
    with_queries = [name for name in (first, second) if "query" in MEASURES[name].axes]
    nonzero = [planes(stream, name, layer) != 0 for name in with_queries or (first, second)]
    visible = np.broadcast_to(np.logical_or.reduce(np.broadcast_arrays(*nonzero)), one.shape)
    return one, other, visible


def compare_rows(
    one: Planes, other: Planes, visible: Bool[np.ndarray, "head query key"], top: int
) -> PerQuery:
    """Return how far two measures agree for each head and query, over the visible keys."""
    count = visible.sum(axis=-1)
    rank = spearman_in_rows(one, other, visible)
    size = np.minimum(top, count - 1)
    highest = [highest_in_rows(values, visible, size) for values in (one, other)]
    overlap = (highest[0] & highest[1]).sum(axis=-1) / np.maximum(size, 1)
    shares = [absolute_shares(np.where(visible, values, 0.0)) for values in (one, other)]
    distance = np.where(count > 1, jensen_shannon_distance(*shares), math.nan)
    return PerQuery(rank, np.where(np.isnan(rank), math.nan, overlap), distance)


def jensen_shannon_distance(one: Planes, other: Planes) -> ByQuery:
    """Return the square root of the Jensen-Shannon divergence of two rows of shares, to base 2."""
    middle = (one + other) / 2
    divergences = []
    for shares in (one, other):
        ratio = np.divide(shares, middle, out=np.ones(shares.shape), where=shares > 0)
        divergences.append((shares * np.log2(ratio)).sum(axis=-1))
    distance: ByQuery = np.sqrt(np.clip((divergences[0] + divergences[1]) / 2, 0.0, 1.0))
    return distance
