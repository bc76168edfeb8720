"""A flow as bytes for the view: a header that JSON can hold, and one buffer of numbers.

The buffer is cut into tiles, one for each stream, measure and layer, so that a view can ask for
the tile it needs. What a stream stores is sent; what it multiplies (`weighted-norm`), the view
multiplies too.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from normviz.axes import Array
from normviz.catalog import MEASURES, one_of
from normviz.errors import NotFinite
from normviz.flow import Flow
from normviz.stream import Stream

FORMAT = 1
"""The number of this layout; the view refuses any other with a sentence."""

PRECISIONS = ("log16", "float32")
"""How numbers may be written: within 0.16% in two bytes, or exactly in four."""

STEPS = 320
"""How many codes `log16` has for each factor of e: neighbours are 0.31% apart."""

LOWEST = 104
"""exp(-104) is below the least positive float32, so every positive number has a code above 0."""


@dataclass(frozen=True)
class Payload:
    """What travels from Python to the view."""

    header: dict[str, Any]
    data: bytes


def pack(flow: Flow, *, precision: str = "log16") -> Payload:
    """Everything a view needs of a flow: tokens, measures, receipt and numbers."""
    one_of(precision, PRECISIONS, "precision")
    tiles: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    offset = 0
    for stream in flow.streams.values():
        for measure in stream.stored:
            for layer in stream.layers:
                dtype, chunk = encode(_finite(stream, measure, layer), precision)
                place = {"stream": stream.name, "measure": measure, "layer": layer}
                tiles.append({**place, "dtype": dtype, "offset": offset, "bytes": len(chunk)})
                chunks.append(chunk)
                offset += len(chunk)
    return Payload({**_about(flow), "tiles": tiles}, b"".join(chunks))


def unpack(payload: Payload, stream: str, measure: str, layer: int) -> Array:
    """The numbers of one tile as the view will see them, in one row."""
    place = (stream, measure, layer)
    for tile in payload.header["tiles"]:
        if (tile["stream"], tile["measure"], tile["layer"]) == place:
            chunk = payload.data[tile["offset"] : tile["offset"] + tile["bytes"]]
            return decode(tile["dtype"], chunk)
    raise KeyError(place)


def encode(values: Array, precision: str) -> tuple[str, bytes]:
    """Numbers as bytes, and the name of the code they are written in.

    Weights after a softmax span dozens of decades and float16 only nine, so `log16` keeps the
    logarithm: an unsigned integer, zero for zero. Every positive float32 comes back within 0.16%.
    The upper bytes stand before the lower ones, because apart they compress better.
    """
    if precision == "float32" or (values < 0).any():
        return "float32", values.astype("<f4").tobytes()
    codes = np.zeros(values.size, dtype=np.uint16)
    positive = values.ravel() > 0
    logarithms = np.log(values.ravel()[positive], dtype=np.float64)
    codes[positive] = np.rint((logarithms + LOWEST) * STEPS)
    return "log16", np.concatenate([codes >> 8, codes & 255]).astype(np.uint8).tobytes()


def decode(dtype: str, chunk: bytes) -> Array:
    """The numbers that `encode` wrote."""
    if dtype == "float32":
        return np.frombuffer(chunk, dtype="<f4").astype(np.float32)
    upper, lower = np.frombuffer(chunk, dtype=np.uint8).reshape(2, -1).astype(np.uint16)
    codes = (upper << 8) + lower
    return np.where(codes == 0, 0, np.exp(codes / STEPS - LOWEST)).astype(np.float32)


def _finite(stream: Stream, measure: str, layer: int) -> Array:
    values = stream.at(measure, layer)
    if not np.isfinite(values).all():
        raise NotFinite(
            f"{measure!r} of {stream.name} layer {layer} holds NaN or infinite numbers.",
            "Only finite numbers can be drawn.",
            "Analyse the text again in float32, or leave that layer out.",
        )
    return values


def _about(flow: Flow) -> dict[str, Any]:
    receipt = flow.receipt
    return {
        "format": FORMAT,
        "title": flow.title,
        "model": receipt.model,
        "measures": [asdict(MEASURES[name]) for name in flow.measures],
        "streams": [_about_stream(stream) for stream in flow.streams.values()],
        "receipt": {"ok": receipt.ok, "headline": receipt.headline(), "text": str(receipt)},
    }


def _about_stream(stream: Stream) -> dict[str, Any]:
    return {
        "name": stream.name,
        "queries": asdict(stream.queries),
        "keys": asdict(stream.keys),
        "layers": stream.layers,
        "heads": stream.heads,
        "measures": stream.measures,
        "peaks": {measure: _peaks(stream, measure) for measure in stream.measures},
    }


def _peaks(stream: Stream, measure: str) -> list[list[float]]:
    """For each layer and head, the most that any token receives; the view scales layers by it."""
    peaks = []
    for layer in stream.layers:
        values = stream.at(measure, layer)
        received = values.sum(axis=-1) if "query" in MEASURES[measure].axes else values
        peaks.append([float(f"{peak:.6g}") for peak in np.atleast_1d(received.max(axis=-1))])
    return peaks
