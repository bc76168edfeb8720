"""A drawing on matplotlib axes, and as PNG or PDF."""

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from normviz.system.optional import require_packages
from normviz.view.figures import Size
from normviz.view.figures.marks import Box, Curve, Drawing, Heatmap, Line, Mark, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALIGNMENTS = {"start": "left", "middle": "center", "end": "right"}
INCH = 2.54
DASHES = (5, 3)
PDF_FONTS: dict[Any, int] = {"pdf.fonttype": 42}
"""Fonts in a PDF as outlines (TrueType), which publishers accept, so that text stays text."""


def draw_on_axes(drawing: Drawing, ax: "Axes | None" = None, *, width_cm: Size) -> "Axes":
    """Draw on axes, by default new ones in a figure of this width, and return them."""
    with require_packages("matplotlib", extra="figures"):
        from matplotlib.figure import Figure

    if ax is None:
        size = (width_cm / INCH, width_cm / INCH * drawing.height / drawing.width)
        figure = Figure(figsize=size, facecolor=drawing.palette.paper)
        ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, drawing.width)
    ax.set_ylim(drawing.height, 0)
    ax.set_aspect("equal")
    ax.axis("off")
    points = _points_per_pixel(ax, drawing)
    for mark in drawing.marks:
        _draw_mark(ax, mark, points)
    return ax


def _points_per_pixel(ax: "Axes", drawing: Drawing) -> Size:
    """Return the points of paper for one pixel of the drawing, at the present size of the axes."""
    figure = ax.get_figure(root=True)
    if figure is None:
        return 1.0
    box = ax.get_position()
    width, height = figure.get_size_inches()
    inches = min(box.width * width / drawing.width, box.height * height / drawing.height)
    return float(inches * 72)


def _draw_mark(ax: "Axes", mark: Mark, points: Size) -> None:
    from matplotlib.patches import PathPatch, Polygon, Rectangle
    from matplotlib.path import Path

    match mark:
        case Text():
            ax.text(
                mark.x, mark.y, _writable(mark.text), fontsize=mark.size * points, color=mark.color,
                ha=ALIGNMENTS[mark.anchor], va="baseline", alpha=mark.opacity,
                fontweight="bold" if mark.bold else "normal",
                rotation=90 if mark.rotated else 0, rotation_mode="anchor", parse_math=False,
            )  # fmt: skip
        case Curve(points=(x, y, to_x, to_y)):
            corners = [(x, y), *mark.bends, (to_x, to_y)]
            codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
            style = _stroke_style(mark, points) | {"fill": False, "antialiased": True}
            ax.add_patch(PathPatch(Path(corners, codes), **style))
        case Line(fill=None):
            path = Path(list(mark.points))
            ax.add_patch(PathPatch(path, fill=False, **_stroke_style(mark, points)))
        case Line():
            style = _stroke_style(mark, points) | {"facecolor": mark.fill}
            ax.add_patch(Polygon(list(mark.points), closed=True, **style))
        case Box():
            size = (mark.width, mark.height)
            ax.add_patch(
                Rectangle((mark.x, mark.y), *size, color=mark.color, alpha=mark.opacity, lw=0)
            )
        case Heatmap():
            _draw_cells(ax, mark, points)


def _stroke_style(mark: Curve | Line, points: Size) -> dict[str, Any]:
    width = mark.width * points
    style = {"edgecolor": mark.color, "lw": width, "alpha": mark.opacity, "capstyle": "butt"}
    # matplotlib counts dashes in widths of the line.
    dashes = tuple(length / mark.width for length in DASHES)
    return style | ({"linestyle": (0, dashes)} if mark.dashed else {})


def _draw_cells(ax: "Axes", mark: Heatmap, points: Size) -> None:
    """Draw cells as vectors, or where they are too many as a picture that nothing can blur."""
    rows, columns, _ = mark.cells.shape
    if mark.is_large:
        across, down = (mark.x, mark.x + mark.width), (mark.y + mark.height, mark.y)
        ax.imshow(mark.magnify(), extent=(*across, *down), interpolation="none", aspect="auto")
    else:
        x = np.linspace(mark.x, mark.x + mark.width, columns + 1)
        y = np.linspace(mark.y, mark.y + mark.height, rows + 1)
        # A thin edge of its own color lets no paper shine through between two cells.
        ax.pcolormesh(x, y, mark.cells, edgecolors="face", linewidth=0.2 * points)
    ax.set_aspect("equal")


def _writable(text: str) -> str:
    """Return a line without the characters that no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def render_png(drawing: Drawing, *, width_cm: Size, dpi: Size) -> bytes:
    """Return the drawing as the bytes of a PNG file."""
    return _render(drawing, width_cm, format="png", dpi=dpi, metadata={"Software": "normviz"})


def render_pdf(drawing: Drawing, *, width_cm: Size, title: str = "") -> bytes:
    """Return the drawing as the bytes of a PDF file, the same bytes for the same drawing."""
    about = {"Title": _writable(title), "Creator": "normviz", "CreationDate": None}
    with require_packages("matplotlib", extra="figures"):
        from matplotlib import rc_context
    with rc_context(PDF_FONTS):
        return _render(drawing, width_cm, format="pdf", metadata=about)


def _render(drawing: Drawing, width_cm: Size, **options: Any) -> bytes:
    figure = draw_on_axes(drawing, width_cm=width_cm).get_figure(root=True)
    target = BytesIO()
    if figure is not None:
        figure.savefig(target, **options)
    return target.getvalue()
