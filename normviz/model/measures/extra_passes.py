"""Measures for which a model is run again: by gradients, and by taking tokens' values away."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from normviz.core.catalog import ATTRIBUTIONS, ZEROINGS
from normviz.model.capture.recording import RecordedPass, ready_for_jvp, record_pass
from normviz.model.measures.gradients.attribution import attributed
from normviz.model.measures.gradients.jacobian_norms import GradientOptions
from normviz.model.measures.reducer import AttentionReducer, LayerResult
from normviz.model.measures.value_zeroing import zeroed


def run_extra_passes(
    model: nn.Module, inputs: Mapping[str, Any], reducer: AttentionReducer, slope: GradientOptions
) -> tuple[str, ...]:
    """Add to what a pass gave whatever needs the model's layers to be called again.

    Says how it was done, for the receipt.
    """
    by_gradient = [name for name in ATTRIBUTIONS if name in reducer.measures]
    by_zeroing = [name for name in ZEROINGS if name in reducer.measures]
    if not (by_gradient or by_zeroing):
        return ()
    found = record_pass(model, inputs, keep=bool(by_zeroing))
    kept = zip(found.attentions, reducer.results, strict=True)
    wanted = [where for where, one in kept if isinstance(one, LayerResult)]
    with ready_for_jvp(model):
        if by_gradient:
            reducer.attributed(attributed(found, by_gradient, slope, wanted))
        if by_zeroing:
            normalized = slope.rows == "normalized"
            maps = zeroed(found, by_zeroing, wanted, normalized=normalized, memory=slope.memory)
            reducer.added(maps)
    return _said(found, slope) if by_gradient else ()


def _said(found: RecordedPass, slope: GradientOptions) -> tuple[str, ...]:
    """How derivatives were taken."""
    missing = slope.origin == "before-norm" and set(found.sides) - found.norms.keys()
    where = "what the norm of the embeddings is given"
    if slope.origin == "after-norm" or missing:
        where = "what enters the first layer"
    where += " (there is no norm before it)" if missing else ""
    return (
        f"attribution: {slope.norm.capitalize()} norm of derivatives by {where}, rows {slope.rows}",
    )
