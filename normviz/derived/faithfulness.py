"""How far a measure tells what really happens when a token is taken away."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from normviz.core.axes import Said
from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.derived.agreement import TOP, compared
from normviz.derived.shares import Planes, mean_known, planes
from normviz.errors import BadInput
from normviz.io.tables import tidy

if TYPE_CHECKING:
    import pandas as pd

WITHOUT = {"layer": "value-zeroing", "output": "value-zeroing-output"}
"""What really happens: to the layer's own output, and to the model's."""

ByQuery = Float64[np.ndarray, "layer query"]


@dataclass(frozen=True, eq=False, repr=False)
class Faithfulness:
    """How far a measure agrees with what happens without a token; see `normviz.faithfulness`."""

    measure: str
    at: str
    """`layer`, or `output`."""
    layers: tuple[int, ...]
    rank_by_query: ByQuery
    """Spearman's rank correlation over the keys of each query; NaN where there is no order."""
    overlap_by_query: ByQuery
    """Which share of the keys that matter most to a query are those the measure says."""
    stream: Stream = field(repr=False)

    @property
    def rank(self) -> Float64[np.ndarray, " layer"]:
        """The rank correlation, averaged over queries."""
        mean: Float64[np.ndarray, " layer"] = mean_known(self.rank_by_query)
        return mean

    @property
    def overlap(self) -> Float64[np.ndarray, " layer"]:
        """The overlap of the top keys, averaged over queries."""
        mean: Float64[np.ndarray, " layer"] = mean_known(self.overlap_by_query)
        return mean

    @property
    def mean(self) -> float:
        """The rank correlation, averaged over queries and layers."""
        return float(mean_known(self.rank_by_query.ravel()))

    def to_dataframe(self) -> "pd.DataFrame":
        """One row for each layer."""
        count = len(self.layers)
        return tidy(
            {
                "measure": [self.measure] * count,
                "at": [self.at] * count,
                "layer": list(self.layers),
                "rank": self.rank,
                "overlap": self.overlap,
            }
        )

    def __str__(self) -> str:
        """The mean, and a line for each layer."""
        where = "the layer's output" if self.at == "layer" else "the model's output"
        title = f"{self.measure} against what happens to {where} without a token's values"
        told = f"mean rank correlation {self.mean:.2f} ({self.stream.name})"
        heading = f"{'layer':>7}{'rank':>8}{'overlap':>9}"
        lines = [
            f"{layer:>7}{rank:>8.2f}{overlap:>9.2f}"
            for layer, rank, overlap in zip(self.layers, self.rank, self.overlap, strict=True)
        ]
        return "\n".join([title, told, heading, *lines])

    __repr__ = __str__


def faithfulness(
    flow: Flow, measure: str, *, at: Said = "layer", top: int = TOP, stream: str | None = None
) -> Faithfulness:
    """How far a measure tells what really happens when a token's values are set to zero.

    For each query, the keys it sees are ranked by the measure and by how far the query's vector
    turns without each of them (value zeroing, Mohebbi et al. 2023); the rank correlations are
    averaged over queries. A measure of heads is averaged over them first, by size where numbers
    may be negative. To judge a measure so is our choice: it asks about the effect of one token's
    values in one layer, and a measure that means something else may be right about that.

    Parameters
    ----------
    flow
        A flow that holds the measure and value zeroing: `measures=[…, "value-zeroing"]` for the
        layer's output, `"value-zeroing-output"` for the model's.
    measure
        Any measure.
    at
        `"layer"` for what happens to the output of the layer where the token is silenced,
        `"output"` for what happens to that of the last layer.
    top
        How many keys count as the top ones, for the overlap.
    stream
        Which attention, where there are several.
    """
    require_known(at, WITHOUT, "place")
    chosen = flow.stream(stream)
    measured, truth = chosen.require_held(measure), WITHOUT[str(at)]
    if truth not in chosen:
        raise BadInput(
            f"This flow does not hold {truth!r}.",
            f"To judge {measure!r}, what really happens without each token must be known.",
            f'Analyze with measures=["{measure}", "{truth}"].',
        )
    rows = [
        compared(one, other, (one != 0) | (other != 0), top)
        for one, other in (
            (_together(chosen, measured, layer), planes(chosen, truth, layer))
            for layer in chosen.layers
        )
    ]
    rank = np.stack([row.rank[0] for row in rows])
    overlap = np.stack([row.overlap[0] for row in rows])
    return Faithfulness(measured, str(at), chosen.layers, rank, overlap, chosen)


def _together(stream: Stream, measure: str, layer: int) -> Planes:
    """A layer of a measure, all heads as one."""
    mean: Planes = np.abs(planes(stream, measure, layer)).mean(axis=0, keepdims=True)
    return mean
