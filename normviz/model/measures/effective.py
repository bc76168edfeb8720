"""α⊥, attention without what cannot reach the head's output (Brunner et al. 2020).

A head's output is α V W_O. Whatever part of a row of α lies in the left null space of V W_O is
multiplied to nothing there, so weights that differ by it cannot be told apart by their output.
Effective attention is α without that part: of all rows with the same output, the shortest one. Its
entries may be negative, and its rows need not add up to one. With W_Oᵀ = Q R, V Rᵀ has the same
left null space as V W_O and only `dim` columns, also where W_O is not of full rank.

The paper speaks of models whose rows read every key. Where a row may read only some (causal masks,
windows), normviz takes the null space of the values that this row may read: anything else would
put weight on keys that the model cannot see.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from normviz.model.types import OutputMap, Real, Values, Weights

Form = Literal["bias", "paper", "stochastic"]
FORMS: dict[Form, str] = {
    "bias": "of the values as the model multiplies them, bias included: each head's output stays",
    "paper": "of the values without their bias, as in Brunner et al.: what each head makes of "
    "these stays, its real output need not",
    "stochastic": "each row keeps its sum, and each head's output stays",
}
"""What may be removed from α, in the receipt's words."""

CHUNK = 2**22
"""How many numbers of values are held at a time where every row reads keys of its own."""

Visible = Bool[Tensor, "batch maybe query key"]
"""Which keys each row may read, for each head or for all alike."""


@dataclass(frozen=True)
class Effective:
    """α⊥ of one attention, and how much was there to be removed."""

    weight: Weights
    rank: Float[Tensor, "batch head"]
    """How many of the values that a row reads are independent, in the row that has most."""
    null_space: Float[Tensor, "batch head"]
    """How many dimensions a row has that reach nothing, in the row that has most."""
    by_row: bool
    """Whether rows read different keys, so that each has a null space of its own."""


def effective(
    weight: Weights,
    value: Values,
    out: OutputMap,
    visible: Visible,
    queries: Real | None = None,
    *,
    stochastic: bool = False,
) -> Effective:
    """α⊥ by one decomposition of the values, or by one for each row where rows read other keys.

    In double precision, where the device has it. A direction of the values is there if its
    singular value is above max(keys, dim) ε times the largest, with the ε of what the model
    computes in, or of float32 where that is coarser. Where nothing can be removed, α⊥ is α itself.
    """
    moved = _moved(value, out, stochastic=stochastic)
    shared = _shared(visible, queries)
    exact = weight.to(moved.dtype)
    if not bool(torch.isfinite(moved).all() & torch.isfinite(exact).all()):
        nothing = torch.full_like(weight[:, :, 0, 0], torch.nan)
        return Effective(torch.full_like(weight, torch.nan), nothing, nothing, shared is None)
    slack = torch.finfo(value.dtype).eps
    count = visible.sum(dim=-1).expand(weight.shape[:-1])
    if shared is not None:
        found, rank = _at_once(exact, moved, shared, slack)
    elif _all_independent(moved, visible.any(dim=2), slack):
        found, rank = weight, count.to(weight.dtype)
    else:
        found, rank = _row_by_row(exact, moved, visible, slack)
    rest = count - rank
    less = torch.where(rest[..., None] > 0, found.to(weight.dtype), weight)
    return Effective(less, _most(rank, queries), _most(rest, queries), shared is None)


def _moved(value: Values, out: OutputMap, *, stochastic: bool) -> Float[Tensor, "batch head key _"]:
    """V Rᵀ, which has the left null space of V W_O; with a column of ones where sums are to stay.

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


def _shared(visible: Visible, queries: Real | None) -> Bool[Tensor, "batch maybe key"] | None:
    """The keys that every real row reads, if all read the same."""
    real = torch.ones_like(visible[:, :1, :, :1]) if queries is None else queries[:, None, :, None]
    everyone = (visible | ~real).all(dim=2)
    anyone = (visible & real).any(dim=2)
    return everyone if torch.equal(everyone, anyone) else None


def _at_once(
    weight: Weights,
    moved: Float[Tensor, "batch head key column"],
    keys: Bool[Tensor, "batch maybe key"],
    slack: float,
) -> tuple[Weights, Float[Tensor, "batch head query"]]:
    """α U Uᵀ with the left singular vectors U of the values that every row reads."""
    vectors, sizes, _ = torch.linalg.svd(moved * keys[..., None], full_matrices=False)
    kept = _are_there(sizes, keys, moved.shape[-1], slack)
    basis = vectors * kept[..., None, :]
    found = (weight @ basis) @ basis.mT
    rank = kept.sum(dim=-1, keepdim=True).expand(weight.shape[:-1])
    return found * keys[..., None, :], rank.to(weight.dtype)


def _are_there(
    sizes: Float[Tensor, "batch head size"],
    keys: Bool[Tensor, "batch maybe key"],
    columns: int,
    slack: float,
) -> Bool[Tensor, "batch head size"]:
    """Which singular values of the values at these keys are more than rounding."""
    count = keys.sum(dim=-1, keepdim=True).clamp(min=columns)
    return sizes > slack * count * sizes[..., :1]


def _all_independent(
    moved: Float[Tensor, "batch head key column"],
    keys: Bool[Tensor, "batch maybe key"],
    slack: float,
) -> bool:
    """Whether the values of all keys are independent; then those that one row reads are too."""
    sizes = torch.linalg.svdvals(moved * keys[..., None])
    rank = _are_there(sizes, keys, moved.shape[-1], slack).sum(dim=-1)
    return bool((rank == keys.sum(dim=-1)).all())


def _row_by_row(
    weight: Weights,
    moved: Float[Tensor, "batch head key column"],
    visible: Visible,
    slack: float,
) -> tuple[Weights, Float[Tensor, "batch head query"]]:
    """Each row's V (VᵀV)⁺ (αV), of the values V that it reads: its shortest row with that output.

    VᵀV squares the singular values: one below 1e-7 of the largest is lost in double precision.
    """
    batch, heads, keys, columns = moved.shape
    most = max(1, CHUNK // (batch * heads * keys * columns))
    found, ranks = torch.zeros_like(weight), torch.zeros_like(weight[..., 0])
    for start in range(0, weight.shape[2], most):
        rows = slice(start, start + most)
        sight = visible[:, :, rows]
        seen = sight[..., None] * moved[:, :, None]  # batch head query key column
        squares, axes = torch.linalg.eigh(seen.mT @ seen)
        count = sight.sum(dim=-1, keepdim=True).clamp(min=columns)
        least = (slack * count).square().clamp(min=columns * torch.finfo(moved.dtype).eps)
        kept = squares > least * squares[..., -1:]
        output = (weight[:, :, rows, None] @ seen).mT  # batch head query column 1
        inverse = kept / torch.where(kept, squares, 1)
        along = axes @ (inverse[..., None] * (axes.mT @ output))
        found[:, :, rows] = (seen @ along)[..., 0]
        ranks[:, :, rows] = kept.sum(dim=-1).to(ranks.dtype)
    return found, ranks


def _most(
    numbers: Float[Tensor, "batch head query"], queries: Real | None
) -> Float[Tensor, "batch head"]:
    """The greatest number of any real row."""
    some = numbers if queries is None else numbers * queries[:, None]
    return some.amax(dim=-1)
