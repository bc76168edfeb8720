"""Directions of the input, pushed through all layers of a model: derivatives in forward mode.

One push gives the derivative of every layer, so that all layers together cost no more than the last
one alone. Layers are pushed through one by one, as matrices where possible; that this is the
derivative of the whole model is not assumed, but checked (`check`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from normviz.core.gradients import Origin
from normviz.errors import UnsupportedModel
from normviz.model.capture.recording import LayerCall, RecordedPass
from normviz.model.capture.rerun import HookPoint, rerun_layer, rerun_model
from normviz.model.decompose.tape import SourceSequence
from normviz.model.measures.gradients.jacobians import (
    TokenwiseJacobian,
    fold_layer,
    jacobian_bytes,
)
from normviz.model.measures.gradients.jvp import batched_jvp


@dataclass(frozen=True, eq=False)
class LayerEffect:
    """The derivatives of one layer in some directions of the input; the direction comes first."""

    number: int
    """The number of the layer's call."""
    contexts: Sequence[Tensor]
    """The derivatives of each attention's heads, before the output projection."""
    output: Tensor
    """The derivative of the layer's output."""


@runtime_checkable
class JvpStrategy(Protocol):
    """One way of pushing directions of the input through a model."""

    def push(self, sequence: SourceSequence, directions: Tensor) -> Iterator[LayerEffect]:
        """Yield the derivatives of every layer that depends on a sequence's input, in order."""


@runtime_checkable
class LayerJvp(Protocol):
    """One way of pushing directions through a layer."""

    def push(self, own: Tensor | None, cross: Tensor | None) -> tuple[list[Tensor], Tensor]:
        """Return the derivatives of the heads and of the output in directions of the inputs."""


@dataclass(frozen=True, eq=False)
class FullLayerJvp:
    """One layer, all of it run on dual numbers."""

    call: LayerCall

    def push(self, own: Tensor | None, cross: Tensor | None) -> tuple[list[Tensor], Tensor]:
        """Return the derivatives of the heads and of the output in directions of the inputs."""
        call = self.call
        pairs = [
            (vectors, directions)
            for vectors, directions in ((call.input, own), (call.cross_input, cross))
            if vectors is not None and directions is not None
        ]

        def run(*vectors: Tensor) -> tuple[Tensor, ...]:
            hidden = call.input if own is None else vectors[0]
            cross_hidden = call.cross_input if cross is None else vectors[-1]
            contexts, output = rerun_layer(call, hidden, cross_hidden)
            assert output is not None  # noqa: S101 - the layer was run to its end
            return (*contexts, output)

        inputs, directions = [first for first, _ in pairs], [second for _, second in pairs]
        *contexts, output = batched_jvp(run, inputs, directions)
        return contexts, output


class LayerwiseJvp:
    """Layer after layer: the output of one is the input of the next."""

    def __init__(self, recorded: RecordedPass, origin: Origin, layers: Sequence[LayerJvp]) -> None:
        self.recorded = recorded
        self.origin = origin
        self.layers = layers

    def push(self, sequence: SourceSequence, directions: Tensor) -> Iterator[LayerEffect]:
        """Yield the derivatives of every layer that depends on a sequence's input, in order."""
        calls = self.recorded.calls
        own: dict[SourceSequence, Tensor] = {}
        cross: Tensor | None = None
        for number, call in enumerate(calls):
            if number == self.recorded.first_call(call.sequence):
                if call.sequence == sequence:
                    own[sequence] = self._into_first_layer(sequence, directions)
                elif own:
                    cross = self._between_layers(number, own[sequence], as_cross_input=True)
            elif call.sequence in own and not torch.equal(calls[number - 1].output, call.input):
                own[call.sequence] = self._between_layers(
                    number, own[call.sequence], as_cross_input=False
                )
            if call.sequence in own or cross is not None:
                contexts, output = self.layers[number].push(own.get(call.sequence), cross)
                own[call.sequence] = output
                yield LayerEffect(number, contexts, output)

    def _into_first_layer(self, sequence: SourceSequence, directions: Tensor) -> Tensor:
        """Return the derivative of the first layer's input by the model's input."""
        point, vectors = input_of(self.recorded, sequence, self.origin)
        if point.kind == "input":
            return directions

        def run(vectors: Tensor) -> tuple[Tensor]:
            trace = rerun_model(self.recorded, point, vectors, until=point.number)
            return (_require_reached(trace.input),)

        return batched_jvp(run, (vectors,), (directions,))[0]

    def _between_layers(self, number: int, directions: Tensor, *, as_cross_input: bool) -> Tensor:
        """Return the derivative of a layer's input by the output of the layer before it."""
        point = HookPoint("output", number - 1)

        def run(vectors: Tensor) -> tuple[Tensor]:
            trace = rerun_model(self.recorded, point, vectors, until=number)
            return (_require_reached(trace.cross_input if as_cross_input else trace.input),)

        return batched_jvp(run, (self.recorded.calls[number - 1].output,), (directions,))[0]


class WholeModelJvp:
    """The whole model at once, for models whose layers exchange something on the side."""

    def __init__(self, recorded: RecordedPass, origin: Origin) -> None:
        self.recorded = recorded
        self.origin = origin

    def push(self, sequence: SourceSequence, directions: Tensor) -> Iterator[LayerEffect]:
        """Yield the derivatives of every layer that depends on a sequence's input, in order."""
        begin = self.recorded.first_call(sequence)
        _, vectors = input_of(self.recorded, sequence, self.origin)
        run = lambda vectors: self._run(sequence, vectors)  # noqa: E731
        tangents = iter(batched_jvp(run, (vectors,), (directions,)))
        for number, call in enumerate(self.recorded.calls[begin:], begin):
            contexts = [next(tangents) for _ in call.attentions]
            yield LayerEffect(number, contexts, next(tangents))

    def _run(self, sequence: SourceSequence, vectors: Tensor) -> tuple[Tensor, ...]:
        """Return the contexts and outputs of the layers from a sequence's first on."""
        begin = self.recorded.first_call(sequence)
        point, _ = input_of(self.recorded, sequence, self.origin)
        trace = rerun_model(self.recorded, point, vectors)
        layers = zip(trace.contexts[begin:], trace.outputs[begin:], strict=True)
        return tuple(tensor for contexts, output in layers for tensor in (*contexts, output))


def input_of(
    recorded: RecordedPass, sequence: SourceSequence, origin: Origin
) -> tuple[HookPoint, Tensor]:
    """Return where a sequence's input enters the model, and the vectors recorded there."""
    first = recorded.first_call(sequence)
    if origin == "before-norm" and sequence in recorded.norms:
        return HookPoint("norm", first), recorded.norms[sequence].input
    return HookPoint("input", first), recorded.calls[first].input


def build_layerwise(
    recorded: RecordedPass, origin: Origin, batch_size: int, memory: int, last: int
) -> LayerwiseJvp:
    """Return the layers one by one, as matrices up to the last one while they fit in memory."""
    layers: list[LayerJvp] = []
    free = memory
    for number, call in enumerate(recorded.calls):
        fits = number <= last and jacobian_bytes(call) <= free
        folded: TokenwiseJacobian | None = fold_layer(call, batch_size) if fits else None
        free -= jacobian_bytes(call) if folded is not None else 0
        layers.append(folded or FullLayerJvp(call))
    return LayerwiseJvp(recorded, origin, layers)


def _require_reached(vectors: Tensor | None) -> Tensor:
    if vectors is None:
        raise UnsupportedModel(
            "One stack of layers runs after another, and its layers do not take what the first "
            "one made as the sequence that they read.",
            "Gradients go from layer to layer, and from an encoder to the decoder that attends "
            "to it.",
            "Ask for the measures of single layers, such as weighted-norm or layer-output.",
        )
    return vectors
