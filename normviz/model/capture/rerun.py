"""Running a recorded pass again, or one layer of it, on other vectors.

Everything is the model's own code; hooks put other vectors in place of the recorded ones, and stop
the pass once everything needed has been seen. Under `torch.func` the vectors may be dual numbers.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor, nn

from normviz.model.capture.early_stop import StopForward
from normviz.model.capture.hooks import hook
from normviz.model.capture.layers import hidden_states_in
from normviz.model.capture.recording import LayerCall, RecordedPass

Edit = Callable[[int, Tensor], Tensor]
"""Returns what replaces a tensor at the attention of that number in a layer."""


@dataclass(frozen=True)
class HookPoint:
    """Where other vectors are put in: the input or output of a layer, or the input of a norm."""

    kind: Literal["input", "output", "norm"]
    number: int
    """The number of the layer's call; for a norm, of the first layer after it."""


@dataclass
class RerunTrace:
    """The vectors of a pass, up to where it was stopped."""

    contexts: list[list[Tensor]] = field(default_factory=list)
    """For each layer, the inputs of its output projections: the joined heads."""
    outputs: list[Tensor] = field(default_factory=list)
    """The output of each layer."""
    input: Tensor | None = None
    """The input of the last layer that was reached."""
    cross_input: Tensor | None = None
    """The other sequence that this layer reads, if it does."""


class _Rerun:
    """The hooks of a pass that is run again."""

    def __init__(
        self, recorded: RecordedPass, point: HookPoint, vectors: Tensor, until: int | None
    ) -> None:
        self.calls = recorded.calls
        self.point = point
        self.vectors = vectors
        self.until = until
        self.trace = RerunTrace()

    @property
    def number(self) -> int:
        """The number of the layer call that is running."""
        return len(self.trace.contexts) - 1

    def before_layer(self, layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.trace.contexts.append([])
        call = self.calls[self.number]
        bound = call.bound.signature.bind_partial(layer, *args, **kwargs)
        if self.point == HookPoint("input", self.number):
            bound.arguments[call.input_name] = self.vectors
        self.trace.input = bound.arguments[call.input_name]
        cross = call.cross_input_name
        self.trace.cross_input = None if cross is None else bound.arguments[cross]
        if self.number == self.until:
            raise StopForward
        return bound.args[1:], bound.kwargs

    def after_layer(self, _layer: nn.Module, _args: Any, _kwargs: Any, output: Any) -> Any:
        if self.point == HookPoint("output", self.number):
            output = (self.vectors, *output[1:]) if isinstance(output, tuple) else self.vectors
        self.trace.outputs.append(hidden_states_in(output))
        if self.number == len(self.calls) - 1:
            raise StopForward  # the head of the model is not needed
        return output

    def before_projection(self, _projection: nn.Module, args: tuple[Any, ...]) -> None:
        self.trace.contexts[-1].append(args[0])

    def before_norm(self, _norm: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.vectors, *args[1:])


def rerun_model(
    recorded: RecordedPass, point: HookPoint, vectors: Tensor, *, until: int | None = None
) -> RerunTrace:
    """Run the model with other vectors at one point, and return the vectors that follow from it.

    The pass ends after the last layer, or with `until` before the layer call of that number.
    """
    rerun = _Rerun(recorded, point, vectors, until)
    projections = {a.projection: None for call in recorded.calls for a in call.attentions}
    with ExitStack() as stack, suppress(StopForward):
        for layer in {call.layer: None for call in recorded.calls}:
            hook(stack, layer.register_forward_pre_hook, rerun.before_layer, with_kwargs=True)
            hook(stack, layer.register_forward_hook, rerun.after_layer, with_kwargs=True)
        for projection in projections:
            hook(stack, projection.register_forward_pre_hook, rerun.before_projection)
        if point.kind == "norm":
            norm = recorded.norms[recorded.calls[point.number].sequence].module
            hook(stack, norm.register_forward_pre_hook, rerun.before_norm)
        recorded.model(**recorded.inputs)
    return rerun.trace


def rerun_layer(
    call: LayerCall,
    vectors: Tensor,
    cross_vectors: Tensor | None = None,
    *,
    edit_context: Edit | None = None,
    edit_output: Edit | None = None,
    until: int | None = None,
) -> tuple[list[Tensor], Tensor | None]:
    """Run one layer on other vectors; return its output projections' inputs and its output.

    `edit_context` and `edit_output` replace the input and the output of a projection; with `until`
    the layer is stopped before the projection of that number, and its output is None.
    """
    contexts: list[Tensor] = []
    numbers = {a.projection: number for number, a in enumerate(call.attentions)}

    def before_projection(projection: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        number = numbers[projection]
        contexts.append(args[0] if edit_context is None else edit_context(number, args[0]))
        if number == until:
            raise StopForward
        return (contexts[-1], *args[1:])

    def after_projection(projection: nn.Module, _args: Any, output: Tensor) -> Tensor:
        return output if edit_output is None else edit_output(numbers[projection], output)

    output = None
    with ExitStack() as stack, suppress(StopForward):
        for projection in numbers:
            hook(stack, projection.register_forward_pre_hook, before_projection)
            hook(stack, projection.register_forward_hook, after_projection)
        bound = _bind(call, vectors, cross_vectors)
        output = hidden_states_in(call.layer(*bound.args[1:], **bound.kwargs))
    return contexts, output


def _bind(call: LayerCall, vectors: Tensor, cross_vectors: Tensor | None) -> inspect.BoundArguments:
    """Return the arguments of a recorded call with other vectors."""
    arguments = OrderedDict({**call.bound.arguments, call.input_name: vectors})
    if call.cross_input_name is not None and cross_vectors is not None:
        arguments[call.cross_input_name] = cross_vectors
    return inspect.BoundArguments(call.bound.signature, arguments)
