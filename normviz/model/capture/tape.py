"""Running a model's layers on vectors that know which token each part came from.

Before a layer runs, every token's vector is marked as that token's own; after it ran, the layer's
tape goes to a callback, and the model continues with plain tensors.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from normviz.model.capture.hooks import active_observer, hook
from normviz.model.capture.layers import (
    bind_arguments,
    encoder_prefix,
    has_attention,
    hidden_states_in,
    layers_of,
    outer_layers,
    sequence_of,
)
from normviz.model.capture.patching import eager_experts
from normviz.model.capture.tracking import CROSS_INPUT_NAMES
from normviz.model.decompose import DecomposedTensor, NoRule, Record, error_location, track, unwrap
from normviz.model.decompose.tape import SourceSequence


@dataclass(frozen=True)
class LayerTrace:
    """One layer as it ran: the records of its input, its cross-attention input and its output."""

    name: str
    layer: nn.Module
    sequence: SourceSequence
    """Whose tokens enter it: `other` for an encoder on one tape with the decoder that reads it."""
    input: Record
    cross_input: Record | None
    output: Record


class LayerTracer:
    """Marks the input of each layer, and gives its tape to a callback when the layer is done.

    With `through_all_layers`, only the input of a stack's first layer is marked, and one tape runs
    through all layers.
    """

    def __init__(
        self,
        model: nn.Module,
        callback: Callable[[LayerTrace], None],
        *,
        through_all_layers: bool = False,
    ) -> None:
        self.through_all_layers = through_all_layers
        self.layers = layers_of(model)
        is_single = encoder_prefix(model, {m: n for n, m in model.named_modules()}) is None
        self.first, self.last = outer_layers(self.layers) if is_single else (set(), set())
        """The first and last layers of towers, each of which is on a tape of its own."""
        self.names = {module: name for name, module in model.named_modules()}
        self.callback = callback
        self.model = model
        self.running: list[nn.Module] = []
        self.inputs: tuple[DecomposedTensor, DecomposedTensor | None] | None = None

    def location(self) -> str:
        """Return the module that is running, for error messages."""
        module = self.running[-1] if self.running else self.model
        name = f"{self.names[module]} ({type(module).__name__})"
        return f"{name} of {type(self.model).__name__}"

    def before_module(self, module: nn.Module, _: Any) -> None:
        """Note that a module is running."""
        self.running.append(module)

    def after_module(self, *_: Any) -> None:
        """Note that the innermost running module is done."""
        self.running.pop()

    def before_layer(
        self, layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the layer's arguments with every token's vector marked as its own."""
        if not (self.through_all_layers or has_attention(layer)):
            return args, kwargs
        bound = bind_arguments(layer, args, kwargs)
        hidden = next((n for n, v in bound.arguments.items() if isinstance(v, Tensor)), None)
        if hidden is None:
            return args, kwargs
        entering = bound.arguments[hidden]
        if layer in self.first:
            entering = unwrap(entering)
        marked = {hidden: self._mark(entering, self._sequence(layer))}
        for name in CROSS_INPUT_NAMES:
            if isinstance(bound.arguments.get(name), Tensor):
                marked[name] = self._mark(bound.arguments[name], "other")
        self.inputs = (
            marked[hidden],
            next((marked[n] for n in CROSS_INPUT_NAMES if n in marked), None),
        )
        bound.arguments.update(marked)
        return bound.args[1:], bound.kwargs

    def _mark(self, hidden: Tensor, sequence: SourceSequence) -> DecomposedTensor:
        """Return a layer's input on tape; it may come from the layer before and be so already."""
        if isinstance(hidden, DecomposedTensor):
            return hidden
        return track(hidden, sequence, stepwise=self.through_all_layers)

    def _sequence(self, layer: nn.Module) -> SourceSequence:
        encoder = encoder_prefix(self.model, self.names) if self.through_all_layers else None
        return sequence_of(self.names[layer], encoder)

    def after_layer(self, layer: nn.Module, _args: Any, _kwargs: Any, output: Any) -> Any:
        """Give the layer's tape to the callback; return plain tensors where the tape ends here."""
        hidden = hidden_states_in(output)
        if self.inputs is None:  # it ran on plain tensors
            return output
        if not isinstance(hidden, DecomposedTensor):
            raise NoRule(
                f"The output of {self.names[layer]} ({type(layer).__name__}) no longer knows "
                "which token its parts came from.",
                "Every operation of a layer must keep the parts.",
                "Something in the layer copies numbers without torch; please report the model.",
            )
        own, cross = self.inputs
        self.inputs = None
        self.callback(
            LayerTrace(
                self.names[layer],
                layer,
                self._sequence(layer),
                own.record,
                None if cross is None else cross.record,
                hidden.record,
            )
        )
        return output if self.through_all_layers and layer not in self.last else unwrap(output)


@contextmanager
def layers_on_tape(
    model: nn.Module, callback: Callable[[LayerTrace], None], *, through_all_layers: bool = False
) -> Iterator[None]:
    """Run the model's layers on tape inside a `with`: each on its own, or all on one tape.

    Mixtures of experts run as the model's file writes them, not in a fused kernel. Passes that
    another observer makes in the meantime are not taped.
    """
    tracer = LayerTracer(model, callback, through_all_layers=through_all_layers)
    observer = active_observer.get()
    with ExitStack() as stack:
        stack.enter_context(eager_experts(model))
        stack.enter_context(error_location(tracer.location))
        for module in tracer.names:
            before, after = module.register_forward_pre_hook, module.register_forward_hook
            hook(stack, before, tracer.before_module, observer=observer)
            if module in tracer.layers:
                hook(stack, before, tracer.before_layer, observer=observer, with_kwargs=True)
                # Before all others: what they keep, such as hidden states, is not on the tape.
                hook(
                    stack,
                    after,
                    tracer.after_layer,
                    observer=observer,
                    with_kwargs=True,
                    prepend=True,
                )
            hook(stack, after, tracer.after_module, observer=observer)
        yield
