"""Hidden states: what enters the first layer of a model, and what leaves each layer.

They are taken where they pass, at the layers themselves: the list of hidden states that many models
return has the final norm in its last one.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any

from torch import Tensor, nn

from normviz.errors import UnsupportedModel
from normviz.model.capture.layers import layers_of
from normviz.model.capture.patching import eval_mode
from normviz.model.capture.recording import hook, vectors_of
from normviz.model.types import ModelVectors


def hidden_states(model: nn.Module, inputs: Mapping[str, Any]) -> list[ModelVectors]:
    """The input of the first layer, then the output of each layer, in the order they run.

    A layer that runs several times, as where layers share their weights, counts each time. The
    model comes back as it was.
    """
    states: list[Tensor] = []

    def entered(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not states:
            found = (value for value in chain(args, kwargs.values()) if isinstance(value, Tensor))
            states.append(next(found).detach())

    def left(_: nn.Module, __: Any, output: Any) -> None:
        states.append(vectors_of(output).detach())

    with eval_mode(list(model.modules())), _hooked(model, entered, left):
        model(**inputs)
    if len({state.shape for state in states}) != 1:
        shapes = ", ".join(str(tuple(shape)) for shape in {state.shape: 0 for state in states})
        raise UnsupportedModel(
            f"The hidden states of {type(model).__name__} have the shapes {shapes or 'of none'}.",
            "One shape is wanted, from the first layer's input to the last one's output.",
            "Models that pool or widen their states on the way cannot be studied so.",
        )
    return states


@contextmanager
def _hooked(
    model: nn.Module, entered: Callable[..., None], left: Callable[..., None]
) -> Iterator[None]:
    """Hooks on all layers."""
    with ExitStack() as stack:
        for layer in layers_of(model):
            hook(stack, layer.register_forward_pre_hook, entered, with_kwargs=True)
            hook(stack, layer.register_forward_hook, left)
        yield
