"""Listening to a forward pass: each attention is followed to its output projection, then told.

W_O is found by following the tensor: it is the first linear module whose input shares storage
with the attention's output. No table of names is needed.
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
from normviz.model.capture import tracking as products
from normviz.model.capture.layers import LayerTrace, encoder_of, taping
from normviz.model.capture.patching import attention_implementation, eval_mode
from normviz.model.capture.projection import Projection, is_linear, projection
from normviz.model.capture.tracking import CROSS_INPUT_NAMES, storage
from normviz.model.capture.value_bias import ValueBiasTracker
from normviz.model.decompose import unwrap
from normviz.model.types import ModelVectors, Values, Weights

Result = TypeVar("Result")


@dataclass(frozen=True)
class CapturedAttention:
    """One attention with all that its measures need; dropped before the next one is heard."""

    stream: StreamName
    name: str
    module: nn.Module
    weight: Weights
    value: Values
    mask: Tensor | None
    projection: Projection
    output: ModelVectors
    """What the output projection really put out."""
    value_bias: Values | None = None
    """What of the values is the bias of their projection, where it was asked for."""


@dataclass
class _Attended:
    """An attention on its way to its output projection."""

    module: nn.Module | None
    """The attention module; unknown until the projection is found, where it is off the registry."""
    value: Tensor
    mask: Tensor | None
    weight: Tensor
    bias: Tensor | None
    """What of the value is bias, where it was asked for."""
    outputs: list[Tensor]
    """The output in all the shapes it was given since; kept, so that no storage is reused."""

    def becomes(self, tensor: Any) -> bool:
        """Whether a tensor is a view of the output."""
        return isinstance(tensor, Tensor) and any(
            tensor.numel() == output.numel() and storage(tensor) == storage(output)
            for output in self.outputs
        )


class Listener(Generic[Result]):
    """Hears every attention of one forward pass and keeps what `reduce` makes of it."""

    def __init__(
        self,
        model: nn.Module,
        inputs: Mapping[str, Any],
        reduce: Callable[[CapturedAttention], Result],
        origins: ValueBiasTracker | None = None,
    ) -> None:
        self.batch = next(len(given) for given in inputs.values() if isinstance(given, Tensor))
        self.names = {module: name for name, module in model.named_modules()}
        self.reduce = reduce
        self.results: list[Result] = []
        self.pending: _Attended | None = None
        self.following = ExitStack()
        """Open while an output is on its way to its projection."""
        self.reading_elsewhere: set[nn.Module] = set()
        self.encoder = encoder_of(model, self.names)
        self.model = model
        self.origins = origins

    def attended(
        self, module: nn.Module, value: Tensor, mask: Tensor | None, output: Tensor, weight: Tensor
    ) -> None:
        """Hear one attention, and wait for its output to enter a projection."""
        self.settled()
        self.pending = _Attended(module, value, mask, weight, self._bias(value), [output])
        self.following.enter_context(products.TensorTracker(self))

    def multiplied(self, weight: Tensor, value: Tensor, output: Tensor) -> None:
        """Hear an attention that is off the registry; heads may be folded into the batch."""
        self.settled()
        folded = weight.reshape(self.batch, -1, *weight.shape[-2:])
        unfolded = value.reshape(self.batch, -1, *value.shape[-2:])
        bias = self._bias(value)
        bias = None if bias is None else bias.reshape(unfolded.shape)
        # No mask is heard here: what no head reads at all is masked.
        mask = folded.ne(0).any(dim=1, keepdim=True)
        self.pending = _Attended(None, unfolded, mask, folded, bias, [output])

    def passed_on(self, before: Tensor, after: Tensor) -> None:
        """Follow the pending output into another shape."""
        if self.pending is not None and self.pending.becomes(before):
            self.pending.outputs.append(after)

    def entering(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Before a module runs: note whether it was given another sequence to read."""
        names = _parameters(type(module).forward)
        given = dict(zip(names[1:], args, strict=False)) | kwargs
        # What is only passed through, among further keywords, is not what this module reads.
        if any(name in names and given.get(name) is not None for name in CROSS_INPUT_NAMES):
            self.reading_elsewhere.add(module)
        else:
            self.reading_elsewhere.discard(module)

    def projected(self, module: nn.Module, args: tuple[Any, ...], output: Tensor) -> None:
        """After a linear module ran: was it the projection that the last attention led to?"""
        attended, args, output = self.pending, unwrap(args), unwrap(output)
        if self.origins is not None and args:
            self.origins.put_out(module, args[0], output)
        if attended is None or not args or not attended.becomes(args[0]):
            return
        self.pending = None
        self.following.close()
        speaker = attended.module or self._parent(module)
        batch, heads, _, _ = attended.weight.shape
        sample = args[0].reshape(batch, -1, args[0].shape[-1])
        found = projection(module, self.names[module], sample, heads)
        heard = CapturedAttention(
            stream=self.stream_of(speaker),
            name=self.names[speaker],
            module=speaker,
            weight=attended.weight,
            value=_for_each_head(attended.value, heads),
            mask=attended.mask,
            projection=found,
            output=output.reshape(batch, -1, output.shape[-1]),
            value_bias=None if attended.bias is None else _for_each_head(attended.bias, heads),
        )
        with torch._C.DisableTorchFunction():  # noqa: SLF001 - what is measured is not followed
            self.results.append(self.reduce(heard))

    def _bias(self, value: Tensor) -> Tensor | None:
        """What of the values is bias, where somebody wants to know."""
        if self.origins is None:
            return None
        bias = self.origins.bias_in(value)
        self.origins.forget()
        if bias is None:
            raise UnsupportedModel(
                f"In {type(self.model).__name__}, the value vectors of an attention do not come "
                "straight from a linear module.",
                'effective="paper" leaves the bias of that module out, and has to find it.',
                'Use effective="bias" (the default) or effective="stochastic".',
            )
        return bias

    def _parent(self, module: nn.Module) -> nn.Module:
        return self.model.get_submodule(self.names[module].rpartition(".")[0])

    def stream_of(self, module: nn.Module) -> StreamName:
        """Which stream an attention belongs to."""
        if module in self.reading_elsewhere:
            return "cross"
        if self.encoder is not None:
            return "encoder" if self.names[module].startswith(self.encoder) else "decoder"
        return "decoder" if getattr(module, "is_causal", False) else "encoder"

    def settled(self) -> None:
        """Refuse to go on while an attention's output projection has not been found."""
        if self.pending is None:
            return
        module = self.pending.module
        which = f" {self.names[module]} ({type(module).__name__})" if module is not None else ""
        raise UnsupportedModel(
            f"In {type(self.model).__name__}, the output of an attention{which} "
            "did not enter a linear module directly.",
            "normviz needs the output projection that follows the attention, to know f(x).",
            "Something stands between the two (a gate, a norm, a fused kernel); please report it.",
        )


@cache
def _parameters(forward: Callable[..., Any]) -> tuple[str, ...]:
    """The names of what a class's forward takes, `self` first; wrapped instances hide them."""
    return tuple(inspect.signature(forward).parameters)


def _for_each_head(value: Tensor, heads: int) -> Tensor:
    """The value vectors for each query head; grouped heads share theirs in runs."""
    if value.shape[1] == heads:
        return value
    return value.repeat_interleave(heads // value.shape[1], dim=1)


@contextmanager
def _hooked(listener: Listener[Any]) -> Iterator[None]:
    """The listener's hooks on the model, heard only from this thread."""

    def mine(hear: Callable[..., None]) -> Callable[..., None]:
        return lambda *heard: hear(*heard) if registry.listening.get() is listener else None

    with ExitStack() as stack:
        token = registry.listening.set(listener)
        stack.callback(registry.listening.reset, token)
        for module in listener.names:
            if is_linear(module):
                hook = module.register_forward_hook(mine(listener.projected))
                stack.callback(hook.remove)
            elif set(CROSS_INPUT_NAMES) & set(_parameters(type(module).forward)):
                before = module.register_forward_pre_hook(mine(listener.entering), with_kwargs=True)
                stack.callback(before.remove)
        yield


def capture(
    model: nn.Module,
    inputs: Mapping[str, Any],
    reduce: Callable[[CapturedAttention], Result],
    layered: Callable[[LayerTrace], None] | None = None,
    *,
    carried: bool = False,
    biases: bool = False,
) -> list[Result]:
    """Run the model once and give each attention, in order, to `reduce` as it passes.

    With `layered`, every layer runs on vectors that remember their tokens, and its tape is given
    there when its attentions have been reduced; with `carried`, one tape runs through all layers,
    from what enters the first. With `biases`, it is also heard what of the values is bias. The
    model comes back as it was: mode, attention implementation, hooks, random numbers; also after
    an error.
    """
    origins = ValueBiasTracker() if biases else None
    listener = Listener(model, inputs, reduce, origins)
    modules = list(listener.names)
    on_registry = products.uses_registry(modules)
    with ExitStack() as stack:
        stack.enter_context(eval_mode(modules))
        stack.enter_context(
            attention_implementation(modules, registry.NAME if on_registry else "eager")
        )
        stack.enter_context(_hooked(listener))
        if not on_registry:
            stack.enter_context(products.TensorTracker(listener, products=True))
        if origins is not None:
            stack.enter_context(origins)
        stack.enter_context(listener.following)
        if layered is not None:
            stack.enter_context(taping(model, layered, carried=carried))
        model(**inputs)
        listener.settled()
    if not listener.results:
        raise UnsupportedModel(
            f"{type(model).__name__} ran without one attention that normviz could hear.",
            "normviz hears attention that goes through the registry of transformers, or a softmax "
            "followed by a product with the values.",
            "This model's attention is computed otherwise: use normviz.from_arrays with weights of "
            "your own.",
        )
    return listener.results
