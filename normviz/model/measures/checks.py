"""What the receipt states about one attention, computed on the model's device."""

from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from normviz.model.capture import CapturedAttention
from normviz.model.types import TokenMask, at_least_single

PerText = Float[Tensor, " batch"]


@dataclass(frozen=True)
class AttentionChecks:
    """How exactly one attention adds up, for each text of the batch."""

    error: PerText
    least_row: PerText
    greatest_row: PerText
    least_weight: PerText
    leak: PerText
    bias_share: PerText
    ahead: PerText
    """The largest weight of the first token on a later one; 0 where attention is causal."""


PROJECTIONS = 16
"""On how many random directions of the model's space the parts are summed."""


@cache
def random_signs(
    width: int, dtype: torch.dtype, device: torch.device
) -> Float[Tensor, "model projection"]:
    """Return random directions of signs, always the same; every coordinate is in each of them.

    An error in any coordinate shows in all of them, and errors in several coordinates do not
    cancel in all. A space of few coordinates is looked at coordinate by coordinate. The signs are
    bits of scrambled numbers (SplitMix64), so that they are the same on every device.
    """
    if width <= PROJECTIONS:
        return torch.eye(width, dtype=dtype, device=device)
    bits = torch.arange(1, width * PROJECTIONS + 1, device=device) * -7046029254386353131
    bits = (bits ^ (bits >> 30)) * -4658895280553007687
    bits = (bits ^ (bits >> 27)) * -7723592293110705685
    return ((bits >> 40 & 1) * 2 - 1).reshape(width, PROJECTIONS).to(dtype)


def check_attention(
    captured: CapturedAttention, queries: TokenMask | None, keys: TokenMask | None
) -> AttentionChecks:
    """Compare the sum of the parts with what leaves the attention block, and check the rows.

    The parts of every query are summed over all heads and keys, on sixteen random directions: a
    wrong weight, value, head or coordinate shows in each of them, and no vector for a pair of
    tokens is ever built. `queries` and `keys` mask the positions that are tokens; padding is left
    out of every check.
    """
    own = captured.output
    bias = at_least_single(_bias(captured))
    signs = random_signs(own.shape[-1], own.dtype, own.device)
    row_sums, part_sums = _sum_parts(captured, signs)
    expected = own @ signs
    missed = (part_sums + bias @ signs - expected).abs().amax(dim=-1)
    size = _greatest(expected.abs().amax(dim=-1), queries)
    least = -_greatest((-row_sums).amax(dim=1), queries, padding=-torch.inf)
    lowest = captured.weight.amin(dim=-1).amin(dim=1)
    return AttentionChecks(
        error=_greatest(missed, queries) / size.clamp(min=torch.finfo(size.dtype).tiny),
        least_row=least,
        greatest_row=_greatest(row_sums.amax(dim=1), queries),
        least_weight=-_greatest(-lowest, queries, padding=-torch.inf),
        leak=_leak(captured, queries, keys),
        bias_share=_bias_share(bias, own - bias, queries),
        ahead=_ahead(captured.weight, queries),
    )


def _bias(captured: CapturedAttention) -> Float[Tensor, "*_ model"]:
    bias = captured.projection.bias
    return captured.output.new_zeros(captured.output.shape[-1]) if bias is None else bias


def _sum_parts(
    captured: CapturedAttention, signs: Float[Tensor, "model projection"]
) -> tuple[Float[Tensor, "batch head query"], Float[Tensor, "batch query projection"]]:
    """Return Σ_j α_ij, and Σ_h Σ_j α_ij f(x_j) on some directions, in one pass over α."""
    weight, value = captured.weight, captured.value
    if captured.projection.terms:
        context = weight @ value
        outputs = [term.apply(context) for term in captured.projection.terms]
        return weight.sum(dim=-1), torch.stack(outputs).sum(dim=0) @ signs
    out = captured.projection.weight
    # As one matrix: a product by heads would copy it.
    on_signs = (out.flatten(0, 1) @ signs).reshape(*out.shape[:2], -1)
    moved = value @ on_signs
    both = torch.cat([moved, torch.ones_like(moved[..., :1])], dim=-1)
    sums = weight @ both
    return sums[..., -1], sums[..., :-1].sum(dim=1)


def _greatest(
    values: Float[Tensor, "batch query"], mask: TokenMask | None, padding: float = 0.0
) -> PerText:
    """Return the greatest value over the queries that are tokens."""
    return (values if mask is None else values.masked_fill(~mask, padding)).amax(dim=-1)


def _bias_share(
    bias: Float[Tensor, "*_ model"],
    moved: Float[Tensor, "batch query model"],
    mask: TokenMask | None,
) -> PerText:
    """Return ‖b_O‖ / (‖b_O‖ + ‖what the tokens gave‖), averaged over the queries."""
    length = torch.linalg.vector_norm(bias, dim=-1)
    whole = length + torch.linalg.vector_norm(moved, dim=-1)
    share: Tensor = length / whole.clamp(min=torch.finfo(whole.dtype).tiny)
    if mask is None:
        return share.mean(dim=-1)
    return (share * mask).sum(dim=-1) / mask.sum(dim=-1)


def _leak(
    captured: CapturedAttention, queries: TokenMask | None, keys: TokenMask | None
) -> PerText:
    """Return the largest weight at a forbidden position, over the queries that are tokens."""
    weight = captured.weight
    forbidden = forbidden_positions(captured, keys)
    if forbidden is None:
        return weight.new_zeros(len(weight))
    if queries is not None:
        forbidden = forbidden & queries[:, None, :, None]
    return weight.masked_fill(~forbidden, 0).flatten(1).amax(dim=-1)


def forbidden_positions(
    captured: CapturedAttention, keys: TokenMask | None
) -> Bool[Tensor, "..."] | None:
    """Return where weights must be 0: masked by the model, padding, or after a causal query.

    The model's own mask decides where there is one: a causal module may let some tokens, such as
    those of an image, read ahead. Where there is none, a causal module has lost its mask.
    """
    masks: list[Tensor] = []
    if captured.mask is not None:
        mask = captured.mask[..., : captured.weight.shape[-1]]
        if mask.dtype == torch.bool:
            masks.append(~mask)
        elif mask.is_floating_point():  # whole numbers are added as they are, and forbid nothing
            masks.append(mask <= torch.finfo(mask.dtype).min / 2)
    if keys is not None:
        masks.append(~keys[:, None, None, :])
    causal = captured.stream.kind == "decoder" and getattr(captured.module, "is_causal", False)
    if captured.mask is None and causal:
        later = torch.ones(
            captured.weight.shape[-2:], dtype=torch.bool, device=captured.weight.device
        )
        masks.append(later.triu(1)[None, None])
    if not masks:
        return None
    forbidden = masks[0]
    for mask in masks[1:]:
        forbidden = forbidden | mask
    return forbidden


def _ahead(weight: Float[Tensor, "batch head query key"], mask: TokenMask | None) -> PerText:
    """Return the largest weight of the first token on any later one."""
    if mask is None:
        later = weight[:, :, 0, 1:]
        return later.flatten(1).amax(dim=-1) if later.numel() else weight.new_zeros(len(weight))
    positions = torch.arange(weight.shape[-1], device=weight.device)
    first = mask.int().argmax(dim=-1)
    rows = weight.take_along_dim(first[:, None, None, None], dim=2)[:, :, 0]
    return rows.masked_fill(positions <= first[:, None, None], 0).flatten(1).amax(dim=-1)
