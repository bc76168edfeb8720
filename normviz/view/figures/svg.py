"""A drawing as SVG: vector marks, text as text, sized in centimeters."""

import base64
import re
import struct
import zlib
from html import escape
from itertools import groupby

from normviz.view.figures import Size
from normviz.view.figures.marks import Box, Curve, Drawing, Heatmap, Line, Mark, Text
from normviz.view.figures.picture import Numbers

FONTS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML file may hold."""


def svg_text(drawing: Drawing, *, width_cm: Size, title: str = "") -> str:
    """Return a drawing as the text of an SVG file."""
    width, height = drawing.width, drawing.height
    height_cm = width_cm * height / width
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_round(width_cm)}cm" '
        f'height="{_round(height_cm)}cm" viewBox="0 0 {_round(width)} {_round(height)}" '
        f'font-family="{FONTS}" role="img">'
    )
    background = f'<rect width="100%" height="100%" fill="{drawing.palette.paper}"/>'
    marks = map(_mark_element, drawing.marks)
    lines = [head, f"<title>{_escape(title)}</title>", background, *marks, "</svg>"]
    return "\n".join(lines) + "\n"


def _mark_element(mark: Mark) -> str:
    match mark:
        case Text():
            return _text_element(mark)
        case Curve(points=(x, y, to_x, to_y)):
            (bend_x, bend_y), (far_x, far_y) = mark.bends
            path = " ".join(map(_round, (bend_x, bend_y, far_x, far_y, to_x, to_y)))
            return (
                f'<path d="M{_round(x)} {_round(y)} C{path}" fill="none" stroke="{mark.color}" '
                f'stroke-width="{mark.width:.3g}"{_dashes(mark)}'
                f"{_opacity(mark.opacity, 'stroke-')}/>"
            )
        case Line():
            points = " ".join(f"{_round(x)},{_round(y)}" for x, y in mark.points)
            kind = "polyline" if mark.fill is None else "polygon"
            return (
                f'<{kind} points="{points}" fill="{mark.fill or "none"}" stroke="{mark.color}" '
                f'stroke-width="{mark.width:.3g}"{_dashes(mark)}{_opacity(mark.opacity)}/>'
            )
        case Box():
            sizes = zip(
                ("x", "y", "width", "height"),
                (mark.x, mark.y, mark.width, mark.height),
                strict=True,
            )
            attributes = " ".join(f'{name}="{_round(size)}"' for name, size in sizes)
            return f'<rect {attributes} fill="{mark.color}"{_opacity(mark.opacity)}/>'
        case Heatmap():
            return _image_element(mark) if mark.is_large else _cells_element(mark)


def _image_element(mark: Heatmap) -> str:
    data = base64.b64encode(encode_png(mark.magnify())).decode("ascii")
    return (
        f'<image x="{_round(mark.x)}" y="{_round(mark.y)}" width="{_round(mark.width)}" '
        f'height="{_round(mark.height)}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )


def _cells_element(mark: Heatmap) -> str:
    """Return the cells as one path for each color, without seams between neighbors."""
    rows, columns, _ = mark.cells.shape
    wide, tall = mark.width / columns, mark.height / rows
    paths: dict[str, list[str]] = {}
    for row, colors in enumerate(mark.cells.tolist()):
        column = 0
        for color, run in groupby(colors):
            length = len(list(run))
            x, y = _round(mark.x + column * wide), _round(mark.y + row * tall)
            across = _round(length * wide)
            path = f"M{x} {y}h{across}v{_round(tall)}h-{across}z"
            paths.setdefault("#{:02x}{:02x}{:02x}".format(*color), []).append(path)
            column += length
    cells = "".join(f'<path fill="{color}" d="{"".join(d)}"/>' for color, d in paths.items())
    return f'<g shape-rendering="crispEdges">{cells}</g>'


def _dashes(mark: Curve | Line) -> str:
    return ' stroke-dasharray="5 3"' if mark.dashed else ""


def _text_element(mark: Text) -> str:
    rotation = f' transform="rotate(-90 {_round(mark.x)} {_round(mark.y)})"' if mark.rotated else ""
    bold = ' font-weight="bold"' if mark.bold else ""
    anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
    return (
        f'<text x="{_round(mark.x)}" y="{_round(mark.y)}" font-size="{_round(mark.size)}"'
        f'{anchor}{bold} fill="{mark.color}"{_opacity(mark.opacity)}{rotation}>'
        f"{_escape(mark.text)}</text>"
    )


def _opacity(opacity: Size, prefix: str = "") -> str:
    return "" if opacity == 1 else f' {prefix}opacity="{_round(opacity)}"'


def _round(number: Size) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _escape(text: str) -> str:
    return escape(FORBIDDEN.sub("\ufffd", text), quote=True)


def encode_png(cells: Numbers) -> bytes:
    """Return an 8-bit picture [row column channel] as the bytes of a PNG file."""
    rows, columns, _ = cells.shape
    raw = b"".join(b"\x00" + row.tobytes() for row in cells)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(*chunk) for chunk in chunks)


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + check
