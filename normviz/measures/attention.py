"""α, ‖f(x)‖, ‖αf(x)‖ and ‖Σ_h αf(x)‖ of one attention, without building the moved vectors.

f^h(x_j) = v_j^h W_O^h is what head h has to give from key j; the value bias is inside it, the
output bias is not. A weight is never negative, so ‖αf‖ = α‖f‖. Over the heads,
‖Σ_h α_h f^h‖² = αᵀ G α with G the inner products of the heads' f at that key: a table of
`head × head` for each key instead of a vector for each pair of tokens.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.tensors import Gram, OutputMap, Values, Weights

CHUNK = 2**19
"""How many numbers of f(x) are held at a time: enough to keep the processor busy, and in cache."""


def at_least_single(tensor: Tensor) -> Tensor:
    """The tensor in single precision or better: norms of halves are accumulated in float32."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def value_norm(value: Values, out: OutputMap) -> Float[Tensor, "batch head key"]:
    """The length of f(x) for each head and key."""
    batch, heads, keys, _ = value.shape
    norms = [moved.norm(dim=-1) for moved in _moved(value, out)]
    return torch.cat(norms, dim=1).reshape(heads, batch, keys).transpose(0, 1)


def gram(value: Values, out: OutputMap) -> Gram:
    """The inner products of the heads' f(x) with each other, at each key."""
    batch, heads, keys, _ = value.shape
    tables = [
        torch.einsum("hnm,gnm->hgn", moved, moved)  # head, another head, token; model
        for moved in _moved(value, out)
    ]
    return torch.cat(tables, dim=-1).reshape(heads, heads, batch, keys)


def gram_norm(table: Gram) -> Float[Tensor, "batch head key"]:
    """‖f(x)‖, read off the diagonal."""
    return table.diagonal(dim1=0, dim2=1).permute(0, 2, 1).sqrt()


def head_sum_norm(weight: Weights, table: Gram) -> Float[Tensor, "batch query key"]:
    """The length of what all heads together move from each key to each query.

    Σ_h α_h (G_hh α_h + 2 Σ_{g>h} G_hg α_g), a plane of queries and keys at a time.
    """
    square = torch.zeros_like(weight[:, 0])
    for head in range(weight.shape[1]):
        row = weight[:, head] * table[head, head, :, None]
        for another in range(head + 1, weight.shape[1]):
            row.addcmul_(weight[:, another], table[head, another, :, None], value=2)
        square.addcmul_(weight[:, head], row)
    return square.clamp_(min=0).sqrt_()


def _moved(value: Values, out: OutputMap) -> Iterator[Float[Tensor, "head token model"]]:
    """f(x), a run of tokens at a time."""
    heads, _, model = out.shape
    tokens = value.transpose(0, 1).flatten(1, 2)  # head token dim
    runs = torch.split(tokens, max(1, CHUNK // (heads * model)), dim=1)
    return (torch.bmm(run, out) for run in runs)
