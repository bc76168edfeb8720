"""Reducing each attention to its measures while the model runs, so that no tensors pile up."""

from collections.abc import Callable, Collection, Mapping

import torch
from torch import Tensor, nn

from normviz.core.axes import COMPONENTS
from normviz.core.catalog import is_ladder_measure, require_known, split_statistic
from normviz.model.capture import CapturedAttention, LayerTrace
from normviz.model.capture.towers import modality_of
from normviz.model.decompose import Record  # noqa: TC001 - beartype reads it
from normviz.model.decompose.tape import BiasHandling, SourceSequence
from normviz.model.measures.attention import (
    Scratch,
    factored_norms,
    gram,
    gram_norm,
    head_sum_norm,
    value_norm,
)
from normviz.model.measures.checks import check_attention, forbidden_positions
from normviz.model.measures.effective import (
    EffectiveAttention,
    EffectiveForm,
    effective_attention,
)
from normviz.model.measures.ladder.measure import LadderRequest, measure_ladder
from normviz.model.measures.results import (
    LayerResult,
    NullSpaceInfo,
    StageResults,
    select_heads,
)
from normviz.model.types import AttentionKey, TokenMask

PaddingMasks = Mapping[str, Callable[[int, str | None], TokenMask | None]]
"""For `encoder` and `decoder`: which of so many positions of a modality are not padding."""


class AttentionReducer:
    """Turns each captured attention into its measures, keyed by stream and layer."""

    def __init__(
        self,
        measures: Collection[str],
        *,
        layers: Collection[int] | None = None,
        heads: Collection[int] | None = None,
        padding: PaddingMasks | None = None,
        memory: int | None = None,
        bias_handling: BiasHandling = "source",
        effective_form: EffectiveForm = "bias",
    ) -> None:
        self.measures = measures
        self.effective_form: EffectiveForm = effective_form
        self.ladder_request = LadderRequest(
            tuple(name for name in measures if is_ladder_measure(name)), memory, bias_handling
        )
        self.layers = layers
        self.heads = heads
        self.padding = padding or {}
        self.scratch = Scratch()
        self.results = StageResults()
        self.outputs: dict[SourceSequence, Record] = {}
        """What left the attentions of the layer that is running, on its tape."""
        self.running: list[tuple[AttentionKey, tuple[nn.Module, ...]]] = []
        """The attentions measured since the last ladder, with the modules they ran inside."""

    @property
    def needs_tape(self) -> bool:
        """Whether layers must run on tape; `attention` alone does not need it."""
        return not set(self.ladder_request.measures) <= {"attention"}

    @property
    def needs_effective(self) -> bool:
        """Whether `effective-weight` is asked for, or a statistic of it."""
        return any(split_statistic(name)[1] == "effective-weight" for name in self.measures)

    @property
    def needs_value_bias(self) -> bool:
        """Whether the bias of the values must be captured."""
        return self.needs_effective and self.effective_form == "paper"

    def __call__(self, captured: CapturedAttention) -> LayerResult | None:
        """Measure one attention; returns None where its layer was not asked for."""
        key = captured.key
        self.results.passed.append(key)
        if self.layers is not None and key[1] not in self.layers:
            return None
        if captured.record is not None:
            self.outputs["other" if captured.stream.kind == "cross" else "own"] = captured.record
        self.running.append((key, captured.inside))
        result = self.results.layers[key] = self._measure(captured, key[1])
        return result

    def add_ladder(self, trace: LayerTrace) -> None:
        """Measure the ladder of a layer that is done, for each of its attentions."""
        passed = self.running
        self.running = []
        keys = [key for key, inside in passed if trace.layer in inside]
        if not keys:
            return
        by_source = measure_ladder(trace, self.ladder_request, self.outputs)
        self.outputs = {}
        for key in keys:
            ladder = by_source.get("other" if key[0].kind == "cross" else "own")
            if ladder is not None:
                self.results.ladders[key] = ladder

    def _measure(self, captured: CapturedAttention, layer: int) -> LayerResult:
        dtype, captured = _precision(captured), captured.at_least_single()
        _, count, query_length, key_length = captured.weight.shape
        heads = tuple(range(count)) if self.heads is None else tuple(sorted(set(self.heads)))
        for head in heads:
            require_known(head, range(count), "head")
        query_component, key_component = COMPONENTS[captured.stream.kind]
        modality = modality_of(captured.stream.tower)
        device = captured.weight.device
        queries = self._token_mask(query_component, query_length, modality, device)
        keys = self._token_mask(key_component, key_length, modality, device)
        numbers, null_space = self._attention_measures(captured, heads), None
        if self.needs_effective:
            effective = self._effective(captured, heads, queries, keys)
            numbers |= {
                "effective-weight": effective.weight,
                "rank:effective-weight": effective.rank,
                "null-space:effective-weight": effective.null_space,
            }
            dim = captured.value.shape[-1] + (self.effective_form == "stochastic")
            null_space = NullSpaceInfo(self.effective_form, effective.by_row, dim)
        return LayerResult(
            stream=captured.stream,
            layer=layer,
            projection=captured.projection.name,
            probed=captured.projection.probed,
            factored=bool(captured.projection.terms),
            dtype=dtype,
            rounds=captured.projection.rounds,
            sink=getattr(captured.module, "sinks", None) is not None,
            heads=heads,
            lengths={"query": query_length, "key": key_length},
            numbers=numbers,
            checks=check_attention(captured, queries, keys),
            queries=queries,
            keys=keys,
            null_space=null_space,
        )

    def _token_mask(
        self, component: str, length: int, modality: str | None, device: torch.device
    ) -> TokenMask | None:
        mask_of = self.padding.get(component)
        mask = mask_of(length, modality) if mask_of is not None else None
        return None if mask is None else mask.to(device)  # layers may lie on several devices

    def _attention_measures(
        self, captured: CapturedAttention, heads: tuple[int, ...]
    ) -> dict[str, Tensor]:
        """Return α, ‖f(x)‖ and ‖Σ αf(x)‖, as far as they are asked for."""
        weight = captured.weight
        value = captured.value
        out = captured.projection.weight
        numbers: dict[str, Tensor] = {}
        if captured.projection.terms:
            return self._factored_measures(captured, heads)
        if self._has_attention_measure(captured):
            table = gram(value, out, self.scratch)
            norms = gram_norm(table)
            numbers["attention"] = head_sum_norm(weight, table)
        elif {"value-norm", "weighted-norm"} & set(self.measures):
            norms = value_norm(value, out, self.scratch)
        if {"value-norm", "weighted-norm"} & set(self.measures):
            numbers["value-norm"] = select_heads(norms, heads)
        if {"weight", "weighted-norm"} & set(self.measures):
            numbers["weight"] = select_heads(weight, heads)
        return numbers

    def _has_attention_measure(self, captured: CapturedAttention) -> bool:
        """Whether `attention` is computed here, not with the ladder, which needs one sequence."""
        alone = captured.stream.sequences > 1 or captured.stream.is_windowed
        return "attention" in self.measures and (alone or not self.needs_tape)

    def _factored_measures(
        self, captured: CapturedAttention, heads: tuple[int, ...]
    ) -> dict[str, Tensor]:
        """Return the same where queries have factors of their own; ‖f(x)‖ is without them."""
        weight, value = captured.weight, captured.value
        asked_for = set(self.measures)
        numbers: dict[str, Tensor] = {}
        if "value-norm" in asked_for:
            norms = value_norm(value, captured.projection.weight, self.scratch)
            numbers["value-norm"] = select_heads(norms, heads)
        if "weight" in asked_for:
            numbers["weight"] = select_heads(weight, heads)
        if {"weighted-norm", "attention"} & asked_for:
            by_head, summed = factored_norms(weight, value, captured.projection.terms)
            if "weighted-norm" in asked_for:
                numbers["weighted-norm"] = select_heads(by_head, heads)
            if self._has_attention_measure(captured):
                numbers["attention"] = summed
        return numbers

    def _effective(
        self,
        captured: CapturedAttention,
        heads: tuple[int, ...],
        queries: TokenMask | None,
        keys: TokenMask | None,
    ) -> EffectiveAttention:
        """Return α⊥ of these heads, over the keys that each row may read."""
        value = captured.value
        if self.effective_form == "paper" and captured.value_bias is not None:
            value = value - captured.value_bias
        hidden = forbidden_positions(captured, keys)
        batch, _, *pairs = captured.weight.shape
        nothing = torch.zeros_like(captured.weight[:, :1], dtype=torch.bool)
        visible = ~(nothing if hidden is None else hidden.expand(batch, -1, *pairs))
        return effective_attention(
            select_heads(captured.weight, heads),
            select_heads(value, heads),
            select_heads(captured.projection.weight[None], heads)[0],
            visible if visible.shape[1] == 1 else select_heads(visible, heads),
            queries,
            stochastic=self.effective_form == "stochastic",
        )


def _precision(captured: CapturedAttention) -> str:
    """Return how exactly parts can add up: as the output is stored, or as the projection rounds."""
    stored = str(captured.output.dtype).removeprefix("torch.")
    return captured.projection.rounds or stored
