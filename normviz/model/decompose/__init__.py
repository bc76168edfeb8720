"""Arithmetic on vectors that remember which token each part came from."""

from normviz.model.decompose.replay import BiasPart, Replay, Sources
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
    "Sources",
    "error_location",
    "track",
    "unwrap",
    "wrap",
]
