"""What tokens are made of, layer by layer: themselves, their neighbors, and from how far away."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64, Int64

from normviz.core.axes import Said
from normviz.core.catalog import MEASURES, require_known
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.derived.shares import Planes, divided, mean_known, planes, visible
from normviz.errors import BadInput
from normviz.io.tables import tidy

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("layer", "offset")

ByLayer = Float64[np.ndarray, " layer"]
ByToken = Float64[np.ndarray, "layer query"]


@dataclass(frozen=True, eq=False, repr=False)
class Context:
    """What tokens are made of, by layer, as shares of what each takes; see `normviz.context`."""

    measure: str
    layers: tuple[int, ...]
    own: ByToken
    """For each token, the share that comes from itself; NaN where it takes nothing."""
    largest: ByToken
    """For each token, the share of whichever token gives it most."""
    is_own_largest: Bool[np.ndarray, "layer query"]
    """Whether no other token gives it more than it has from itself."""
    offsets: Int64[np.ndarray, " offset"]
    """Where a key stands, seen from the query: -1 is the token before."""
    by_offset: Float64[np.ndarray, "layer offset"]
    """The mean share that comes from that far; over all offsets they add up to one."""
    chance: Float64[np.ndarray, " offset"]
    """The same for tokens that take equally from every key they see."""
    stream: Stream = field(repr=False)

    @property
    def own_mean(self) -> ByLayer:
        """The share that tokens have from themselves, averaged over tokens."""
        mean: ByLayer = mean_known(self.own)
        return mean

    @property
    def own_quartiles(self) -> Float64[np.ndarray, "layer three"]:
        """The own share that a quarter, half and three quarters of the tokens stay below."""
        known = [row[~np.isnan(row)] for row in self.own]
        parts = (0.25, 0.5, 0.75)
        return np.array([np.quantile(row, parts) if row.size else [np.nan] * 3 for row in known])

    @property
    def largest_mean(self) -> ByLayer:
        """The share of the largest contributor, averaged over tokens."""
        mean: ByLayer = mean_known(self.largest)
        return mean

    @property
    def own_first(self) -> ByLayer:
        """How often a token is its own largest contributor, from 0 to 1."""
        often: ByLayer = mean_known(np.where(np.isnan(self.own), np.nan, self.is_own_largest))
        return often

    @property
    def by_distance(self) -> Float64[np.ndarray, "layer distance"]:
        """The mean share that comes from so many tokens away, on both sides together."""
        return self._folded(self.by_offset)

    @property
    def chance_by_distance(self) -> Float64[np.ndarray, " distance"]:
        """The same for tokens that take equally from every key they see."""
        folded: Float64[np.ndarray, " distance"] = self._folded(self.chance[None])[0]
        return folded

    def _folded(
        self, shares: Float64[np.ndarray, "layer offset"]
    ) -> Float64[np.ndarray, "layer distance"]:
        distance = np.abs(self.offsets)
        far = range(int(distance.max()) + 1)
        return np.stack([shares[:, distance == steps].sum(axis=1) for steps in far], axis=1)

    def to_dataframe(self, by: Said = "layer") -> "pd.DataFrame":
        """One row for each layer; or one for each layer and offset.

        Parameters
        ----------
        by
            `layer` for own share, quartiles and largest share; `offset` for shares by distance.
        """
        require_known(by, TABLES, "table")
        if by == "layer":
            return tidy({"layer": list(self.layers), **self._columns()})
        count = len(self.offsets)
        return tidy({
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
        """Layer by layer: own share, largest share, neighbors, and how far away the rest is."""
        near, steps = self.by_distance, np.arange(self.by_distance.shape[1])
        title = f"{self.measure} ({self.stream.name}, {len(self.stream.queries)} tokens), as shares"
        heading = (
            f"{'layer':>7}{'own':>7}{'median':>8}{'largest':>9}{'own is largest':>16}"
            f"{'neighbors':>12}{'mean distance':>15}"
        )
        told = self._columns()
        lines = [
            f"{layer:>7}{told['own'][at]:>7.0%}{told['own_median'][at]:>8.0%}"
            f"{told['largest'][at]:>9.0%}{told['own_first'][at]:>16.0%}"
            f"{near[at, 1:2].sum():>12.0%}{near[at] @ steps:>15.1f}"
            for at, layer in enumerate(self.layers)
        ]
        return "\n".join([title, heading, *lines])

    __repr__ = __str__


def context(
    flow: Flow, measure: str = "hidden-attribution", *, stream: str | None = None
) -> Context:
    """How far tokens are mixed with their context, layer by layer, after Brunner et al. 2020.

    Each token's row is divided by its sum, so that every token counts the same: how much comes
    from the token itself, from whichever gives most, and from how far away. Heads are added up
    first, so that one which moves more counts more (of `weight` all count the same); negative
    numbers count by their size.

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
    _refuse(chosen, held)
    layers = [
        divided(np.abs(planes(chosen, held, layer)).sum(axis=0, keepdims=True))[0]
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
        chance=_by_offset(divided(visible(chosen, held)[None].astype(np.float64)))[0],
        stream=chosen,
    )


def _by_offset(shares: Planes) -> Float64[np.ndarray, "head offset"]:
    """The mean over queries of what comes from each offset; rows that hold nothing are left out."""
    count = shares.shape[-1]
    known = ~np.isnan(shares[..., 0])
    rows = np.where(known[..., None], shares, 0.0)
    sums = [np.trace(rows, step, axis1=1, axis2=2) for step in range(1 - count, count)]
    whole = known.sum(axis=1)[:, None]
    found = np.full((len(shares), 2 * count - 1), np.nan)
    np.divide(np.stack(sums, axis=1), whole, out=found, where=whole > 0)
    return found


def _refuse(stream: Stream, measure: str) -> None:
    if stream.name == "cross":
        raise BadInput(
            "In the cross stream queries and keys are tokens of different texts.",
            "Context is what a token has from others, beside what it has from itself.",
            'Name another stream: stream="encoder" or stream="decoder".',
        )
    if "query" not in MEASURES[measure].axes:
        raise BadInput(
            f"{measure!r} has no queries.",
            "A measure between pairs of tokens is wanted.",
            'Use one such as "weight" or "hidden-attribution".',
        )
