"""What is accumulated at one rung while its parts are replayed, a run of sources at a time."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.model.decompose import Record, Replay
from normviz.model.decompose.vectors import LowRankParts, PerHeadParts
from normviz.model.measures.attention import head_sum_norm
from normviz.model.measures.checks import random_signs
from normviz.model.types import at_least_single


@dataclass
class RungSums:
    """Lengths and statistics of the parts at one rung, for the sources so far."""

    with_projections: bool = False
    """Whether to compute how far parts point along the total."""
    with_gains: bool = False
    """Whether to compute how much nearer each part brings the total, in L1 distance."""
    lengths: list[Float[Tensor, "query source"]] = field(default_factory=list)
    projections: list[Float[Tensor, "query source"]] = field(default_factory=list)
    gains: list[Float[Tensor, "query source"]] = field(default_factory=list)
    own_parts: list[Float[Tensor, "source model"]] = field(default_factory=list)
    """The part of each token that comes from itself."""
    part_sum: Tensor | None = None
    """The sum of the parts, on a few random directions."""

    def add(self, record: Record, replay: Replay) -> None:
        """Add the parts of some sources."""
        parts = replay.parts(record)
        if isinstance(parts, PerHeadParts):
            parts = parts.dense(record.total.shape)
        total = token_vectors(record)
        if parts is None:
            self._add_zeros(total, len(replay.sources))
        elif isinstance(parts, LowRankParts):
            self._add_low_rank(parts, total, replay)
        else:
            self._add_dense(parts.reshape(-1, *total.shape), total, replay)

    def _add_zeros(self, total: Tensor, count: int) -> None:
        empty = total.new_zeros(len(total), count)
        for column in (self.lengths, self.projections, self.gains):
            column.append(empty)
        self.own_parts.append(total.new_zeros(count, total.shape[-1]))
        self._add_to_sum(total @ signs_for(total) * 0)

    def _add_low_rank(self, parts: LowRankParts, total: Tensor, replay: Replay) -> None:
        reads_itself = replay.sources.sequence == "own"
        own_parts = parts.self_parts(replay.sources.start) if reads_itself else None
        self.lengths.append(_low_rank_lengths(parts, own_parts, replay))
        if self.with_projections:
            self.projections.append(parts.project_onto(_unit(total)))
        if self.with_gains:
            self.gains.append(l1_gain(parts.dense(total.shape), total))
        if own_parts is not None:
            self.own_parts.append(own_parts)
        self._add_to_sum(parts.sum_over_sources(signs_for(total)))

    def _add_dense(
        self, vectors: Float[Tensor, "source query model"], total: Tensor, replay: Replay
    ) -> None:
        self.lengths.append(torch.linalg.vector_norm(vectors, dim=-1).T)
        if self.with_projections:
            self.projections.append((vectors * _unit(total)).sum(dim=-1).T)
        if self.with_gains:
            self.gains.append(l1_gain(vectors, total))
        if replay.sources.sequence == "own":
            to_itself = vectors[:, replay.sources.start : replay.sources.stop]
            self.own_parts.append(to_itself.diagonal(dim1=0, dim2=1).T)
        self._add_to_sum(vectors.sum(dim=0) @ signs_for(total))

    def _add_to_sum(self, coordinates: Tensor) -> None:
        self.part_sum = coordinates if self.part_sum is None else self.part_sum + coordinates


def _low_rank_lengths(
    parts: LowRankParts, own_parts: Float[Tensor, "source model"] | None, replay: Replay
) -> Float[Tensor, "query source"]:
    """Return how long each part is, without building it.

    A residual connection changes only what tokens give to themselves, so everything else is
    computed once for the rungs before and after it.
    """
    key = (id(parts.weight), id(parts.vectors))
    if key not in replay.lengths:
        replay.lengths[key] = (
            head_sum_norm(parts.weight[None], parts.gram())[0]
            if len(parts.vectors)
            else parts.weight.new_zeros(parts.weight.shape[1:])
        )
    lengths = replay.lengths[key]
    if parts.residual is None or own_parts is None:
        return lengths
    lengths = lengths.clone()
    lengths[parts.self_queries].diagonal().copy_(torch.linalg.vector_norm(own_parts, dim=-1))
    return lengths


def l1_gain(
    vectors: Float[Tensor, "source query model"], total: Float[Tensor, "query model"]
) -> Float[Tensor, "query source"]:
    """Return how much nearer to the total each part brings the zero vector, in L1; at least 0.

    ‖y‖₁ − ‖y − part‖₁, as in ALTI (Ferrando et al. 2022).
    """
    distance = (total - vectors).abs().sum(dim=-1)
    return (total.abs().sum(dim=-1) - distance).clamp(min=0).T


def token_vectors(record: Record) -> Float[Tensor, "query model"]:
    """Return a record's total as one vector for each token."""
    return at_least_single(record.total).reshape(record.token_count, -1)


def signs_for(total: Tensor) -> Float[Tensor, "model projection"]:
    """Return the random directions on which the parts of a tensor are summed."""
    return random_signs(total.shape[-1], total.dtype, total.device)


def _unit(total: Tensor) -> Tensor:
    return torch.nn.functional.normalize(total, dim=-1)
