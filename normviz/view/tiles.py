"""The pieces in which a flow travels to a view; each has a name by which it can be asked for.

`0/encoder/weight/3/all` is the first flow's α in layer 3, all heads [head query key]; instead of
`all` there may be `sum`, the heads added up [query key], or the number of one head.
`0/encoder/projection:layer-output/3/all` is a reading of a rung; see `Stream.reading`.
`0/encoder/weight/overview` is every layer and head at once: small pictures, and what it takes to
compare layers and heads without their numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from normviz.core.axes import Array
from normviz.core.catalog import MEASURES, axes_of, require_known
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.errors import NormvizError, NotFinite, UnknownName
from normviz.view.encoding import Coded, decode, encode

THUMB = 24
"""How many cells a small picture has along each side, at most."""


@dataclass(frozen=True)
class Tile:
    """Some numbers of a flow as bytes, and what else is known about them."""

    name: str
    dtype: str
    data: bytes
    about: dict[str, Any]

    def numbers(self) -> Array:
        """What the view will read, in one row."""
        return decode(Coded(self.dtype, self.data, self.about.get("scale", 1.0)))


def names(flows: Sequence[Flow]) -> Iterator[str]:
    """Every tile of a whole payload: what the streams store, and each measure's overview."""
    for index, flow in enumerate(flows):
        for stream in flow.streams.values():
            for measure in (*stream.stored, *stream.statistics):
                for layer in stream.layers:
                    yield f"{index}/{stream.name}/{measure}/{layer}/all"
            for measure in stream.measures:
                yield f"{index}/{stream.name}/{measure}/overview"


def size(flows: Iterable[Flow]) -> int:
    """How many numbers the streams store."""
    streams = (stream for flow in flows for stream in flow.streams.values())
    return sum(array.size for s in streams for layers in s.stored.values() for array in layers)


def tile(flows: Sequence[Flow], name: str, precision: str) -> Tile:
    """The tile of this name, made now."""
    try:
        index, stream_name, measure, *rest = name.split("/")
        stream = flows[int(index)].stream(stream_name)
        require_known(measure, (*stream.measures, *stream.statistics), "measure")
        if rest == ["overview"] and measure in stream.measures:
            return _overview(name, stream, measure, precision)
        layer, heads = rest
        values = _heads(_finite(stream, measure, int(layer)), stream, measure, heads)
    except NormvizError:
        raise
    except (ValueError, IndexError) as error:
        raise UnknownName(
            f"There is no tile {name!r}.",
            "A tile is flow/stream/measure/layer/heads or flow/stream/measure/overview.",
            "Restart the kernel and reload the page, so that both sides have one version.",
        ) from error
    return _tile(name, values, precision, {})


def _tile(name: str, values: Array, precision: str, about: dict[str, Any]) -> Tile:
    coded = encode(values, precision)
    scale = {} if coded.scale == 1 else {"scale": coded.scale}
    return Tile(name, coded.dtype, coded.data, {**about, **scale})


def _heads(values: Array, stream: Stream, measure: str, heads: str) -> Array:
    if heads == "all" or "head" not in axes_of(measure):
        return values
    if heads == "sum":
        added: Array = values.sum(axis=0)
        return added
    return values[stream.heads.index(int(heads))]  # type: ignore[no-any-return]


def _finite(stream: Stream, measure: str, layer: int) -> Array:
    values = stream.at(measure, layer)
    if not np.isfinite(values).all():
        raise NotFinite(
            f"{measure!r} of {stream.name} layer {layer} holds NaN or infinite numbers.",
            "Only finite numbers can be drawn.",
            "Analyze the text again in float32, or leave that layer out.",
        )
    return values


def _overview(name: str, stream: Stream, measure: str, precision: str) -> Tile:
    rivals = [other for other in stream.measures if _comparable(measure, other)]
    thumbs: list[Array] = []
    peaks: list[list[float]] = []
    apart: dict[str, list[list[float]]] = {rival: [] for rival in rivals}
    for layer in stream.layers:
        values = _planes(_finite(stream, measure, layer), measure)
        thumbs.append(_pooled(_pooled(values, axis=1), axis=2))
        whole = np.abs(values).sum(axis=-1)
        received = whole if "query" in MEASURES[measure].axes else values[:, 0]
        peaks.append(_rounded(received.max(axis=-1)))
        for rival in rivals:
            other = _planes(_finite(stream, rival, layer), rival)
            apart[rival].append(_rounded(disagreement(values, other)))
    pictures = np.stack(thumbs)
    about = {
        "rows": pictures.shape[2],
        "columns": pictures.shape[3],
        "peaks": peaks,
        "shares": {kind: _rounded(by) for kind, by in stream.shares(measure).items()},
        "disagreement": apart,
    }
    return _tile(name, pictures, precision, about)


def disagreement(values: Array, others: Array) -> Array:
    """How much of what a query takes would have to come from elsewhere to turn one into the other.

    Half the difference of the shares, averaged over the queries: 0 when every query divides its
    whole in the same way, 1 when no key is used by both. Negative shares are parts of the sizes.
    """
    difference = np.abs(_divided(values) - _divided(others)).sum(axis=-1) / 2
    mean: Array = difference.mean(axis=-1)
    return mean


def _divided(values: Array) -> Array:
    whole = np.abs(values).sum(axis=-1, keepdims=True)
    divided: Array = values / np.where(whole > 0, whole, 1)
    return divided


def _comparable(measure: str, other: str) -> bool:
    axes = MEASURES[measure].axes
    return other != measure and "query" in axes and MEASURES[other].axes == axes


def _planes(values: Array, measure: str) -> Array:
    """The numbers of a layer with every axis that a view draws [head query key]."""
    axes = MEASURES[measure].axes
    whole = values if "query" in axes else values[..., None, :]
    return whole if "head" in axes else whole[None]


def _pooled(values: Array, axis: int) -> Array:
    """The number furthest from zero in each of at most `THUMB` even runs along an axis."""
    count = values.shape[axis]
    starts = np.linspace(0, count, min(count, THUMB), endpoint=False).astype(int)
    highest = np.maximum.reduceat(values, starts, axis=axis)
    lowest = np.minimum.reduceat(values, starts, axis=axis)
    pooled: Array = np.where(highest >= -lowest, highest, lowest)
    return pooled


def _rounded(numbers: Array) -> list[float]:
    return [float(f"{number:.6g}") for number in numbers]
