"""Jacobian-vector products of many directions at once: derivatives in forward mode."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Function = Callable[..., tuple[Tensor, ...]]


def batched_jvp(
    function: Function, inputs: Sequence[Tensor], directions: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """Return the derivatives of a function's outputs in many directions of its inputs.

    Each tensor of directions has one axis more than its input, in front; so have the results. The
    function itself is computed once: only what depends on a direction is done for each.
    """

    def jvp(*direction: Tensor) -> tuple[Tensor, ...]:
        tangents: tuple[Tensor, ...] = torch.func.jvp(function, tuple(inputs), direction)[1]
        return tangents

    tangents: tuple[Tensor, ...] = torch.vmap(jvp, randomness="same")(*directions)
    return tangents
