"""The attention function that normviz adds to the registry of transformers.

It computes nothing of its own: it calls the `eager_attention_forward` of the file the attention
module was written in, so that soft caps, sinks, grouped heads and position biases are the model's
own, and tells whoever listens in this thread what went by.
"""

import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from normviz.errors import UnsupportedModel
from normviz.model.decompose import unwrap

NAME = "normviz"


@runtime_checkable
class AttentionObserver(Protocol):
    """Whoever wants to know what an attention did."""

    def attended(
        self, module: nn.Module, value: Tensor, mask: Tensor | None, output: Tensor, weight: Tensor
    ) -> None:
        """Hear one attention: what went in and what came out."""


listening: ContextVar[AttentionObserver | None] = ContextVar("listening", default=None)
"""The listener of this thread; a model used by another thread meanwhile is not overheard."""


def own_eager(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor]]:
    """The eager attention written beside this module's class, or beside a class it derives from."""
    for kind in type(module).__mro__:
        beside = sys.modules.get(kind.__module__)
        function = getattr(beside, "eager_attention_forward", None)
        if function is not None:
            return function  # type: ignore[no-any-return]
    name = f"{type(module).__module__}.{type(module).__qualname__}"
    raise UnsupportedModel(
        f"{name} uses the attention registry, but there is no eager attention beside it.",
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
    output, weight = own_eager(module)(module, query, key, value, attention_mask, *args, **kwargs)
    ear = listening.get()
    if ear is None:
        return output, weight
    ear.attended(module, *unwrap((value, attention_mask, output, weight)))
    return output, None  # the weights have been heard; the model need not keep them


def register() -> None:
    """Put normviz's attention on the registry, with the eager mask.

    Without a mask function of its own, an attention silently gets no mask at all.
    """
    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, eager_mask)


register()
