"""Running a model on prepared inputs, and making a flow of each text."""

import platform
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import torch
from torch import nn

from normviz.core.flow import Flow
from normviz.core.receipt import Receipt
from normviz.derived.complete import add_derived
from normviz.model.capture import CapturedAttention, LayerTrace, capture
from normviz.model.capture.early_stop import StopForward
from normviz.model.capture.patching import implementation_name
from normviz.model.collect import collect
from normviz.model.inputs import ModelInputs, has_encoder
from normviz.model.loading import LoadedModel
from normviz.model.measures.extra_passes import run_extra_passes
from normviz.model.measures.ladder.decomposition import TracedLayer, measure_decomposition
from normviz.model.measures.reducer import AttentionReducer
from normviz.model.measures.results import StageResults, number_attentions
from normviz.model.options import Options
from normviz.model.types import AttentionKey  # noqa: TC001 - beartype reads it
from normviz.system.progress import track_progress


def run_batch(loaded: LoadedModel, prepared: ModelInputs, options: Options) -> Iterator[Flow]:
    """Run a model on prepared inputs, and yield the flow of each text."""
    attention = implementation_name(loaded.model)
    results, notes = _run_stages(loaded.model, prepared, options)
    facts = _receipt_facts(loaded, prepared, attention)
    for text in collect(results, prepared, options.layers):
        receipt = Receipt(
            text.checks,
            **facts,
            rungs=text.rungs,
            gradients=text.gradients,
            notes=prepared.notes + text.notes + notes,
        )
        flow = Flow(text.streams, receipt, prepared.title)
        yield add_derived(flow, options.measures, options.layers, insist=options.by_name)


def _run_stages(
    model: nn.Module, prepared: ModelInputs, options: Options
) -> tuple[StageResults, tuple[str, ...]]:
    """Return the results of all passes that the measures need, and notes for the receipt."""
    reducer = AttentionReducer(
        options.run_for,
        layers=options.run_layers,
        heads=options.heads,
        padding={c: partial(prepared.token_mask, c) for c in ("encoder", "decoder")},
        memory=options.memory,
        bias_handling=options.bias_handling,
        effective_form=options.effective_form,
    )
    inputs = prepared.for_forward()
    with track_progress("attention layers", _layer_count(model)) as step:

        def reduce(captured: CapturedAttention) -> None:
            reducer(captured)
            step()

        on_layer = reducer.add_ladder if reducer.needs_tape else None
        capture(model, inputs, reduce, on_layer, value_bias=reducer.needs_value_bias)
    results = reducer.results
    if "decomposition" in options.measures:
        with torch.no_grad():
            layers = _trace_all_layers(model, prepared, len(results.passed))
            traced = [key for layer in layers for key in layer.keys]
            assert traced == results.passed  # noqa: S101 - both passes run the same attentions
            results.decompositions = measure_decomposition(layers, reducer.ladder_request)
    notes = run_extra_passes(
        model,
        inputs,
        options.run_for,
        results,
        gradients=options.gradients,
        memory=options.memory,
    )
    return results, _bias_notes(options) + notes


def _bias_notes(options: Options) -> tuple[str, ...]:
    """Return what the receipt says about biases, where they are not treated as by default."""
    if options.bias_handling == "source" or not options.needs_parts:
        return ()
    return (f"biases are treated as bias_handling={options.bias_handling!r} says",)


def _receipt_facts(loaded: LoadedModel, prepared: ModelInputs, attention: str) -> dict[str, Any]:
    """Return what the receipts of a whole batch have in common."""
    first = next(loaded.model.parameters(), None)
    return {
        "model": loaded.name,
        "attention": attention,
        "dtype": str(getattr(first, "dtype", "none")).removeprefix("torch."),
        "device": str(getattr(first, "device", "none")),
        "inputs": prepared.fingerprint(),
        "versions": versions(),
    }


def _trace_all_layers(model: nn.Module, prepared: ModelInputs, count: int) -> list[TracedLayer]:
    """Run a second pass with one tape through all layers, up to the last of `count` attentions."""
    layers: list[TracedLayer] = []
    keys: list[AttentionKey] = []

    def number(captured: CapturedAttention) -> None:
        keys.extend(number_attentions([captured.stream], keys))

    def on_layer(trace: LayerTrace) -> None:
        before = sum(len(layer.keys) for layer in layers)
        layers.append(TracedLayer(trace, tuple(keys[before:])))
        if len(keys) == count:
            raise StopForward

    with suppress(StopForward):
        capture(model, prepared.for_forward(), number, on_layer, through_all_layers=True)
    return layers


def _layer_count(model: Any) -> int | None:
    """Return how many attentions a pass will have, where the configuration says so."""
    if has_encoder(model):
        return None
    return getattr(getattr(model, "config", None), "num_hidden_layers", None)


@cache
def versions() -> dict[str, str]:
    """Return the versions of normviz and of what it runs on."""
    names = ("normviz", "torch", "transformers", "numpy")
    return {name: version(name) for name in names} | {"python": platform.python_version()}
