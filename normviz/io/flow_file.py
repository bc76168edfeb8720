"""Flows in files: one zip archive with a description in JSON and the numbers as raw bytes.

Nothing in it is code, and nothing is believed: sizes are checked against the file before memory is
asked for. The archive is written beside its place and moved there whole.
"""

import json
import math
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from normviz.core.axes import Array
from normviz.core.catalog import axes_of
from normviz.core.chart import Chart
from normviz.core.flow import Flow
from normviz.core.gold import Gold
from normviz.core.receipt import Receipt
from normviz.core.stream import Layers, Stream
from normviz.core.tokens import Tokens
from normviz.errors import BadFile, NormvizError
from normviz.system.files import atomic_file

FORMAT = "normviz flow"
VERSION = 1
DESCRIPTION = "flow.json"
LONGEST_DESCRIPTION = 64 * 2**20
_EPOCH = (1980, 1, 1, 0, 0, 0)
_DAMAGE = (
    zipfile.BadZipFile,
    struct.error,
    EOFError,
    OSError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RuntimeError,
)
"""What reading an archive raises when its bytes are not what they were."""


def save(flow: Flow, path: str | Path) -> Path:
    """Write a flow to a file; an older file stays whole until the new one is."""
    place = Path(path)
    with atomic_file(place) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        _put(archive, DESCRIPTION, json.dumps(_described(flow), ensure_ascii=False).encode())
        for stream in flow.streams.values():
            for measure, layers in (*stream.stored.items(), *stream.statistics.items()):
                for number, array in zip(stream.layers, layers, strict=True):
                    numbers = np.ascontiguousarray(array, dtype="<f4")
                    _put(archive, _member(stream.name, measure, number), numbers.data.cast("B"))
    return place


def _put(archive: zipfile.ZipFile, name: str, data: bytes | memoryview) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)  # a fixed date: the same flow gives the same bytes
    with archive.open(entry, "w", force_zip64=True) as file:
        file.write(data)


def _member(stream: str, measure: str, layer: int) -> str:
    return f"{stream}/{measure.replace(':', '-of-')}/{layer}.f4"


def _described(flow: Flow) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": flow.title,
        "receipt": flow.receipt.to_dict(),
        "streams": {
            name: {
                "queries": asdict(stream.queries),
                "keys": asdict(stream.keys),
                "layers": stream.layers,
                "heads": stream.heads,
                "measures": list(stream.stored),
                "statistics": list(stream.statistics),
                "aliases": dict(stream.aliases),
            }
            for name, stream in flow.streams.items()
        },
        "charts": [chart.to_dict() for chart in flow.charts],
        "gold": None if flow.gold is None else flow.gold.to_dict(),
    }


def load(path: str | Path) -> Flow:
    """Open a saved flow; needs neither torch nor transformers."""
    place = Path(path)
    try:
        with zipfile.ZipFile(place) as archive:
            _refuse_claims(archive, place)
            plain = _description(archive, place)
            streams = {
                name: _stream(archive, name, described)
                for name, described in plain["streams"].items()
            }
            charts = tuple(Chart.from_dict(chart) for chart in plain.get("charts", ()))
            gold = None if plain.get("gold") is None else Gold.from_dict(plain["gold"])
            receipt = Receipt.from_dict(plain["receipt"])
            return Flow(streams, receipt, plain["title"], charts, gold)
    except FileNotFoundError as error:
        raise BadFile(
            f"There is no file {str(place)!r}.",
            "A file written by flow.save is wanted.",
            "Check the path.",
        ) from error
    except BadFile:
        raise
    except _DAMAGE as error:
        raise BadFile(
            f"{str(place)!r} is not a whole normviz file ({error}).",
            "A file written by flow.save is wanted.",
            "Save the flow again, or fetch the file again: it may have been cut off.",
        ) from error
    except NormvizError as error:
        raise BadFile(
            f"{str(place)!r} contradicts itself: {error.found}",
            error.expected,
            "Save the flow again.",
        ) from error


def _refuse_claims(archive: zipfile.ZipFile, place: Path) -> None:
    """Refuse an archive that says it holds more than the file has, before anything is read."""
    claimed = sum(entry.file_size for entry in archive.infolist())
    size = place.stat().st_size
    if claimed > size:
        raise BadFile(
            f"{str(place)!r} claims to hold {claimed:,} bytes, and has {size:,}.",
            "A file written by flow.save is wanted, which holds its numbers as they are.",
            "Do not trust this file; fetch it again from where it was saved.",
        )


def _description(archive: zipfile.ZipFile, place: Path) -> Mapping[str, Any]:
    names = archive.namelist()
    size = archive.getinfo(DESCRIPTION).file_size if DESCRIPTION in names else 0
    if not 0 < size <= LONGEST_DESCRIPTION:
        raise BadFile(
            f"{str(place)!r} is an archive, but it has no readable {DESCRIPTION}.",
            "A file written by flow.save is wanted.",
            "Check that this is the right file.",
        )
    plain = json.loads(archive.read(DESCRIPTION))
    if plain.get("format") != FORMAT or not isinstance(plain.get("version"), int):
        raise BadFile(
            f"{str(place)!r} says it is {plain.get('format')!r}.",
            f"A {FORMAT!r} is wanted.",
            "Check that this is the right file.",
        )
    if plain["version"] > VERSION:
        raise BadFile(
            f"{str(place)!r} is written in version {plain['version']} of the format.",
            f"This normviz reads up to version {VERSION}.",
            "Update it: pip install --upgrade normviz",
        )
    return plain  # type: ignore[no-any-return]


def _stream(archive: zipfile.ZipFile, name: str, plain: Mapping[str, Any]) -> Stream:
    queries, keys = (_tokens(plain[side]) for side in ("queries", "keys"))
    layers, heads = tuple(plain["layers"]), tuple(plain["heads"])
    sizes = {"head": len(heads), "query": len(queries), "key": len(keys)}
    held: dict[str, Layers] = {}
    for measure in (*plain["measures"], *plain.get("statistics", ())):
        shape = tuple(sizes[axis] for axis in axes_of(measure)[1:])
        held[measure] = Layers(
            _numbers(archive, _member(name, measure, layer), shape) for layer in layers
        )
    readings = {measure: held.pop(measure) for measure in plain.get("statistics", ())}
    same = dict(plain.get("aliases", {}))
    return Stream(name, queries, keys, layers, heads, held, readings, same)  # type: ignore[arg-type]


def _tokens(plain: Mapping[str, list[Any]]) -> Tokens:
    return Tokens(**{column: tuple(values) for column, values in plain.items()})


def _numbers(archive: zipfile.ZipFile, member: str, shape: tuple[int, ...]) -> Array:
    """One layer's numbers; read only if the file really holds as many bytes as they need."""
    entry = archive.getinfo(member)
    wanted = 4 * math.prod(shape)
    stored = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
    if not stored or entry.file_size != wanted:
        message = f"{member} holds {entry.file_size} bytes, and {wanted} are wanted"
        raise ValueError(message)
    return np.frombuffer(archive.read(member), dtype="<f4").reshape(shape).astype(np.float32)
