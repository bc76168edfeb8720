"""Where the content of tokens comes from, layer by layer: themselves, neighbors, and how far."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64, Int64

from normviz.core.catalog import MEASURES, require_known
from normviz.core.flow import Flow
from normviz.core.keywords import refuse_unknown_keywords
from normviz.core.stream import Stream
from normviz.core.words import CONTEXT_TABLES
from normviz.derived.shares import Planes, absolute_shares, mean_known, planes, visible_pairs
from normviz.errors import BadInput
from normviz.io.tables import dataframe_of

if TYPE_CHECKING:
    import pandas as pd

    from normviz.core.axes import StreamName
    from normviz.core.catalog import MeasureId
    from normviz.core.words import ContextTable

ByLayer = Float64[np.ndarray, " layer"]
ByToken = Float64[np.ndarray, "layer query"]


@dataclass(frozen=True, eq=False, repr=False)
class Context:
    """Where the content of tokens comes from, as shares of each row; see `normviz.context`."""

    measure: str
    layers: tuple[int, ...]
    own: ByToken
    """For each token, the share that comes from itself; NaN where its row is empty."""
    largest: ByToken
    """For each token, the share of the largest contributor."""
    is_own_largest: Bool[np.ndarray, "layer query"]
    """Whether no other token contributes more than the token itself."""
    offsets: Int64[np.ndarray, " offset"]
    """The position of the key minus that of the query: -1 is the token before."""
    by_offset: Float64[np.ndarray, "layer offset"]
    """The mean share that comes from each offset; over all offsets they add up to one."""
    chance: Float64[np.ndarray, " offset"]
    """The same for tokens that receive equally from every key they see."""
    stream: Stream = field(repr=False)

    @property
    def own_mean(self) -> ByLayer:
        """The share that comes from the token itself, averaged over tokens."""
        mean: ByLayer = mean_known(self.own)
        return mean

    @property
    def own_quartiles(self) -> Float64[np.ndarray, "layer three"]:
        """The quartiles of the own share over tokens: lower, median, upper."""
        known = [row[~np.isnan(row)] for row in self.own]
        levels = (0.25, 0.5, 0.75)
        return np.array([np.quantile(row, levels) if row.size else [np.nan] * 3 for row in known])

    @property
    def largest_mean(self) -> ByLayer:
        """The share of the largest contributor, averaged over tokens."""
        mean: ByLayer = mean_known(self.largest)
        return mean

    @property
    def own_first(self) -> ByLayer:
        """How often a token is its own largest contributor, from 0 to 1."""
        rate: ByLayer = mean_known(np.where(np.isnan(self.own), np.nan, self.is_own_largest))
        return rate

    @property
    def by_distance(self) -> Float64[np.ndarray, "layer distance"]:
        """The mean share by distance in tokens, before and after together."""
        return self._sum_by_distance(self.by_offset)

    @property
    def chance_by_distance(self) -> Float64[np.ndarray, " distance"]:
        """The same for tokens that receive equally from every key they see."""
        summed: Float64[np.ndarray, " distance"] = self._sum_by_distance(self.chance[None])[0]
        return summed

    def _sum_by_distance(
        self, shares: Float64[np.ndarray, "layer offset"]
    ) -> Float64[np.ndarray, "layer distance"]:
        distance = np.abs(self.offsets)
        every = range(int(distance.max()) + 1)
        return np.stack([shares[:, distance == steps].sum(axis=1) for steps in every], axis=1)

    def to_dataframe(self, by: "ContextTable" = "layer") -> "pd.DataFrame":
        """Return one row for each layer, or one for each layer and offset.

        Parameters
        ----------
        by
            `layer` for own share, quartiles and largest share; `offset` for shares by distance.
        """
        require_known(by, CONTEXT_TABLES, "table")
        if by == "layer":
            return dataframe_of({"layer": list(self.layers), **self._columns()})
        count = len(self.offsets)
        return dataframe_of({
            "layer": np.repeat(self.layers, count),
            "offset": np.tile(self.offsets, len(self.layers)),
            "distance": np.tile(np.abs(self.offsets), len(self.layers)),
            "share": self.by_offset.ravel(),
            "chance": np.tile(self.chance, len(self.layers)),
        })  # fmt: skip

    def _columns(self) -> dict[str, np.ndarray]:
        lower, median, upper = self.own_quartiles.T
        return {
            "own": self.own_mean,
            "own_lower": lower,
            "own_median": median,
            "own_upper": upper,
            "largest": self.largest_mean,
            "own_first": self.own_first,
        }

    def __str__(self) -> str:
        """Return own share, largest share, neighbors and mean distance, layer by layer."""
        near, steps = self.by_distance, np.arange(self.by_distance.shape[1])
        title = f"{self.measure} ({self.stream.name}, {len(self.stream.queries)} tokens), as shares"
        heading = (
            f"{'layer':>7}{'own':>7}{'median':>8}{'largest':>9}{'own is largest':>16}"
            f"{'neighbors':>12}{'mean distance':>15}"
        )
        columns = self._columns()
        lines = [
            f"{layer:>7}{columns['own'][n]:>7.0%}{columns['own_median'][n]:>8.0%}"
            f"{columns['largest'][n]:>9.0%}{columns['own_first'][n]:>16.0%}"
            f"{near[n, 1:2].sum():>12.0%}{near[n] @ steps:>15.1f}"
            for n, layer in enumerate(self.layers)
        ]
        return "\n".join([title, heading, *lines])

    __repr__ = __str__


@refuse_unknown_keywords
def context(
    flow: Flow, measure: "MeasureId" = "hidden-attribution", *, stream: "StreamName | None" = None
) -> Context:
    """Return how far tokens are mixed with their context, layer by layer (Brunner et al. 2020).

    Each token's row is divided by its sum, so that every token counts the same: how much comes
    from the token itself, from the largest contributor, and from which distance. Heads are added
    up first, so that a head that moves more counts more (for `weight` all count the same);
    negative numbers count by their absolute value.

    Parameters
    ----------
    flow
        A flow that holds the measure.
    measure
        Any measure between tokens. The paper's is `hidden-attribution`, by gradients.
    stream
        Which self-attention, where there are several.
    """
    chosen = flow.stream(stream)
    held = chosen.require_held(measure)
    _check_pairs(chosen, held)
    layers = [
        absolute_shares(np.abs(planes(chosen, held, layer)).sum(axis=0, keepdims=True))[0]
        for layer in chosen.layers
    ]
    shares = np.array(layers).reshape(-1, chosen.size("query"), chosen.size("key"))
    own = np.diagonal(shares, axis1=1, axis2=2).copy()
    largest = shares.max(axis=-1)
    count = chosen.size("key")
    return Context(
        measure=held,
        layers=chosen.layers,
        own=own,
        largest=largest,
        is_own_largest=own >= largest,
        offsets=np.arange(1 - count, count),
        by_offset=_by_offset(shares),
        chance=_by_offset(absolute_shares(visible_pairs(chosen, held)[None].astype(np.float64)))[0],
        stream=chosen,
    )


def _by_offset(shares: Planes) -> Float64[np.ndarray, "head offset"]:
    """Return the mean over queries of the share from each offset, without empty rows."""
    count = shares.shape[-1]
    known = ~np.isnan(shares[..., 0])
    rows = np.where(known[..., None], shares, 0.0)
    sums = [np.trace(rows, step, axis1=1, axis2=2) for step in range(1 - count, count)]
    queries = known.sum(axis=1)[:, None]
    means = np.full((len(shares), 2 * count - 1), np.nan)
    np.divide(np.stack(sums, axis=1), queries, out=means, where=queries > 0)
    return means


def _check_pairs(stream: Stream, measure: str) -> None:
    if stream.kind == "cross":
        raise BadInput(
            "In the cross stream queries and keys are tokens of different texts.",
            "Expected self-attention, to compare a token's own share with that of its context.",
            'Name another stream: stream="encoder" or stream="decoder".',
        )
    if "query" not in MEASURES[measure].axes:
        raise BadInput(
            f"{measure!r} has no queries.",
            "Expected a measure between pairs of tokens.",
            'Use one such as "weight" or "hidden-attribution".',
        )
