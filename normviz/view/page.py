"""The view as one HTML file: opened from disk, with no kernel and no network."""

import base64
import gzip
import hashlib
import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Unpack

from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.errors import UnknownName
from normviz.system.files import atomic_file
from normviz.view.assets import asset_path
from normviz.view.bounds import require_size
from normviz.view.encoding import PRECISIONS
from normviz.view.payload import pack
from normviz.view.state import (
    BadChoice,
    PageOptions,
    ViewOptions,
    require_options,
    resolve_state,
    split_flows,
)

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{elements}
<script>{script}</script>
</body>
</html>
"""

ELEMENT = """<main class="normviz-snapshot">
<noscript>This picture is drawn by JavaScript, which is switched off here.</noscript>
<script type="application/json">{header}</script>
<script type="text/plain">{data}</script>
</main>"""


def to_html(
    flows: Flow | Sequence[Flow], path: str | os.PathLike[str], **options: Unpack[PageOptions]
) -> Path:
    """Write the view of a flow, or of several, to one self-contained file.

    Parameters
    ----------
    flows
        One flow, or several to be shown one below the other. To put two side by side, pass one
        of them as `compare`.
    path
        Where to write; returned as a `Path`. The same flows give the same bytes.
    **options
        What the view opens with, as for `flow.widget`; and

        `precision`: `log16` (the default) keeps every number within 0.2%, `float32` keeps all
        bits, `uint8` makes small files. The receipt in the file says which.

        `max_mb`: the largest file allowed, in megabytes. What does not fit is left out layer by
        layer, the furthest from the chosen layer first, and the file says so.
    """
    return write_page(build_page(flows, **options), path)


def write_page(content: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file, whole or not at all, and return its path."""
    target = Path(path)
    with atomic_file(target) as unfinished:
        unfinished.write_bytes(content.encode("ascii"))
    return target


def build_page(flows: Flow | Sequence[Flow], **options: Unpack[PageOptions]) -> str:
    """Return the view of flows as an HTML page in plain ASCII that loads nothing else."""
    require_options("to_html", options, PageOptions.__annotations__)
    all_flows = (flows,) if isinstance(flows, Flow) else tuple(flows)
    if not all_flows:
        raise UnknownName(
            "There is no flow to show.",
            "Expected at least one.",
            "Pass a flow, or a list of flows.",
        )
    precision = options.pop("precision", "log16")
    require_known(precision, PRECISIONS, "precision")
    max_mb = options.pop("max_mb", None)
    budget = None if max_mb is None else require_size("max_mb", max_mb)
    elements = [_build_element(flow, precision, options) for flow in all_flows]
    page = _join_elements(all_flows, elements)
    if budget is None or len(page) <= budget * 1e6:
        return page
    return _fit_to_budget(all_flows, precision, options, budget)


def _join_elements(flows: Sequence[Flow], elements: Sequence[str]) -> str:
    first = flows[0].title or flows[0].receipt.model
    more = f" and {len(flows) - 1} more" if len(flows) > 1 else ""
    return build_document(f"normviz: {first}{more}", elements)


def build_document(title: str, elements: Sequence[str]) -> str:
    """Return a whole page around its elements, with a policy that admits nothing else."""
    script = _read_asset("standalone.js")
    style = _read_asset("widget.css")
    return PAGE.format(
        policy=f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        title=escape_text(title),
        style=style,
        elements="\n".join(elements),
        script=script,
    )


def _build_element(flow: Flow, precision: str, options: ViewOptions, note: str = "") -> str:
    """Return the HTML element that holds one flow: its header, state and numbers."""
    flows, options = split_flows(flow, options)
    state = resolve_state(flow, options)
    payload = pack(*flows, precision=precision)
    for described in payload.header["flows"]:
        described["note"] = note
    compressed = gzip.compress(payload.data, compresslevel=9, mtime=0)
    return ELEMENT.format(
        header=json_block({"header": payload.header, "state": asdict(state)}),
        data=base64.b64encode(compressed).decode("ascii"),
    )


def _fit_to_budget(
    flows: Sequence[Flow], precision: str, options: ViewOptions, max_mb: float
) -> str:
    """Return the page with as many layers as fit, those nearest to the chosen layer."""

    def with_layers(count: int) -> str:
        elements = [_build_with_layers(f, count, precision, options, max_mb) for f in flows]
        return _join_elements(flows, elements)

    most_layers = max(len(stream.layers) for flow in flows for stream in flow.streams.values())
    low, high, best = 1, most_layers - 1, ""
    while low <= high:
        count = (low + high) // 2
        page = with_layers(count)
        fits = len(page) <= max_mb * 1e6
        best = page if fits else best
        low, high = (count + 1, high) if fits else (low, count - 1)
    if not best:
        raise BadChoice(
            f"With one layer the file is {len(with_layers(1)) / 1e6:.2g} MB.",
            f"Expected at most {max_mb:g} MB.",
            'Allow more, shorten the text, or choose precision="uint8".',
        )
    return best


def _build_with_layers(
    flow: Flow, count: int, precision: str, options: ViewOptions, max_mb: float
) -> str:
    """Return the element of a flow with only so many layers, and a note on those left out."""
    flows, single = split_flows(flow, options)
    center = resolve_state(flow, single).layer
    kept, left_out = flow.nearest_layers(center, count)
    compare = options.get("compare")
    if len(flows) > 1:
        options = {**options, "compare": flows[1].nearest_layers(center, count)[0]}
    elif isinstance(compare, int) and compare in left_out:
        options = {**options, "compare": None}
    names = ", ".join(map(str, left_out))
    note = f"Left out to keep the file within {max_mb:g} MB: layers {names}." if left_out else ""
    return _build_element(kept, precision, options, note)


def _read_asset(name: str) -> str:
    return asset_path(name).read_text(encoding="ascii").strip()


def escape_text(line: str) -> str:
    """Return a line as ASCII markup that shows it as it is, even half of a surrogate pair."""
    return html.escape(line).encode("ascii", "xmlcharrefreplace").decode("ascii")


def json_block(plain: Mapping[str, object]) -> str:
    """Return JSON that no token can break out of: nothing in it looks like a tag."""
    text = json.dumps(plain, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(code: str) -> str:
    """Return the hash by which the page's policy admits an inline block."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode('ascii')).digest()).decode()}'"
