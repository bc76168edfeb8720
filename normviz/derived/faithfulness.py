"""How far a measure predicts what happens when a token's values are set to zero."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.core.keywords import refuse_unknown_keywords
from normviz.core.reductions import combine_heads
from normviz.core.stream import Stream
from normviz.derived.agreement import TOP, compare_rows
from normviz.derived.shares import Planes, mean_known, planes
from normviz.errors import BadInput
from normviz.io.tables import dataframe_of

if TYPE_CHECKING:
    import pandas as pd

    from normviz.core.axes import StreamName
    from normviz.core.catalog import MeasureId
    from normviz.core.words import ZeroingSite

EFFECT: "dict[ZeroingSite, MeasureId]" = {
    "layer": "value-zeroing",
    "output": "value-zeroing-output",
}
"""The measure of the effect on the layer's own output, and on the model's."""

ByQuery = Float64[np.ndarray, "layer query"]


@dataclass(frozen=True, eq=False, repr=False)
class Faithfulness:
    """How far a measure agrees with the effect of zeroing values; see `normviz.faithfulness`."""

    measure: str
    at: str
    """Whose output is watched: `layer` or `output`."""
    layers: tuple[int, ...]
    rank_by_query: ByQuery
    """Spearman's rank correlation over the keys of each query; NaN where there is no order."""
    overlap_by_query: ByQuery
    """The share of a query's top keys by effect that are top keys by the measure."""
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
        """Return one row for each layer."""
        count = len(self.layers)
        return dataframe_of(
            {
                "measure": [self.measure] * count,
                "at": [self.at] * count,
                "layer": list(self.layers),
                "rank": self.rank,
                "overlap": self.overlap,
            }
        )

    def __str__(self) -> str:
        """Return the mean, and a line for each layer."""
        where = "the layer's output" if self.at == "layer" else "the model's output"
        title = f"{self.measure} against what happens to {where} without a token's values"
        summary = f"mean rank correlation {self.mean:.2f} ({self.stream.name})"
        heading = f"{'layer':>7}{'rank':>8}{'overlap':>9}"
        lines = [
            f"{layer:>7}{rank:>8.2f}{overlap:>9.2f}"
            for layer, rank, overlap in zip(self.layers, self.rank, self.overlap, strict=True)
        ]
        return "\n".join([title, summary, heading, *lines])

    __repr__ = __str__


@refuse_unknown_keywords
def faithfulness(
    flow: Flow,
    measure: "MeasureId",
    *,
    at: "ZeroingSite" = "layer",
    top: int = TOP,
    stream: "StreamName | None" = None,
) -> Faithfulness:
    """Return how far a measure predicts what happens when a token's values are set to zero.

    For each query, the keys it sees are ranked by the measure and by how far the query's vector
    turns without each of them (value zeroing, Mohebbi et al. 2023); the rank correlations are
    averaged over queries. Heads are combined first, by absolute value where numbers may be
    negative. This test is our choice: it asks about the effect of one token's values in one layer,
    and a measure that means something else may be right about that.

    Parameters
    ----------
    flow
        A flow that holds the measure and value zeroing: `measures=[…, "value-zeroing"]` for the
        layer's output, `"value-zeroing-output"` for the model's.
    measure
        Any measure.
    at
        `"layer"` for the effect on the output of the layer where the values are zeroed,
        `"output"` for the effect on that of the last layer.
    top
        How many keys count as the top ones, for the overlap.
    stream
        Which attention, where there are several.
    """
    require_known(at, EFFECT, "site")
    chosen = flow.stream(stream)
    held, effect = chosen.require_held(measure), EFFECT[at]
    if effect not in chosen:
        raise BadInput(
            f"This flow does not hold {effect!r}.",
            f"Expected it, to compare {measure!r} with the effect of zeroing values.",
            f'Analyze with measures=["{measure}", "{effect}"].',
        )
    rows = [
        compare_rows(one, other, (one != 0) | (other != 0), top)
        for one, other in (
            (_combined_plane(chosen, held, layer), planes(chosen, effect, layer))
            for layer in chosen.layers
        )
    ]
    rank = np.stack([row.rank[0] for row in rows])
    overlap = np.stack([row.overlap[0] for row in rows])
    return Faithfulness(held, at, chosen.layers, rank, overlap, chosen)


def _combined_plane(stream: Stream, measure: str, layer: int) -> Planes:
    """Return a layer of a measure with all heads combined, as one head."""
    return combine_heads(np.abs(planes(stream, measure, layer)), measure)[None]
