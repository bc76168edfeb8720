"""What the stack opens with: a measure that includes the residual connection, if one is held."""

from typing import Any

from normviz.core.catalog import MEASURES
from normviz.core.stream import Stream

FAMILIES = ("ladder", "contribution", "decomposition", "rollout")
"""The families that include the residual connection, the best for tracing layers first."""


def stack_defaults(stream: Stream) -> dict[str, Any]:
    """Return what a stack shows before anything is chosen, where it differs from other views."""
    can_chain = stream.kind != "cross" and stream.interruption == ""
    norm = "weighted-norm" if "weighted-norm" in stream else None
    measure = (residual_measure(stream) if can_chain else None) or norm
    last: dict[str, Any] = {"compare": None, "layer": stream.layers[-1]}
    return last if measure is None else {**last, "measure": measure}


def residual_measure(stream: Stream) -> str | None:
    """Return the held measure with the residual that is nearest to the whole layer, if any."""
    held = [name for name in stream.measures if MEASURES[name].has_residual]
    by_family = ([n for n in held if MEASURES[n].family == family] for family in FAMILIES)
    return next((names[-1] for names in (*by_family, held) if names), None)
