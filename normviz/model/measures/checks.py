"""What the receipt needs to know about one attention, computed where the model is."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from normviz.model.capture import CapturedAttention
from normviz.model.types import Real, at_least_single

PerText = Float[Tensor, " batch"]


@dataclass(frozen=True)
class Checks:
    """How well one attention adds up, for each text of the batch."""

    error: PerText
    least_row: PerText
    greatest_row: PerText
    leak: PerText
    bias_share: PerText
    ahead: PerText
    """The largest weight of the first token on a later one; nothing, where attention is causal."""


COORDINATES = 16
"""In how many coordinates of the model's space, evenly spread, the parts are added up."""


def checks(heard: CapturedAttention, queries: Real | None, keys: Real | None) -> Checks:
    """Compare the sum of the parts with the output projection's own output, and the rest.

    The parts of every query are added up over all heads and keys, in sixteen coordinates: a wrong
    weight, value or head shows in each of them, and no vector for a pair of tokens is ever built.
    `queries` and `keys` say which positions are tokens; padding is left out of every check.
    """
    own = at_least_single(heard.output)
    bias = at_least_single(_bias(heard))
    step = max(1, own.shape[-1] // COORDINATES)
    rows, parts = _added_up(heard, step)
    seen = own[..., ::step]
    missed = (parts + bias[::step] - seen).abs().amax(dim=-1)
    size = _greatest(seen.abs().amax(dim=-1), queries)
    least = -_greatest((-rows).amax(dim=1), queries, elsewhere=-torch.inf)
    return Checks(
        error=_greatest(missed, queries) / size.clamp(min=torch.finfo(size.dtype).tiny),
        least_row=least,
        greatest_row=_greatest(rows.amax(dim=1), queries),
        leak=_leak(heard, queries, keys),
        bias_share=_bias_share(bias, own - bias, queries),
        ahead=_ahead(heard.weight, queries),
    )


def _bias(heard: CapturedAttention) -> Float[Tensor, " model"]:
    bias = heard.projection.bias
    return heard.output.new_zeros(heard.output.shape[-1]) if bias is None else bias


def _added_up(
    heard: CapturedAttention, step: int
) -> tuple[Float[Tensor, "batch head query"], Float[Tensor, "batch query coordinate"]]:
    """Σ_j α_ij, and Σ_h Σ_j α_ij f(x_j) in some coordinates: both in one walk over the weights."""
    out = at_least_single(heard.projection.weight[..., ::step])
    given = at_least_single(heard.value) @ out
    both = torch.cat([given, torch.ones_like(given[..., :1])], dim=-1)
    sums = at_least_single(heard.weight) @ both
    return sums[..., -1], sums[..., :-1].sum(dim=1)


def _greatest(
    values: Float[Tensor, "batch query"], real: Real | None, elsewhere: float = 0.0
) -> PerText:
    """The greatest value over the real queries."""
    return (values if real is None else values.masked_fill(~real, elsewhere)).amax(dim=-1)


def _bias_share(
    bias: Float[Tensor, " model"], moved: Float[Tensor, "batch query model"], real: Real | None
) -> PerText:
    """‖b_O‖ / (‖b_O‖ + ‖what the tokens gave‖), averaged over the real queries."""
    length = torch.linalg.vector_norm(bias)
    whole = length + torch.linalg.vector_norm(moved, dim=-1)
    share: Tensor = length / whole.clamp(min=torch.finfo(whole.dtype).tiny)
    if real is None:
        return share.mean(dim=-1)
    return (share * real).sum(dim=-1) / real.sum(dim=-1)


def _leak(heard: CapturedAttention, queries: Real | None, keys: Real | None) -> PerText:
    """The largest weight at a forbidden place, seen from a real query."""
    weight = heard.weight
    places = forbidden(heard, keys)
    if places is None:
        return weight.new_zeros(len(weight))
    if queries is not None:
        places = places & queries[:, None, :, None]
    return weight.masked_fill(~places, 0).flatten(1).amax(dim=-1)


def forbidden(heard: CapturedAttention, keys: Real | None) -> Bool[Tensor, "..."] | None:
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
    if real is None:
        later = weight[:, :, 0, 1:]
        return later.flatten(1).amax(dim=-1) if later.numel() else weight.new_zeros(len(weight))
    places = torch.arange(weight.shape[-1], device=weight.device)
    first = real.int().argmax(dim=-1)
    rows = weight.take_along_dim(first[:, None, None, None], dim=2)[:, :, 0]
    return rows.masked_fill(places <= first[:, None, None], 0).flatten(1).amax(dim=-1)
