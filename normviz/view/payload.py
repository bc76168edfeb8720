"""A flow as it travels to the view: a header that JSON can hold, and one buffer of numbers.

The buffer is cut into tiles, one for each stream, measure and layer. What a stream stores is sent;
what it multiplies (`weighted-norm`), the view multiplies too. A buffer may also stay empty: then
the view asks for each tile when it is first shown.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from normviz.core.axes import Array
from normviz.core.catalog import MEASURES, require_known
from normviz.core.flow import Flow
from normviz.core.receipt import Receipt
from normviz.core.stream import Stream
from normviz.core.token_matching import counterparts
from normviz.view.encoding import PRECISIONS
from normviz.view.tiles import Tile, names, tile

FORMAT = 2
"""The number of this layout; the view refuses any other with a sentence."""


@dataclass(frozen=True)
class Payload:
    """What travels from Python to the view."""

    header: dict[str, Any]
    data: bytes


def pack(flow: Flow, *others: Flow, precision: str = "log16", whole: bool = True) -> Payload:
    """Everything a view needs of a flow, and of another to compare it with.

    Without `whole` there are no numbers in it: the view asks for them.
    """
    require_known(precision, PRECISIONS, "precision")
    flows = (flow, *others)
    places: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    offset = 0
    for name in names(flows) if whole else ():
        made = tile(flows, name, precision)
        place = {"name": name, "dtype": made.dtype, "about": made.about}
        places.append({**place, "offset": offset, "bytes": len(made.data)})
        chunks.append(made.data)
        offset += len(made.data)
    return Payload({**header(flows, precision), "tiles": places}, b"".join(chunks))


def header(flows: Sequence[Flow], precision: str = "log16") -> dict[str, Any]:
    """All that is known of the flows but their numbers."""
    first = flows[0]
    return {
        "format": FORMAT,
        "flows": [_about(flow, precision) for flow in flows],
        "counterparts": [counterparts(first, other) for other in flows[1:]],
    }


def unpack(payload: Payload, name: str) -> Array:
    """The numbers of one tile as the view will see them, in one row."""
    place = next(place for place in payload.header["tiles"] if place["name"] == name)
    chunk = payload.data[place["offset"] : place["offset"] + place["bytes"]]
    return Tile(name, place["dtype"], chunk, place["about"]).numbers()


def _about(flow: Flow, precision: str) -> dict[str, Any]:
    receipt = flow.receipt
    text = f"{receipt}\nnumbers in this view: {PRECISIONS[precision]}, as {precision}"
    return {
        "title": flow.title,
        "model": receipt.model,
        "measures": [asdict(MEASURES[name]) for name in (*flow.measures, *_second_names(flow))],
        "streams": [_about_stream(stream, receipt) for stream in flow.streams.values()],
        "receipt": {"ok": receipt.ok, "headline": receipt.headline(), "text": text},
        "charts": [chart.to_dict() for chart in flow.charts],
        "gold": None if flow.gold is None else flow.gold.to_dict(),
    }


def _second_names(flow: Flow) -> list[str]:
    """The rungs that coincide with others in every stream, so that no stream holds them."""
    second = {name for stream in flow.streams.values() for name in stream.aliases}
    return [name for name in MEASURES if name in second and name not in flow.measures]


def _about_stream(stream: Stream, receipt: Receipt) -> dict[str, Any]:
    return {
        "name": stream.name,
        "queries": asdict(stream.queries),
        "keys": asdict(stream.keys),
        "layers": stream.layers,
        "heads": stream.heads,
        "measures": stream.measures,
        "multiplied": [name for name in stream.measures if name not in stream.stored],
        "statistics": list(stream.statistics),
        "aliases": dict(stream.aliases),
        "bias_share": receipt.bias_share(stream.name, stream.layers),
    }
