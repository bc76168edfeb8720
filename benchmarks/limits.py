"""Lower bounds for a measure: the operations it needs, and the bytes it must move.

A multiply-add counts as two operations. Divided by the rate of plain matrix products, or of plain
copies, measured on this machine in the same round, they are a lower bound on the time of anything
that uses the same closed forms.
"""

from collections.abc import Callable
from typing import Any

import torch
from shapes import Sizes
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

COORDINATES = 17
"""The sums over the weights in a receipt: 16 coordinates, and the weights themselves."""


def pass_operations(sizes: Sizes, tokens: int) -> int:
    """Count the operations of the model's own pass: projections, scores and weighted sums."""
    width = sizes.heads * sizes.dim
    projections = sizes.model * (2 * width + 2 * sizes.value_heads * sizes.dim)
    forward = (3 if sizes.gated else 2) * sizes.model * sizes.inner
    attention = 2 * width * tokens**2
    return 2 * sizes.layers * (tokens * (projections + forward) + attention)


def four_operations(sizes: Sizes, tokens: int) -> int:
    """Count the operations of f(x), inner products of heads, the head sum and the receipt."""
    heads = sizes.heads
    moved = 2 * tokens * heads * sizes.dim * sizes.model
    inner = tokens * heads * (heads + 1) * sizes.model
    summed = tokens**2 * heads * (heads + 1)
    receipt = 2 * tokens**2 * heads * COORDINATES
    return sizes.layers * (moved + inner + summed + receipt)


def block_operations(sizes: Sizes, tokens: int) -> int:
    """Count the same plus residual and norm: one more vector per token, and its products."""
    more = tokens * (sizes.heads + 1) * (sizes.heads + 2) * (sizes.model + tokens)
    return four_operations(sizes, tokens) + sizes.layers * more


def whole_operations(sizes: Sizes, tokens: int) -> int:
    """Count all rungs: every pair of tokens through the second half of the feed-forward block."""
    halves = 2 if sizes.gated else 1
    into = 2 * halves * tokens * (sizes.heads + 1) * sizes.model * sizes.inner
    mixed = 2 * halves * tokens**2 * sizes.heads * sizes.inner
    back = 2 * tokens**2 * sizes.inner * sizes.model
    return block_operations(sizes, tokens) + sizes.layers * (into + mixed + back)


def effective_operations(sizes: Sizes, tokens: int) -> int:
    """Count a basis of the values, and the projection of α, if all rows read the same keys."""
    basis = 2 * tokens * sizes.dim**2
    projection = 4 * tokens**2 * sizes.dim
    return sizes.layers * sizes.heads * (basis + projection)


OPERATIONS: dict[str, Callable[[Sizes, int], int]] = {
    "four": four_operations,
    "block": block_operations,
    "whole": whole_operations,
    "effective": effective_operations,
}
"""The operations that each contender adds to the model's pass."""


def moved_bytes(sizes: Sizes, tokens: int, itemsize: int, name: str) -> int:
    """Return the bytes that must move.

    Parameters are read once. α is written, and read once by the model and once by a measure.
    Results are written: `layer query key` in float32 for each measure without heads.
    """
    parameters = pass_operations(sizes, 1) // 2 * itemsize
    plane = sizes.layers * tokens**2
    results = {"four": 1, "block": 3, "whole": 6}.get(name, 0) + (
        sizes.heads if name == "effective" else 0
    )
    reads = 2 if name == "plain" else 3
    return parameters + reads * plane * sizes.heads * itemsize + 4 * results * plane


class OperationCounter(TorchDispatchMode):
    """Counts the operations of matrix products in a `with` block, including derivatives."""

    total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation, and count it."""
        del types
        named = kwargs or {}
        out = func(*args, **named)
        if count := flop_registry.get(func._overloadpacket):  # noqa: SLF001 (its key there)
            self.total += count(*args, **named, out_val=out)
        return out


class Yardstick:
    """A product and a copy that take turns with the contenders, so that noise affects all alike."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.left = torch.ones(1024, 2048, dtype=dtype)
        self.right = torch.ones(2048, 2048, dtype=dtype)
        self.product_result = torch.empty(1024, 2048, dtype=dtype)
        self.source = torch.ones(2**25, dtype=torch.float32)
        self.copy = torch.empty_like(self.source)
        self.tasks = {"product": self.product, "move": self.move}

    def product(self) -> None:
        """Compute one matrix product."""
        torch.mm(self.left, self.right, out=self.product_result)

    def move(self) -> None:
        """Copy once."""
        self.copy.copy_(self.source)

    operations = 2 * 1024 * 2048 * 2048
    bytes = 2 * 4 * 2**25


def least_seconds(
    name: str, sizes: Sizes, tokens: int, itemsize: int, *, product: float, move: float
) -> dict[str, float]:
    """Return the least seconds by arithmetic and by memory, from the yardsticks' seconds."""
    operations = pass_operations(sizes, tokens)
    if name != "plain":
        operations += OPERATIONS[name](sizes, tokens)
    moved = moved_bytes(sizes, tokens, itemsize, name)
    return {
        "arithmetic": operations * product / Yardstick.operations,
        "memory": moved * move / Yardstick.bytes,
    }
