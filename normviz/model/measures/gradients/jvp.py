"""Many directions pushed through a function at once: derivatives in forward mode."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Function = Callable[..., tuple[Tensor, ...]]


def pushed(
    run: Function, vectors: Sequence[Tensor], changes: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """What small changes of some vectors do to what a function makes of them.

    Each tensor of changes has one axis more than its vectors, in front. The function itself is
    worked out once: only what depends on a change is done for each.
    """

    def one(*change: Tensor) -> tuple[Tensor, ...]:
        effects: tuple[Tensor, ...] = torch.func.jvp(run, tuple(vectors), change)[1]
        return effects

    found: tuple[Tensor, ...] = torch.vmap(one, randomness="same")(*changes)
    return found
