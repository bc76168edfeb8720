"""Running a recorded pass again, or one layer of it, on other vectors.

Everything is the model's own code; hooks put other vectors in place of the recorded ones, and stop
the pass once everything needed has been seen. Under `torch.func` the vectors may be dual numbers.
"""

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor, nn

from normviz.model.capture.early_stop import StopForward
from normviz.model.capture.hooks import active_observer, hook
from normviz.model.capture.layers import bind_arguments, hidden_states_in
from normviz.model.capture.recording import LayerCall, RecordedPass
from normviz.model.capture.tracking import AttentionTracker, Product

Edit = Callable[[int, Tensor], Tensor]
"""Returns what replaces the heads' outputs in the attention of that number in a layer."""


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
    """For each layer, the heads' outputs in its attentions `[sequence query head dim]`."""
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
        bound = bind_arguments(layer, args, kwargs)
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

    def after_attention(self, output: Tensor) -> Tensor:
        if not self.trace.contexts:
            return output
        contexts, call = self.trace.contexts[-1], self.calls[self.number]
        if len(contexts) < len(call.attentions):
            contexts.append(call.attentions[len(contexts)].axes.to_heads(output))
        return output

    def before_norm(self, _norm: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.vectors, *args[1:])


def rerun_model(
    recorded: RecordedPass, point: HookPoint, vectors: Tensor, *, until: int | None = None
) -> RerunTrace:
    """Run the model with other vectors at one point, and return the vectors that follow from it.

    The pass ends after the last layer, or with `until` before the layer call of that number.
    """
    rerun = _Rerun(recorded, point, vectors, until)
    with ExitStack() as stack, suppress(StopForward):
        stack.enter_context(_contexts_through(rerun.after_attention))
        for layer in {call.layer: None for call in recorded.calls}:
            hook(stack, layer.register_forward_pre_hook, rerun.before_layer, with_kwargs=True)
            hook(stack, layer.register_forward_hook, rerun.after_layer, with_kwargs=True)
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
    until: int | None = None,
) -> tuple[list[Tensor], Tensor | None]:
    """Run one layer on other vectors; return the heads' outputs of its attentions, and its output.

    The heads' outputs are `[sequence query head dim]`. `edit_context` replaces them; with `until`
    the layer is stopped after the attention of that number, and its output is None.
    """
    contexts: list[Tensor] = []

    def after_attention(output: Tensor) -> Tensor:
        number = len(contexts)
        if number == len(call.attentions):
            return output
        attention = call.attentions[number]
        context = attention.axes.to_heads(output)
        contexts.append(context if edit_context is None else edit_context(number, context))
        if number == until:
            raise StopForward
        return output if edit_context is None else attention.axes.from_heads(contexts[-1])

    output = None
    with _contexts_through(after_attention), suppress(StopForward):
        bound = _bind(call, vectors, cross_vectors)
        output = hidden_states_in(call.layer(*bound.args[1:], **bound.kwargs))
    return contexts, output


class _ContextObserver:
    """Passes the heads' outputs of every attention through a function."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        self.function = function
        self.tracker = AttentionTracker(self, written_out=True)

    @property
    def is_following(self) -> bool:
        """Nothing is followed: only attentions matter here."""
        return False

    def attending(self) -> AbstractContextManager[None]:
        """Observe nothing while an attention function runs, which is observed as a whole."""
        return self.tracker.pause()

    def observe_attention(
        self, module: nn.Module, value: Tensor, mask: Tensor | None, output: Tensor, weight: Tensor
    ) -> Tensor:
        """Return the output of an attention, passed through the function."""
        del module, value, mask, weight
        return self.function(output)

    def observe_product(self, product: Product, output: Tensor) -> Tensor:
        """Return the output of an attention off the registry, passed through the function."""
        del product
        return self.function(output)

    def observe_multihead(
        self, arguments: Mapping[str, Any], weight: Tensor, output: Tensor
    ) -> Tensor:
        """Return the output of torch's own multi-head attention, its heads passed through."""
        del arguments, weight
        return output

    def edit_heads(self, context: Tensor) -> Tensor:
        """Return the heads' outputs inside torch's own attention, passed through the function."""
        return self.function(context)

    def before_function(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Do nothing."""

    def after_function(
        self, name: str, args: tuple[Any, ...], options: dict[str, Any], result: Any
    ) -> None:
        """Do nothing."""


@contextmanager
def _contexts_through(function: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Pass the heads' outputs of every attention through a function inside a `with`."""
    observer = _ContextObserver(function)
    token = active_observer.set(observer)
    try:
        with observer.tracker:
            yield
    finally:
        active_observer.reset(token)


def _bind(call: LayerCall, vectors: Tensor, cross_vectors: Tensor | None) -> inspect.BoundArguments:
    """Return the arguments of a recorded call with other vectors."""
    arguments = OrderedDict({**call.bound.arguments, call.input_name: vectors})
    if call.cross_input_name is not None and cross_vectors is not None:
        arguments[call.cross_input_name] = cross_vectors
    return inspect.BoundArguments(call.bound.signature, arguments)
