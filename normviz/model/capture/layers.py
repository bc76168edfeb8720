"""Finding a model's layers, by structure rather than by name.

A layer is an element of a ModuleList in which modules have an attention inside: the innermost list
of modules of one class, or a list of several kinds of layers.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from normviz.errors import UnsupportedModel
from normviz.model.decompose.tape import SourceSequence


def layers_of(model: nn.Module) -> dict[nn.Module, str]:
    """Return the layers of a model with their names, those without attention included."""
    lists = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList) and any(map(has_attention, module))
    }
    uniform = {name for name, module in lists.items() if len({type(m) for m in module}) == 1}
    inner = {name for name in uniform if not any(o.startswith(f"{name}.") for o in uniform)}
    # A list of different modules is one of layers if it is not the inside of a layer, or around it.
    mixed = {
        name
        for name in lists.keys() - uniform
        if not any(o.startswith(f"{name}.") or name.startswith(f"{o}.") for o in uniform)
    }
    layers = {
        layer: f"{name}.{number}"
        for name, module in lists.items()
        if name in inner | mixed
        for number, layer in module.named_children()
    }
    if not layers:
        raise UnsupportedModel(
            f"{type(model).__name__} has no list of layers that normviz can see.",
            "The measures after attention need layers: modules in a ModuleList, with an attention "
            "and more inside.",
            "Ask for the attention measures only: weight, value-norm, weighted-norm, attention.",
        )
    return layers


def has_attention(layer: nn.Module) -> bool:
    """Whether a module has an attention inside, other than itself, by the names of classes."""
    inside = (module for module in layer.modules() if module is not layer)
    return any("Attention" in type(module).__name__ for module in inside)


def outer_layers(layers: Mapping[nn.Module, str]) -> tuple[set[nn.Module], set[nn.Module]]:
    """Return the first and the last layer of each list; single ones may run again and again."""
    lists: dict[str, list[nn.Module]] = {}
    for layer, name in layers.items():
        lists.setdefault(name.rpartition(".")[0], []).append(layer)
    several = [members for members in lists.values() if len(members) > 1]
    return {members[0] for members in several}, {members[-1] for members in several}


def bind_arguments(
    layer: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments:
    """Return the arguments of a call of a layer by the names of its parameters.

    Some models still call a layer by the older name of its hidden states.
    """
    signature = inspect.signature(type(layer).forward)
    known = signature.parameters
    renamed = {
        f"{name}s" if name not in known and f"{name}s" in known else name: value
        for name, value in kwargs.items()
    }
    return signature.bind_partial(layer, *args, **renamed)


def encoder_prefix(model: nn.Module, names: Mapping[nn.Module, str]) -> str | None:
    """Return the prefix of module names in the encoder; None unless the model has a decoder too."""
    config = getattr(model, "config", None)
    if not getattr(config, "is_encoder_decoder", False):
        return None
    encoder = model.get_encoder()  # type: ignore[operator]
    return f"{names[encoder]}." if encoder in names else None


def sequence_of(name: str, encoder: str | None) -> SourceSequence:
    """Return whose tokens a module processes, seen from the last stack of the model.

    The tokens of an encoder are the other sequence of the decoder that reads it.
    """
    return "other" if encoder is not None and name.startswith(encoder) else "own"


def hidden_states_in(output: Any) -> Tensor:
    """Return the hidden states in what a layer returns: the output itself or its first item."""
    vectors: Tensor = output[0] if isinstance(output, tuple | list) else output
    return vectors
