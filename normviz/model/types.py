"""The tensor types of the model wing, made of the axis words; each says who makes it."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Weights = Float[Tensor, "batch head query key"]
"""α, from the model's own attention function."""

Values = Float[Tensor, "batch head key dim"]
"""The value vectors that α mixes, one for each query head; made by `capture`."""

OutputMap = Float[Tensor, "head dim model"]
"""W_O, cut into heads; made by `capture.projection`."""

ModelVectors = Float[Tensor, "batch query model"]
"""The output projection's own output."""

Gram = Float[Tensor, "head another batch key"]
"""The inner products of the heads' f(x) at each key; made by `measures.attention`."""

Real = Bool[Tensor, "batch _position"]
"""Which positions of a side hold a token and not padding; made by `inputs`."""


def at_least_single(tensor: Tensor) -> Tensor:
    """The tensor in single precision or better: norms of halves are accumulated in float32."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def shares(numbers: Float[Tensor, "*row key"]) -> Float[Tensor, "*row key"]:
    """Each number as a share of its row; a row of nothing stays one."""
    whole = numbers.sum(dim=-1, keepdim=True)
    return numbers / whole.clamp(min=torch.finfo(numbers.dtype).tiny)
