"""From tensors on the model's device to flows in plain numpy, one for each text of the batch."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor

from normviz.core.axes import COMPONENTS, STREAMS, Array, StreamName
from normviz.core.catalog import axes_of, require_known, split_statistic
from normviz.core.receipt import TOLERANCE, GradientCheck, LayerCheck, RungCheck
from normviz.core.stream import Layers, Stream
from normviz.core.tokens import Tokens
from normviz.errors import NotFinite, UnsupportedModel
from normviz.model.inputs import ModelInputs
from normviz.model.measures.checks import Checks
from normviz.model.measures.effective import FORMS
from normviz.model.measures.ladder.measure import LadderResult
from normviz.model.measures.reducer import LayerResult, NullSpaceInfo, SkippedLayer


@dataclass(frozen=True)
class TextResult:
    """What belongs to one text: its streams, and for its receipt checks and notes."""

    streams: dict[str, Stream]
    checks: tuple[LayerCheck, ...]
    rungs: tuple[RungCheck, ...]
    gradients: tuple[GradientCheck, ...]
    notes: tuple[str, ...]


def collect(
    passed: Iterable[LayerResult | SkippedLayer],
    prepared: ModelInputs,
    layers: Collection[int] | None,
) -> Iterator[TextResult]:
    """Sort the layers into streams and give each text of the batch its own."""
    heard = list(passed)
    seen = Counter(item.stream for item in heard)
    for layer in layers or ():
        require_known(layer, range(max(seen.values())), "layer")
    by_stream = {
        name: [item for item in heard if isinstance(item, LayerResult) and item.stream == name]
        for name in STREAMS
    }
    for row in range(prepared.batch):
        yield _row(by_stream, prepared, row)


def _row(
    by_stream: dict[StreamName, list[LayerResult]], prepared: ModelInputs, row: int
) -> TextResult:
    streams: dict[str, Stream] = {}
    checks: list[LayerCheck] = []
    rungs: list[RungCheck] = []
    slopes: list[GradientCheck] = []
    notes: list[str] = []
    for name, items in by_stream.items():
        if not items:
            continue
        _same_tokens(items)
        plain = [_plain(item.checks, row) for item in items]
        actual = _causal(name, items, plain, others=sum(map(bool, by_stream.values())) - 1)
        checks += [_check(actual, i, p) for i, p in zip(items, plain, strict=True)]
        streams[actual] = _stream(actual, items, prepared, row)
        rungs += [check for item in items for check in _rung_checks(actual, item)]
        slopes += [check for item in items for check in _slope_checks(actual, item)]
        notes += [*_remarks(items), *_coinciding(streams[actual])]
        notes += _removed(streams[actual], items[0].removal)
    return TextResult(streams, tuple(checks), tuple(rungs), tuple(slopes), tuple(notes))


def _rung_checks(name: StreamName, item: LayerResult) -> Iterator[RungCheck]:
    climbed = item.climbed
    for rung, error in () if climbed is None else climbed.errors.items():
        share = climbed.bias_share[rung]  # type: ignore[union-attr]
        yield RungCheck(name, item.layer, rung, climbed.dtype, error, share)  # type: ignore[union-attr]


def _slope_checks(name: StreamName, item: LayerResult) -> Iterator[GradientCheck]:
    found = item.attributed
    for measure, (count, width) in () if found is None else found.directions.items():
        yield GradientCheck(
            name,
            item.layer,
            measure,
            item.dtype,
            found.errors.get(measure),  # type: ignore[union-attr]
            count,
            width,
            found.standard.get(measure),  # type: ignore[union-attr]
        )


def _coinciding(stream: Stream) -> Iterator[str]:
    """Which rungs are one and the same here."""
    for above, below in stream.aliases.items():
        yield f"{stream.name}: {above} is {below}, because no norm follows that sum"


def _removed(stream: Stream, removal: NullSpaceInfo | None) -> Iterator[str]:
    """What `effective-weight` is here: which form, over which keys, and whether it is only α."""
    if removal is None:
        return
    yield f"{stream.name}: effective-weight, form {removal.form!r}: {FORMS[removal.form]}"
    if removal.by_row:
        yield (
            f"{stream.name}: each row of effective-weight is taken over the keys that it may read; "
            "this is normviz's reading, for in Brunner et al. every row reads all keys"
        )
    if not stream.statistic("null-space", "effective-weight").any():
        yield (
            f"{stream.name}: effective-weight is weight itself: no row reads more keys than it "
            f"has independent values (keys {len(stream.keys)}, dimensions of a head "
            f"{removal.dim}), so there is nothing to remove"
        )


def _remarks(items: list[LayerResult]) -> Iterator[str]:
    """What a reader of the receipt should know about how W_O was found."""
    probed = [item.projection for item in items if item.probed]
    if probed:
        yield f"W_O of {', '.join(probed)} was found by sending unit vectors through"
    for kind in sorted({item.rounds for item in items if item.rounds is not None}):
        allowed = TOLERANCE[kind]
        yield f"its projections round their input to {kind}: {allowed:.0e} is allowed there"


def _same_tokens(items: list[LayerResult]) -> None:
    """Refuse two towers that would be one stream."""
    shapes = {item.lengths["key"]: item for item in items}
    if len(shapes) > 1:
        (a, first), (b, second), *_ = shapes.items()
        raise UnsupportedModel(
            f"The {first.stream} attentions {first.projection} and {second.projection} read "
            f"{a} and {b} tokens.",
            "All layers of a stream must read the same tokens.",
            "This model has two towers: analyze one, such as model.text_model or "
            "model.vision_model.",
        )


def _causal(
    name: StreamName, items: list[LayerResult], plain: list[dict[str, float]], *, others: int
) -> StreamName:
    """A single stack whose tokens never look ahead is a decoder, whatever its modules say."""
    single = name == "encoder" and not others and items[0].lengths["key"] > 1
    return "decoder" if single and all(p["ahead"] == 0 for p in plain) else name


def _plain(checks: Checks, row: int) -> dict[str, float]:
    return {f.name: float(getattr(checks, f.name)[row]) for f in fields(checks)}


def _check(name: StreamName, item: LayerResult, plain: dict[str, float]) -> LayerCheck:
    if not all(math.isfinite(number) for number in plain.values()):
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
        error=plain["error"],
        least_row=plain["least_row"],
        greatest_row=plain["greatest_row"],
        leak=plain["leak"],
        bias_share=plain["bias_share"],
        sink=item.sink,
    )


def _stream(name: StreamName, items: list[LayerResult], prepared: ModelInputs, row: int) -> Stream:
    first = items[0]
    query_side, key_side = COMPONENTS[name]
    queries = _side(prepared, query_side, first, "query", row)
    same = query_side == key_side and first.lengths["query"] == first.lengths["key"]
    keys = queries if same else _side(prepared, key_side, first, "key", row)
    found = {
        measure: Layers(_numpy(item, measure, item.numbers, row) for item in items)
        for measure in first.numbers
    }
    coinciding, rungs = _laddered(items, row)
    found |= rungs
    readings = {name: found.pop(name) for name in tuple(found) if split_statistic(name)[0]}
    layers = tuple(item.layer for item in items)
    return Stream(name, queries, keys, layers, first.heads, found, readings, coinciding)


def _laddered(items: list[LayerResult], row: int) -> tuple[dict[str, str], dict[str, Layers]]:
    """Which rungs coincide in every layer, and the numbers of those that every layer has."""
    climbed = [item.climbed for item in items if item.climbed is not None]
    if not climbed:
        return {}, {}
    same = {
        n: b for n, b in climbed[0].aliases.items() if all(c.aliases.get(n) == b for c in climbed)
    }
    numbers = [_filled(c) for c in climbed]
    held = [name for name in numbers[0] if all(name in n for n in numbers)]
    kept = [name for name in held if name.rpartition(":")[2] not in same]
    return same, {
        name: Layers(_numpy(i, name, n, row) for i, n in zip(items, numbers, strict=True))
        for name in kept
    }


def _filled(climbed: LadderResult) -> dict[str, Tensor]:
    """A layer's numbers, those of coinciding rungs under both names."""
    twice = {
        name.replace(below, above): numbers
        for above, below in climbed.aliases.items()
        for name, numbers in climbed.numbers.items()
        if name.rpartition(":")[2] == below
    }
    return climbed.numbers | twice


def _side(prepared: ModelInputs, side: str, item: LayerResult, axis: str, row: int) -> Tokens:
    """The tokens along an axis, without padding."""
    tokens = prepared.tokens(side, item.lengths[axis], row)
    real = item.queries if axis == "query" else item.keys
    return tokens if real is None else tokens.take(_places(real[row]).tolist())


def _places(real: Tensor) -> Tensor:
    return torch.nonzero(real)[:, 0]


def _numpy(item: LayerResult, measure: str, held: Mapping[str, Tensor], row: int) -> Array:
    """One text's numbers of a measure, without padding, as float32 on the host."""
    numbers = held[measure][row]
    for axis, real in (("query", item.queries), ("key", item.keys)):
        axes = axes_of(measure)[1:]
        if real is not None and axis in axes and not real[row].all():
            numbers = numbers.index_select(axes.index(axis), _places(real[row]))
    array = numbers.to("cpu", torch.float32).contiguous().numpy()
    return np.asarray(array, dtype=np.float32)
