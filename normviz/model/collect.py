"""Joining the stages of a run, and turning tensors into numpy streams, one set for each text."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from torch import Tensor

from normviz.core.axes import COMPONENTS, Array, StreamKind
from normviz.core.catalog import axes_of, require_known, split_statistic, statistic_id
from normviz.core.receipt import TOLERANCE, GradientCheck, LayerCheck, RungCheck
from normviz.core.stream import Layers, Stream
from normviz.core.tokens import Tokens
from normviz.errors import NotFinite
from normviz.model.inputs import ModelInputs, has_encoder
from normviz.model.measures.checks import AttentionChecks
from normviz.model.measures.effective import FORMS
from normviz.model.measures.ladder.measure import LadderResult
from normviz.model.measures.results import (
    LayerResult,
    NullSpaceInfo,
    StageResults,
    select_heads,
)
from normviz.model.naming import other_layers, select_sequences
from normviz.model.types import StreamId


@dataclass(frozen=True)
class TextResult:
    """The streams of one text, with the checks and notes for its receipt."""

    streams: dict[str, Stream]
    checks: tuple[LayerCheck, ...]
    rungs: tuple[RungCheck, ...]
    gradients: tuple[GradientCheck, ...]
    notes: tuple[str, ...]


def collect(
    results: StageResults, prepared: ModelInputs, layers: Collection[int] | None
) -> Iterator[TextResult]:
    """Join the stages, sort the layers into streams, and yield each text of the batch."""
    numbers = sorted({number for _, number in results.passed})
    for layer in layers or ():
        require_known(layer, numbers, "layer")
    joined: dict[StreamId, list[LayerResult]] = {}
    for item in join_stages(results):
        joined.setdefault(item.stream, []).append(item)
    for items in joined.values():
        items.sort(key=lambda item: item.layer)
    for row in range(prepared.batch):
        yield _collect_text(joined, results, prepared, row)


def join_stages(results: StageResults) -> list[LayerResult]:
    """Return every measured layer with what each stage found for its stream and layer."""
    return [
        replace(
            layer,
            numbers=layer.numbers
            | _attribution_numbers(results, layer)
            | results.zeroings.get(key, {}),
            ladder=_join_ladders(results.ladders.get(key), results.decompositions.get(key)),
            attribution=results.attributions.get(key),
        )
        for key, layer in results.layers.items()
    ]


def _attribution_numbers(results: StageResults, layer: LayerResult) -> dict[str, Tensor]:
    """Return the attributions of a layer, with only the heads asked for."""
    attribution = results.attributions.get((layer.stream, layer.layer))
    return {
        name: select_heads(numbers, layer.heads) if "head" in axes_of(name) else numbers
        for name, numbers in (attribution.numbers if attribution else {}).items()
    }


def _join_ladders(
    ladder: LadderResult | None, decomposition: LadderResult | None
) -> LadderResult | None:
    if ladder is None or decomposition is None:
        return ladder or decomposition
    return ladder.merge(decomposition)


def _collect_text(
    by_stream: Mapping[StreamId, list[LayerResult]],
    results: StageResults,
    prepared: ModelInputs,
    row: int,
) -> TextResult:
    streams: dict[str, Stream] = {}
    checks: list[LayerCheck] = []
    rungs: list[RungCheck] = []
    gradients: list[GradientCheck] = []
    shown, notes = select_sequences(tuple(by_stream), prepared, row)
    for name, stream_id, sequence in shown:
        items = by_stream[stream_id]
        numbers = [_check_numbers(item.checks, sequence) for item in items]
        kind = _kind_of(items, numbers, prepared)
        actual = kind if name == stream_id.kind else name
        checks += [_layer_check(actual, i, n) for i, n in zip(items, numbers, strict=True)]
        others = other_layers(stream_id, results)
        stream = streams[actual] = replace(
            _build_stream(actual, kind, items, prepared, sequence),
            other_layers=others,
            interruption=_interruption(stream_id, others),
        )
        rungs += [check for item in items for check in _rung_checks(actual, item)]
        gradients += [check for item in items for check in _gradient_checks(actual, item)]
        notes += [*_projection_notes(actual, items), *_alias_notes(stream)]
        notes += _null_space_notes(stream, items[0].null_space)
    return TextResult(streams, tuple(checks), tuple(rungs), tuple(gradients), tuple(notes))


def _kind_of(
    items: list[LayerResult], numbers: list[dict[str, float]], prepared: ModelInputs
) -> StreamKind:
    """Return `decoder` for a causal stack, whatever its modules say of themselves."""
    kind = items[0].stream.kind
    unsure = kind == "encoder" and not has_encoder(prepared.model) and items[0].stream.keys > 1
    return "decoder" if unsure and all(n["ahead"] == 0 for n in numbers) else kind


def _interruption(stream_id: StreamId, others: Mapping[int, str]) -> str:
    """Return why the layers of a stream cannot be chained; nothing where they can."""
    if stream_id.is_windowed:
        return "its tokens are divided inside each layer, and not alike in all of them"
    if stream_id.branch:
        return "each layer has another attention before it"
    if others:
        numbers, parts = ", ".join(map(str, others)), ", ".join(dict.fromkeys(others.values()))
        return f"there is no attention of this stream in layer {numbers} ({parts})"
    return ""


def _rung_checks(name: str, item: LayerResult) -> Iterator[RungCheck]:
    ladder = item.ladder
    if ladder is None:
        return
    for rung, error in ladder.errors.items():
        yield RungCheck(name, item.layer, rung, ladder.dtype, error, ladder.bias_share[rung])


def _gradient_checks(name: str, item: LayerResult) -> Iterator[GradientCheck]:
    attribution = item.attribution
    if attribution is None:
        return
    for measure, (count, width) in attribution.directions.items():
        yield GradientCheck(
            name,
            item.layer,
            measure,
            attribution.dtype,
            attribution.errors.get(measure),
            count,
            width,
            attribution.standard_errors.get(measure),
        )


def _alias_notes(stream: Stream) -> Iterator[str]:
    """Yield which rungs coincide here."""
    for above, below in stream.aliases.items():
        yield f"{stream.name}: {above} is {below}, because no norm follows that sum"


def _null_space_notes(stream: Stream, info: NullSpaceInfo | None) -> Iterator[str]:
    """Yield what `effective-weight` is here: which form, over which keys, whether it is only α."""
    if info is None:
        return
    yield f"{stream.name}: effective-weight, form {info.form!r}: {FORMS[info.form]}"
    if info.by_row:
        yield (
            f"{stream.name}: each row of effective-weight is taken over the keys that it may read; "
            "this extends Brunner et al., where every row reads all keys"
        )
    if not stream.statistic("null-space", "effective-weight").any():
        yield (
            f"{stream.name}: effective-weight is weight itself: no row reads more keys than it "
            f"has independent values (keys {len(stream.keys)}, dimensions of a head "
            f"{info.dim}), so there is nothing to remove"
        )


def _projection_notes(name: str, items: list[LayerResult]) -> Iterator[str]:
    """Yield how W_O was found, where that is not by reading its weights."""
    probed = [name for item in items for name in item.probed]
    if probed:
        yield f"W_O of {', '.join(probed)} was found by sending unit vectors through"
    factored = [item.layer for item in items if item.factored]
    if factored:
        yield (
            f"{name}: each query has a factor of its own between the heads and the "
            f"output (layers {', '.join(map(str, factored))}): value-norm is without it, "
            "weighted-norm and attention are with it"
        )
    for kind in sorted({item.rounds for item in items if item.rounds is not None}):
        allowed = TOLERANCE[kind]
        yield f"its projections round their input to {kind}: {allowed:.0e} is allowed there"


def _check_numbers(checks: AttentionChecks, row: int) -> dict[str, float]:
    return {f.name: float(getattr(checks, f.name)[row]) for f in fields(checks)}


def _layer_check(name: str, item: LayerResult, numbers: dict[str, float]) -> LayerCheck:
    if not all(math.isfinite(number) for number in numbers.values()):
        raise NotFinite(
            f"{name} layer {item.layer} puts out numbers that are not finite "
            f"(its projection is {item.projection}, in {item.dtype}).",
            "Every number must be finite to be measured.",
            "Look for NaN in the model's weights, or run it in a wider dtype (dtype='float32').",
        )
    return LayerCheck(
        stream=name,
        layer=item.layer,
        module=item.projection,
        dtype=item.dtype,
        error=numbers["error"],
        least_row=numbers["least_row"],
        greatest_row=numbers["greatest_row"],
        leak=numbers["leak"],
        bias_share=numbers["bias_share"],
        sink=item.sink,
        least_weight=numbers["least_weight"],
    )


def _build_stream(
    name: str, kind: StreamKind, items: list[LayerResult], prepared: ModelInputs, row: int
) -> Stream:
    """Return the measures of one stream of one text, as numpy arrays without padding."""
    first = items[0]
    query_component, key_component = COMPONENTS[kind]
    queries = _tokens(prepared, query_component, first, "query", row)
    same = query_component == key_component and first.lengths["query"] == first.lengths["key"]
    keys = queries if same else _tokens(prepared, key_component, first, "key", row)
    arrays = {
        measure: Layers(_to_numpy(item, measure, item.numbers, row) for item in items)
        for measure in first.numbers
    }
    aliases, rungs = _ladder_arrays(items, row)
    arrays |= rungs
    statistics = {name: arrays.pop(name) for name in tuple(arrays) if split_statistic(name)[0]}
    layers = tuple(item.layer for item in items)
    return Stream(name, queries, keys, layers, first.heads, arrays, statistics, aliases, kind)


def _ladder_arrays(items: list[LayerResult], row: int) -> tuple[dict[str, str], dict[str, Layers]]:
    """Return which rungs coincide in every layer, and the arrays of those every layer has."""
    ladders = [item.ladder for item in items if item.ladder is not None]
    if not ladders:
        return {}, {}
    aliases = {
        above: below
        for above, below in ladders[0].aliases.items()
        if all(ladder.aliases.get(above) == below for ladder in ladders)
    }
    numbers = [_with_aliases(ladder) for ladder in ladders]
    everywhere = [name for name in numbers[0] if all(name in n for n in numbers)]
    stored = [name for name in everywhere if split_statistic(name)[1] not in aliases]
    return aliases, {
        name: Layers(_to_numpy(i, name, n, row) for i, n in zip(items, numbers, strict=True))
        for name in stored
    }


def _with_aliases(ladder: LadderResult) -> dict[str, Tensor]:
    """Return a layer's numbers, those of coinciding rungs under both names."""
    by_kind = {split_statistic(name): numbers for name, numbers in ladder.numbers.items()}
    twice = {
        statistic_id(kind, above): numbers
        for above, below in ladder.aliases.items()
        for (kind, measure), numbers in by_kind.items()
        if measure == below
    }
    return ladder.numbers | twice


def _tokens(
    prepared: ModelInputs, component: str, item: LayerResult, axis: str, row: int
) -> Tokens:
    """Return the tokens along an axis, without padding."""
    text = row * prepared.batch // item.stream.sequences
    tokens = prepared.tokens(component, item.lengths[axis], text, item.stream.tower)
    mask = item.queries if axis == "query" else item.keys
    return tokens if mask is None else tokens.take(_positions(mask[row]).tolist())


def _positions(mask: Tensor) -> Tensor:
    return torch.nonzero(mask)[:, 0]


def _to_numpy(item: LayerResult, measure: str, tensors: Mapping[str, Tensor], row: int) -> Array:
    """Return one text's numbers of a measure, without padding, as float32."""
    numbers = tensors[measure][row]
    axes = axes_of(measure)[1:]
    for axis, mask in (("query", item.queries), ("key", item.keys)):
        if mask is not None and axis in axes and not mask[row].all():
            numbers = numbers.index_select(axes.index(axis), _positions(mask[row]))
    array = numbers.to("cpu", torch.float32).contiguous().numpy()
    return np.asarray(array, dtype=np.float32)
