"""The attention function that normviz registers with transformers.

It computes nothing of its own: it calls the `eager_attention_forward` of the file that defines the
attention module, so that soft caps, sinks, grouped heads and position biases are the model's own,
and reports inputs and results to the active observer of this thread.
"""

import inspect
import sys
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from normviz.errors import UnsupportedModel
from normviz.model.capture.hooks import active_observer


class _EagerName(str):
    """A name of its own in the registry, and "eager" to model code that decides by the name."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or str.__eq__("eager", other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


# Older files of transformers look a function up only if its name is not "eager".
NAME = _EagerName("normviz") if hasattr(AttentionInterface, "get_interface") else "normviz"


def eager_attention_of(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor]]:
    """Return the eager attention that this module's `forward` names, or the one in its file."""
    forward = inspect.unwrap(type(module).forward)
    for name in getattr(getattr(forward, "__code__", None), "co_names", ()):
        if name.endswith("eager_attention_forward") and name in forward.__globals__:
            return forward.__globals__[name]  # type: ignore[no-any-return]
    for cls in type(module).__mro__:
        file = sys.modules.get(cls.__module__)
        function = getattr(file, "eager_attention_forward", None)
        if function is not None:
            return function  # type: ignore[no-any-return]
    name = f"{type(module).__module__}.{type(module).__qualname__}"
    raise UnsupportedModel(
        f"{name} uses the attention registry, but its file has no eager attention.",
        "normviz needs the function eager_attention_forward in the file that defines the module.",
        "Define it there: it takes (module, query, key, value, mask, …), gives (output, weights).",
    )


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *args: Any,
    **kwargs: Any,
) -> tuple[Tensor, Tensor | None]:
    attention = eager_attention_of(module)
    observer = active_observer.get()
    if observer is None:
        return attention(module, query, key, value, attention_mask, *args, **kwargs)
    with observer.attending():
        output, weight = attention(module, query, key, value, attention_mask, *args, **kwargs)
    output = observer.observe_attention(module, value, attention_mask, output, weight)
    return output, None  # the observer has the weights; the model need not keep them


def register() -> None:
    """Register normviz's attention function with transformers, and the eager mask with it.

    Without a mask function of its own, an attention silently gets no mask at all.
    """
    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, eager_mask)


register()
