"""Decompose tensors into parts by source token, while a model's own code runs.

In: hidden states marked with `track`, which go through the model's layers in place of plain
tensors (`tensor`); the `rules` write on the `tape` how the parts of each result follow from those
of its inputs. Out: for any record on the tape and any `SourceRange`, a `Replay` computes the
vectors that come from those tokens, and `BiasPart` the rest, which comes from no token; `biases`
says which biases belong to a token.
"""

from normviz.model.decompose.biases import BiasPart
from normviz.model.decompose.replay import Replay, SourceRange
from normviz.model.decompose.rules import elementwise, linear, norms, shapes  # noqa: F401 - fills the table
from normviz.model.decompose.tape import Record
from normviz.model.decompose.tensor import (
    DecomposedTensor,
    NoRule,
    error_location,
    track,
    unwrap,
    wrap,
)

__all__ = [
    "BiasPart",
    "DecomposedTensor",
    "NoRule",
    "Record",
    "Replay",
    "SourceRange",
    "error_location",
    "track",
    "unwrap",
    "wrap",
]
