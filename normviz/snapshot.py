"""The view in one file: opened from disk, with no kernel and no network."""

import base64
import gzip
import hashlib
import html
import json
import os
from pathlib import Path
from typing import Any

from normviz.bundle import bundle
from normviz.choice import resolve, split
from normviz.errors import NormvizError
from normviz.files import atomically
from normviz.flow import Flow
from normviz.payload import pack

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
<main class="normviz-snapshot">
<noscript>This picture is drawn by JavaScript, which is switched off here.</noscript>
<script type="application/json">{header}</script>
<script type="text/plain">{data}</script>
</main>
<script>{script}</script>
</body>
</html>
"""


def to_html(
    flow: Flow, path: str | os.PathLike[str], *, precision: str = "log16", **choice: Any
) -> Path:
    """Write the view of a flow to one self-contained file, the same bytes for the same flow."""
    target = Path(path)
    content = page(flow, precision=precision, **choice).encode("ascii")
    with atomically(target) as unfinished:
        unfinished.write_bytes(content)
    return target


def page(flow: Flow, *, precision: str = "log16", **choice: Any) -> str:
    """The view of a flow as an HTML page in plain ASCII that loads nothing from anywhere."""
    choice, others = split(choice)
    first = resolve(flow, choice)
    payload = pack(flow, *others, precision=precision)
    script = _ascii(bundle("standalone.js"))
    style = _ascii(bundle("widget.css"))
    packed = gzip.compress(payload.data, compresslevel=9, mtime=0)
    return PAGE.format(
        policy=f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'",
        title=as_text(f"normviz: {flow.title or flow.receipt.model}"),
        style=style,
        header=_data_block({"header": payload.header, "choice": first}),
        data=base64.b64encode(packed).decode("ascii"),
        script=script,
    )


def mimebundle(flow: Flow) -> dict[str, Any]:
    """A flow for a notebook: the widget, and plain text wherever there can be no widget."""
    plain = {"text/plain": repr(flow)}
    try:
        from normviz.widget import FlowWidget

        shown = FlowWidget(flow)._repr_mimebundle_()
    except (ImportError, NormvizError) as reason:
        return {"text/plain": f"{plain['text/plain']}\n  (no picture: {reason})"}
    return {**shown[0], **plain} if shown else plain


def _ascii(path: Path) -> str:
    return path.read_text(encoding="ascii").strip()


def as_text(line: str) -> str:
    """A line that a page shows as it is, even half of a surrogate pair."""
    return html.escape(line).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _data_block(plain: dict[str, Any]) -> str:
    """JSON that no token can break out of: nothing in it looks like a tag."""
    text = json.dumps(plain, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(code: str) -> str:
    """The one inline block that the page's policy lets in."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode('ascii')).digest()).decode()}'"
