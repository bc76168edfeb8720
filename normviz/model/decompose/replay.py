"""Asking the tape: which part of a tensor came from which source."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from normviz.model.decompose import integrated_gradients as activations
from normviz.model.decompose.tape import (
    AttentionRecord,
    Biases,
    ElementwiseRecord,
    LinearRecord,
    Record,
    SourceRecord,
    SourceSequence,
    in_order,
)
from normviz.model.decompose.vectors import LowRankParts, PerHeadParts
from normviz.model.types import at_least_single

Vectors = LowRankParts | PerHeadParts | Tensor
"""Parts by source: few vectors mixed, heads apart, or a tensor with the sources in front."""


@dataclass(frozen=True)
class Sources:
    """Some of the tokens of one side, in a row."""

    side: SourceSequence
    start: int
    stop: int

    def __len__(self) -> int:
        """How many there are."""
        return self.stop - self.start


@dataclass(eq=False)
class BiasPart:
    """The part of each tensor that comes from no token; the same for all sources."""

    biases: Biases = "source"
    known: dict[Record, Tensor | None] = field(default_factory=dict)

    def of(self, record: Record) -> Tensor | None:
        """The source-less part, in the tensor's own shape; None where there is none."""
        if record not in self.known:
            self.known[record] = self._computed(record)
        return self.known[record]

    def _computed(self, record: Record) -> Tensor | None:
        given = [self.of(source) for source in record.inputs]
        if isinstance(record, ElementwiseRecord):
            return activations.bias_share(record, self.biases, given)
        if not isinstance(record, LinearRecord):
            return None
        constant = record.constant
        found = None if constant is None else at_least_single(constant).expand_as(record.total)
        if any(part is not None for part in given):
            whole = [_like(part, r)[None] for part, r in zip(given, record.of, strict=True)]
            image = record.apply(*whole)[0]
            found = image if found is None else found + image
        return found


@dataclass(eq=False)
class Replay:
    """The parts that came from some sources, worked out once for each record used again."""

    sources: Sources
    free: BiasPart
    kept: set[Record] = field(default_factory=set)
    """What will be asked for again, besides what the tape itself uses twice."""
    known: dict[Record, Vectors | None] = field(default_factory=dict)
    lengths: dict[tuple[int, int], Tensor] = field(default_factory=dict)
    """Lengths worked out already, by the few vectors and weights that they are the lengths of."""

    def parts(self, record: Record) -> Vectors | None:
        """What the sources gave; None where that is nothing."""
        if record in self.known:
            return self.known[record]
        found = self._computed(record)
        if record.uses > 1 or record in self.kept:
            self.known[record] = found
        return found

    def dense(self, record: Record) -> Tensor | None:
        """The same as a tensor with the sources in front."""
        return self._dense(self.parts(record), record)

    def _dense(self, found: Vectors | None, record: Record) -> Tensor | None:
        if found is None or isinstance(found, Tensor):
            return found
        return found.dense(record.total.shape)

    def _computed(self, record: Record) -> Vectors | None:
        if isinstance(record, SourceRecord):
            return self._own(record)
        if isinstance(record, AttentionRecord):
            return self._attended(record)
        if isinstance(record, ElementwiseRecord):
            given = [self.dense(leaf) for leaf in record.leaves]
            return activations.applied(record, self.free, given)
        if isinstance(record, LinearRecord):
            return self._step(record)
        message = f"no such record: {type(record).__name__}"
        raise TypeError(message)

    def _own(self, record: SourceRecord) -> Vectors | None:
        if record.side != self.sources.side:
            return None
        start, stop = self.sources.start, self.sources.stop
        total = at_least_single(record.total)
        if record.flat and len(record.tokens) >= stop and in_order(record.tokens):
            vectors = total.reshape(record.places, -1)[start:stop]
            nothing = total.new_zeros(0, record.places, len(vectors))
            return LowRankParts(nothing, vectors[None][:0], vectors, start)
        places = torch.arange(start, stop, device=total.device)
        mine = (record.tokens[:, None] == places).to(total.dtype)  # place source
        shape = [1] * total.ndim
        shape[record.axis] = -1
        return torch.stack([total * column.reshape(shape) for column in mine.T])

    def _attended(self, record: AttentionRecord) -> Vectors | None:
        if record.value.side != self.sources.side:
            return None
        chosen = slice(self.sources.start, self.sources.stop)
        heads = record.total.shape[:-2]  # heads that share their values, or weights, are spread
        value = at_least_single(record.value.total)[..., chosen, :].expand(*heads, -1, -1)
        weight = at_least_single(record.weight)[..., chosen].expand(*heads, -1, -1)
        return PerHeadParts(weight.flatten(0, -3), value.flatten(0, -3), record.total.shape)

    def _step(self, record: LinearRecord) -> Vectors | None:
        given = [self.parts(source) for source in record.of]
        if all(one is None for one in given):
            return None
        if len(given) == 1 and isinstance(given[0], PerHeadParts):
            found = _through(record, given[0])
            if found is not None:
                return found
        whole = [
            one.dense(source.total.shape) if isinstance(one, PerHeadParts) else one
            for one, source in zip(given, record.of, strict=True)
        ]
        if record.mixed is not None and not any(isinstance(one, Tensor) for one in whole):
            mixed = record.mixed(*whole)
            if mixed is not None:
                return mixed
        tensors = [self._dense(one, r) for one, r in zip(whole, record.of, strict=True)]
        like = next(one for one in tensors if one is not None)
        filled = [
            like.new_zeros(len(self.sources), *r.total.shape) if one is None else one
            for one, r in zip(tensors, record.of, strict=True)
        ]
        return record.apply(*filled)


def _through(record: LinearRecord, heads: PerHeadParts) -> Vectors | None:
    """What a map makes of heads that are still apart; None where they must be built first."""
    if record.move is not None:
        return heads.moved(record.move)
    if record.kind == "carry":
        return heads
    return None if record.matrix is None else heads.projected(at_least_single(record.matrix))


def _like(part: Tensor | None, record: Record) -> Tensor:
    return torch.zeros_like(at_least_single(record.total)) if part is None else part
