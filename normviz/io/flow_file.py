"""Flows in files: one zip archive with a description in JSON and the numbers as raw bytes.

The file holds no code, and nothing in it is trusted: sizes are checked against the file before
memory is allocated. The archive is written to a temporary file and moved to its path when complete.
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
VERSION = 3
DESCRIPTION = "flow.json"
MAX_DESCRIPTION_BYTES = 64 * 2**20
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
"""What reading a damaged archive can raise."""


def save(flow: Flow, path: str | Path) -> Path:
    """Write a flow to a file; an older file stays intact until the new one is complete."""
    target = Path(path)
    with atomic_file(target) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        _put(archive, DESCRIPTION, json.dumps(_describe(flow), ensure_ascii=False).encode())
        for stream in flow.streams.values():
            for measure, layers in (*stream.stored.items(), *stream.statistics.items()):
                for number, array in zip(stream.layers, layers, strict=True):
                    numbers = np.ascontiguousarray(array, dtype="<f4")
                    _put(archive, _member(stream.name, measure, number), numbers.data.cast("B"))
    return target


def _put(archive: zipfile.ZipFile, name: str, data: bytes | memoryview) -> None:
    entry = zipfile.ZipInfo(
        name, _EPOCH
    )  # a fixed date, so that the same flow gives the same bytes
    with archive.open(entry, "w", force_zip64=True) as file:
        file.write(data)


def _member(stream: str, measure: str, layer: int) -> str:
    return f"{stream}/{measure.replace(':', '-of-')}/{layer}.f4"


def _describe(flow: Flow) -> dict[str, Any]:
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
                "kind": stream.kind,
                "other_layers": dict(stream.other_layers),
                "interruption": stream.interruption,
            }
            for name, stream in flow.streams.items()
        },
        "charts": [chart.to_dict() for chart in flow.charts],
        "gold": None if flow.gold is None else flow.gold.to_dict(),
    }


def load(path: str | Path) -> Flow:
    """Open a saved flow; needs neither torch nor transformers."""
    source = Path(path)
    try:
        with zipfile.ZipFile(source) as archive:
            _check_sizes(archive, source)
            plain = _read_description(archive, source)
            streams = {
                name: _read_stream(archive, name, described)
                for name, described in plain["streams"].items()
            }
            charts = tuple(Chart.from_dict(chart) for chart in plain.get("charts", ()))
            gold = None if plain.get("gold") is None else Gold.from_dict(plain["gold"])
            receipt = Receipt.from_dict(plain["receipt"])
            return Flow(streams, receipt, plain["title"], charts, gold)
    except FileNotFoundError as error:
        raise BadFile(
            f"There is no file {str(source)!r}.",
            "Expected a file written by flow.save.",
            "Check the path.",
        ) from error
    except BadFile:
        raise
    except _DAMAGE as error:
        raise BadFile(
            f"{str(source)!r} is not a whole normviz file ({error}).",
            "Expected a file written by flow.save.",
            "Save the flow again, or download the file again: it may have been cut off.",
        ) from error
    except NormvizError as error:
        raise BadFile(
            f"{str(source)!r} contradicts itself: {error.found}",
            error.expected,
            "Save the flow again.",
        ) from error


def _check_sizes(archive: zipfile.ZipFile, source: Path) -> None:
    """Refuse an archive that claims to hold more bytes than the file has, before reading it."""
    claimed = sum(entry.file_size for entry in archive.infolist())
    size = source.stat().st_size
    if claimed > size:
        raise BadFile(
            f"{str(source)!r} claims to hold {claimed:,} bytes, and has {size:,}.",
            "Expected a file written by flow.save, which stores its numbers uncompressed.",
            "Do not trust this file; download it again from where it was saved.",
        )


def _read_description(archive: zipfile.ZipFile, source: Path) -> Mapping[str, Any]:
    names = archive.namelist()
    size = archive.getinfo(DESCRIPTION).file_size if DESCRIPTION in names else 0
    if not 0 < size <= MAX_DESCRIPTION_BYTES:
        raise BadFile(
            f"{str(source)!r} is an archive, but it has no readable {DESCRIPTION}.",
            "Expected a file written by flow.save.",
            "Check that this is the right file.",
        )
    plain = json.loads(archive.read(DESCRIPTION))
    if plain.get("format") != FORMAT or not isinstance(plain.get("version"), int):
        raise BadFile(
            f"{str(source)!r} has the format {plain.get('format')!r}.",
            f"Expected {FORMAT!r}.",
            "Check that this is the right file.",
        )
    if plain["version"] != VERSION:
        newer = plain["version"] > VERSION
        raise BadFile(
            f"{str(source)!r} uses version {plain['version']} of the format.",
            f"This normviz reads version {VERSION}.",
            "Update it: pip install --upgrade normviz"
            if newer
            else "Analyze the text again, and save the new flow.",
        )
    return plain  # type: ignore[no-any-return]


def _read_stream(archive: zipfile.ZipFile, name: str, plain: Mapping[str, Any]) -> Stream:
    queries, keys = (_parse_tokens(plain[role]) for role in ("queries", "keys"))
    layers, heads = tuple(plain["layers"]), tuple(plain["heads"])
    sizes = {"head": len(heads), "query": len(queries), "key": len(keys)}
    held: dict[str, Layers] = {}
    for measure in (*plain["measures"], *plain.get("statistics", ())):
        shape = tuple(sizes[axis] for axis in axes_of(measure)[1:])
        held[measure] = Layers(
            _read_numbers(archive, _member(name, measure, layer), shape) for layer in layers
        )
    statistics = {measure: held.pop(measure) for measure in plain.get("statistics", ())}
    aliases = dict(plain.get("aliases", {}))
    others = {int(number): content for number, content in plain["other_layers"].items()}
    return Stream(
        name,
        queries,
        keys,
        layers,
        heads,
        held,
        statistics,
        aliases,
        plain["kind"],
        others,
        plain["interruption"],
    )


def _parse_tokens(plain: Mapping[str, list[Any]]) -> Tokens:
    return Tokens(**{column: tuple(values) for column, values in plain.items()})


def _read_numbers(archive: zipfile.ZipFile, member: str, shape: tuple[int, ...]) -> Array:
    """Return the numbers of one layer; refuse them if the file holds another number of bytes."""
    entry = archive.getinfo(member)
    expected = 4 * math.prod(shape)
    stored = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
    if not stored or entry.file_size != expected:
        message = f"{member} holds {entry.file_size} bytes instead of {expected}"
        raise ValueError(message)
    return np.frombuffer(archive.read(member), dtype="<f4").reshape(shape).astype(np.float32)
