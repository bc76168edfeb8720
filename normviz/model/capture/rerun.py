"""Running a recorded pass again, or one layer of it, on other vectors.

Everything is the model's own code; hooks put other vectors in the place of those recorded, and
stop as soon as what is wanted has been seen. Under `torch.func` the vectors may be dual numbers.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor, nn

from normviz.model.capture.recording import LayerCall, RecordedPass, hook, vectors_of

Change = Callable[[int, Tensor], Tensor]
"""What to put in the place of a tensor at a layer's attention of that number."""


class _Enough(Exception):
    """What was wanted has been seen."""


@dataclass(frozen=True)
class HookPoint:
    """Where other vectors are put: where a layer is entered or left, or before a norm."""

    kind: Literal["enters", "leaves", "norm"]
    number: int
    """The number of the layer's call; for a norm, of the first layer after it."""


@dataclass
class RerunTrace:
    """What passed by, up to where the pass was stopped."""

    contexts: list[list[Tensor]] = field(default_factory=list)
    """For each layer, what its output projections were given."""
    left: list[Tensor] = field(default_factory=list)
    """For each layer, the vectors that left it."""
    entered: Tensor | None = None
    """What entered the last layer that was reached."""
    read: Tensor | None = None
    """What that layer was given to read from the other side."""


class _Pass:
    """The hooks of a pass that is run again."""

    def __init__(
        self, recorded: RecordedPass, place: HookPoint, vectors: Tensor, until: int | None
    ) -> None:
        self.calls = recorded.calls
        self.place = place
        self.vectors = vectors
        self.until = until
        self.seen = RerunTrace()

    @property
    def number(self) -> int:
        return len(self.seen.contexts) - 1

    def enter(self, layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.seen.contexts.append([])
        call = self.calls[self.number]
        given = call.given.signature.bind_partial(layer, *args, **kwargs)
        if self.place == HookPoint("enters", self.number):
            given.arguments[call.hidden] = self.vectors
        self.seen.entered = given.arguments[call.hidden]
        self.seen.read = None if call.elsewhere is None else given.arguments[call.elsewhere]
        if self.number == self.until:
            raise _Enough
        return given.args[1:], given.kwargs

    def leave(self, _layer: nn.Module, _args: Any, _kwargs: Any, output: Any) -> Any:
        if self.place == HookPoint("leaves", self.number):
            output = (self.vectors, *output[1:]) if isinstance(output, tuple) else self.vectors
        self.seen.left.append(vectors_of(output))
        if self.number == len(self.calls) - 1:
            raise _Enough  # what a model does with its last layer's output is its own affair
        return output

    def project(self, _projection: nn.Module, args: tuple[Any, ...]) -> None:
        self.seen.contexts[-1].append(args[0])

    def norm(self, _norm: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.vectors, *args[1:])


def rerun_model(
    recorded: RecordedPass, place: HookPoint, vectors: Tensor, *, until: int | None = None
) -> RerunTrace:
    """What passes by when other vectors are put in some place.

    The pass ends after the last layer, or with `until` where the layer of that number is entered.
    """
    again = _Pass(recorded, place, vectors, until)
    with ExitStack() as stack, suppress(_Enough):
        for layer in {call.layer: None for call in recorded.calls}:
            hook(stack, layer.register_forward_pre_hook, again.enter, with_kwargs=True)
            hook(stack, layer.register_forward_hook, again.leave, with_kwargs=True)
        for module in {one.projection: None for call in recorded.calls for one in call.attended}:
            hook(stack, module.register_forward_pre_hook, again.project)
        if place.kind == "norm":
            norm = recorded.norms[recorded.calls[place.number].side].module
            hook(stack, norm.register_forward_pre_hook, again.norm)
        recorded.model(**recorded.inputs)
    return again.seen


def rerun_layer(
    call: LayerCall,
    entered: Tensor,
    read: Tensor | None = None,
    *,
    into: Change | None = None,
    out_of: Change | None = None,
    until: int | None = None,
) -> tuple[list[Tensor], Tensor | None]:
    """What one layer's output projections are given and what leaves it, for other vectors.

    `into` and `out_of` change what a projection is given and gives; with `until` the layer is left
    where the projection of that number is reached, and nothing leaves it.
    """
    contexts: list[Tensor] = []
    numbers = {one.projection: number for number, one in enumerate(call.attended)}

    def before(projection: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        number = numbers[projection]
        contexts.append(args[0] if into is None else into(number, args[0]))
        if number == until:
            raise _Enough
        return (contexts[-1], *args[1:])

    def after(projection: nn.Module, _args: Any, output: Tensor) -> Tensor:
        return output if out_of is None else out_of(numbers[projection], output)

    left = None
    with ExitStack() as stack, suppress(_Enough):
        for projection in numbers:
            hook(stack, projection.register_forward_pre_hook, before)
            hook(stack, projection.register_forward_hook, after)
        given = _given(call, entered, read)
        left = vectors_of(call.layer(*given.args[1:], **given.kwargs))
    return contexts, left


def _given(call: LayerCall, entered: Tensor, read: Tensor | None) -> inspect.BoundArguments:
    """What a layer was given, but for its vectors."""
    changes: dict[str, Tensor] = {call.hidden: entered}
    if call.elsewhere is not None and read is not None:
        changes[call.elsewhere] = read
    arguments = OrderedDict({**call.given.arguments, **changes})
    return inspect.BoundArguments(call.given.signature, arguments)
