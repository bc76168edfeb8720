"""A flow as it travels to the view: a JSON header and one buffer of numbers.

The buffer is cut into tiles, one for each stream, measure and layer. What a stream stores is sent;
what it multiplies (`weighted-norm`), the view multiplies too. A buffer may also stay empty: then
the view asks for each tile when it is first shown.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from normviz.core.axes import Array
from normviz.core.catalog import MEASURES, require_known
from normviz.core.counts import pluralize
from normviz.core.flow import Flow
from normviz.core.receipt import Receipt
from normviz.core.stream import Stream
from normviz.core.token_matching import counterparts
from normviz.derived.headline import find_headlines
from normviz.view.encoding import PRECISIONS, EncodedArray, decode
from normviz.view.state import describe_state
from normviz.view.tiles import make_tile, tile_keys

FORMAT = 5
"""The number of this layout; the view refuses any other with a sentence."""


@dataclass(frozen=True)
class Payload:
    """What travels from Python to the view."""

    header: dict[str, Any]
    data: bytes


def pack(flow: Flow, *others: Flow, precision: str = "log16", whole: bool = True) -> Payload:
    """Return everything a view needs of a flow, and of another to compare it with.

    Without `whole` there are no numbers in it: the view asks for them.
    """
    require_known(precision, PRECISIONS, "precision")
    flows = (flow, *others)
    locations: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    offset = 0
    for key in tile_keys(flows) if whole else ():
        tile = make_tile(flows, key, precision)
        location = {"name": str(key), "dtype": tile.dtype, "about": tile.about}
        locations.append({**location, "offset": offset, "bytes": len(tile.data)})
        chunks.append(tile.data)
        offset += len(tile.data)
    return Payload({**build_header(flows, precision), "tiles": locations}, b"".join(chunks))


def build_header(flows: Sequence[Flow], precision: str = "log16") -> dict[str, Any]:
    """Return all that the view needs to know of the flows besides their numbers."""
    first = flows[0]
    return {
        "format": FORMAT,
        "state": describe_state(first),
        "flows": [_describe_flow(flow, precision) for flow in flows],
        "counterparts": [counterparts(first, other) for other in flows[1:]],
    }


def unpack(payload: Payload, name: str) -> Array:
    """Return the numbers of one tile as the view will read them, in one dimension."""
    location = next(tile for tile in payload.header["tiles"] if tile["name"] == name)
    chunk = payload.data[location["offset"] : location["offset"] + location["bytes"]]
    return decode(EncodedArray(location["dtype"], chunk, location["about"].get("scale", 1.0)))


def _describe_flow(flow: Flow, precision: str) -> dict[str, Any]:
    receipt = flow.receipt
    text = f"{receipt}\nnumbers in this view: {PRECISIONS[precision]}, as {precision}"
    return {
        "title": flow.title,
        "model": receipt.model_name,
        "size": _describe_size(flow),
        "measures": [asdict(MEASURES[name]) for name in (*flow.measures, *_unheld_aliases(flow))],
        "streams": [_describe_stream(stream, receipt) for stream in flow.streams.values()],
        "receipt": {"ok": receipt.ok, "headline": receipt.headline(), "text": text},
        "charts": [chart.to_dict() for chart in flow.charts],
        "gold": None if flow.gold is None else flow.gold.to_dict(),
    }


def _describe_size(flow: Flow) -> str:
    """Return how large the model is, where it has one stream; else nothing."""
    if len(flow.streams) != 1:
        return ""
    (stream,) = flow.streams.values()
    layers, heads = len(stream.layer_contents), len(stream.heads)
    return f"{pluralize(layers, 'layer')} × {pluralize(heads, 'head')}"


def _unheld_aliases(flow: Flow) -> list[str]:
    """Return the measures that coincide with others in every stream, so that none holds them."""
    aliases = {name for stream in flow.streams.values() for name in stream.aliases}
    return [name for name in MEASURES if name in aliases and name not in flow.measures]


def _describe_stream(stream: Stream, receipt: Receipt) -> dict[str, Any]:
    return {
        "name": stream.name,
        "kind": stream.kind,
        "queries": asdict(stream.queries),
        "keys": asdict(stream.keys) | {"categories": stream.key_categories},
        "layers": stream.layers,
        "other_layers": dict(stream.other_layers),
        "interruption": stream.interruption,
        "heads": stream.heads,
        "measures": stream.measures,
        "multiplied": [name for name in stream.measures if name not in stream.stored],
        "statistics": list(stream.statistics),
        "aliases": dict(stream.aliases),
        "bias_share": receipt.bias_share(stream.name, stream.layers),
        "headlines": [
            {"layer": found.layer, "difference": round(found.difference, 4), "parts": found.parts}
            for found in find_headlines(stream)
        ],
    }
