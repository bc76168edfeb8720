"""What a measure cannot do without: operations counted, and bytes that must move.

A multiply-add counts as two operations. Divided by the rate of plain matrix products, or of plain
copies, that this machine shows in the same round, they are the time below which nothing could go
that works by the same closed forms.
"""

from collections.abc import Callable
from typing import Any

import torch
from shapes import Sizes
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

COORDINATES = 17
"""How many sums over the weights a receipt takes: 16 coordinates, and the weights themselves."""


def pass_operations(sizes: Sizes, tokens: int) -> int:
    """The model's own pass: its projections, its scores, and what the weights take."""
    width = sizes.heads * sizes.dim
    projections = sizes.model * (2 * width + 2 * sizes.value_heads * sizes.dim)
    forward = (3 if sizes.gated else 2) * sizes.model * sizes.inner
    attention = 2 * width * tokens**2
    return 2 * sizes.layers * (tokens * (projections + forward) + attention)


def four_operations(sizes: Sizes, tokens: int) -> int:
    """f(x), the heads' inner products, the head sum, and the receipt's sums."""
    heads = sizes.heads
    moved = 2 * tokens * heads * sizes.dim * sizes.model
    inner = tokens * heads * (heads + 1) * sizes.model
    summed = tokens**2 * heads * (heads + 1)
    receipt = 2 * tokens**2 * heads * COORDINATES
    return sizes.layers * (moved + inner + summed + receipt)


def block_operations(sizes: Sizes, tokens: int) -> int:
    """The same, and the residual and the norm: one more vector a token, and its inner products."""
    more = tokens * (sizes.heads + 1) * (sizes.heads + 2) * (sizes.model + tokens)
    return four_operations(sizes, tokens) + sizes.layers * more


def whole_operations(sizes: Sizes, tokens: int) -> int:
    """All rungs: every pair of tokens through the second half of the feed-forward block."""
    halves = 2 if sizes.gated else 1
    into = 2 * halves * tokens * (sizes.heads + 1) * sizes.model * sizes.inner
    mixed = 2 * halves * tokens**2 * sizes.heads * sizes.inner
    back = 2 * tokens**2 * sizes.inner * sizes.model
    return block_operations(sizes, tokens) + sizes.layers * (into + mixed + back)


def effective_operations(sizes: Sizes, tokens: int) -> int:
    """A basis of the values, and α taken to it and back, where all rows read the same keys."""
    basis = 2 * tokens * sizes.dim**2
    there_and_back = 4 * tokens**2 * sizes.dim
    return sizes.layers * sizes.heads * (basis + there_and_back)


OPERATIONS: dict[str, Callable[[Sizes, int], int]] = {
    "four": four_operations,
    "block": block_operations,
    "whole": whole_operations,
    "effective": effective_operations,
}
"""What each contender adds to the model's pass."""


def moved_bytes(sizes: Sizes, tokens: int, itemsize: int, name: str) -> int:
    """The parameters read once; α written, and read once by the model and once by a measure.

    What comes out is written: `layer query key` in float32 for each measure without heads.
    """
    parameters = pass_operations(sizes, 1) // 2 * itemsize
    plane = sizes.layers * tokens**2
    results = {"four": 1, "block": 3, "whole": 6}.get(name, 0) + (
        sizes.heads if name == "effective" else 0
    )
    reads = 2 if name == "plain" else 3
    return parameters + reads * plane * sizes.heads * itemsize + 4 * results * plane


class Counted(TorchDispatchMode):
    """Counts the operations of matrix products for the length of a `with`, derivatives included."""

    total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Do what is asked, and count it."""
        del types
        named = kwargs or {}
        out = func(*args, **named)
        if count := flop_registry.get(func._overloadpacket):  # noqa: SLF001 (its key there)
            self.total += count(*args, **named, out_val=out)
        return out


class Yardstick:
    """A product and a copy that take turns with the contenders, so that noise meets them alike."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.left = torch.ones(1024, 2048, dtype=dtype)
        self.right = torch.ones(2048, 2048, dtype=dtype)
        self.product_result = torch.empty(1024, 2048, dtype=dtype)
        self.copied = torch.ones(2**25, dtype=torch.float32)
        self.copy = torch.empty_like(self.copied)
        self.tasks = {"product": self.product, "move": self.move}

    def product(self) -> None:
        """One matrix product."""
        torch.mm(self.left, self.right, out=self.product_result)

    def move(self) -> None:
        """One copy."""
        self.copy.copy_(self.copied)

    operations = 2 * 1024 * 2048 * 2048
    bytes = 2 * 4 * 2**25


def least_seconds(
    name: str, sizes: Sizes, tokens: int, itemsize: int, *, product: float, move: float
) -> dict[str, float]:
    """The least time by arithmetic and by memory, given what the yardsticks took."""
    operations = pass_operations(sizes, tokens)
    if name != "plain":
        operations += OPERATIONS[name](sizes, tokens)
    moved = moved_bytes(sizes, tokens, itemsize, name)
    return {
        "arithmetic": operations * product / Yardstick.operations,
        "memory": moved * move / Yardstick.bytes,
    }
