"""Measures for which a model is run again: by gradients, and by taking tokens' values away."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from normviz.capture.calls import borrowed, recorded
from normviz.catalog import ATTRIBUTIONS, ZEROINGS
from normviz.measures.gradient import attributed
from normviz.measures.layer import Measured, Reducer
from normviz.measures.slopes import Slope
from normviz.measures.zeroing import zeroed


def rerun(model: nn.Module, inputs: Mapping[str, Any], reducer: Reducer, slope: Slope) -> None:
    """Add to what a pass gave whatever needs the model's layers to be called again."""
    by_gradient = [name for name in ATTRIBUTIONS if name in reducer.measures]
    by_zeroing = [name for name in ZEROINGS if name in reducer.measures]
    if not (by_gradient or by_zeroing):
        return
    notes = recorded(model, inputs, keep=bool(by_zeroing))
    calls = [number for number, call in enumerate(notes.calls) for _ in call.attended]
    kept = zip(calls, reducer.results, strict=True)
    last = max((number for number, one in kept if isinstance(one, Measured)), default=0)
    with borrowed(model):
        if by_gradient:
            reducer.attributed(attributed(notes, by_gradient, slope, last))
        if by_zeroing:
            normalised = slope.rows == "normalised"
            reducer.added(zeroed(notes, by_zeroing, normalised=normalised, memory=slope.memory))
