"""α, ‖f(x)‖, ‖αf(x)‖ and ‖Σ_h αf(x)‖ of one attention, without building the moved vectors.

f^h(x_j) = v_j^h W_O^h is the transformed value vector of key j in head h; the value bias is inside
it, the output bias is not. A weight is never negative, so ‖αf‖ = α‖f‖. Over the heads,
‖Σ_h α_h f^h‖² = αᵀ G α with G the inner products of the heads' f at that key: a table of
`head × head` for each key instead of a vector for each pair of tokens.
"""

import math
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.model.capture.projection import ProjectionTerm
from normviz.model.types import Gram, OutputMap, Values, Weights, at_least_single

CHUNK = 2**20
"""How many numbers of f(x) are held at a time: enough to keep the processor busy, and in cache."""

SMALL_PLANE = 2**16
"""Up to how many pairs of tokens the heads are summed together and not one by one."""


class Scratch:
    """Memory for f(x), reused by every run and layer: fresh memory is slow to touch."""

    def __init__(self) -> None:
        self.buffer: Tensor | None = None

    def view(self, *shape: int, like: Tensor) -> Tensor:
        """Return uninitialized memory of this shape, with the type and device of a tensor."""
        size = math.prod(shape)
        buffer = self.buffer
        if (
            buffer is None
            or buffer.numel() < size
            or buffer.dtype != like.dtype
            or buffer.device != like.device
        ):
            buffer = self.buffer = like.new_empty(size)
        return buffer[:size].view(shape)


def value_norm(
    value: Values, out: OutputMap, scratch: Scratch | None = None
) -> Float[Tensor, "batch head key"]:
    """Return ‖f(x)‖ for each head and key."""
    batch, heads, keys, _ = value.shape
    runs = _transformed_runs(value, out, scratch or Scratch())
    norms = [torch.linalg.vector_norm(moved, dim=-1) for moved in runs]
    return torch.cat(norms, dim=1).reshape(heads, batch, keys).transpose(0, 1)


def gram(value: Values, out: OutputMap, scratch: Scratch | None = None) -> Gram:
    """Return the inner products of the heads' f(x) with each other, at each key."""
    batch, heads, keys, _ = value.shape
    tables = []
    for moved in _transformed_runs(value, out, scratch or Scratch()):
        by_token = moved.transpose(0, 1)  # token head model
        tables.append(torch.bmm(by_token, by_token.transpose(1, 2)))
    # The products of two heads stand together for all keys: `head_sum_norm` reads them in rows.
    return torch.cat(tables).permute(1, 2, 0).contiguous().reshape(heads, heads, batch, keys)


def gram_norm(table: Gram) -> Float[Tensor, "batch head key"]:
    """Return ‖f(x)‖, from the diagonal of the inner products."""
    return table.diagonal(dim1=0, dim2=1).permute(0, 2, 1).sqrt()


def head_sum_norm(weight: Weights, table: Gram) -> Float[Tensor, "batch query key"]:
    """Return the norm of what all heads together move from each key to each query.

    The root of Σ_h α_h Σ_{g≤h} c G_hg α_g with c = 1 on the diagonal and 2 beside it. Short texts
    take all the heads from g on in one step; long ones a plane of queries and keys at a time, which
    stays in cache.
    """
    twice = 2 * table[:, :, :, None]  # head another batch 1 key
    twice.diagonal(dim1=0, dim2=1).div_(2)
    planes = weight.transpose(0, 1)  # head batch query key
    if planes[0].numel() <= SMALL_PLANE:
        rows = torch.zeros_like(planes)
        for head, plane in enumerate(planes.unbind()):
            rows[head:].addcmul_(plane, twice[head:, head])
        return _root(rows.mul_(planes).sum(dim=0))
    square = torch.zeros_like(planes[0])
    for head, products in enumerate(twice.unbind()):
        row = planes[head] * products[head]
        for plane, product in zip(planes[:head].unbind(), products[:head].unbind(), strict=True):
            row.addcmul_(plane, product)
        square.addcmul_(planes[head], row)
    return _root(square)


def factored_norms(
    weight: Weights, value: Values, terms: Sequence[ProjectionTerm]
) -> tuple[Float[Tensor, "batch head query key"], Float[Tensor, "batch query key"]]:
    """Return ‖αf(x)‖ and ‖Σ_h αf(x)‖ where f depends on the query too, as with a gate.

    Every vector is built, for a few queries at a time.
    """
    batch, heads, queries, keys = weight.shape
    width = terms[0].weight.shape[-1]
    size = max(1, CHUNK // (batch * heads * keys * width))
    by_head, summed = [], []
    for start in range(0, queries, size):
        rows = slice(start, start + size)
        moved = torch.stack([_transform_values(value, term, rows) for term in terms]).sum(dim=0)
        moved = moved * weight[:, :, rows, :, None]
        by_head.append(torch.linalg.vector_norm(moved, dim=-1))
        summed.append(torch.linalg.vector_norm(moved.sum(dim=1), dim=-1))
    return torch.cat(by_head, dim=2), torch.cat(summed, dim=1)


def _transform_values(
    value: Values, term: ProjectionTerm, rows: slice
) -> Float[Tensor, "batch head _ key model"]:
    """Return f(x) of every key for some queries."""
    vectors = value[:, :, None]
    if term.before is not None:
        vectors = vectors * term.before[:, :, rows, None]
    out = at_least_single(term.weight)[:, None].to(value.dtype)
    moved = vectors @ out
    for factor in (term.scale, term.after):
        moved = moved if factor is None else moved * factor[:, None, rows, None]
    return moved


def _root(square: Tensor) -> Tensor:
    """Return the square root, in place; rounding may have left a zero just below zero."""
    return square.clamp_(min=0).sqrt_()


def _transformed_runs(
    value: Values, out: OutputMap, scratch: Scratch
) -> Iterator[Float[Tensor, "head token model"]]:
    """Yield f(x), a run of tokens at a time; each run is overwritten by the next."""
    heads, _, model = out.shape
    tokens = value.transpose(0, 1).flatten(1, 2)  # head token dim
    size = max(1, CHUNK // (heads * model))
    count = -(-tokens.shape[1] // size)
    for run in tokens.tensor_split(count, dim=1):  # even runs: a short last one would be slow
        yield torch.bmm(run, out, out=scratch.view(heads, run.shape[1], model, like=run))
