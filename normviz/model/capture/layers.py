"""Finding a model's layers, by structure rather than by name.

A layer is an element of a ModuleList whose elements are all of one class, each with an attention
inside.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from normviz.errors import UnsupportedModel
from normviz.model.decompose.tape import SourceSequence


def layers_of(model: nn.Module) -> dict[nn.Module, str]:
    """Return the layers of a model with their names."""
    layers: dict[nn.Module, str] = {}
    for name, module in model.named_modules():
        inside = (inner for inner in module.modules() if inner is not module)
        if _is_layer_list(module) and not any(_is_layer_list(inner) for inner in inside):
            layers |= {layer: f"{name}.{number}" for number, layer in module.named_children()}
    if not layers:
        raise UnsupportedModel(
            f"{type(model).__name__} has no list of layers that normviz can see.",
            "The measures after attention need layers: modules of one class in a ModuleList, each "
            "with an attention inside.",
            "Ask for the attention measures only: weight, value-norm, weighted-norm, attention.",
        )
    return layers


def _is_layer_list(module: nn.Module) -> bool:
    """Whether a module is a list of layers: all of one class, with attention in each."""
    if not isinstance(module, nn.ModuleList) or len({type(layer) for layer in module}) != 1:
        return False
    return all(any("Attention" in type(m).__name__ for m in layer.modules()) for layer in module)


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
    vectors: Tensor = output[0] if isinstance(output, tuple) else output
    return vectors
