"""How much of a token comes from other tokens, and how much a component changes that."""

import numpy as np
from jaxtyping import Float32

from normviz.core.axes import Array
from normviz.core.catalog import MEASURES
from normviz.core.stream import Stream
from normviz.derived.ranks import spearman
from normviz.errors import BadInput, UnknownName

WEIGHED = {"weight": 1.0, "weight-residual": 0.5}
"""Mixing by weight alone, and which share of it is left beside a residual of equal size."""


def mixing(stream: Stream, rung: str) -> Float32[np.ndarray, "layer query"]:
    """The mixing ratio of every token on a rung, or by weight; see `Flow.mixing`."""
    if stream.name == "cross":
        raise BadInput(
            "In the cross stream queries and keys are tokens of different texts.",
            "A mixing ratio compares what a token takes from others with its own part.",
            "Ask for the mixing of the encoder or of the decoder.",
        )
    if rung in WEIGHED:
        return np.stack([WEIGHED[rung] * _context(stream.at("weight", n)) for n in stream.layers])
    if f"mixing:{stream.canonical_id(rung)}" not in stream.statistics:
        known = [name.partition(":")[2] for name in stream.statistics if name.startswith("mixing:")]
        raise UnknownName(
            f"The mixing ratio of {rung!r} is not held here.",
            f"Those held are: {', '.join([*known, *(WEIGHED if 'weight' in stream else ())])}.",
            'Analyze with measures=["attention", "attention-residual", …]: it comes with the '
            "rungs, as soon as one above attention is asked for.",
        )
    return stream.statistic("mixing", rung)


def _context(weight: Array) -> Float32[np.ndarray, " query"]:
    """What each query gives to others of the mean over heads: all but the diagonal."""
    mean = weight.mean(axis=0, dtype=np.float64)
    np.fill_diagonal(mean, 0.0)
    context: Float32[np.ndarray, " query"] = mean.sum(axis=-1).astype(np.float32)
    return context


def change(stream: Stream, before: str, after: str) -> Float32[np.ndarray, " layer"]:
    """How differently two measures rank the pairs; see `Flow.contextualization_change`."""
    for name in (before, after):
        if name in MEASURES and "head" in MEASURES[name].axes:
            raise BadInput(
                f"{name!r} has one map for each head.",
                "Two measures with one map for each layer are wanted.",
                'Use rungs of the ladder, such as "attention" and "attention-residual".',
            )
    return np.array(
        [_apart(stream.at(before, n), stream.at(after, n)) for n in stream.layers], dtype=np.float32
    )


def _apart(before: Array, after: Array) -> float:
    # Pairs that a mask forbids are zero in both; tied with each other, they would feign agreement.
    joined = (before != 0) | (after != 0)
    return 1 - spearman(before[joined], after[joined])
