"""Running a model on prepared inputs, and making a flow of each text."""

import platform
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import torch
from torch import nn

from normviz.core.catalog import ATTRIBUTIONS, ZEROINGS, axes_of
from normviz.core.flow import Flow
from normviz.core.receipt import Receipt
from normviz.derived.complete import add_derived
from normviz.errors import NormvizError, UnsupportedModel
from normviz.model.capture import CapturedAttention, LayerTrace, capture
from normviz.model.capture.early_stop import StopForward
from normviz.model.capture.patching import implementation_name
from normviz.model.collect import collect
from normviz.model.decompose import NoRule
from normviz.model.inputs import ModelInputs, has_encoder
from normviz.model.loading import LoadedModel
from normviz.model.measures.extra_passes import run_extra_passes
from normviz.model.measures.ladder.decomposition import (
    TracedLayer,
    measure_decomposition,
    split_tapes,
)
from normviz.model.measures.ladder.measure import LadderResult
from normviz.model.measures.reducer import AttentionReducer
from normviz.model.measures.results import StageResults
from normviz.model.options import Options
from normviz.model.types import AttentionKey
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
            missed=results.missed,
        )
        flow = Flow(text.streams, receipt, prepared.title)
        yield add_derived(flow, options.measures, options.layers, insist=options.by_name)


def _run_stages(
    model: nn.Module, prepared: ModelInputs, options: Options
) -> tuple[StageResults, tuple[str, ...]]:
    """Return the results of all passes that the measures need, and notes for the receipt."""
    inputs = prepared.for_forward()
    leave_out = partial(_leave_out, model, insist=options.by_name)
    reducer, notes = _run_first_pass(model, prepared, options)
    results = reducer.results
    notes += _drop_misfits(results.ladders, leave_out)
    if "decomposition" in options.measures:
        try:
            results.decompositions = _decompose(model, prepared, reducer)
            notes += _drop_misfits(results.decompositions, leave_out)
        except Exception as error:  # noqa: BLE001 - raised again, unless it may be left out
            notes.append(leave_out(["decomposition"], error))
    for family in (ATTRIBUTIONS, ZEROINGS):
        measures = [name for name in family if name in options.run_for]
        try:
            notes += run_extra_passes(
                model,
                inputs,
                measures,
                results,
                gradients=options.gradients,
                memory=options.memory,
            )
            extra = results.zeroings if family is ZEROINGS else results.attributions
            notes += _drop_misfits(extra, leave_out)
        except Exception as error:  # noqa: BLE001 - raised again, unless it may be left out
            notes.append(leave_out(measures, error))
    return results, (*_bias_notes(options), *notes)


def _run_first_pass(
    model: nn.Module, prepared: ModelInputs, options: Options
) -> tuple[AttentionReducer, list[str]]:
    """Run the model once, with its layers on tape if the measures need it."""
    reducer = _make_reducer(prepared, options, options.run_for)
    try:
        _capture_all(model, prepared, reducer)
    except Exception as error:
        if not reducer.needs_tape:
            raise
        ladder = [name for name in reducer.ladder_request.measures if name != "attention"]
        plain = [name for name in options.run_for if name not in ladder]
        reducer = _make_reducer(prepared, options, plain)
        # If the model itself cannot be run or captured, that is raised here.
        _capture_all(model, prepared, reducer)
        return reducer, [_leave_out(model, ladder, error, insist=options.by_name)]
    return reducer, []


def _make_reducer(
    prepared: ModelInputs, options: Options, measures: Sequence[str]
) -> AttentionReducer:
    return AttentionReducer(
        measures,
        layers=options.run_layers,
        heads=options.heads,
        padding={c: partial(prepared.token_mask, c) for c in ("encoder", "decoder")},
        memory=options.memory,
        bias_handling=options.bias_handling,
        effective_form=options.effective_form,
    )


def _capture_all(model: nn.Module, prepared: ModelInputs, reducer: AttentionReducer) -> None:
    """Run the model once, and reduce each of its attentions."""
    with track_progress("attention layers", _layer_count(model)) as step:

        def reduce(captured: CapturedAttention) -> None:
            reducer(captured)
            step()

        passed = capture(
            model,
            prepared.for_forward(),
            reduce,
            reducer.add_ladder if reducer.needs_tape else None,
            value_bias=reducer.needs_value_bias,
        )
    reducer.results.other_layers = passed.other_layers
    reducer.results.missed = passed.missed


def _leave_out(model: nn.Module, measures: Sequence[str], error: Exception, *, insist: bool) -> str:
    """Return the note for measures that a model cannot have; refuse if they were asked for.

    The model ran without them, so an error of any kind is about the way they are measured.
    """
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        raise error
    refusal = error
    if not isinstance(error, NormvizError):
        first_line = str(error).partition("\n")[0]
        refusal = UnsupportedModel(
            f"{type(model).__name__} cannot be run for {', '.join(measures)} "
            f"({type(error).__name__}: {first_line}).",
            "These measures need the model's layers to run on decomposed tensors or on dual "
            "numbers, or one by one.",
            "Ask for the attention measures only: weight, value-norm, weighted-norm, attention.",
        )
    if insist or not isinstance(refusal, NoRule | UnsupportedModel):
        raise refusal from (None if refusal is error else error)
    return f"left out: {', '.join(measures)}: {refusal.found}"


def _drop_misfits(
    results: MutableMapping[AttentionKey, Any], leave_out: Callable[..., str]
) -> list[str]:
    """Drop results about other tokens than those of their attention; return notes about them.

    Windows are made inside a layer, several tiles are several sequences, and some models have their
    tokens on another axis.
    """
    misfits: dict[str, list[str]] = {}
    for key, result in [*results.items()]:
        stream, numbers = key[0], getattr(result, "numbers", result)
        pairs = {n: t for n, t in numbers.items() if {"query", "key"} <= {*axes_of(n)}}
        expected = (stream.sequences, stream.queries, stream.keys)
        if any((t.shape[0], *t.shape[-2:]) != expected for t in pairs.values()):
            misfits.setdefault(stream.tower, list(pairs))
            del results[key]
    notes = []
    for tower, measures in misfits.items():
        error = UnsupportedModel(
            f"The layers of {tower} see other tokens than their attentions, or several sequences.",
            "These measures need one sequence of vectors in a layer, all read by its attention.",
            "Ask for the attention measures only: weight, value-norm, weighted-norm, attention.",
        )
        try:
            notes.append(leave_out(measures, error))
        except UnsupportedModel:
            if not results:
                raise
            notes.append(f"left out: {', '.join(measures)}: {error.found}")
    return notes


def _decompose(
    model: nn.Module, prepared: ModelInputs, reducer: AttentionReducer
) -> dict[AttentionKey, LadderResult]:
    """Run the model again with all layers on tape; return the decomposition at each attention."""
    with torch.no_grad():
        layers = _trace_all_layers(model, prepared, len(reducer.results.passed))
        results: dict[AttentionKey, LadderResult] = {}
        for tape in split_tapes(layers):
            results |= measure_decomposition(tape, reducer.ladder_request)
    return {key: result for key, result in results.items() if key in reducer.results.layers}


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
    passed: list[tuple[AttentionKey, tuple[nn.Module, ...]]] = []
    done = 0

    def note(captured: CapturedAttention) -> None:
        passed.append((captured.key, captured.inside))

    def on_layer(trace: LayerTrace) -> None:
        nonlocal done
        keys = tuple(key for key, inside in passed[done:] if trace.layer in inside)
        done = len(passed)
        layers.append(TracedLayer(trace, keys))
        if done == count:
            raise StopForward

    with suppress(StopForward):
        capture(model, prepared.for_forward(), note, on_layer, through_all_layers=True)
    return layers


def _layer_count(model: Any) -> int | None:
    """Return how many attentions a pass will have, where the configuration says so."""
    if has_encoder(model):
        return None
    count = getattr(getattr(model, "config", None), "num_hidden_layers", None)
    return count if isinstance(count, int) else None


@cache
def versions() -> dict[str, str]:
    """Return the versions of normviz and of what it runs on."""
    names = ("normviz", "torch", "transformers", "numpy")
    return {name: version(name) for name in names} | {"python": platform.python_version()}
