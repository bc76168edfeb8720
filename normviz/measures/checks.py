"""What the receipt needs to know about one attention, computed where the model is."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from normviz.capture import Heard
from normviz.measures.attention import at_least_single
from normviz.tensors import Real

PerText = Float[Tensor, " batch"]


@dataclass(frozen=True)
class Checks:
    """How well one attention adds up, for each text of the batch."""

    error: PerText
    least_row: PerText
    greatest_row: PerText
    leak: PerText
    sourceless: PerText
    ahead: PerText
    """The largest weight of the first token on a later one; nothing, where attention is causal."""


def checks(heard: Heard, queries: Real | None, keys: Real | None) -> Checks:
    """Compare the sum of the parts with the output projection's own output, and the rest.

    `queries` and `keys` say which positions are tokens; padding is left out of every check.
    """
    weight = heard.weight
    own = at_least_single(heard.output)
    moved = _sum_of_parts(heard)
    bias = heard.projection.bias
    rebuilt = moved if bias is None else moved + at_least_single(bias)
    missed = _greatest((rebuilt - own).abs().amax(dim=-1), queries)
    size = _greatest(own.abs().amax(dim=-1), queries)
    rows = at_least_single(weight).sum(dim=-1)
    least = -_greatest((-rows).amax(dim=1), queries, elsewhere=-torch.inf)
    return Checks(
        error=missed / size.clamp(min=torch.finfo(size.dtype).tiny),
        least_row=least,
        greatest_row=_greatest(rows.amax(dim=1), queries),
        leak=_leak(heard, queries, keys),
        sourceless=_bias_share(bias, moved, queries),
        ahead=_ahead(weight, queries),
    )


def _sum_of_parts(heard: Heard) -> Float[Tensor, "batch query model"]:
    """Σ_h Σ_j α_ij f(x_j), head by head.

    The model sums over all heads in one product; another order makes this more than a repetition.
    """
    mixed = torch.matmul(at_least_single(heard.weight), at_least_single(heard.value))
    out = at_least_single(heard.projection.weight)
    batch, heads, queries, _ = mixed.shape
    total = mixed.new_zeros(batch * queries, out.shape[-1])
    for head in range(heads):
        total.addmm_(mixed[:, head].flatten(0, 1), out[head])
    return total.reshape(batch, queries, -1)


def _greatest(
    values: Float[Tensor, "batch query"], real: Real | None, elsewhere: float = 0.0
) -> PerText:
    """The greatest value over the real queries."""
    return (values if real is None else values.masked_fill(~real, elsewhere)).amax(dim=-1)


def _bias_share(
    bias: Tensor | None, moved: Float[Tensor, "batch query model"], real: Real | None
) -> PerText:
    """‖b_O‖ / (‖b_O‖ + ‖Σ parts‖), averaged over the real queries."""
    if bias is None:
        return moved.new_zeros(len(moved))
    length = torch.linalg.vector_norm(at_least_single(bias))
    share: Tensor = length / (length + torch.linalg.vector_norm(moved, dim=-1))
    if real is None:
        return share.mean(dim=-1)
    return (share * real).sum(dim=-1) / real.sum(dim=-1)


def _leak(heard: Heard, queries: Real | None, keys: Real | None) -> PerText:
    """The largest weight at a forbidden place, seen from a real query."""
    weight = heard.weight
    forbidden = _forbidden(heard, keys)
    if forbidden is None:
        return weight.new_zeros(len(weight))
    if queries is not None:
        forbidden = forbidden & queries[:, None, :, None]
    return weight.masked_fill(~forbidden, 0).flatten(1).amax(dim=-1)


def _forbidden(heard: Heard, keys: Real | None) -> Bool[Tensor, "..."] | None:
    """Where no weight may be: masked by the model, padding, or later than a causal query.

    The last two are known without the mask, so that a mask lost on the way is noticed.
    """
    found: list[Tensor] = []
    if heard.mask is not None:
        mask = heard.mask[..., : heard.weight.shape[-1]]
        lowest = torch.finfo(mask.dtype).min / 2 if mask.is_floating_point() else None
        found.append(~mask if lowest is None else mask <= lowest)
    if keys is not None:
        found.append(~keys[:, None, None, :])
    if heard.stream == "decoder" and getattr(heard.module, "is_causal", False):
        later = torch.ones(heard.weight.shape[-2:], dtype=torch.bool, device=heard.weight.device)
        found.append(later.triu(1)[None, None])
    if not found:
        return None
    whole = found[0]
    for places in found[1:]:
        whole = whole | places
    return whole


def _ahead(weight: Float[Tensor, "batch head query key"], real: Real | None) -> PerText:
    """How much the first real token takes from any later one."""
    places = torch.arange(weight.shape[-1], device=weight.device)
    if real is None:
        return weight[:, :, 0].masked_fill(places < 1, 0).flatten(1).amax(dim=-1)
    first = real.int().argmax(dim=-1)
    rows = weight.take_along_dim(first[:, None, None, None], dim=2)[:, :, 0]
    return rows.masked_fill(places <= first[:, None, None], 0).flatten(1).amax(dim=-1)
