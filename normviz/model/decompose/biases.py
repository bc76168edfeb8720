"""Which token each bias belongs to, and the bias part, which comes from no token.

One convention holds on every tape, in sequential and in parallel blocks. What an attention reads at
a position, f(x), belongs to the token there, biases of f included: the weights carry them like
everything else in f(x). Every other bias belongs to no token. By `BiasHandling`:

- `source`: the bias part is scaled in activations like the part of a token.
- `constant`: the bias part is held constant in activations, and only the tokens' parts move.
- `bias-token`: as `source`, but f's biases belong to the token only where a token's own vector is
  read, which is in the first layer; later they belong to no token (DecompX with a bias token).
- `decompx`: as `bias-token`, but then every bias is shared out among the tokens where it is added,
  in proportion to |⟨part, bias⟩| (DecompX's default, "absdot"). Biases of an attention, from the
  projection of its values on, are shared out where its output is added to something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from normviz.model.decompose.integrated_gradients import elementwise_bias_part, elementwise_parts
from normviz.model.decompose.tape import (
    AttentionRecord,
    BiasHandling,
    ElementwiseRecord,
    LinearRecord,
    MixedAttentionRecord,
    Record,
    SourceRecord,
    SourceSequence,
    require_parts,
    stays_own,
)
from normviz.model.types import at_least_single


@dataclass(frozen=True)
class ReadBias:
    """Biases in the values that an attention reads, and the token at each position."""

    vectors: Tensor
    sequence: SourceSequence
    tokens: Tensor


@dataclass(frozen=True)
class SharedBias:
    """A bias that is shared out among all sources, for each token that receives."""

    vectors: Tensor
    axis: int
    divisor: Tensor
    """The sum of |⟨part, bias⟩| over all sources, by token; infinite where all are zero."""

    def share(self, parts: Tensor) -> Tensor:
        """Return parts, sources in front, with their shares of the bias."""
        shape = [1] * self.vectors.ndim
        shape[self.axis] = self.vectors.shape[self.axis]
        weights = _products(parts, self.vectors, self.axis) / self.divisor  # source token
        return parts + weights.reshape(-1, *shape) * self.vectors


@runtime_checkable
class PartsBySource(Protocol):
    """Whoever knows the parts that come from some of the sources."""

    def dense_before_sharing(self, record: Record) -> Tensor | None:
        """Return the parts of a record before a bias is shared out, sources in front."""


@dataclass(eq=False)
class BiasPart:
    """The bias part of each tensor: what comes from no token."""

    bias_handling: BiasHandling = "source"
    layer_inputs: Mapping[Record, SourceSequence] = field(default_factory=dict)
    """What enters each layer, on a tape through several, and whose tokens are at its positions."""
    replays: Sequence[PartsBySource] = ()
    """All the sources there are, where biases are shared out among them."""
    cache: dict[Record, Tensor | None] = field(default_factory=dict)
    shared: dict[Record, SharedBias] = field(default_factory=dict)
    read: dict[Record, ReadBias | None] = field(default_factory=dict)
    attention_outputs: dict[Record, bool] = field(default_factory=dict)

    @property
    def shares_out(self) -> bool:
        """Whether biases are shared out among the tokens."""
        return self.bias_handling == "decompx"

    def of(self, record: Record) -> Tensor | None:
        """Return the bias part of a record's tensor, in its shape; None where there is none."""
        if record not in self.cache:
            bias = self._compute(record)
            if bias is not None and self.shares_out and not self._is_in_attention(record):
                bias = self._share_out(record, bias)
            self.cache[record] = bias
        return self.cache[record]

    def shared_at(self, record: Record) -> SharedBias | None:
        """Return the bias that is shared out among the tokens at a record, if there is one."""
        if self.shares_out:
            self.of(record)
        return self.shared.get(record)

    def read_at(self, record: MixedAttentionRecord) -> ReadBias | None:
        """Return the biases that belong to the tokens at the positions an attention reads."""
        if record not in self.read:
            (value,) = record.operands
            origin, bias = self._origin(value), self.of(value)
            if origin is None or bias is None:
                self.read[record] = None
            else:
                carried = self._bias_carried_in(value)
                fresh = bias if carried is None else bias - carried
                self.read[record] = ReadBias(fresh, *origin)
        return self.read[record]

    def _compute(self, record: Record) -> Tensor | None:
        require_parts(record)
        if isinstance(record, AttentionRecord):
            return None  # f(x) is the token's own
        if isinstance(record, SourceRecord):
            return self._of_own(record)
        if isinstance(record, MixedAttentionRecord):
            (value,) = record.operands
            bias = self.of(value) if self._origin(value) is None else self._bias_carried_in(value)
            return None if bias is None else record.apply(bias[None])[0]
        parts = [self.of(source) for source in record.inputs]
        if isinstance(record, ElementwiseRecord):
            return elementwise_bias_part(record, self.bias_handling, parts)
        assert isinstance(record, LinearRecord)  # noqa: S101 - there are no others
        image = _map(record, parts)
        if record.constant is None:
            return image
        constant = at_least_single(record.constant).expand_as(record.total)
        return constant if image is None else constant + image

    def _of_own(self, record: SourceRecord) -> Tensor | None:
        """Return the bias part of a token's own vectors: of the steps they were computed in.

        Sharing it out would give it back to the one token that has a part in them.
        """
        if record.derive is None or not stays_own(record) or self.shares_out:
            return None
        steps = record.by_steps
        return self.of(steps) if isinstance(steps, Record) else at_least_single(steps)

    def _bias_carried_in(self, record: Record) -> Tensor | None:
        """Return the bias part that was in a layer's input already, as it is in a later record."""
        if isinstance(record, SourceRecord) or record in self.layer_inputs:
            return self.of(record)
        parts = [self._bias_carried_in(source) for source in record.inputs]
        if isinstance(record, ElementwiseRecord):
            biases = [self.of(leaf) for leaf in record.leaves]
            return elementwise_parts(record, self.bias_handling, parts, biases)
        assert isinstance(record, LinearRecord)  # noqa: S101 - `_origin` looked for others
        return _map(record, parts)

    def _origin(self, record: Record) -> tuple[SourceSequence, Tensor] | None:
        """Return whose token is at each position of the values an attention reads.

        None where their biases belong to no token.
        """
        if isinstance(record, SourceRecord):
            return record.sequence, record.tokens
        if record in self.layer_inputs:
            if self.bias_handling in ("bias-token", "decompx"):
                return None
            count = torch.arange(record.token_count, device=record.total.device)
            return self.layer_inputs[record], count
        if isinstance(record, AttentionRecord | MixedAttentionRecord):
            return None
        origins = [self._origin(source) for source in record.inputs]
        first = origins[0]
        if first is None or any(other is None or not _same(first, other) for other in origins):
            return None
        sequence, tokens = first
        if isinstance(record, LinearRecord) and record.indices is not None:
            tokens = tokens[record.indices]
        return (sequence, tokens) if len(tokens) == record.token_count else None

    def _is_in_attention(self, record: Record) -> bool:
        """Whether a bias waits here until the attention's output is added to something else."""
        return isinstance(record, LinearRecord) and (
            record.holds_values or self._is_attention_output(record)
        )

    def _is_attention_output(self, record: Record) -> bool:
        if isinstance(record, AttentionRecord | MixedAttentionRecord):
            return True
        if isinstance(record, SourceRecord) or record in self.layer_inputs:
            return False
        if record not in self.attention_outputs:
            is_sum = isinstance(record, LinearRecord) and record.kind == "sum"
            found = map(self._is_attention_output, record.inputs)
            self.attention_outputs[record] = all(found) if is_sum else any(found)
        return self.attention_outputs[record]

    def _share_out(self, record: Record, bias: Tensor) -> Tensor | None:
        """Share a bias out among all sources; return what is left: where no part has any of it."""
        if not bool(bias.any()):
            return None
        divisor = bias.new_zeros(record.token_count)
        for replay in self.replays:
            parts = replay.dense_before_sharing(record)
            if parts is not None:
                divisor += _products(parts, bias, record.axis).sum(dim=0)
        nothing = divisor == 0
        infinite = divisor.masked_fill(nothing, torch.inf)
        self.shared[record] = SharedBias(bias, record.axis, infinite)
        if not bool(nothing.any()):
            return None
        shape = [1] * bias.ndim
        shape[record.axis] = -1
        return bias * nothing.reshape(shape)


def _map(record: LinearRecord, parts: Sequence[Tensor | None]) -> Tensor | None:
    """Return the image of one tensor for each operand, without the constant."""
    if all(part is None for part in parts):
        return None
    filled = (
        torch.zeros_like(at_least_single(operand.total)) if part is None else part
        for part, operand in zip(parts, record.operands, strict=True)
    )
    return record.apply(*(part[None] for part in filled))[0]


def _same(one: tuple[SourceSequence, Tensor], other: tuple[SourceSequence, Tensor]) -> bool:
    return one[0] == other[0] and torch.equal(one[1], other[1])


def _products(parts: Tensor, bias: Tensor, axis: int) -> Tensor:
    """Return |⟨part, bias⟩| for each source and token."""
    by_token = parts.movedim(axis, 1).flatten(2)  # source token feature
    return torch.einsum("stf,tf->st", by_token, bias.movedim(axis, 0).flatten(1)).abs()
