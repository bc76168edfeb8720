"""The view in one file: opened from disk, with no kernel and no network."""

import base64
import gzip
import hashlib
import html
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.errors import NormvizError, UnknownName
from normviz.system.files import atomic_file
from normviz.view.assets import bundle
from normviz.view.bounds import checked_size
from normviz.view.encoding import PRECISIONS
from normviz.view.payload import pack
from normviz.view.state import BadChoice, resolve, split

STILL_RIBBONS = 800
LONGEST_STILL = 800
"""A still picture beside a widget stays small: so many ribbons, of texts of so many tokens."""

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
{hosts}
<script>{script}</script>
</body>
</html>
"""

HOST = """<main class="normviz-snapshot">
<noscript>This picture is drawn by JavaScript, which is switched off here.</noscript>
<script type="application/json">{header}</script>
<script type="text/plain">{data}</script>
</main>"""


def to_html(
    flows: Flow | Sequence[Flow],
    path: str | os.PathLike[str],
    *,
    precision: Any = "log16",
    max_mb: Any = None,
    **choice: Any,
) -> Path:
    """Write the view of a flow, or of several, to one self-contained file.

    Parameters
    ----------
    flows
        One flow, or several to be shown one below the other. To put two side by side, give one
        of them as `compare`.
    path
        Where to write; returned as a `Path`. The same flows give the same bytes.
    precision
        `log16` keeps every number within 0.2%, `float32` keeps all bits, `uint8` makes small
        files. The receipt in the file says which.
    max_mb
        The largest file wanted, in megabytes. What does not fit is left out layer by layer, the
        furthest from the chosen layer first, and the file says so.
    **choice
        What the view opens with, as for `flow.widget`.
    """
    return written(page(flows, precision=precision, max_mb=max_mb, **choice), path)


def written(content: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file, whole or not at all."""
    target = Path(path)
    with atomic_file(target) as unfinished:
        unfinished.write_bytes(content.encode("ascii"))
    return target


def page(
    flows: Flow | Sequence[Flow],
    *,
    precision: Any = "log16",
    max_mb: Any = None,
    **choice: Any,
) -> str:
    """The view of flows as an HTML page in plain ASCII that loads nothing from anywhere."""
    every = (flows,) if isinstance(flows, Flow) else tuple(flows)
    if not every:
        raise UnknownName(
            "There is no flow to show.",
            "At least one is wanted.",
            "Give a flow, or a list of flows.",
        )
    require_known(precision, PRECISIONS, "precision")
    budget = None if max_mb is None else checked_size("max_mb", max_mb)
    hosts = [_host(flow, precision, choice) for flow in every]
    whole = _page(every, hosts)
    if budget is None or len(whole) <= budget * 1e6:
        return whole
    return _fitted(every, precision, choice, budget)


def _page(flows: Sequence[Flow], hosts: Sequence[str]) -> str:
    first = flows[0].title or flows[0].receipt.model
    more = f" and {len(flows) - 1} more" if len(flows) > 1 else ""
    return document(f"normviz: {first}{more}", hosts)


def document(title: str, hosts: Sequence[str]) -> str:
    """A whole page around what it shows, with a policy that lets in nothing else."""
    script = _ascii(bundle("standalone.js"))
    style = _ascii(bundle("widget.css"))
    return PAGE.format(
        policy=f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        title=as_text(title),
        style=style,
        hosts="\n".join(hosts),
        script=script,
    )


def _host(flow: Flow, precision: str, choice: dict[str, Any], note: str = "") -> str:
    chosen, others = split(choice)
    first = resolve(flow, chosen)
    payload = pack(flow, *others, precision=precision)
    for about in payload.header["flows"]:
        about["note"] = note
    packed = gzip.compress(payload.data, compresslevel=9, mtime=0)
    return HOST.format(
        header=data_block({"header": payload.header, "choice": first}),
        data=base64.b64encode(packed).decode("ascii"),
    )


def _fitted(flows: Sequence[Flow], precision: str, choice: dict[str, Any], max_mb: float) -> str:
    """The page with as many layers as fit, those nearest to the chosen layer."""
    most = max(len(stream.layers) for flow in flows for stream in flow.streams.values())
    low, high, best = 1, most - 1, ""
    while low <= high:
        count = (low + high) // 2
        hosts = [_with_layers(flow, count, precision, choice, max_mb) for flow in flows]
        found = _page(flows, hosts)
        fits = len(found) <= max_mb * 1e6
        best = found if fits else best
        low, high = (count + 1, high) if fits else (low, count - 1)
    if not best:
        least = len(_page(flows, [_with_layers(f, 1, precision, choice, max_mb) for f in flows]))
        raise BadChoice(
            f"With one layer the file is {least / 1e6:.2g} MB.",
            f"At most {max_mb:g} MB are wanted.",
            'Allow more, shorten the text, or choose precision="uint8".',
        )
    return best


def _with_layers(
    flow: Flow, count: int, precision: str, choice: dict[str, Any], max_mb: float
) -> str:
    chosen, others = split(choice)
    middle = resolve(flow, chosen)["layer"]
    kept, left = flow.nearest_layers(middle, count)
    fewer = {
        **choice,
        **({"compare": others[0].nearest_layers(middle, count)[0]} if others else {}),
    }
    compare = fewer.get("compare")
    if isinstance(compare, int) and compare in left:
        fewer["compare"] = None
    names = ", ".join(map(str, left))
    note = f"Left out to keep the file within {max_mb:g} MB: layers {names}." if left else ""
    return _host(kept, precision, fewer, note)


def static() -> bool:
    """Whether NORMVIZ_STATIC asks for pages in frames in place of widgets."""
    return bool(os.environ.get("NORMVIZ_STATIC"))


def mimebundle(flow: Flow) -> dict[str, Any]:
    """A flow for a notebook: the widget with a still picture beside it; or why there is none.

    Where the widget is a page in a frame (see `FlowWidget`), so is the flow.
    """
    plain = {"text/plain": repr(flow)}
    if static():
        from normviz.view.display import frame

        return {**plain, "text/html": frame(flow).html}
    try:
        from normviz.view.widget import FlowWidget

        shown, _ = FlowWidget(flow)._repr_mimebundle_()
    except (ImportError, NormvizError) as reason:
        return {"text/plain": f"{plain['text/plain']}\n  (no picture: {reason})"}
    still = {} if "text/html" in shown else _still(flow)
    return {**shown, **still, **plain}


def _still(flow: Flow) -> dict[str, Any]:
    """A small picture of the flow, for places that keep outputs but have no widgets."""
    from normviz.view.figures.files import svg_of

    if max(len(s.queries) + len(s.keys) for s in flow.streams.values()) > LONGEST_STILL:
        return {}
    return {"image/svg+xml": svg_of(flow, most=STILL_RIBBONS)}


def _ascii(path: Path) -> str:
    return path.read_text(encoding="ascii").strip()


def as_text(line: str) -> str:
    """A line that a page shows as it is, even half of a surrogate pair."""
    return html.escape(line).encode("ascii", "xmlcharrefreplace").decode("ascii")


def data_block(plain: dict[str, Any]) -> str:
    """JSON that no token can break out of: nothing in it looks like a tag."""
    text = json.dumps(plain, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(code: str) -> str:
    """The one inline block that the page's policy lets in."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode('ascii')).digest()).decode()}'"
