"""The tiles in which a flow travels to a view; each can be requested by its key.

`0/encoder/weight/3/all` is the first flow's α in layer 3, all heads [head query key]; instead of
`all` there may be `sum`, the heads added up [query key], or the number of one head.
`0/encoder/projection:layer-output/3/all` is a statistic; see `Stream.statistic`.
`0/encoder/weight/overview` is every layer and head at once: thumbnails, and the numbers by which
layers and heads are compared without loading them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np

from normviz.core.axes import Array
from normviz.core.catalog import MEASURES, axes_of, require_index, require_known
from normviz.core.flow import Flow
from normviz.core.reductions import row_shares
from normviz.core.stream import Stream
from normviz.errors import NotFinite, UnknownName
from normviz.view.encoding import EncodedArray, decode, encode

THUMB_CELLS = 24
"""How many cells a thumbnail has along each side, at most."""

OVERVIEW = "overview"


@dataclass(frozen=True)
class TileKey:
    """The address of a tile; its `str` is what the view asks for, and `parse` reads that."""

    flow: int
    stream: str
    measure: str
    """The id of a measure or of a statistic."""
    layer: int | None = None
    """None for the overview of all layers and heads."""
    heads: int | Literal["all", "sum"] = "all"
    """Every head, the sum over heads, or one head by the model's number."""

    def __str__(self) -> str:
        """Return the key with slashes between its parts."""
        rest = (OVERVIEW,) if self.layer is None else (self.layer, self.heads)
        return "/".join(map(str, (self.flow, self.stream, self.measure, *rest)))

    @classmethod
    def parse(cls, text: str) -> "TileKey":
        """Return the key that has this text; raise `UnknownName` where none has."""
        try:
            flow, stream, measure, *rest = text.split("/")
            if rest == [OVERVIEW]:
                return cls(int(flow), stream, measure)
            layer, heads = rest
            return cls(int(flow), stream, measure, int(layer), _parse_heads(heads))
        except ValueError as error:
            raise UnknownName(
                f"There is no tile {text!r}.",
                "A tile is flow/stream/measure/layer/heads or flow/stream/measure/overview.",
                "Restart the kernel and reload the page, so that both have the same version.",
            ) from error


def _parse_heads(text: str) -> int | Literal["all", "sum"]:
    match text:
        case "all" | "sum":
            return text
        case _:
            return int(text)


class TileAbout(TypedDict, total=False):
    """What the view needs to read a tile besides its bytes; all but `scale` is of overviews."""

    scale: float
    """The factor of each decoded number, where it is not 1."""
    rows: int
    columns: int
    """The cells of a thumbnail."""
    peaks: list[list[float]]
    """The most that any token takes, for each layer and head."""
    shares: dict[str, list[float]]
    """For each category of token, its share in each layer."""
    disagreement: dict[str, list[list[float]]]
    """For each measure of the same axes, `total_variation` in each layer and head."""


@dataclass(frozen=True)
class Tile:
    """Numbers of a flow as bytes, with their key and what else the view needs to read them."""

    key: TileKey
    dtype: str
    data: bytes
    about: TileAbout

    def decode(self) -> Array:
        """Return the numbers as the view will read them, in one dimension."""
        return decode(EncodedArray(self.dtype, self.data, self.about.get("scale", 1.0)))


def tile_keys(flows: Sequence[Flow]) -> Iterator[TileKey]:
    """Yield the keys of a whole payload: what the streams store, and each measure's overview."""
    for index, flow in enumerate(flows):
        for stream in flow.streams.values():
            for name in (*stream.stored, *stream.statistics):
                for layer in stream.layers:
                    yield TileKey(index, stream.name, name, layer)
            for measure in stream.measures:
                yield TileKey(index, stream.name, measure)


def count_numbers(flows: Iterable[Flow]) -> int:
    """Return how many numbers the streams store."""
    streams = (stream for flow in flows for stream in flow.streams.values())
    return sum(array.size for s in streams for layers in s.stored.values() for array in layers)


def make_tile(flows: Sequence[Flow], key: TileKey, precision: str) -> Tile:
    """Return the tile of this key; raise `UnknownName` where the flows have none."""
    stream = flows[require_index(key.flow, range(len(flows)), "flow")].stream(key.stream)
    if key.layer is None:
        require_known(key.measure, stream.measures, "measure")
        return _make_overview(key, stream, precision)
    require_known(key.measure, (*stream.measures, *stream.statistics), "measure")
    values = _finite_layer(stream, key.measure, key.layer)
    return _encode_tile(key, _select_heads(values, stream, key), precision, {})


def _encode_tile(key: TileKey, values: Array, precision: str, about: TileAbout) -> Tile:
    encoded = encode(values, precision)
    if encoded.scale != 1:
        about = {**about, "scale": encoded.scale}
    return Tile(key, encoded.dtype, encoded.data, about)


def _select_heads(values: Array, stream: Stream, key: TileKey) -> Array:
    if key.heads == "all" or "head" not in axes_of(key.measure):
        return values
    if key.heads == "sum":
        total: Array = values.sum(axis=0)
        return total
    return values[stream.heads.index(require_index(key.heads, stream.heads, "head"))]  # type: ignore[no-any-return]


def _finite_layer(stream: Stream, measure: str, layer: int) -> Array:
    values = stream.at(measure, layer)
    if not np.isfinite(values).all():
        raise NotFinite(
            f"{measure!r} of {stream.name} layer {layer} holds NaN or infinite numbers.",
            "Only finite numbers can be drawn.",
            "Analyze the text again in float32, or leave that layer out.",
        )
    return values


def _make_overview(key: TileKey, stream: Stream, precision: str) -> Tile:
    measure, axes = key.measure, MEASURES[key.measure].axes
    comparable = [
        name
        for name in stream.measures
        if name != measure and "query" in axes and MEASURES[name].axes == axes
    ]
    thumbs: list[Array] = []
    peaks: list[list[float]] = []
    disagreement: dict[str, list[list[float]]] = {name: [] for name in comparable}
    for layer in stream.layers:
        values = add_axes(_finite_layer(stream, measure, layer), measure)
        thumbs.append(pool_cells(pool_cells(values, axis=1), axis=2))
        received = np.abs(values).sum(axis=-1) if "query" in axes else values[:, 0]
        peaks.append(_round(received.max(axis=-1)))
        for name in comparable:
            other = add_axes(_finite_layer(stream, name, layer), name)
            disagreement[name].append(_round(total_variation(values, other)))
    pictures = np.stack(thumbs)
    about: TileAbout = {
        "rows": pictures.shape[2],
        "columns": pictures.shape[3],
        "peaks": peaks,
        "shares": {name: _round(share) for name, share in stream.shares(measure).items()},
        "disagreement": disagreement,
    }
    return _encode_tile(key, pictures, precision, about)


def total_variation(first: Array, second: Array) -> Array:
    """Return the total variation of two measures' row shares, averaged over queries [head].

    Half the sum of differences: 0 when every query divides what it takes in the same way, 1 when
    no key is used by both. Unlike the `distance` of `derived.agreement` it counts signs: a number
    below zero is a negative share of the row's sizes.
    """
    difference = (
        np.abs(row_shares(first, keep_empty=True) - row_shares(second, keep_empty=True)).sum(
            axis=-1
        )
        / 2
    )
    mean: Array = difference.mean(axis=-1)
    return mean


def add_axes(values: Array, measure: str) -> Array:
    """Return a layer with all axes that a view draws [head query key]."""
    axes = MEASURES[measure].axes
    values = values if "query" in axes else values[..., None, :]
    return values if "head" in axes else values[None]


def pool_cells(values: Array, axis: int) -> Array:
    """Return the number furthest from zero in each of at most `THUMB_CELLS` even runs."""
    count = values.shape[axis]
    starts = np.linspace(0, count, min(count, THUMB_CELLS), endpoint=False).astype(int)
    highest = np.maximum.reduceat(values, starts, axis=axis)
    lowest = np.minimum.reduceat(values, starts, axis=axis)
    pooled: Array = np.where(highest >= -lowest, highest, lowest)
    return pooled


def _round(numbers: Array) -> list[float]:
    return [float(f"{number:.6g}") for number in numbers]
