"""The types of the model side: what a user may pass, and tensors named by the axis words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from normviz.core.axes import StreamKind

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


@dataclass(frozen=True)
class StreamId:
    """What identifies the attentions that belong together while a model runs."""

    kind: StreamKind
    tower: str
    """The path of the list of layers that they are in."""
    queries: int
    keys: int
    sequences: int
    """How many sequences were attended to at once: texts of a batch, tiles, frames or windows."""
    is_windowed: bool = False
    """Whether the sequences are made inside the layers, and need not be the same in all of them."""
    chunk: int = 0
    """Which of several attentions of one module, computed apart and joined."""
    call: int = 0
    """Which call of the tower, where it runs several times."""
    branch: int = 0
    """Which attention of its kind in each layer, where a layer has several."""


AttentionKey = tuple[StreamId, int]
"""Which attention of a pass: its stream, and the number of its layer in the model."""


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
