"""How far two measures agree, head by head: where attention misleads."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float64

from normviz.core.axes import Said
from normviz.core.catalog import MEASURES, require_known
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.derived.ranks import highest_in_rows, spearman_in_rows
from normviz.derived.shares import Planes, divided, heads_of, mean_known, planes, said_of
from normviz.errors import BadInput
from normviz.io.tables import tidy

if TYPE_CHECKING:
    import pandas as pd

BEST = {"rank": 1.0, "overlap": 1.0, "distance": 0.0}
"""The ways to tell how far two measures agree, and what each says of a measure and itself."""

TOP = 3
"""How many keys are the top ones, unless somebody says otherwise."""

ByHead = Float64[np.ndarray, "layer head"]
ByQuery = Float64[np.ndarray, "head query"]


class HeadAgreement(NamedTuple):
    """How far two measures agree in one head."""

    layer: int
    head: int | None
    rank: float
    overlap: float
    distance: float


class Difference(NamedTuple):
    """A query at which two measures differ, and the key whose share differs most."""

    query: int
    query_piece: str
    key: int
    key_piece: str
    first_share: float
    """The key's share of what the query takes, by the first measure."""
    second_share: float
    rank: float
    overlap: float
    distance: float


@dataclass(frozen=True)
class Rows:
    """How far two measures agree for each query; NaN where there is nothing to compare."""

    rank: ByQuery
    overlap: ByQuery
    distance: ByQuery

    def apart(self, by: str) -> ByQuery:
        """How far they are from agreement, the more the further."""
        apart: ByQuery = np.abs(getattr(self, by) - BEST[by])
        return apart


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """How far two measures agree in every layer and head; see `normviz.agreement`."""

    first: str
    second: str
    layers: tuple[int, ...]
    heads: tuple[int | None, ...]
    """The heads by the model's numbers; `(None,)` where neither measure has heads."""
    rank: ByHead
    """Spearman's rank correlation, from -1 to 1."""
    overlap: ByHead
    """The share of the top keys of one that are top keys of the other, from 0 to 1."""
    distance: ByHead
    """The Jensen-Shannon distance of the shares, from 0 to 1."""
    top: int
    stream: Stream = field(repr=False)

    def at(self, layer: int, head: int | None = None) -> HeadAgreement:
        """The three numbers of one head; without a head, where the measures have none."""
        require_known(layer, self.layers, "layer")
        require_known(head, self.heads, "head")
        place = self.layers.index(layer), self.heads.index(head)
        found = (float(getattr(self, name)[place]) for name in BEST)
        return HeadAgreement(layer, head, *found)

    def most_different(self, count: int = 5, *, by: Said = "rank") -> list[HeadAgreement]:
        """The heads in which the two agree least, the worst first; those without a number are not.

        Parameters
        ----------
        count
            How many, at most.
        by
            `rank`, `overlap` or `distance`.
        """
        require_known(by, BEST, "comparison")
        every = [self.at(layer, head) for layer in self.layers for head in self.heads]
        known = [found for found in every if not math.isnan(getattr(found, by))]
        known.sort(key=lambda found: -abs(getattr(found, by) - BEST[by]))
        return known[:count]

    def where(
        self, layer: int, head: int | None = None, *, count: int = 5, by: Said = "distance"
    ) -> list[Difference]:
        """The queries of one head at which the two differ most, the worst first.

        Parameters
        ----------
        layer, head
            By the model's numbers; no head where neither measure has heads.
        count
            How many, at most.
        by
            `rank`, `overlap` or `distance`; equals are told apart by their distance.
        """
        require_known(by, BEST, "comparison")
        self.at(layer, head)
        plane = self.heads.index(head)
        one, other, seen = _pair(self.stream, self.first, self.second, layer)
        one, other, seen = (values[[plane]] for values in (one, other, seen))
        rows = compared(one, other, seen, self.top)
        first, second = (divided(np.where(seen, values, 0.0))[0] for values in (one, other))
        apart = rows.apart(by)[0]
        order = np.lexsort((-np.nan_to_num(rows.distance[0]), -np.nan_to_num(apart, nan=-1.0)))
        keys = np.nan_to_num(np.abs(first - second)).argmax(axis=-1)
        known = [int(query) for query in order if not math.isnan(apart[query])]
        return [self._difference(q, int(keys[q]), (first, second), rows) for q in known[:count]]

    def _difference(
        self, query: int, key: int, shares: tuple[np.ndarray, np.ndarray], rows: Rows
    ) -> Difference:
        queries, keys = self.stream.queries, self.stream.keys
        both = (float(values[query, key]) for values in shares)
        found = (float(getattr(rows, name)[0, query]) for name in BEST)
        return Difference(query, queries[query], key, keys[key], *both, *found)

    def to_dataframe(self) -> "pd.DataFrame":
        """One row for each layer and head."""
        every = [self.at(layer, head) for layer in self.layers for head in self.heads]
        table = {name: [getattr(f, name) for f in every] for name in HeadAgreement._fields}
        if self.heads == (None,):
            del table["head"]
        return tidy(table)

    def __str__(self) -> str:
        """The means, and the heads that disagree most."""
        means = {name: float(mean_known(getattr(self, name).ravel())) for name in BEST}
        title = f"{self.first} against {self.second} ({said_of(self.stream, self.heads)})"
        told = (
            f"mean: rank correlation {means['rank']:.2f}, overlap of the top {self.top} keys "
            f"{means['overlap']:.2f}, Jensen-Shannon distance {means['distance']:.2f}"
        )
        heading = f"{'layer':>7}{'head':>6}{'rank':>8}{'overlap':>9}{'distance':>10}"
        lines = [
            f"{found.layer:>7}{'all' if found.head is None else found.head:>6}"
            f"{found.rank:>8.2f}{found.overlap:>9.2f}{found.distance:>10.2f}"
            for found in self.most_different()
        ]
        return "\n".join([title, told, "they agree least in", heading, *lines])

    __repr__ = __str__


def agreement(
    flow: Flow, a: str, b: str, *, top: int = TOP, stream: str | None = None
) -> Agreement:
    """How far two measures agree in every layer and head.

    For each query the keys it sees are compared (pairs that are zero in both measures, as where
    a mask forbids them, are left out), and the queries are averaged: Spearman's rank correlation,
    the overlap of the top keys, and the Jensen-Shannon distance of the shares (the square root of
    the divergence to base 2, which is our choice). The gap between attention and attribution that
    Pascual et al. 2021 speak of is `normviz.agreement(flow, "weight", "head-attribution")`.

    Parameters
    ----------
    flow
        A flow that holds both measures.
    a, b
        Any two measures. One without heads is compared with each head of the other; one without
        queries, such as `value-norm`, counts for every query. Negative numbers are low in rank,
        and their size is their share.
    top
        How many keys are the top ones; of a query that sees no more, one fewer than it sees.
        Of equals the earlier key comes first.
    stream
        Which attention, where there are several.

    Notes
    -----
    A query that sees one key, or to which a measure gives all keys alike, has no order: it has no
    rank correlation and no overlap, and is left out of their means. NaN where no query is left.
    """
    if top < 1:
        raise BadInput(
            f"The top {top} keys are to be compared.",
            "At least one key is needed.",
            "Give top=1 or more.",
        )
    chosen = flow.stream(stream)
    first, second = chosen.require_held(a), chosen.require_held(b)
    found: dict[str, list[np.ndarray]] = {name: [] for name in BEST}
    for layer in chosen.layers:
        rows = compared(*_pair(chosen, first, second, layer), top)
        for name, values in found.items():
            values.append(mean_known(getattr(rows, name)))
    heads = heads_of(chosen, first, second)
    arrays = {
        name: np.array(values, dtype=np.float64).reshape(len(chosen.layers), len(heads))
        for name, values in found.items()
    }
    return Agreement(first, second, chosen.layers, heads, **arrays, top=top, stream=chosen)


def _pair(
    stream: Stream, first: str, second: str, layer: int
) -> tuple[Planes, Planes, Bool[np.ndarray, "head query key"]]:
    """Two measures of a layer in one shape, and which keys each query sees."""
    one, other = np.broadcast_arrays(*(planes(stream, name, layer) for name in (first, second)))
    # A measure without queries cannot know what a mask forbids.
    asked = [name for name in (first, second) if "query" in MEASURES[name].axes]
    counted = [planes(stream, name, layer) != 0 for name in asked or (first, second)]
    seen = np.broadcast_to(np.logical_or.reduce(np.broadcast_arrays(*counted)), one.shape)
    return one, other, seen


def compared(
    one: Planes, other: Planes, seen: Bool[np.ndarray, "head query key"], top: int
) -> Rows:
    """How far two measures agree for each head and query, over the keys that are seen."""
    count = seen.sum(axis=-1)
    rank = spearman_in_rows(one, other, seen)
    size = np.minimum(top, count - 1)
    among = [highest_in_rows(values, seen, size) for values in (one, other)]
    overlap = (among[0] & among[1]).sum(axis=-1) / np.maximum(size, 1)
    shares = [divided(np.where(seen, values, 0.0)) for values in (one, other)]
    distance = np.where(count > 1, distance_in_rows(*shares), math.nan)
    return Rows(rank, np.where(np.isnan(rank), math.nan, overlap), distance)


def distance_in_rows(one: Planes, other: Planes) -> ByQuery:
    """The square root of the Jensen-Shannon divergence of two rows of shares, to base 2."""
    middle = (one + other) / 2
    parts = []
    for shares in (one, other):
        times = np.divide(shares, middle, out=np.ones(shares.shape), where=shares > 0)
        parts.append((shares * np.log2(times)).sum(axis=-1))
    distance: ByQuery = np.sqrt(np.clip((parts[0] + parts[1]) / 2, 0.0, 1.0))
    return distance
