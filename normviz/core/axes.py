"""The axis words, and the array types made of them.

One vocabulary serves annotations, einsum patterns, saved files, dataframe columns and TypeScript:
`layer head query key dim model`. `query` is the token that receives, `key` the token read from.
"""

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from jaxtyping import Float32

Axis = Literal["layer", "head", "query", "key", "dim", "model"]
AXES: tuple[Axis, ...] = get_args(Axis)

StreamName = Literal["encoder", "decoder", "cross"]
STREAMS: tuple[StreamName, ...] = get_args(StreamName)

COMPONENTS: dict[StreamName, tuple[str, str]] = {
    "encoder": ("encoder", "encoder"),
    "decoder": ("decoder", "decoder"),
    "cross": ("decoder", "encoder"),
}
"""On which side of the model the queries and the keys of a stream stand."""

if TYPE_CHECKING:
    Said = str
else:
    Said = object
"""A word a person gives: normviz checks it itself and answers in a sentence."""

Array = Float32[np.ndarray, "..."]
"""Any measure: float32, its axes named by the catalog."""

Pairs = Float32[np.ndarray, "layer head query key"]
"""One number for each head and each pair of tokens."""
