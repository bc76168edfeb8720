"""A drawing as SVG: vector marks, text as text, sized in centimeters."""

import base64
import re
import struct
import zlib
from html import escape

from normviz.view.figures import Size
from normviz.view.figures.marks import Box, Curve, Drawing, Field, Mark, Text
from normviz.view.figures.picture import Numbers

FONTS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What no XML file may hold."""


def svg(drawing: Drawing, *, width_cm: Size, title: str = "") -> str:
    """The whole file."""
    width, height = drawing.width, drawing.height
    tall = width_cm * height / width
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_round(width_cm)}cm" '
        f'height="{_round(tall)}cm" viewBox="0 0 {_round(width)} {_round(height)}" '
        f'font-family="{FONTS}" role="img">'
    )
    paper = f'<rect width="100%" height="100%" fill="{drawing.palette.paper}"/>'
    parts = [head, f"<title>{_text(title)}</title>", paper, *map(_mark, drawing.marks), "</svg>"]
    return "\n".join(parts) + "\n"


def _mark(mark: Mark) -> str:
    match mark:
        case Text():
            return _line(mark)
        case Curve(points=(x, y, to_x, to_y)):
            bend = (x + to_x) / 2
            path = " ".join(map(_round, (bend, y, bend, to_y, to_x, to_y)))
            return (
                f'<path d="M{_round(x)} {_round(y)} C{path}" fill="none" stroke="{mark.color}" '
                f'stroke-width="{mark.width:.3g}"{_opacity(mark.opacity, "stroke-")}/>'
            )
        case Box():
            sizes = zip(
                ("x", "y", "width", "height"),
                (mark.x, mark.y, mark.width, mark.height),
                strict=True,
            )
            attributes = " ".join(f'{name}="{_round(size)}"' for name, size in sizes)
            return f'<rect {attributes} fill="{mark.color}"{_opacity(mark.opacity)}/>'
        case Field():
            data = base64.b64encode(png(mark.cells)).decode("ascii")
            return (
                f'<image x="{_round(mark.x)}" y="{_round(mark.y)}" width="{_round(mark.width)}" '
                f'height="{_round(mark.height)}" preserveAspectRatio="none" '
                f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
            )


def _line(mark: Text) -> str:
    turned = f' transform="rotate(-90 {_round(mark.x)} {_round(mark.y)})"' if mark.turned else ""
    bold = ' font-weight="bold"' if mark.bold else ""
    anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
    return (
        f'<text x="{_round(mark.x)}" y="{_round(mark.y)}" font-size="{_round(mark.size)}"'
        f'{anchor}{bold} fill="{mark.color}"{_opacity(mark.opacity)}{turned}>'
        f"{_text(mark.text)}</text>"
    )


def _opacity(part: Size, prefix: str = "") -> str:
    return "" if part == 1 else f' {prefix}opacity="{_round(part)}"'


def _round(number: Size) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    return escape(FORBIDDEN.sub("\ufffd", text), quote=True)


def png(cells: Numbers) -> bytes:
    """An 8-bit picture [row column channel] as a PNG file."""
    rows, columns, _ = cells.shape
    raw = b"".join(b"\x00" + row.tobytes() for row in cells)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + check
