"""Running a model on what was prepared for it, and making flows of what was heard."""

import platform
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from typing import Any

import torch

from normviz.core.axes import StreamName  # noqa: TC001 - beartype reads it
from normviz.core.flow import Flow
from normviz.core.receipt import Receipt
from normviz.derived.complete import add_derived
from normviz.model.capture import CapturedAttention, LayerTrace, capture
from normviz.model.capture.patching import implementation_name
from normviz.model.collect import collect
from normviz.model.inputs import ModelInputs, has_encoder
from normviz.model.loading import LoadedModel
from normviz.model.measures.extra_passes import run_extra_passes
from normviz.model.measures.ladder.decomposition import Carried
from normviz.model.measures.reducer import AttentionReducer
from normviz.model.options import Options
from normviz.system.progress import track_progress


def run_batch(loaded: LoadedModel, prepared: ModelInputs, options: Options) -> Iterator[Flow]:
    """Run a model on what was prepared, and make a flow of each text."""
    attention = implementation_name(loaded.model)
    sides = {side: (lambda n, side=side: prepared.real(side, n)) for side in ("encoder", "decoder")}
    reducer = AttentionReducer(
        options.run_for,
        layers=options.run_layers,
        heads=options.heads,
        real=sides,
        memory=options.memory,
        biases=options.biases,
        form=options.effective,
    )
    with track_progress("attention layers", _layer_count(loaded.model)) as step:

        def measured(heard: CapturedAttention) -> None:
            reducer(heard)
            step()

        layered = reducer.layered if reducer.needs_tape else None
        inputs = prepared.for_forward()
        capture(loaded.model, inputs, measured, layered, biases=reducer.needs_biases)
    if "decomposition" in options.measures:
        with torch.no_grad():
            reducer.carried(_carried(loaded.model, prepared, len(reducer.results)))
    said = run_extra_passes(loaded.model, inputs, reducer, options.slope)
    about = _about(loaded, prepared, attention)
    for row in collect(reducer.results, prepared, options.layers):
        notes = prepared.notes + row.notes + said
        receipt = Receipt(
            row.checks, **about, rungs=row.rungs, gradients=row.gradients, notes=notes
        )
        flow = Flow(row.streams, receipt, prepared.title)
        yield add_derived(flow, options.measures, options.layers, insist=options.by_name)


def _about(loaded: LoadedModel, prepared: ModelInputs, attention: str) -> dict[str, Any]:
    """What a receipt says of a whole batch."""
    first = next(loaded.model.parameters(), None)
    return {
        "model": loaded.name,
        "attention": attention,
        "dtype": str(getattr(first, "dtype", "none")).removeprefix("torch."),
        "device": str(getattr(first, "device", "none")),
        "inputs": prepared.fingerprint(),
        "versions": versions(),
    }


class _Enough(Exception):
    """The last layer has passed; what a model does with its output is its own affair."""


def _carried(model: Any, prepared: ModelInputs, attentions: int) -> list[Carried]:
    """A second pass, with one tape through all layers, up to the last of so many attentions."""
    layers: list[Carried] = []
    streams: list[StreamName] = []

    def layered(taped: LayerTrace) -> None:
        before = sum(len(layer.streams) for layer in layers)
        layers.append(Carried(taped, tuple(streams[before:])))
        if len(streams) == attentions:
            raise _Enough

    with suppress(_Enough):
        hear = lambda heard: streams.append(heard.stream)  # noqa: E731
        capture(model, prepared.for_forward(), hear, layered, carried=True)
    return layers


def _layer_count(model: Any) -> int | None:
    """How many attentions a pass will have, where the configuration says so."""
    if has_encoder(model):
        return None
    return getattr(getattr(model, "config", None), "num_hidden_layers", None)


@cache
def versions() -> dict[str, str]:
    """What ran: normviz and what it stands on."""
    names = ("normviz", "torch", "transformers", "numpy")
    return {name: version(name) for name in names} | {"python": platform.python_version()}
