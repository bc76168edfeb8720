"""α⊥, effective attention: α without what cannot reach the head's output (Brunner et al. 2020).

A head's output is α V W_O. Whatever part of a row of α lies in the left null space of V W_O is
multiplied to nothing there, so weights that differ by it cannot be told apart by their output.
Effective attention is α without that part: of all rows with the same output, the shortest one. Its
entries may be negative, and its rows need not add up to one. With W_Oᵀ = Q R, V Rᵀ has the same
left null space as V W_O and only `dim` columns, also where W_O is not of full rank.

The paper treats models whose rows read every key. Where a row may read only some (causal masks,
windows), normviz takes the null space of the values that this row may read: anything else would
put weight on keys that the model cannot see.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from normviz.model.types import OutputMap, TokenMask, Values, Weights

EffectiveForm = Literal["bias", "paper", "stochastic"]
FORMS: dict[EffectiveForm, str] = {
    "bias": "of the values as the model multiplies them, bias included: each head's output stays",
    "paper": "of the values without their bias, as in Brunner et al.: what each head makes of "
    "these stays, its real output need not",
    "stochastic": "each row keeps its sum, and each head's output stays",
}
"""What may be removed from α, in the receipt's words."""

CHUNK = 2**22
"""How many numbers of values are held at a time where each row reads different keys."""

Visible = Bool[Tensor, "batch maybe query key"]
"""Which keys each row may read, for each head or the same for all."""


@dataclass(frozen=True)
class EffectiveAttention:
    """α⊥ of one attention, and how large the null space was."""

    weight: Weights
    rank: Float[Tensor, "batch head"]
    """How many of the values that a row reads are independent, in the row with the most."""
    null_space: Float[Tensor, "batch head"]
    """How many dimensions of a row cannot reach the output, in the row with the most."""
    by_row: bool
    """Whether rows read different keys, so that each has a null space of its own."""


def effective_attention(
    weight: Weights,
    value: Values,
    out: OutputMap,
    visible: Visible,
    queries: TokenMask | None = None,
    *,
    stochastic: bool = False,
) -> EffectiveAttention:
    """Return α⊥, by one decomposition of the values, or one for each row where rows differ in keys.

    In double precision, where the device has it. A direction of the values counts if its
    singular value is above max(keys, dim) ε times the largest, with the ε of what the model
    computes in, or of float32 where that is coarser. Where nothing can be removed, α⊥ is α itself.
    """
    moved = _transform(value, out, stochastic=stochastic)
    shared = _shared_keys(visible, queries)
    exact = weight.to(moved.dtype)
    if not bool(torch.isfinite(moved).all() & torch.isfinite(exact).all()):
        unknown = torch.full_like(weight[:, :, 0, 0], torch.nan)
        return EffectiveAttention(
            torch.full_like(weight, torch.nan), unknown, unknown, shared is None
        )
    slack = torch.finfo(value.dtype).eps
    count = visible.sum(dim=-1).expand(weight.shape[:-1])
    if shared is not None:
        projected, rank = _project_shared(exact, moved, shared, slack)
    elif _all_independent(moved, visible.any(dim=2), slack):
        projected, rank = weight, count.to(weight.dtype)
    else:
        projected, rank = _project_rows(exact, moved, visible, slack)
    rest = count - rank
    less = torch.where(rest[..., None] > 0, projected.to(weight.dtype), weight)
    return EffectiveAttention(
        less, _row_maximum(rank, queries), _row_maximum(rest, queries), shared is None
    )


def _transform(
    value: Values, out: OutputMap, *, stochastic: bool
) -> Float[Tensor, "batch head key _"]:
    """Return V Rᵀ, which has the left null space of V W_O; with a column of ones if sums must stay.

    The ones are as long as the longest value, so that neither drowns the other.
    """
    wide = torch.float32 if value.device.type == "mps" else torch.float64
    factor = torch.linalg.qr(out.to(wide).mT, mode="r").R
    moved: Tensor = value.to(wide) @ factor.mT
    if not stochastic:
        return moved
    longest = torch.linalg.vector_norm(moved, dim=-1, keepdim=True).amax(dim=2, keepdim=True)
    ones = torch.where(longest > 0, longest, 1).expand(*moved.shape[:-1], 1)
    return torch.cat([moved, ones], dim=-1)


def _shared_keys(
    visible: Visible, queries: TokenMask | None
) -> Bool[Tensor, "batch maybe key"] | None:
    """Return the keys that every row reads, if all rows of tokens read the same."""
    mask = torch.ones_like(visible[:, :1, :, :1]) if queries is None else queries[:, None, :, None]
    by_all = (visible | ~mask).all(dim=2)
    by_any = (visible & mask).any(dim=2)
    return by_all if torch.equal(by_all, by_any) else None


def _project_shared(
    weight: Weights,
    moved: Float[Tensor, "batch head key column"],
    keys: Bool[Tensor, "batch maybe key"],
    slack: float,
) -> tuple[Weights, Float[Tensor, "batch head query"]]:
    """Return α U Uᵀ and the rank, with the left singular vectors U of the values all rows read."""
    vectors, sizes, _ = torch.linalg.svd(moved * keys[..., None], full_matrices=False)
    significant = _are_significant(sizes, keys, moved.shape[-1], slack)
    basis = vectors * significant[..., None, :]
    projected = (weight @ basis) @ basis.mT
    rank = significant.sum(dim=-1, keepdim=True).expand(weight.shape[:-1])
    return projected * keys[..., None, :], rank.to(weight.dtype)


def _are_significant(
    sizes: Float[Tensor, "batch head size"],
    keys: Bool[Tensor, "batch maybe key"],
    columns: int,
    slack: float,
) -> Bool[Tensor, "batch head size"]:
    """Return which singular values of the values at these keys are more than rounding."""
    count = keys.sum(dim=-1, keepdim=True).clamp(min=columns)
    return sizes > slack * count * sizes[..., :1]


def _all_independent(
    moved: Float[Tensor, "batch head key column"],
    keys: Bool[Tensor, "batch maybe key"],
    slack: float,
) -> bool:
    """Return whether the values of all keys are independent; then those of each row are too."""
    sizes = torch.linalg.svdvals(moved * keys[..., None])
    rank = _are_significant(sizes, keys, moved.shape[-1], slack).sum(dim=-1)
    return bool((rank == keys.sum(dim=-1)).all())


def _project_rows(
    weight: Weights,
    moved: Float[Tensor, "batch head key column"],
    visible: Visible,
    slack: float,
) -> tuple[Weights, Float[Tensor, "batch head query"]]:
    """Return each row's V (VᵀV)⁺ (αV), of the values V that it reads, and the rank of V.

    VᵀV squares the singular values: one below 1e-7 of the largest is lost in double precision.
    """
    batch, heads, keys, columns = moved.shape
    size = max(1, CHUNK // (batch * heads * keys * columns))
    projected, ranks = torch.zeros_like(weight), torch.zeros_like(weight[..., 0])
    for start in range(0, weight.shape[2], size):
        rows = slice(start, start + size)
        readable = visible[:, :, rows]
        values = readable[..., None] * moved[:, :, None]  # batch head query key column
        squares, axes = torch.linalg.eigh(values.mT @ values)
        count = readable.sum(dim=-1, keepdim=True).clamp(min=columns)
        least = (slack * count).square().clamp(min=columns * torch.finfo(moved.dtype).eps)
        significant = squares > least * squares[..., -1:]
        output = (weight[:, :, rows, None] @ values).mT  # batch head query column 1
        inverse = significant / torch.where(significant, squares, 1)
        coefficients = axes @ (inverse[..., None] * (axes.mT @ output))
        projected[:, :, rows] = (values @ coefficients)[..., 0]
        ranks[:, :, rows] = significant.sum(dim=-1).to(ranks.dtype)
    return projected, ranks


def _row_maximum(
    numbers: Float[Tensor, "batch head query"], queries: TokenMask | None
) -> Float[Tensor, "batch head"]:
    """Return the greatest number over the rows that are tokens."""
    return (numbers if queries is None else numbers * queries[:, None]).amax(dim=-1)
