"""A model's layers as they were called in one pass.

What is recorded is all that a layer was given, so that it can run again, alone and on other
vectors, with the model's own code: for derivatives, and to see what happens without something.
"""

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from normviz.core.axes import StreamName
from normviz.model.capture.layers import encoder_of, experts_one_by_one, layers_of
from normviz.model.capture.listener import CapturedAttention, capture
from normviz.model.capture.patching import (
    attention_implementation,
    differentiated_as_written,
    eval_mode,
    unmoved,
)
from normviz.model.capture.tracking import CROSS_INPUT_NAMES
from normviz.model.decompose.tape import SourceSequence

Where = tuple[int, int]
"""Where an attention is: the number of its layer's call, and its own in that layer."""


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """One attention inside a layer."""

    stream: StreamName
    projection: nn.Module
    heads: int
    heard: CapturedAttention | None
    """All that was heard of it, where somebody wants to keep it."""


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One layer as it was called: what it was given, and what it made of it."""

    layer: nn.Module
    side: SourceSequence
    """`other` for an encoder that leads to a decoder; `own` for every other stack."""
    given: inspect.BoundArguments
    left: Tensor
    """The vectors of its tokens, as the layer left them."""
    attended: tuple[AttentionCall, ...]

    @property
    def hidden(self) -> str:
        """What the layer calls the vectors of its own tokens."""
        return next(name for name, one in self.given.arguments.items() if isinstance(one, Tensor))

    @property
    def elsewhere(self) -> str | None:
        """What it calls the vectors it reads from the other side, if it does."""
        named = self.given.arguments
        return next(
            (name for name in CROSS_INPUT_NAMES if isinstance(named.get(name), Tensor)), None
        )

    @property
    def entered(self) -> Tensor:
        """The vectors of its tokens, as they entered."""
        vectors: Tensor = self.given.arguments[self.hidden]
        return vectors

    @property
    def read(self) -> Tensor | None:
        """The vectors it reads from the other side."""
        name = self.elsewhere
        return None if name is None else self.given.arguments[name]

    def side_of(self, stream: StreamName) -> SourceSequence:
        """Whose tokens are the keys of one of its attentions."""
        return "other" if stream == "cross" else self.side


@dataclass(frozen=True, eq=False)
class NormCall:
    """A norm, and what it was given."""

    module: nn.Module
    given: Tensor


@dataclass(frozen=True, eq=False)
class RecordedPass:
    """One pass of a model: its layers, in the order in which they were called."""

    model: nn.Module
    inputs: Mapping[str, Any]
    calls: tuple[LayerCall, ...]
    norms: Mapping[SourceSequence, NormCall]
    """For each side, the last norm before its first layer, if there is one."""

    @property
    def attentions(self) -> tuple[Where, ...]:
        """Where every attention is, in the order in which they were heard."""
        return tuple(
            (n, at) for n, call in enumerate(self.calls) for at in range(len(call.attended))
        )

    @property
    def sides(self) -> tuple[SourceSequence, ...]:
        """The sides of the model, in the order in which they run."""
        return tuple(dict.fromkeys(call.side for call in self.calls))

    def first(self, side: SourceSequence) -> int:
        """The number of the first call on a side."""
        return next(number for number, call in enumerate(self.calls) if call.side == side)


def hook(
    stack: ExitStack, register: Callable[..., Any], hear: Callable[..., Any], **how: bool
) -> None:
    """Register a hook for as long as the stack is open, deaf to what other threads do meanwhile."""
    thread = threading.get_ident()
    mine = lambda *given: hear(*given) if threading.get_ident() == thread else None  # noqa: E731
    stack.callback(register(mine, **how).remove)


@contextmanager
def ready_for_jvp(model: nn.Module) -> Iterator[None]:
    """A model that can be run on dual numbers: its own eager attention, experts one by one."""
    modules = list(model.modules())
    with (
        eval_mode(modules),
        attention_implementation(modules, "eager"),
        experts_one_by_one(model),
        unmoved(modules),
        differentiated_as_written(modules),
    ):
        yield


class _Recorder:
    """Notes every call of a layer during a pass."""

    def __init__(self, model: nn.Module, *, keep: bool) -> None:
        self.modules = dict(model.named_modules())
        self.names = {module: name for name, module in self.modules.items()}
        self.encoder = encoder_of(model, self.names)
        self.keep = keep
        self.calls: list[LayerCall] = []
        self.norms: dict[SourceSequence, NormCall] = {}
        self.heard: list[AttentionCall] = []
        self.open: list[inspect.BoundArguments] = []

    def hear(self, heard: CapturedAttention) -> None:
        """Note an attention, as part of the layer that is running."""
        projection = self.modules[heard.projection.name]
        kept = heard if self.keep else None
        self.heard.append(AttentionCall(heard.stream, projection, heard.weight.shape[1], kept))

    def enter(self, layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Before a layer runs."""
        self.open.append(_signature(layer).bind_partial(layer, *args, **kwargs))

    def leave(self, layer: nn.Module, _args: Any, _kwargs: Any, output: Any) -> None:
        """After it ran."""
        attended = tuple(self.heard)
        self.heard.clear()
        call = LayerCall(layer, self.side(layer), self.open.pop(), vectors_of(output), attended)
        self.calls.append(call)

    def normed(self, norm: nn.Module, args: tuple[Any, ...], _output: Any) -> None:
        """After a norm ran: it may have been the last before a first layer."""
        side = self.side(norm)
        if not self.open and all(call.side != side for call in self.calls):
            self.norms[side] = NormCall(norm, args[0])

    def side(self, module: nn.Module) -> SourceSequence:
        """The side on which a module stands."""
        encoder = self.encoder
        return "other" if encoder and self.names[module].startswith(encoder) else "own"


def record_pass(model: nn.Module, inputs: Mapping[str, Any], *, keep: bool = False) -> RecordedPass:
    """Run a model once and note how each of its layers was called.

    With `keep`, everything heard of the attentions is kept as well.
    """
    recorder = _Recorder(model, keep=keep)
    layers = layers_of(model)
    with ExitStack() as stack:
        stack.enter_context(experts_one_by_one(model))
        for module in recorder.names:
            if module in layers:
                hook(stack, module.register_forward_pre_hook, recorder.enter, with_kwargs=True)
                hook(stack, module.register_forward_hook, recorder.leave, with_kwargs=True)
            elif "Norm" in type(module).__name__:
                hook(stack, module.register_forward_hook, recorder.normed)
        capture(model, inputs, recorder.hear)
    return RecordedPass(model, inputs, tuple(recorder.calls), recorder.norms)


def vectors_of(output: Any) -> Tensor:
    """The vectors among what a layer gives back."""
    vectors: Tensor = output[0] if isinstance(output, tuple) else output
    return vectors


def _signature(layer: nn.Module) -> inspect.Signature:
    return inspect.signature(type(layer).forward)
