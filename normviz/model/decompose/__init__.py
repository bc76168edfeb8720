"""Arithmetic on vectors that remember which token each part came from."""

from normviz.model.decompose.replay import Free, Replay, Sources
from normviz.model.decompose.rules import elementwise, linear, norms, shapes  # noqa: F401 - fills the table
from normviz.model.decompose.tape import Record
from normviz.model.decompose.tensor import NoRule, Parts, entering, named_by, plain, wrap

__all__ = [
    "Free",
    "NoRule",
    "Parts",
    "Record",
    "Replay",
    "Sources",
    "entering",
    "named_by",
    "plain",
    "wrap",
]
