"""Small changes of the input, pushed through all layers of a model: derivatives in forward mode.

One push of a change gives its effect on every layer, so that all layers together cost no more than
the last one alone. Layers are pushed through one by one, folded where that can be done; whether
this is what the model does as a whole is not assumed, but checked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from normviz.model.capture.recording import LayerCall, RecordedPass
from normviz.model.capture.rerun import HookPoint, rerun_layer, rerun_model
from normviz.model.decompose.tape import SourceSequence
from normviz.model.measures.gradients.jacobians import Folded, folded, weight_of
from normviz.model.measures.gradients.jvp import pushed

Origin = Literal["after-norm", "before-norm"]
"""Where the input is taken: what enters the first layer, or what the norm before it is given."""


@dataclass(frozen=True, eq=False)
class Effect:
    """What a layer makes of small changes of the input; one change after the other, in front."""

    number: int
    contexts: Sequence[Tensor]
    """How the heads of each attention change, before the output projection."""
    left: Tensor
    """How the layer's output changes."""


@runtime_checkable
class Pusher(Protocol):
    """One way of pushing changes of the input through a model."""

    def push(self, side: SourceSequence, changes: Tensor) -> Iterator[Effect]:
        """What changes of one side's input do to every layer that they reach, in order."""


@runtime_checkable
class Layer(Protocol):
    """One way of pushing changes through a layer."""

    def push(self, own: Tensor | None, other: Tensor | None) -> tuple[list[Tensor], Tensor]:
        """What changes of its vectors, and of those it reads, do to its heads and its output."""


@dataclass(frozen=True, eq=False)
class Whole:
    """One layer, all of it run on dual numbers."""

    call: LayerCall

    def push(self, own: Tensor | None, other: Tensor | None) -> tuple[list[Tensor], Tensor]:
        """What changes of its vectors, and of those it reads, do to its heads and its output."""
        call = self.call
        sides = ((call.entered, own), (call.read, other))
        vectors = [one for one, change in sides if one is not None and change is not None]
        changes = [change for one, change in sides if one is not None and change is not None]

        def run(*given: Tensor) -> tuple[Tensor, ...]:
            entered = call.entered if own is None else given[0]
            read = call.read if other is None else given[-1]
            contexts, left = rerun_layer(call, entered, read)
            assert left is not None  # noqa: S101 - the layer was run to its end
            return (*contexts, left)

        *contexts, left = pushed(run, vectors, changes)
        return contexts, left


class Chain:
    """Layer after layer: what leaves one enters the next."""

    def __init__(self, recorded: RecordedPass, origin: Origin, layers: Sequence[Layer]) -> None:
        self.recorded = recorded
        self.origin = origin
        self.layers = layers

    def push(self, side: SourceSequence, changes: Tensor) -> Iterator[Effect]:
        """What changes of one side's input do to every layer that they reach, in order."""
        calls = self.recorded.calls
        own: dict[SourceSequence, Tensor] = {}
        other: Tensor | None = None
        for number, call in enumerate(calls):
            if number == self.recorded.first(call.side):
                if call.side == side:
                    own[side] = self._begun(side, changes)
                elif own:
                    other = self._bridged(number, own[side], read=True)
            elif call.side in own and not torch.equal(calls[number - 1].left, call.entered):
                own[call.side] = self._bridged(number, own[call.side], read=False)
            if call.side in own or other is not None:
                contexts, left = self.layers[number].push(own.get(call.side), other)
                own[call.side] = left
                yield Effect(number, contexts, left)

    def _begun(self, side: SourceSequence, changes: Tensor) -> Tensor:
        """What enters the first layer, when the input changes."""
        place, given = start(self.recorded, side, self.origin)
        if place.kind == "enters":
            return changes

        def run(vectors: Tensor) -> tuple[Tensor]:
            return (_there(rerun_model(self.recorded, place, vectors, until=place.number).entered),)

        return pushed(run, (given,), (changes,))[0]

    def _bridged(self, number: int, changes: Tensor, *, read: bool) -> Tensor:
        """What a layer is given, when what left the one before it changes."""
        place = HookPoint("leaves", number - 1)

        def run(vectors: Tensor) -> tuple[Tensor]:
            seen = rerun_model(self.recorded, place, vectors, until=number)
            return (_there(seen.read if read else seen.entered),)

        return pushed(run, (self.recorded.calls[number - 1].left,), (changes,))[0]


class Throughout:
    """The whole model in one go, for models whose layers meet elsewhere too."""

    def __init__(self, recorded: RecordedPass, origin: Origin) -> None:
        self.recorded = recorded
        self.origin = origin

    def push(self, side: SourceSequence, changes: Tensor) -> Iterator[Effect]:
        """What changes of one side's input do to every layer that they reach, in order."""
        begin = self.recorded.first(side)
        _, given = start(self.recorded, side, self.origin)
        found = iter(pushed(lambda vectors: self.run(side, vectors), (given,), (changes,)))
        for number, call in enumerate(self.recorded.calls[begin:], begin):
            contexts = [next(found) for _ in call.attended]
            yield Effect(number, contexts, next(found))

    def run(self, side: SourceSequence, vectors: Tensor) -> tuple[Tensor, ...]:
        """All that is seen of the layers from a side's first on, when its input is another."""
        begin = self.recorded.first(side)
        seen = rerun_model(self.recorded, start(self.recorded, side, self.origin)[0], vectors)
        both = zip(seen.contexts[begin:], seen.left[begin:], strict=True)
        return tuple(one for contexts, left in both for one in (*contexts, left))


def start(recorded: RecordedPass, side: SourceSequence, origin: Origin) -> tuple[HookPoint, Tensor]:
    """Where a side's input is put, and what was there."""
    first = recorded.first(side)
    if origin == "before-norm" and side in recorded.norms:
        return HookPoint("norm", first), recorded.norms[side].given
    return HookPoint("enters", first), recorded.calls[first].entered


def chained(recorded: RecordedPass, origin: Origin, most: int, memory: int, last: int) -> Chain:
    """The layers in a chain, folded up to the last one wanted while they fit in memory."""
    layers: list[Layer] = []
    left = memory
    for number, call in enumerate(recorded.calls):
        fits = number <= last and weight_of(call) <= left
        layer: Folded | None = folded(call, most) if fits else None
        left -= weight_of(call) if layer is not None else 0
        layers.append(layer or Whole(call))
    return Chain(recorded, origin, layers)


def _there(vectors: Tensor | None) -> Tensor:
    assert vectors is not None  # noqa: S101 - the pass was run to where it is
    return vectors
