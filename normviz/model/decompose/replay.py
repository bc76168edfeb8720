"""Replaying the tape: the part of a tensor that came from each source."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from normviz.model.decompose.biases import BiasPart
from normviz.model.decompose.integrated_gradients import elementwise_parts
from normviz.model.decompose.tape import (
    AttentionRecord,
    ElementwiseRecord,
    LinearRecord,
    MixedAttentionRecord,
    Record,
    SourceRecord,
    SourceSequence,
    in_order,
    require_parts,
)
from normviz.model.decompose.vectors import LowRankParts, PerHeadParts
from normviz.model.types import at_least_single

Parts = LowRankParts | PerHeadParts | Tensor
"""Vectors by source: low-rank, head by head, or a dense tensor with the sources in front."""


@dataclass(frozen=True)
class SourceRange:
    """A range of consecutive tokens of one sequence."""

    sequence: SourceSequence
    start: int
    stop: int

    def __len__(self) -> int:
        """The number of tokens."""
        return self.stop - self.start


@dataclass(eq=False)
class Replay:
    """The parts that come from some sources; those of records used again are computed once."""

    sources: SourceRange
    bias_part: BiasPart
    keep: set[Record] = field(default_factory=set)
    """Records that will be asked for again, besides those that the tape itself uses twice."""
    cache: dict[Record, Parts | None] = field(default_factory=dict)
    unshared: dict[Record, Tensor] = field(default_factory=dict)
    """Parts that a bias is about to be shared out among; kept where there is but one replay."""
    lengths: dict[tuple[int, int], Tensor] = field(default_factory=dict)
    """Cache of norms, by the ids of the low-rank weights and vectors they were computed from."""

    def parts(self, record: Record) -> Parts | None:
        """Return what comes from the sources; None where that is nothing."""
        if record in self.cache:
            return self.cache[record]
        shared = self.bias_part.shared_at(record)
        parts = self.unshared.pop(record) if record in self.unshared else self._compute(record)
        dense = None if shared is None else _to_dense(parts, record)
        if shared is not None and dense is not None:
            parts = shared.share(dense)
        if record.uses > 1 or record in self.keep:
            self.cache[record] = parts
        return parts

    def dense(self, record: Record) -> Tensor | None:
        """Return the same as a tensor with the sources in front."""
        return _to_dense(self.parts(record), record)

    def dense_before_sharing(self, record: Record) -> Tensor | None:
        """Return the parts of a record before a bias is shared out, sources in front."""
        parts = _to_dense(self._compute(record), record)
        if parts is not None and len(self.bias_part.replays) == 1:
            self.unshared[record] = parts
        return parts

    def _compute(self, record: Record) -> Parts | None:
        require_parts(record)
        if isinstance(record, SourceRecord):
            return self._source_parts(record)
        if isinstance(record, AttentionRecord):
            return self._attention_parts(record)
        if isinstance(record, ElementwiseRecord):
            parts = [self.dense(leaf) for leaf in record.leaves]
            bias_parts = [self.bias_part.of(leaf) for leaf in record.leaves]
            return elementwise_parts(record, self.bias_part.bias_handling, parts, bias_parts)
        if isinstance(record, MixedAttentionRecord):
            return self._mixed_attention_parts(record)
        if isinstance(record, LinearRecord):
            return self._linear_parts(record)
        message = f"no such record: {type(record).__name__}"
        raise TypeError(message)

    def _source_parts(self, record: SourceRecord) -> Parts | None:
        if record.sequence != self.sources.sequence:
            return None
        start, stop = self.sources.start, self.sources.stop
        total, bias = at_least_single(record.total), self.bias_part.of(record)
        if bias is not None:
            total = total - bias
        if record.flat and len(record.tokens) >= stop and in_order(record.tokens):
            vectors = total.reshape(record.token_count, -1)[start:stop]
            no_weight = total.new_zeros(0, record.token_count, len(vectors))
            return LowRankParts(no_weight, vectors[None][:0], vectors, start)
        return _by_token(total, record.axis, record.tokens, self.sources)

    def _attention_parts(self, record: AttentionRecord) -> Parts | None:
        if record.value.sequence != self.sources.sequence:
            return None
        keys = slice(self.sources.start, self.sources.stop)
        heads = record.total.shape[:-2]  # heads that share values or weights are expanded
        value = at_least_single(record.value.total)[..., keys, :].expand(*heads, -1, -1)
        weight = at_least_single(record.weight)[..., keys].expand(*heads, -1, -1)
        return PerHeadParts(weight.flatten(0, -3), value.flatten(0, -3), record.total.shape)

    def _mixed_attention_parts(self, record: MixedAttentionRecord) -> Parts | None:
        """Return the weighted values; the biases in them may belong to the tokens that are read."""
        (value,) = record.operands
        parts, read = self.dense(value), self.bias_part.read_at(record)
        if read is not None and read.sequence == self.sources.sequence:
            own = _by_token(read.vectors, value.axis, read.tokens, self.sources)
            parts = own if parts is None else parts + own
        return None if parts is None else record.apply(parts)

    def _linear_parts(self, record: LinearRecord) -> Parts | None:
        """Apply a linear map to the parts of its operands, in the smallest form that it allows."""
        parts = [self.parts(operand) for operand in record.operands]
        if all(part is None for part in parts):
            return None
        if len(parts) == 1 and isinstance(parts[0], PerHeadParts):
            by_head = _map_heads(record, parts[0])
            if by_head is not None:
                return by_head
        operands = record.operands
        joined = [
            part.dense(operand.total.shape) if isinstance(part, PerHeadParts) else part
            for part, operand in zip(parts, operands, strict=True)
        ]
        if record.apply_low_rank is not None and not any(isinstance(p, Tensor) for p in joined):
            low_rank = record.apply_low_rank(*joined)
            if low_rank is not None:
                return low_rank
        tensors = [_to_dense(part, r) for part, r in zip(joined, operands, strict=True)]
        like = next(tensor for tensor in tensors if tensor is not None)
        filled = [
            like.new_zeros(len(self.sources), *r.total.shape) if tensor is None else tensor
            for tensor, r in zip(tensors, operands, strict=True)
        ]
        return record.apply(*filled)


def _by_token(vectors: Tensor, axis: int, tokens: Tensor, sources: SourceRange) -> Tensor:
    """Return the vectors of each source, zero at every other token, sources in front."""
    numbers = torch.arange(sources.start, sources.stop, device=vectors.device)
    shape = [1] * vectors.ndim
    shape[axis] = len(tokens)
    belongs = (numbers[:, None] == tokens).to(vectors.dtype)  # source token
    return belongs.reshape(-1, *shape) * vectors


def _to_dense(parts: Parts | None, record: Record) -> Tensor | None:
    if parts is None or isinstance(parts, Tensor):
        return parts
    return parts.dense(record.total.shape)


def _map_heads(record: LinearRecord, heads: PerHeadParts) -> Parts | None:
    """Apply a map to heads that are still separate; None where they must be joined first."""
    if record.move is not None:
        return heads.append_move(record.move)
    if record.kind == "identity":
        return heads
    return None if record.matrix is None else heads.project(at_least_single(record.matrix))
