"""The types of the model side: what a user may pass, and tensors named by the axis words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from normviz.core.axes import StreamName

Model = str | Path | nn.Module
"""A model object, its name on the hub, a folder, or the name of a demo model."""


@runtime_checkable
class Tokenizer(Protocol):
    """What normviz uses of a transformers tokenizer."""

    @property
    def all_special_ids(self) -> Sequence[int]:
        """The ids of the special tokens."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Turn a text into ids."""

    def convert_ids_to_tokens(self, ids: list[int], /) -> list[str]:
        """Return the vocabulary's own spelling of each id."""


AttentionKey = tuple[StreamName, int]
"""Which attention of a pass: its stream, and the number of its layer in that stream."""

Weights = Float[Tensor, "batch head query key"]
"""α, from the model's own attention function."""

Values = Float[Tensor, "batch head key dim"]
"""The value vectors that α mixes, one for each query head; captured by `capture`."""

OutputMap = Float[Tensor, "head dim model"]
"""W_O, cut into heads; found by `capture.projection`."""

ModelVectors = Float[Tensor, "batch query model"]
"""The output projection's own output."""

Gram = Float[Tensor, "head another batch key"]
"""The inner products of the heads' f(x) at each key; computed by `measures.attention`."""

TokenMask = Bool[Tensor, "batch _position"]
"""Which positions of a sequence hold a token and not padding; made by `inputs`."""


def at_least_single(tensor: Tensor) -> Tensor:
    """Return the tensor in float32 or wider: norms of half-precision numbers need it."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def row_sums(numbers: Float[Tensor, "*row key"]) -> Float[Tensor, "*row 1"]:
    """Return the sum of each row, safe to divide by."""
    return numbers.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(numbers.dtype).tiny)


def row_shares(numbers: Float[Tensor, "*row key"]) -> Float[Tensor, "*row key"]:
    """Return each number as a share of its row's sum; a row of zeros stays zero."""
    return numbers / row_sums(numbers)
