"""Hidden states: the input of a model's first layer, and the output of each layer.

They are captured at the layers themselves, because the last entry of the `hidden_states` that many
models return has already gone through the final norm.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from itertools import chain
from typing import Any

from torch import Tensor, nn

from normviz.errors import UnsupportedModel
from normviz.model.capture.hooks import hook
from normviz.model.capture.layers import hidden_states_in, layers_of
from normviz.model.capture.patching import eval_mode
from normviz.model.types import ModelVectors


def hidden_states(model: nn.Module, inputs: Mapping[str, Any]) -> list[ModelVectors]:
    """Return the input of the first layer, then the output of each layer, in the order they run.

    A layer that runs several times, because layers share their weights, counts each time. The
    model is left as it was.
    """
    states: list[Tensor] = []

    def before_layer(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not states:
            arguments = chain(args, kwargs.values())
            states.append(next(a for a in arguments if isinstance(a, Tensor)).detach())

    def after_layer(_: nn.Module, __: Any, output: Any) -> None:
        states.append(hidden_states_in(output).detach())

    with eval_mode(list(model.modules())), ExitStack() as stack:
        for layer in layers_of(model):
            hook(stack, layer.register_forward_pre_hook, before_layer, with_kwargs=True)
            hook(stack, layer.register_forward_hook, after_layer)
        model(**inputs)
    if len({state.shape for state in states}) != 1:
        shapes = ", ".join(str(tuple(shape)) for shape in {state.shape: 0 for state in states})
        raise UnsupportedModel(
            f"The hidden states of {type(model).__name__} have the shapes {shapes or 'of none'}.",
            "Expected one shape, from the input of the first layer to the output of the last.",
            "Models that pool or widen their hidden states cannot be studied in this way.",
        )
    return states
