"""Everything that is kept of one attention as it passes."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from normviz.core.axes import COMPONENTS, StreamName
from normviz.core.catalog import axes_of, is_ladder_measure, require_known, split_statistic
from normviz.model.capture import CapturedAttention, LayerTrace
from normviz.model.decompose.tape import Biases
from normviz.model.measures.attention import Scratch, gram, gram_norm, head_sum_norm, value_norm
from normviz.model.measures.checks import Checks, checks, forbidden
from normviz.model.measures.effective import Effective, Form, effective
from normviz.model.measures.gradients.attribution import Attributed
from normviz.model.measures.ladder.decomposition import Carried, decomposed
from normviz.model.measures.ladder.measure import LadderRequest, LadderResult, measure_ladder
from normviz.model.types import Real, at_least_single

Side = Mapping[str, Callable[[int], Real | None]]
"""For each side (`encoder`, `decoder`), which of so many positions are tokens and not padding."""


@dataclass(frozen=True)
class LayerResult:
    """One attention layer, measured; the batch comes first in every number."""

    stream: StreamName
    layer: int
    projection: str
    probed: bool
    dtype: str
    rounds: str | None
    sink: bool
    heads: tuple[int, ...]
    lengths: dict[str, int]
    """How many positions the query and key axes have, padding included."""
    numbers: dict[str, Tensor]
    checks: Checks
    queries: Real | None
    keys: Real | None
    removal: "NullSpaceInfo | None" = None
    """How `effective-weight` was found, where it was asked for."""
    climbed: LadderResult | None = None
    """The ladder of the layer that this attention belongs to, where it was asked for."""
    attributed: Attributed | None = None
    """What gradients say of it, where they were asked."""


@dataclass(frozen=True)
class NullSpaceInfo:
    """How what cannot reach a head's output was removed from α."""

    form: Form
    by_row: bool
    """Whether each row has a null space of its own, because rows read different keys."""
    dim: int
    """How many independent values a head can have."""


@dataclass(frozen=True)
class SkippedLayer:
    """An attention layer that was not asked for."""

    stream: StreamName


class AttentionReducer:
    """Turns each attention into its measures, counting the layers of each stream."""

    def __init__(
        self,
        measures: Collection[str],
        *,
        layers: Collection[int] | None = None,
        heads: Collection[int] | None = None,
        real: Side | None = None,
        memory: int | None = None,
        biases: Biases = "source",
        form: Form = "bias",
    ) -> None:
        self.measures = measures
        self.form: Form = form
        self.wish = LadderRequest(
            tuple(name for name in measures if is_ladder_measure(name)), memory, biases
        )
        self.layers = layers
        self.heads = heads
        self.real = real or {}
        self.seen: Counter[str] = Counter()
        self.scratch = Scratch()
        self.results: list[LayerResult | SkippedLayer] = []
        self.laddered = 0
        """How many of the results belong to layers that are done."""

    @property
    def needs_tape(self) -> bool:
        """Whether layers must run on tape; `attention` alone does without."""
        return not set(self.wish.measures) <= {"attention"}

    @property
    def needs_effective(self) -> bool:
        """Whether `effective-weight` is wanted, or a reading of it."""
        return any(split_statistic(name)[1] == "effective-weight" for name in self.measures)

    @property
    def needs_biases(self) -> bool:
        """Whether the bias of the values must be known."""
        return self.needs_effective and self.form == "paper"

    def __call__(self, heard: CapturedAttention) -> LayerResult | SkippedLayer:
        """Measure one attention, or let it pass."""
        found = self._measured(heard)
        self.results.append(found)
        return found

    def layered(self, taped: LayerTrace) -> None:
        """Measure what came after the attentions of a layer that is done."""
        mine = self.results[self.laddered :]
        if any(isinstance(one, LayerResult) for one in mine):
            climbed = measure_ladder(taped, self.wish)
            self.results[self.laddered :] = [
                replace(one, climbed=climbed.get("other" if one.stream == "cross" else "own"))
                if isinstance(one, LayerResult)
                else one
                for one in mine
            ]
        self.laddered = len(self.results)

    def carried(self, layers: Sequence[Carried]) -> None:
        """Add what became of the input tokens, from a tape of all layers, to the layers kept."""
        found = iter(decomposed(layers, self.wish))
        for place, (one, (stream, climbed)) in enumerate(zip(self.results, found, strict=True)):
            assert one.stream == stream  # noqa: S101 - both passes hear the same attentions
            if isinstance(one, LayerResult):
                whole = climbed if one.climbed is None else one.climbed.with_(climbed)
                self.results[place] = replace(one, climbed=whole)

    def attributed(self, found: Sequence[Attributed]) -> None:
        """Add what gradients say of each attention to those kept."""
        for place, (one, more) in enumerate(zip(self.results, found, strict=True)):
            if isinstance(one, LayerResult):
                self.results[place] = replace(
                    one, numbers=one.numbers | _chosen(more.numbers, one.heads), attributed=more
                )

    def added(self, found: Sequence[dict[str, Tensor]]) -> None:
        """Add further measures, without heads, to the attentions kept."""
        for place, (one, more) in enumerate(zip(self.results, found, strict=True)):
            if isinstance(one, LayerResult):
                self.results[place] = replace(one, numbers=one.numbers | more)

    def _measured(self, heard: CapturedAttention) -> LayerResult | SkippedLayer:
        layer = self.seen[heard.stream]
        self.seen[heard.stream] += 1
        if self.layers is not None and layer not in self.layers:
            return SkippedLayer(heard.stream)
        _, count, query_length, key_length = heard.weight.shape
        heads = tuple(range(count)) if self.heads is None else tuple(sorted(set(self.heads)))
        for head in heads:
            require_known(head, range(count), "head")
        query_side, key_side = COMPONENTS[heard.stream]
        queries = self._side(query_side, query_length, heard.weight.device)
        keys = self._side(key_side, key_length, heard.weight.device)
        numbers, removal = self._numbers(heard, heads), None
        if self.needs_effective:
            found = self._effective(heard, heads, queries, keys)
            numbers |= {
                "effective-weight": found.weight,
                "rank:effective-weight": found.rank,
                "null-space:effective-weight": found.null_space,
            }
            dim = heard.value.shape[-1] + (self.form == "stochastic")
            removal = NullSpaceInfo(self.form, found.by_row, dim)
        return LayerResult(
            stream=heard.stream,
            layer=layer,
            projection=heard.projection.name,
            probed=heard.projection.probed,
            dtype=_precision(heard),
            rounds=heard.projection.rounds,
            sink=getattr(heard.module, "sinks", None) is not None,
            heads=heads,
            lengths={"query": query_length, "key": key_length},
            numbers=numbers,
            checks=checks(heard, queries, keys),
            queries=queries,
            keys=keys,
            removal=removal,
        )

    def _side(self, side: str, length: int, device: torch.device) -> Real | None:
        known = self.real.get(side)
        real = known(length) if known is not None else None
        return None if real is None else real.to(device)  # layers may lie on several devices

    def _numbers(self, heard: CapturedAttention, heads: tuple[int, ...]) -> dict[str, Tensor]:
        weight = at_least_single(heard.weight)
        value = at_least_single(heard.value)
        out = at_least_single(heard.projection.weight)
        found: dict[str, Tensor] = {}
        if "attention" in self.measures and not self.needs_tape:
            table = gram(value, out, self.scratch)
            norms = gram_norm(table)
            found["attention"] = head_sum_norm(weight, table)
        elif {"value-norm", "weighted-norm"} & set(self.measures):
            norms = value_norm(value, out, self.scratch)
        if {"value-norm", "weighted-norm"} & set(self.measures):
            found["value-norm"] = _some(norms, heads)
        if {"weight", "weighted-norm"} & set(self.measures):
            found["weight"] = _some(weight, heads)
        return found

    def _effective(
        self,
        heard: CapturedAttention,
        heads: tuple[int, ...],
        queries: Real | None,
        keys: Real | None,
    ) -> Effective:
        """α⊥ of some heads, over the keys that each row may read."""
        value = at_least_single(heard.value)
        if self.form == "paper" and heard.value_bias is not None:
            value = value - at_least_single(heard.value_bias)
        hidden = forbidden(heard, keys)
        batch, _, *pairs = heard.weight.shape
        places = torch.zeros_like(heard.weight[:, :1], dtype=torch.bool)
        visible = ~(places if hidden is None else hidden.expand(batch, -1, *pairs))
        return effective(
            _some(at_least_single(heard.weight), heads),
            _some(value, heads),
            _some(at_least_single(heard.projection.weight)[None], heads)[0],
            visible if visible.shape[1] == 1 else _some(visible, heads),
            queries,
            stochastic=self.form == "stochastic",
        )


def _some(tensor: Tensor, heads: tuple[int, ...]) -> Tensor:
    """Only these heads; the tensor itself where all are wanted."""
    if len(heads) == tensor.shape[1]:
        return tensor
    return tensor.index_select(1, torch.tensor(heads, device=tensor.device))


def _chosen(numbers: Mapping[str, Tensor], heads: tuple[int, ...]) -> dict[str, Tensor]:
    """Only these heads of every measure that has heads."""
    return {
        name: _some(held, heads) if "head" in axes_of(name) else held
        for name, held in numbers.items()
    }


def _precision(heard: CapturedAttention) -> str:
    """How exactly the parts can add up: as the output is stored, or as the projection rounds."""
    stored = str(heard.output.dtype).removeprefix("torch.")
    return heard.projection.rounds or stored
