"""Listening to a forward pass: each attention is tracked to its output projection, then reported.

W_O is found by tracking the tensor: it is the first linear module whose input shares storage with
the attention's output. No table of module names is needed.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from normviz.core.axes import StreamName
from normviz.errors import UnsupportedModel
from normviz.model.capture import registry
from normviz.model.capture.hooks import active_observer, hook
from normviz.model.capture.layers import encoder_prefix
from normviz.model.capture.patching import attention_implementation, eval_mode
from normviz.model.capture.projection import Projection, is_linear, projection_of
from normviz.model.capture.tape import LayerTrace, layers_on_tape
from normviz.model.capture.tracking import (
    CROSS_INPUT_NAMES,
    TensorTracker,
    storage_id,
    uses_registry,
)
from normviz.model.capture.value_bias import ValueBiasTracker
from normviz.model.decompose import unwrap
from normviz.model.types import ModelVectors, Values, Weights

Result = TypeVar("Result")


@dataclass(frozen=True)
class CapturedAttention:
    """One attention with all that its measures need; dropped before the next one is captured."""

    stream: StreamName
    name: str
    module: nn.Module
    weight: Weights
    value: Values
    mask: Tensor | None
    projection: Projection
    output: ModelVectors
    """The output of the output projection, as the model computed it."""
    value_bias: Values | None = None
    """The part of the values that is the bias of their projection, if asked for."""


@dataclass
class _PendingAttention:
    """An attention whose output projection has not run yet."""

    module: nn.Module | None
    """The attention module; off the registry it is unknown until the projection is found."""
    value: Tensor
    mask: Tensor | None
    weight: Tensor
    value_bias: Tensor | None
    outputs: list[Tensor]
    """The output in all its shapes since; kept, so that no storage is reused."""

    def has_output(self, tensor: Any) -> bool:
        """Whether a tensor is a view of the output."""
        return isinstance(tensor, Tensor) and any(
            tensor.numel() == output.numel() and storage_id(tensor) == storage_id(output)
            for output in self.outputs
        )


class Listener(Generic[Result]):
    """Captures every attention of one forward pass and collects what `reduce` returns for it."""

    def __init__(
        self,
        model: nn.Module,
        inputs: Mapping[str, Any],
        reduce: Callable[[CapturedAttention], Result],
        bias_tracker: ValueBiasTracker | None = None,
    ) -> None:
        self.batch = next(len(value) for value in inputs.values() if isinstance(value, Tensor))
        self.names = {module: name for name, module in model.named_modules()}
        self.reduce = reduce
        self.results: list[Result] = []
        self.pending: _PendingAttention | None = None
        self.tracking = ExitStack()
        """Open while an output is on its way to its projection."""
        self.cross_attending: set[nn.Module] = set()
        self.encoder = encoder_prefix(model, self.names)
        self.model = model
        self.bias_tracker = bias_tracker

    def observe_attention(
        self, module: nn.Module, value: Tensor, mask: Tensor | None, output: Tensor, weight: Tensor
    ) -> None:
        """Note an attention, and track its output to a projection."""
        self.require_projected()
        bias = self._value_bias(value)
        self.pending = _PendingAttention(module, value, mask, weight, bias, [output])
        self.tracking.enter_context(TensorTracker(self))

    def observe_product(self, weight: Tensor, value: Tensor, output: Tensor) -> None:
        """Note an attention that is off the registry; heads may be folded into the batch."""
        self.require_projected()
        weight_by_head = weight.reshape(self.batch, -1, *weight.shape[-2:])
        value_by_head = value.reshape(self.batch, -1, *value.shape[-2:])
        bias = self._value_bias(value)
        bias = None if bias is None else bias.reshape(value_by_head.shape)
        # The mask is not known here: what no head reads at all counts as masked.
        mask = weight_by_head.ne(0).any(dim=1, keepdim=True)
        self.pending = _PendingAttention(None, value_by_head, mask, weight_by_head, bias, [output])

    def observe_view(self, before: Tensor, after: Tensor) -> None:
        """Track the pending output into another shape."""
        if self.pending is not None and self.pending.has_output(before):
            self.pending.outputs.append(after)

    def before_module(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Note whether a module is given another sequence to attend to."""
        names = _parameter_names(type(module).forward)
        arguments = dict(zip(names[1:], args, strict=False)) | kwargs
        # An extra keyword that is only passed through is not what this module attends to.
        if any(name in names and arguments.get(name) is not None for name in CROSS_INPUT_NAMES):
            self.cross_attending.add(module)
        else:
            self.cross_attending.discard(module)

    def after_linear(self, module: nn.Module, args: tuple[Any, ...], output: Tensor) -> None:
        """Reduce the pending attention, if this linear module was its output projection."""
        pending, args, output = self.pending, unwrap(args), unwrap(output)
        if self.bias_tracker is not None and args:
            self.bias_tracker.add_output(module, args[0], output)
        if pending is None or not args or not pending.has_output(args[0]):
            return
        self.pending = None
        self.tracking.close()
        attention = pending.module or self._parent(module)
        batch, heads, _, _ = pending.weight.shape
        sample = args[0].reshape(batch, -1, args[0].shape[-1])
        bias = pending.value_bias
        captured = CapturedAttention(
            stream=self.stream_of(attention),
            name=self.names[attention],
            module=attention,
            weight=pending.weight,
            value=_per_query_head(pending.value, heads),
            mask=pending.mask,
            projection=projection_of(module, self.names[module], sample, heads),
            output=output.reshape(batch, -1, output.shape[-1]),
            value_bias=None if bias is None else _per_query_head(bias, heads),
        )
        with torch._C.DisableTorchFunction():  # noqa: SLF001 - our own work is not observed
            self.results.append(self.reduce(captured))

    def _value_bias(self, value: Tensor) -> Tensor | None:
        """Return the part of the values that is bias, if asked for."""
        if self.bias_tracker is None:
            return None
        bias = self.bias_tracker.bias_in(value)
        self.bias_tracker.clear()
        if bias is None:
            raise UnsupportedModel(
                f"In {type(self.model).__name__}, the value vectors of an attention do not come "
                "straight from a linear module.",
                'effective_form="paper" leaves out the bias of that module, and has to find it.',
                'Use effective_form="bias" (the default) or effective_form="stochastic".',
            )
        return bias

    def _parent(self, module: nn.Module) -> nn.Module:
        return self.model.get_submodule(self.names[module].rpartition(".")[0])

    def stream_of(self, module: nn.Module) -> StreamName:
        """Return the stream an attention module belongs to."""
        if module in self.cross_attending:
            return "cross"
        if self.encoder is not None:
            return "encoder" if self.names[module].startswith(self.encoder) else "decoder"
        return "decoder" if getattr(module, "is_causal", False) else "encoder"

    def require_projected(self) -> None:
        """Raise if the output projection of the last attention was not found."""
        if self.pending is None:
            return
        module = self.pending.module
        name = f" {self.names[module]} ({type(module).__name__})" if module is not None else ""
        raise UnsupportedModel(
            f"In {type(self.model).__name__}, the output of an attention{name} "
            "did not enter a linear module directly.",
            "normviz needs the output projection that follows the attention, to compute f(x).",
            "Something is between the two (a gate, a norm, a fused kernel); please report it.",
        )


@cache
def _parameter_names(forward: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters of a class's forward, `self` first; wrapped instances hide them."""
    return tuple(inspect.signature(forward).parameters)


def _per_query_head(value: Tensor, heads: int) -> Tensor:
    """Return the value vectors of each query head; consecutive heads of a group share theirs."""
    if value.shape[1] == heads:
        return value
    return value.repeat_interleave(heads // value.shape[1], dim=1)


@contextmanager
def _listening(listener: Listener[Any]) -> Iterator[None]:
    """Make the listener the active observer of this thread, and hook it into the model."""
    with ExitStack() as stack:
        token = active_observer.set(listener)
        stack.callback(active_observer.reset, token)
        for module in listener.names:
            if is_linear(module):
                register = module.register_forward_hook
                hook(stack, register, listener.after_linear, observer=listener)
            elif set(CROSS_INPUT_NAMES) & set(_parameter_names(type(module).forward)):
                register = module.register_forward_pre_hook
                hook(stack, register, listener.before_module, observer=listener, with_kwargs=True)
        yield


def capture(
    model: nn.Module,
    inputs: Mapping[str, Any],
    reduce: Callable[[CapturedAttention], Result],
    on_layer: Callable[[LayerTrace], None] | None = None,
    *,
    through_all_layers: bool = False,
    value_bias: bool = False,
) -> list[Result]:
    """Run the model once and return what `reduce` makes of each attention, in the order they run.

    With `on_layer`, every layer runs on tape, and its trace is passed there once its attentions
    have been reduced; with `through_all_layers`, one tape runs through all layers, from the input
    of the first. With `value_bias`, the bias part of the values is captured too. The model is left
    as it was (mode, attention implementation, hooks, random numbers), also after an error.
    """
    bias_tracker = ValueBiasTracker() if value_bias else None
    listener = Listener(model, inputs, reduce, bias_tracker)
    modules = list(listener.names)
    on_registry = uses_registry(modules)
    implementation = registry.NAME if on_registry else "eager"
    with ExitStack() as stack:
        stack.enter_context(eval_mode(modules))
        stack.enter_context(attention_implementation(modules, implementation))
        stack.enter_context(_listening(listener))
        if not on_registry:
            stack.enter_context(TensorTracker(listener, products=True))
        if bias_tracker is not None:
            stack.enter_context(bias_tracker)
        stack.enter_context(listener.tracking)
        if on_layer is not None:
            stack.enter_context(
                layers_on_tape(model, on_layer, through_all_layers=through_all_layers)
            )
        model(**inputs)
        listener.require_projected()
    if not listener.results:
        raise UnsupportedModel(
            f"No attention was captured in {type(model).__name__}.",
            "normviz supports models on transformers' AttentionInterface, and attention written as "
            "a softmax followed by a product with the values.",
            "Use normviz.from_arrays with attention weights of your own.",
        )
    return listener.results
