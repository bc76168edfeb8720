"""Arithmetic on vectors that remember which token each part came from."""

from normviz.parts import elementwise, norms, rules, shapes  # noqa: F401 - the table of rules
from normviz.parts.records import Record
from normviz.parts.replay import Free, Replay, Sources
from normviz.parts.tensor import NoRule, Parts, entering, named_by, plain, wrap

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
