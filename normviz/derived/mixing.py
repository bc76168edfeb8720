"""How much of a token comes from other tokens, and how much a component changes that."""

import numpy as np
from jaxtyping import Float32

from normviz.core.axes import Array
from normviz.core.catalog import MEASURES, split_statistic, statistic_id
from normviz.core.reductions import combine_heads
from normviz.core.stream import Stream
from normviz.derived.ranks import spearman
from normviz.errors import BadInput, UnknownName

BY_WEIGHT = {"weight": 1.0, "weight-residual": 0.5}
"""Mixing by weight alone, and the share of it beside a residual connection of equal size."""


def mixing_ratio(stream: Stream, rung: str) -> Float32[np.ndarray, "layer query"]:
    """Return the mixing ratio of every token on a rung, or by weight; see `Flow.mixing`."""
    if stream.kind == "cross":
        raise BadInput(
            "In the cross stream queries and keys are tokens of different texts.",
            "A mixing ratio compares what a token gets from others with its own part.",
            'Name another stream: stream="encoder" or stream="decoder".',
        )
    if rung in BY_WEIGHT:
        return np.stack(
            [BY_WEIGHT[rung] * _weight_on_others(stream.at("weight", n)) for n in stream.layers]
        )
    if stream.canonical_id(statistic_id("mixing", rung)) not in stream.statistics:
        held = [m for kind, m in map(split_statistic, stream.statistics) if kind == "mixing"]
        raise UnknownName(
            f"The mixing ratio of {rung!r} is not held here.",
            f"Those held are: {', '.join([*held, *(BY_WEIGHT if 'weight' in stream else ())])}.",
            'Analyze with measures=["attention", "attention-residual", …]: the rungs come with '
            "their mixing ratios as soon as one above attention is measured.",
        )
    return stream.statistic("mixing", rung)


def _weight_on_others(weight: Array) -> Float32[np.ndarray, " query"]:
    """Return how much weight each query gives to other tokens, in the mean over heads."""
    mean = combine_heads(weight.astype(np.float64), "weight")
    np.fill_diagonal(mean, 0.0)
    others: Float32[np.ndarray, " query"] = mean.sum(axis=-1).astype(np.float32)
    return others


def contextualization_change(
    stream: Stream, before: str, after: str
) -> Float32[np.ndarray, " layer"]:
    """Return how differently two measures rank the pairs; see `Flow.contextualization_change`."""
    for name in (before, after):
        if name in MEASURES and "head" in MEASURES[name].axes:
            raise BadInput(
                f"{name!r} has one map for each head.",
                "Expected two measures with one map for each layer.",
                'Use rungs of the ladder, such as "attention" and "attention-residual".',
            )
    changes = [_rank_change(stream.at(before, n), stream.at(after, n)) for n in stream.layers]
    return np.array(changes, dtype=np.float32)


def _rank_change(before: Array, after: Array) -> float:
    # Masked pairs are zero in both maps; their ties would look like agreement.
    visible = (before != 0) | (after != 0)
    return 1 - spearman(before[visible], after[visible])
