"""How a tensor was made: the tape that is written while a model's own code runs.

Each record holds the tensor itself (the total) and how its parts follow from the parts of what it
was made of. Nothing is computed for the parts until somebody asks: see `replay`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

import torch
from torch import Tensor

from normviz.model.decompose.vectors import LowRankParts

SourceSequence = Literal["own", "other"]
"""Whose tokens are the sources: the sequence's own, or those of the sequence it reads."""

Biases = Literal["source", "constant"]
"""What a bias is to an activation: a source among others, or a constant that is there already."""

NUMBERS = count()
"""The order in which records are made."""


@dataclass(eq=False, kw_only=True, repr=False)
class Record:
    """A tensor on the tape, with the axis along which its tokens lie, counted from the end."""

    total: Tensor
    axis: int
    name: str = ""
    number: int = field(default_factory=lambda: next(NUMBERS))
    """Its place in the order of making."""
    uses: int = 0
    """How many other records were made of it."""

    @property
    def inputs(self) -> tuple["Record", ...]:
        """What it was made of."""
        return ()

    @property
    def places(self) -> int:
        """How many tokens lie along its axis."""
        return self.total.shape[self.axis]

    @property
    def flat(self) -> bool:
        """Whether it is, but for axes of one place, a list of vectors: token, then feature."""
        return self.axis == -2 and self.total.shape[:-2].numel() == 1  # noqa: PLR2004


@dataclass(eq=False, kw_only=True, repr=False)
class SourceRecord(Record):
    """Every token's vector belongs to that token alone."""

    side: SourceSequence
    tokens: Tensor
    """Which source stands at each place of the axis."""
    terms: tuple["SourceRecord", ...] = ()
    """What it was added up from, where it is a sum."""
    followed: bool = False
    """Whether what is made of it is followed step by step, biases apart, or remains the token's."""


@dataclass(eq=False, kw_only=True, repr=False)
class LinearRecord(Record):
    """A map that is linear in the parts of its inputs, once the totals are known."""

    of: tuple[Record, ...]
    apply: Callable[..., Tensor]
    """The map, on tensors like the inputs with one axis more in front; zero goes to zero."""
    constant: Tensor | None = None
    """What comes from no token at all, such as a bias."""
    mixed: Callable[..., LowRankParts | None] | None = None
    """The same map on mixed vectors, where they stay mixed."""
    matrix: Tensor | None = None
    """The map as a matrix, feature by feature, where it is one."""
    move: Callable[[Tensor], Tensor] | None = None
    """The change of shape, where that is all it is."""
    kind: Literal["map", "diagonal", "carry", "sum"] = "map"
    """A diagonal map is a scale or a norm; a carry changes nothing but the form."""

    @property
    def inputs(self) -> tuple[Record, ...]:
        """What it was made of."""
        return self.of


@dataclass(eq=False, kw_only=True, repr=False)
class AttentionRecord(Record):
    """Weights times values: what each head gives, from each token to each other."""

    weight: Tensor
    value: SourceRecord

    @property
    def inputs(self) -> tuple[Record, ...]:
        """The values; weights are read from the total."""
        return (self.value,)


@dataclass(eq=False, kw_only=True, repr=False)
class ElementwiseRecord(Record):
    """Any function of a few tensors, number by number; its parts are integrated gradients."""

    leaves: tuple[Record, ...]
    function: Callable[..., Tensor]
    square: bool = False
    """Whether it is the square of its leaf, which norms take the mean of."""
    factors: dict[Biases, tuple[list[Tensor], Tensor]] = field(default_factory=dict)
    """How much each leaf counts, and what is left at the path's origin; filled when first asked."""

    @property
    def inputs(self) -> tuple[Record, ...]:
        """Its leaves."""
        return self.leaves


def register_use(record: Record) -> Record:
    """The record, entered in the count of what each of its inputs is used for."""
    for source in record.inputs:
        source.uses += 1
    return record


def own(total: Tensor, side: SourceSequence = "own", *, followed: bool = False) -> SourceRecord:
    """The record of vectors that enter: token t's belongs to source t."""
    tokens = torch.arange(total.shape[-2], device=total.device)
    return SourceRecord(
        total=total, axis=-2, side=side, tokens=tokens, name="enter", followed=followed
    )


def remains_own(record: object) -> bool:
    """Whether whatever keeps tokens apart makes of it something that is a token's own."""
    return isinstance(record, SourceRecord) and not record.followed


def in_order(tokens: Tensor, places: int | None = None) -> bool:
    """Whether these are the first so many tokens, each once and in their order."""
    count = len(tokens) if places is None else places
    return torch.equal(tokens, torch.arange(count, dtype=tokens.dtype, device=tokens.device))
