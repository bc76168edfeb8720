"""What a model was found with, before it was borrowed."""

from torch import nn

from normviz.capture.loan import configs, found


def implementation(model: nn.Module) -> str:
    """The attention implementation the model is set to, or several where its parts differ."""
    names = [found(config, "_attn_implementation_internal") for config in configs([model])]
    return ", ".join(dict.fromkeys(str(name) for name in names)) or "unknown"
