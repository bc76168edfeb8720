"""From tensors on the model's device to flows in plain numpy, one for each text of the batch."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields

import numpy as np
import torch
from torch import Tensor

from normviz.axes import SIDES, STREAMS, Array, StreamName
from normviz.catalog import MEASURES, one_of
from normviz.errors import NotFinite, UnsupportedModel
from normviz.inputs import Prepared
from normviz.measures.checks import Checks
from normviz.measures.layer import Measured, Passed
from normviz.receipt import TOLERANCE, LayerCheck
from normviz.stream import Layers, Stream
from normviz.tokens import Tokens

Row = tuple[dict[str, Stream], tuple[LayerCheck, ...], tuple[str, ...]]
"""What belongs to one text: its streams, its checks, and notes for its receipt."""


def gathered(
    passed: Iterable[Measured | Passed], prepared: Prepared, layers: Collection[int] | None
) -> Iterator[Row]:
    """Sort the layers into streams and give each text of the batch its own."""
    heard = list(passed)
    seen = Counter(item.stream for item in heard)
    for layer in layers or ():
        one_of(layer, range(max(seen.values())), "layer")
    by_stream = {
        name: [item for item in heard if isinstance(item, Measured) and item.stream == name]
        for name in STREAMS
    }
    for row in range(prepared.batch):
        yield _row(by_stream, prepared, row)


def _row(by_stream: dict[StreamName, list[Measured]], prepared: Prepared, row: int) -> Row:
    streams: dict[str, Stream] = {}
    checks: list[LayerCheck] = []
    notes: list[str] = []
    for name, items in by_stream.items():
        if not items:
            continue
        _same_tokens(items)
        plain = [_plain(item.checks, row) for item in items]
        actual = _causal(name, items, plain, others=sum(map(bool, by_stream.values())) - 1)
        checks += [_check(actual, i, p) for i, p in zip(items, plain, strict=True)]
        streams[actual] = _stream(actual, items, prepared, row)
        notes += _remarks(items)
    return streams, tuple(checks), tuple(notes)


def _remarks(items: list[Measured]) -> Iterator[str]:
    """What a reader of the receipt should know about how W_O was found."""
    probed = [item.projection for item in items if item.probed]
    if probed:
        yield f"W_O of {', '.join(probed)} was found by sending unit vectors through"
    if any(item.dtype == "int8" for item in items):
        allowed = TOLERANCE["int8"]
        yield f"its projections round their input to eight bits: {allowed:.0e} is allowed there"


def _same_tokens(items: list[Measured]) -> None:
    """Refuse two towers that would be one stream."""
    shapes = {item.lengths["key"]: item for item in items}
    if len(shapes) > 1:
        (a, first), (b, second), *_ = shapes.items()
        raise UnsupportedModel(
            f"The {first.stream} attentions {first.projection} and {second.projection} read "
            f"{a} and {b} tokens.",
            "All layers of a stream must read the same tokens.",
            "This model has two towers: analyse one, such as model.text_model or "
            "model.vision_model.",
        )


def _causal(
    name: StreamName, items: list[Measured], plain: list[dict[str, float]], *, others: int
) -> StreamName:
    """A single stack whose tokens never look ahead is a decoder, whatever its modules say."""
    single = name == "encoder" and not others and items[0].lengths["key"] > 1
    return "decoder" if single and all(p["ahead"] == 0 for p in plain) else name


def _plain(checks: Checks, row: int) -> dict[str, float]:
    return {f.name: float(getattr(checks, f.name)[row]) for f in fields(checks)}


def _check(name: StreamName, item: Measured, plain: dict[str, float]) -> LayerCheck:
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
        sourceless=plain["sourceless"],
        sink=item.sink,
    )


def _stream(name: StreamName, items: list[Measured], prepared: Prepared, row: int) -> Stream:
    first = items[0]
    query_side, key_side = SIDES[name]
    queries = _side(prepared, query_side, first, "query", row)
    same = query_side == key_side and first.lengths["query"] == first.lengths["key"]
    keys = queries if same else _side(prepared, key_side, first, "key", row)
    stored = {
        measure: Layers(_numpy(item, measure, row) for item in items) for measure in first.numbers
    }
    layers = tuple(item.layer for item in items)
    return Stream(name, queries, keys, layers, first.heads, stored)


def _side(prepared: Prepared, side: str, item: Measured, axis: str, row: int) -> Tokens:
    """The tokens along an axis, without padding."""
    tokens = prepared.tokens(side, item.lengths[axis], row)
    real = item.queries if axis == "query" else item.keys
    return tokens if real is None else tokens.take(_places(real[row]).tolist())


def _places(real: Tensor) -> Tensor:
    return torch.nonzero(real)[:, 0]


def _numpy(item: Measured, measure: str, row: int) -> Array:
    """One text's numbers of a measure, without padding, as float32 on the host."""
    numbers = item.numbers[measure][row]
    for axis, real in (("query", item.queries), ("key", item.keys)):
        axes = MEASURES[measure].axes[1:]
        if real is not None and axis in axes:
            numbers = numbers.index_select(axes.index(axis), _places(real[row]))
    array = numbers.to("cpu", torch.float32).contiguous().numpy()
    return np.asarray(array, dtype=np.float32)
