"""The tape: records of how each tensor was computed, written while a model's own code runs.

A record holds the tensor itself (the total) and how its parts follow from the parts of its inputs.
No part is computed until someone asks for it: see `replay`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Literal

import torch
from torch import Tensor

from normviz.model.decompose.vectors import LowRankParts

SourceSequence = Literal["own", "other"]
"""Whose tokens are the sources: the sequence's own, or those of the sequence it reads."""

BiasHandling = Literal["source", "constant", "bias-token", "decompx"]
"""Which token a bias belongs to, and how activations treat it: see `biases`."""

RECORD_NUMBERS = count()
"""Numbers records in the order they are made."""


@dataclass(eq=False, kw_only=True, repr=False)
class Record:
    """A tensor on the tape, with the axis of its tokens, counted from the end."""

    total: Tensor
    axis: int
    name: str = ""
    number: int = field(default_factory=lambda: next(RECORD_NUMBERS))
    """Its number in the order of making."""
    uses: int = 0
    """How many other records have it as an input."""

    @property
    def inputs(self) -> tuple["Record", ...]:
        """The records it was computed from."""
        return ()

    @property
    def token_count(self) -> int:
        """The length of its token axis."""
        return self.total.shape[self.axis]

    @property
    def flat(self) -> bool:
        """Whether it is a list of vectors, token by feature, not counting axes of length one."""
        return self.axis == -2 and self.total.shape[:-2].numel() == 1  # noqa: PLR2004


@dataclass(eq=False, kw_only=True, repr=False)
class SourceRecord(Record):
    """Vectors that each belong to one token alone."""

    sequence: SourceSequence
    tokens: Tensor
    """The source token at each index of the token axis."""
    terms: tuple["SourceRecord", ...] = ()
    """The terms, if it is a sum."""
    stepwise: bool = False
    """Whether functions of it are recorded one by one, with biases apart, or stay the token's."""
    derive: Callable[[Tensor], Record | Tensor] | None = None
    """Computes `by_steps` from the total; None for vectors that were not computed from others."""

    @cached_property
    def by_steps(self) -> Record | Tensor:
        """The same vectors with every step on record; a tensor where they are only read."""
        return replace(self, stepwise=True) if self.derive is None else self.derive(self.total)


@dataclass(eq=False, kw_only=True, repr=False)
class LinearRecord(Record):
    """A map that is linear in the parts of its inputs, once the totals are known."""

    operands: tuple[Record, ...]
    apply: Callable[..., Tensor]
    """The map, on tensors like the operands with a source axis in front; it maps zero to zero."""
    constant: Tensor | None = None
    """What comes from no token at all, such as a bias."""
    apply_low_rank: Callable[..., LowRankParts | None] | None = None
    """The same map on low-rank parts, where they stay low-rank."""
    matrix: Tensor | None = None
    """The map as a matrix over features, where it is one."""
    move: Callable[[Tensor], Tensor] | None = None
    """The movement of numbers (reshape, transpose, …), where it is nothing else."""
    kind: Literal["map", "diagonal", "identity", "sum"] = "map"
    """A diagonal map is a scale or a norm; an identity changes only shape, type or memory."""
    indices: Tensor | None = None
    """The index in its operand of the token at each index; None where tokens keep their order."""
    holds_values: bool = False
    """Whether it is what an attention weights, from the projection of the values on."""

    @property
    def inputs(self) -> tuple[Record, ...]:
        """Its operands."""
        return self.operands


@dataclass(eq=False, kw_only=True, repr=False)
class AttentionRecord(Record):
    """Weights times values: what each head passes from each token to each other."""

    weight: Tensor
    value: SourceRecord

    @property
    def inputs(self) -> tuple[Record, ...]:
        """The values; the weights are read from the total."""
        return (self.value,)


@dataclass(eq=False, kw_only=True, repr=False)
class MixedAttentionRecord(LinearRecord):
    """Weights times values that are no longer, or not on record as, one token's own."""


@dataclass(eq=False, kw_only=True, repr=False)
class ElementwiseRecord(Record):
    """Any elementwise function of a few tensors; its parts are integrated gradients."""

    leaves: tuple[Record, ...]
    function: Callable[..., Tensor]
    is_square: bool = False
    """Whether it is the square of its leaf, which norms take the mean of."""
    factors: dict[bool, tuple[list[Tensor], Tensor]] = field(default_factory=dict)
    """Cache of the leaves' factors and the value at the origin, by whether biases are constant."""

    @property
    def inputs(self) -> tuple[Record, ...]:
        """Its leaves."""
        return self.leaves


@dataclass(eq=False, kw_only=True, repr=False)
class LostRecord(Record):
    """A tensor whose parts are not known: an operation on the way to it has no rule.

    That is no harm where only its total is read, as with queries and keys.
    """

    error: Exception
    """Names the operation; raised where the parts are needed."""


def require_parts(record: Record) -> Record:
    """Return the record; raise what its parts were lost by, if they were."""
    if isinstance(record, LostRecord):
        raise record.error
    return record


def register_use(record: Record) -> Record:
    """Count a use of each of the record's inputs; return the record."""
    for source in record.inputs:
        source.uses += 1
    return record


def source_record(
    total: Tensor, sequence: SourceSequence = "own", *, stepwise: bool = False
) -> SourceRecord:
    """Return the record of input vectors: the vector of token t belongs to source t."""
    tokens = torch.arange(total.shape[-2], device=total.device)
    return SourceRecord(
        total=total, axis=-2, sequence=sequence, tokens=tokens, name="input", stepwise=stepwise
    )


def stays_own(record: object) -> bool:
    """Whether functions of the record that keep tokens apart are still the token's own."""
    return isinstance(record, SourceRecord) and not record.stepwise


def in_order(tokens: Tensor, count: int | None = None) -> bool:
    """Whether these are the first `count` tokens (default: as many as given), once and in order."""
    length = len(tokens) if count is None else count
    return torch.equal(tokens, torch.arange(length, dtype=tokens.dtype, device=tokens.device))
