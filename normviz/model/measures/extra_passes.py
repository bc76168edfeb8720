"""Measures that run the model again: attributions by gradient, and value zeroing."""

from collections.abc import Collection, Mapping
from typing import Any

from torch import nn

from normviz.core.catalog import ATTRIBUTIONS, ZEROINGS
from normviz.core.gradients import Gradients
from normviz.model.capture import registry
from normviz.model.capture.patching import ready_for_jvp
from normviz.model.capture.recording import RecordedPass, record_pass
from normviz.model.measures.gradients.attribution import measure_attribution
from normviz.model.measures.results import StageResults
from normviz.model.measures.value_zeroing import measure_value_zeroing


def run_extra_passes(
    model: nn.Module,
    inputs: Mapping[str, Any],
    measures: Collection[str],
    results: StageResults,
    *,
    gradients: Gradients,
    memory: int | None,
) -> tuple[str, ...]:
    """Add to the results what needs the model's layers to be called again.

    Returns how it was done, as notes for the receipt.
    """
    by_gradient = [name for name in ATTRIBUTIONS if name in measures]
    by_zeroing = [name for name in ZEROINGS if name in measures]
    if not (by_gradient or by_zeroing):
        return ()
    recorded = record_pass(model, inputs, keep=bool(by_zeroing))
    indices = {
        recorded.calls[call].attentions[at].key: (call, at)
        for call, at in recorded.attention_indices
    }
    asked_for = {key: indices[key] for key in results.layers if key in indices}
    with ready_for_jvp(model, registry.NAME):
        for tower in recorded.split_towers() if by_gradient else ():
            inside = {
                tower.calls[call].attentions[at].key: (call, at)
                for call, at in tower.attention_indices
            }
            own = {key: index for key, index in inside.items() if key in asked_for}
            if own:
                results.attributions |= measure_attribution(
                    tower, by_gradient, gradients, own, memory
                )
        if by_zeroing:
            results.zeroings = measure_value_zeroing(
                recorded,
                by_zeroing,
                asked_for,
                normalized=gradients.rows == "normalized",
                memory=memory,
            )
    return _notes(recorded, gradients) if by_gradient else ()


def _notes(recorded: RecordedPass, gradients: Gradients) -> tuple[str, ...]:
    """Return how derivatives were taken."""
    missing = gradients.origin == "before-norm" and set(recorded.sequences) - recorded.norms.keys()
    where = "what enters the norm of the embeddings"
    if gradients.origin == "after-norm" or missing:
        where = "what enters the first layer"
    where += " (there is no norm before it)" if missing else ""
    norm = gradients.norm.capitalize()
    return (f"attribution: {norm} norm of derivatives by {where}, rows {gradients.rows}",)
