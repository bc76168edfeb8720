"""What each stage of a run measures, keyed by attention: its stream and its layer there."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from normviz.model.measures.checks import AttentionChecks
from normviz.model.measures.effective import EffectiveForm
from normviz.model.measures.gradients.attribution import Attribution
from normviz.model.measures.ladder.measure import LadderResult
from normviz.model.types import AttentionKey, StreamId, TokenMask


@dataclass(frozen=True)
class NullSpaceInfo:
    """How what cannot reach a head's output was removed from α."""

    form: EffectiveForm
    by_row: bool
    """Whether each row has a null space of its own, because rows read different keys."""
    dim: int
    """How many independent values a head can have."""


@dataclass(frozen=True)
class LayerResult:
    """One measured attention layer; the batch comes first in every tensor."""

    stream: StreamId
    layer: int
    """The number of its layer in the model."""
    projection: str
    probed: tuple[str, ...]
    """The modules that unit vectors were sent through to find their matrix."""
    factored: bool
    """Whether queries have factors of their own between the heads and the output."""
    dtype: str
    rounds: str | None
    sink: bool
    heads: tuple[int, ...]
    lengths: dict[str, int]
    """How many positions the query and key axes have, padding included."""
    numbers: dict[str, Tensor]
    checks: AttentionChecks
    queries: TokenMask | None
    keys: TokenMask | None
    null_space: NullSpaceInfo | None = None
    """How `effective-weight` was computed, where it was asked for."""
    ladder: LadderResult | None = None
    """The rungs of the layer that this attention belongs to, where they were asked for."""
    attribution: Attribution | None = None
    """The attributions by gradient, where they were asked for."""


@dataclass
class StageResults:
    """The results of every stage of one run; `collect` joins them."""

    passed: list[AttentionKey] = field(default_factory=list)
    """Every attention of the pass in order, including those that were not asked for."""
    other_layers: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """For each tower, the layers in which no attention ran, with what they have instead."""
    missed: tuple[str, ...] = ()
    """The attentions that ran and were not captured, by the name of their module."""
    layers: dict[AttentionKey, LayerResult] = field(default_factory=dict)
    ladders: dict[AttentionKey, LadderResult] = field(default_factory=dict)
    decompositions: dict[AttentionKey, LadderResult] = field(default_factory=dict)
    attributions: dict[AttentionKey, Attribution] = field(default_factory=dict)
    zeroings: dict[AttentionKey, dict[str, Tensor]] = field(default_factory=dict)


def select_heads(tensor: Tensor, heads: tuple[int, ...]) -> Tensor:
    """Return only these heads (the second axis); the tensor itself where all are asked for."""
    if len(heads) == tensor.shape[1]:
        return tensor
    return tensor.index_select(1, torch.tensor(heads, device=tensor.device))
