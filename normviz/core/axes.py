"""The axis words, and the array types built from them.

One vocabulary serves annotations, einsum patterns, saved files, dataframe columns and TypeScript:
`layer head query key dim model`. `query` is the token that receives, `key` the token read from.
"""

from typing import Literal, get_args

import numpy as np
from jaxtyping import Float32

Axis = Literal["layer", "head", "query", "key", "dim", "model"]

StreamKind = Literal["encoder", "decoder", "cross"]
"""Self-attention in both directions or causal, or attention to another sequence."""
STREAM_KINDS: tuple[StreamKind, ...] = get_args(StreamKind)

StreamName = StreamKind | str
"""A stream's kind where a model has one of each; else the name of its tower, such as `vision`."""

COMPONENTS: dict[StreamKind, tuple[str, str]] = {
    "encoder": ("encoder", "encoder"),
    "decoder": ("decoder", "decoder"),
    "cross": ("decoder", "encoder"),
}
"""The component of the model that the queries of a stream belong to, and that of its keys."""

Array = Float32[np.ndarray, "..."]
"""Any measure: float32, its axes named by the catalog."""
