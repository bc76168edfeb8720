"""What is noted of one rung while its parts pass, a run of sources at a time."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.model.decompose import Record, Replay
from normviz.model.decompose.vectors import LowRankParts, PerHeadParts
from normviz.model.measures.attention import head_sum_norm
from normviz.model.measures.checks import COORDINATES
from normviz.model.types import at_least_single


@dataclass
class LadderSums:
    """Lengths and the rest, for the sources so far."""

    along: bool = False
    """Whether to note how far parts point along the whole."""
    nearer: bool = False
    """Whether to note how much nearer each part brings the whole, in L1 distance."""
    lengths: list[Float[Tensor, "query source"]] = field(default_factory=list)
    alongs: list[Float[Tensor, "query source"]] = field(default_factory=list)
    gains: list[Float[Tensor, "query source"]] = field(default_factory=list)
    selves: list[Float[Tensor, "source model"]] = field(default_factory=list)
    """What each token gave to itself."""
    added: Tensor | None = None
    """The parts added up, in some coordinates."""

    def enter(self, record: Record, replay: Replay) -> None:
        """Note what some sources gave."""
        parts = replay.parts(record)
        if isinstance(parts, PerHeadParts):
            parts = parts.dense(record.total.shape)
        total = vectors_of(record)
        if parts is None:
            self._nothing(total, len(replay.sources))
        elif isinstance(parts, LowRankParts):
            self._mixed(parts, total, replay)
        else:
            self._dense(parts.reshape(-1, *total.shape), total, replay)

    def _nothing(self, total: Tensor, count: int) -> None:
        empty = total.new_zeros(len(total), count)
        for noted in (self.lengths, self.alongs, self.gains):
            noted.append(empty)
        self.selves.append(total.new_zeros(count, total.shape[-1]))
        self._add(total[:, :: step(total)] * 0)

    def _mixed(self, parts: LowRankParts, total: Tensor, replay: Replay) -> None:
        mine = replay.sources.side == "own"
        selves = parts.selves(replay.sources.start) if mine else None
        self.lengths.append(_lengths(parts, selves, replay))
        if self.along:
            self.alongs.append(parts.along(_unit(total)))
        if self.nearer:
            self.gains.append(nearer(parts.dense(total.shape), total))
        if selves is not None:
            self.selves.append(selves)
        self._add(parts.added_up(step(total)))

    def _dense(
        self, vectors: Float[Tensor, "source query model"], total: Tensor, replay: Replay
    ) -> None:
        self.lengths.append(torch.linalg.vector_norm(vectors, dim=-1).T)
        if self.along:
            self.alongs.append((vectors * _unit(total)).sum(dim=-1).T)
        if self.nearer:
            self.gains.append(nearer(vectors, total))
        if replay.sources.side == "own":
            mine = vectors[:, replay.sources.start : replay.sources.stop]
            self.selves.append(mine.diagonal(dim1=0, dim2=1).T)
        self._add(vectors[..., :: step(total)].sum(dim=0))

    def _add(self, some: Tensor) -> None:
        self.added = some if self.added is None else self.added + some


def _lengths(
    parts: LowRankParts, selves: Float[Tensor, "source model"] | None, replay: Replay
) -> Float[Tensor, "query source"]:
    """How long each vector is, without building it.

    A residual changes what tokens give to themselves and nothing else, so that everything else is
    worked out once for both rungs.
    """
    key = (id(parts.weight), id(parts.vectors))
    if key not in replay.lengths:
        replay.lengths[key] = (
            head_sum_norm(parts.weight[None], parts.gram())[0]
            if len(parts.vectors)
            else parts.weight.new_zeros(parts.weight.shape[1:])
        )
    lengths = replay.lengths[key]
    if parts.own is None or selves is None:
        return lengths
    lengths = lengths.clone()
    lengths[parts.mine].diagonal().copy_(torch.linalg.vector_norm(selves, dim=-1))
    return lengths


def nearer(
    vectors: Float[Tensor, "source query model"], total: Float[Tensor, "query model"]
) -> Float[Tensor, "query source"]:
    """How much nearer to the whole each part brings nothing at all, in L1 distance; at least zero.

    ‖y‖₁ − ‖y − part‖₁, as in ALTI (Ferrando et al. 2022).
    """
    away = (total - vectors).abs().sum(dim=-1)
    return (total.abs().sum(dim=-1) - away).clamp(min=0).T


def vectors_of(record: Record) -> Float[Tensor, "query model"]:
    """A record's own numbers as a list of vectors."""
    return at_least_single(record.total).reshape(record.places, -1)


def step(total: Tensor) -> int:
    """How far the coordinates lie apart in which parts are added up."""
    return max(1, total.shape[-1] // COORDINATES)


def _unit(total: Tensor) -> Tensor:
    return torch.nn.functional.normalize(total, dim=-1)
