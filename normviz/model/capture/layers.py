"""A model's layers, run on vectors that remember which token each part came from.

A layer is found by where it stands: an element of a list of modules of one kind, each with an
attention inside. On its way in, every token's vector is marked as that token's own; on its way out
the layer's tape is told to whoever asked, and the model goes on with plain tensors.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from normviz.errors import UnsupportedModel
from normviz.model.capture.patching import configs, patched
from normviz.model.capture.tracking import CROSS_INPUT_NAMES
from normviz.model.decompose import DecomposedTensor, NoRule, Record, error_location, track, unwrap
from normviz.model.decompose.tape import SourceSequence

EXPERTS = "_experts_implementation_internal"
"""Where a configuration keeps how a mixture of experts is run."""


@dataclass(frozen=True)
class LayerTrace:
    """One layer as it ran: what entered, what it read elsewhere, and what came out."""

    name: str
    side: SourceSequence
    """Whose tokens enter it: a carried encoder's are the other side of the decoder it leads to."""
    entered: Record
    other: Record | None
    output: Record


def layers_of(model: nn.Module) -> dict[nn.Module, str]:
    """The layers of a model, by name."""
    found: dict[nn.Module, str] = {}
    for name, module in model.named_modules():
        if _is_stack(module) and not any(_is_stack(inner) for inner in _below(module)):
            found |= {layer: f"{name}.{number}" for number, layer in module.named_children()}
    if not found:
        raise UnsupportedModel(
            f"{type(model).__name__} has no list of layers that normviz can see.",
            "The measures after attention need layers: modules of one class in a ModuleList, each "
            "with an attention inside.",
            "Ask for the attention measures only: weight, value-norm, weighted-norm, attention.",
        )
    return found


def encoder_of(model: nn.Module, names: Mapping[nn.Module, str]) -> str | None:
    """The name under which an encoder–decoder keeps its encoder; None for a single stack."""
    config = getattr(model, "config", None)
    if not getattr(config, "is_encoder_decoder", False):
        return None
    encoder = model.get_encoder()  # type: ignore[operator]
    return f"{names[encoder]}." if encoder in names else None


def _below(module: nn.Module) -> Iterator[nn.Module]:
    return (inner for inner in module.modules() if inner is not module)


def _is_stack(module: nn.Module) -> bool:
    """Whether a module is a list of layers: all of one class, with attention in each."""
    if not isinstance(module, nn.ModuleList) or len({type(layer) for layer in module}) != 1:
        return False
    return all(any("Attention" in type(m).__name__ for m in layer.modules()) for layer in module)


class LayerTracer:
    """Marks what enters each layer, and tells its tape when it is done.

    With `carried`, only what enters the first layer of a stack is marked, and the tape runs on.
    """

    def __init__(
        self, model: nn.Module, told: Callable[[LayerTrace], None], *, carried: bool = False
    ) -> None:
        self.carried = carried
        self.layers = layers_of(model)
        self.names = {module: name for name, module in model.named_modules()}
        self.told = told
        self.model = model
        self.running: list[nn.Module] = []
        self.entered: tuple[DecomposedTensor, DecomposedTensor | None] | None = None

    def where(self) -> str:
        """What is running, for an error to name."""
        module = self.running[-1] if self.running else self.model
        name = f"{self.names[module]} ({type(module).__name__})"
        return f"{name} of {type(self.model).__name__}"

    def began(self, module: nn.Module, _: Any) -> None:
        """Before any module runs."""
        self.running.append(module)

    def left(self, *_: Any) -> None:
        """After any module ran."""
        self.running.pop()

    def enter(
        self, layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Before a layer runs: every token's vector is its own."""
        given = inspect.signature(type(layer).forward).bind_partial(layer, *args, **kwargs)
        hidden = next(n for n, v in given.arguments.items() if isinstance(v, Tensor))
        changes = {hidden: self._marked(given.arguments[hidden], self._side(layer))}
        for name in CROSS_INPUT_NAMES:
            if isinstance(given.arguments.get(name), Tensor):
                changes[name] = self._marked(given.arguments[name], "other")
        self.entered = (
            changes[hidden],
            next((changes[n] for n in CROSS_INPUT_NAMES if n in changes), None),
        )
        given.arguments.update(changes)
        return given.args[1:], given.kwargs

    def _marked(self, hidden: Tensor, side: SourceSequence) -> DecomposedTensor:
        """Vectors as they enter a layer: marked, unless they carry their parts already."""
        if isinstance(hidden, DecomposedTensor):
            return hidden
        return track(hidden, side, followed=self.carried)

    def _side(self, layer: nn.Module) -> SourceSequence:
        """Encoder tokens that are carried on into a decoder are the decoder's other side."""
        encoder = encoder_of(self.model, self.names) if self.carried else None
        mine = encoder is not None and self.names[layer].startswith(encoder)
        return "other" if mine else "own"

    def leave(self, layer: nn.Module, args: Any, kwargs: Any, output: Any) -> Any:
        """After it ran: tell its tape, and go on with plain tensors."""
        del args, kwargs
        first = output[0] if isinstance(output, tuple) else output
        if not isinstance(first, DecomposedTensor) or self.entered is None:
            raise NoRule(
                f"The output of {self.names[layer]} ({type(layer).__name__}) no longer knows "
                "which token its parts came from.",
                "Every operation of a layer must keep the parts.",
                "Something in the layer copies numbers past torch; please report the model.",
            )
        entered, other = self.entered
        self.entered = None
        record = None if other is None else other.record
        side = self._side(layer)
        self.told(LayerTrace(self.names[layer], side, entered.record, record, first.record))
        return output if self.carried else unwrap(output)


_taping: ContextVar[LayerTracer | None] = ContextVar("taping", default=None)
"""Whose layers are on tape in this thread; a model used by another meanwhile runs plainly."""


@contextmanager
def taping(
    model: nn.Module, told: Callable[[LayerTrace], None], *, carried: bool = False
) -> Iterator[None]:
    """The model's layers on tape, for the length of a `with`: each alone, or all in one.

    Experts that a fused kernel runs are run one by one instead, as the model's file writes them.
    """
    taper = LayerTracer(model, told, carried=carried)
    with ExitStack() as stack:
        stack.enter_context(experts_one_by_one(model))
        stack.enter_context(error_location(taper.where))
        token = _taping.set(taper)
        stack.callback(_taping.reset, token)
        for module in taper.names:
            for hook in _hooks(taper, module):
                stack.callback(hook.remove)
        yield


def experts_one_by_one(model: nn.Module) -> AbstractContextManager[None]:
    """Experts run as the model's file writes them, for the length of a `with`."""
    configurations = [config for config in configs(model.modules()) if hasattr(config, EXPERTS)]
    return patched(configurations, EXPERTS, "eager")


def _hooks(taper: LayerTracer, module: nn.Module) -> Iterator[Any]:
    """A layer's own hooks, and those by which an error knows where it is; for this thread alone."""

    def mine(hook: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: hook(*given) if _taping.get() is taper else None

    yield module.register_forward_pre_hook(mine(taper.began))
    if module in taper.layers:
        yield module.register_forward_pre_hook(mine(taper.enter), with_kwargs=True)
        yield module.register_forward_hook(mine(taper.leave), with_kwargs=True)
    yield module.register_forward_hook(mine(taper.left))
