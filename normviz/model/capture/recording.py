"""Recording how a model's layers were called in one pass.

A call keeps all arguments of a layer, so that the layer can run again, on its own and on other
vectors, with the model's own code: for derivatives, and to see what happens without a token.
"""

import inspect
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from normviz.model.capture.finishing import ContextAxes
from normviz.model.capture.hooks import hook
from normviz.model.capture.layers import (
    bind_arguments,
    encoder_prefix,
    hidden_states_in,
    layers_of,
    sequence_of,
)
from normviz.model.capture.listener import CapturedAttention, capture
from normviz.model.capture.patching import eager_experts
from normviz.model.capture.tracking import CROSS_INPUT_NAMES
from normviz.model.decompose.tape import SourceSequence
from normviz.model.types import AttentionKey

AttentionIndex = tuple[int, int]
"""The position of an attention in a pass: the number of its layer's call, its number in there."""


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """One attention inside a layer."""

    key: AttentionKey
    heads: int
    axes: ContextAxes
    """How the tensor of the heads' outputs is ordered."""
    started: int
    """How many attentions of the pass were computed before it."""
    captured: CapturedAttention | None
    """Everything that was captured of it, if asked for."""

    @property
    def is_cross(self) -> bool:
        """Whether it reads another sequence."""
        return self.key[0].kind == "cross"


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of a layer: its arguments, its output, and the attentions in it."""

    layer: nn.Module
    tower: str
    """The path of its list of layers; one for all of them where a decoder reads an encoder."""
    sequence: SourceSequence
    """`other` for an encoder that a decoder reads; `own` for every other stack."""
    bound: inspect.BoundArguments
    output: Tensor
    """The hidden states of its tokens after the layer."""
    attentions: tuple[AttentionCall, ...]

    @property
    def input_name(self) -> str:
        """The parameter that takes the hidden states of its own tokens."""
        arguments = self.bound.arguments.items()
        return next(name for name, value in arguments if isinstance(value, Tensor))

    @property
    def cross_input_name(self) -> str | None:
        """The parameter that takes the other sequence; None without cross-attention."""
        arguments = self.bound.arguments
        return next(
            (name for name in CROSS_INPUT_NAMES if isinstance(arguments.get(name), Tensor)), None
        )

    @property
    def input(self) -> Tensor:
        """The hidden states of its tokens before the layer."""
        vectors: Tensor = self.bound.arguments[self.input_name]
        return vectors

    @property
    def cross_input(self) -> Tensor | None:
        """The hidden states of the other sequence that its cross-attention reads."""
        name = self.cross_input_name
        return None if name is None else self.bound.arguments[name]

    def key_sequence(self, attention: AttentionCall) -> SourceSequence:
        """Return whose tokens are the keys of one of its attentions."""
        return "other" if attention.is_cross else self.sequence


@dataclass(frozen=True, eq=False)
class NormCall:
    """A norm and its input."""

    module: nn.Module
    input: Tensor


@dataclass(frozen=True, eq=False)
class RecordedPass:
    """One pass of a model: the calls of its layers, in order."""

    model: nn.Module
    inputs: Mapping[str, Any]
    calls: tuple[LayerCall, ...]
    norms: Mapping[SourceSequence, NormCall]
    """For each sequence, the last norm before its first layer, if there is one."""
    dtype: torch.dtype
    """The least precise type that any number of the pass had."""

    def split_towers(self) -> list["RecordedPass"]:
        """Return the pass of each tower; norms before the first layer belong to the first."""
        towers = dict.fromkeys(call.tower for call in self.calls)
        return [
            replace(
                self,
                calls=tuple(call for call in self.calls if call.tower == tower),
                norms={} if number else self.norms,
            )
            for number, tower in enumerate(towers)
        ]

    @property
    def attention_indices(self) -> tuple[AttentionIndex, ...]:
        """The position of every attention, in the order they ran."""
        return tuple(
            (number, attention)
            for number, call in enumerate(self.calls)
            for attention in range(len(call.attentions))
        )

    @property
    def sequences(self) -> tuple[SourceSequence, ...]:
        """The sequences that the layers process, in the order they run."""
        return tuple(dict.fromkeys(call.sequence for call in self.calls))

    def first_call(self, sequence: SourceSequence) -> int:
        """Return the number of the first call on a sequence."""
        return next(number for number, call in enumerate(self.calls) if call.sequence == sequence)


class _Recorder:
    """Collects the calls of all layers during a pass."""

    def __init__(self, model: nn.Module, *, keep: bool) -> None:
        self.names = {module: name for name, module in model.named_modules()}
        self.encoder = encoder_prefix(model, self.names)
        self.keep = keep
        self.calls: list[LayerCall] = []
        self.norms: dict[SourceSequence, NormCall] = {}
        self.attentions: list[tuple[AttentionCall, tuple[nn.Module, ...]]] = []
        self.running: list[inspect.BoundArguments] = []

    def add_attention(self, captured: CapturedAttention) -> None:
        """Note an attention of the layer that is running."""
        assert captured.axes is not None  # noqa: S101 - every attention that ran has them
        call = AttentionCall(
            captured.key,
            captured.weight.shape[1],
            captured.axes,
            captured.started,
            captured if self.keep else None,
        )
        self.attentions.append((call, captured.inside))

    def before_layer(self, layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note the arguments of a layer."""
        self.running.append(bind_arguments(layer, args, kwargs))

    def after_layer(self, layer: nn.Module, _args: Any, _kwargs: Any, output: Any) -> None:
        """Complete the call of the layer that ran."""
        attentions = [call for call, inside in self.attentions if layer in inside]
        attentions.sort(key=lambda call: call.started)  # as they are met when the layer runs again
        self.attentions.clear()
        self.calls.append(
            LayerCall(
                layer,
                "" if self.encoder is not None else self.names[layer].rpartition(".")[0],
                self.sequence(layer),
                self.running.pop(),
                hidden_states_in(output),
                tuple(attentions),
            )
        )

    def after_norm(self, norm: nn.Module, args: tuple[Any, ...], _output: Any) -> None:
        """Note a norm outside all layers: it may be the last before the first layer."""
        sequence = self.sequence(norm)
        if args and not self.running and all(call.sequence != sequence for call in self.calls):
            self.norms[sequence] = NormCall(norm, args[0])

    def sequence(self, module: nn.Module) -> SourceSequence:
        """Return whose tokens a module processes."""
        return sequence_of(self.names[module], self.encoder)


def record_pass(model: nn.Module, inputs: Mapping[str, Any], *, keep: bool = False) -> RecordedPass:
    """Run a model once and return how each of its layers was called.

    With `keep`, the calls keep everything that was captured of their attentions.
    """
    recorder = _Recorder(model, keep=keep)
    layers = layers_of(model)
    with ExitStack() as stack:
        stack.enter_context(eager_experts(model))
        for module in recorder.names:
            before, after = module.register_forward_pre_hook, module.register_forward_hook
            if module in layers:
                hook(stack, before, recorder.before_layer, with_kwargs=True)
                hook(stack, after, recorder.after_layer, with_kwargs=True)
            elif "Norm" in type(module).__name__:
                hook(stack, after, recorder.after_norm)
        passed = capture(model, inputs, recorder.add_attention)
    return RecordedPass(model, inputs, tuple(recorder.calls), recorder.norms, passed.dtype)
