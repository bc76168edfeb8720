"""A drawing on matplotlib axes, and as PNG."""

from io import BytesIO
from typing import TYPE_CHECKING, Any

from normviz.system.optional import require_packages
from normviz.view.figures import Size
from normviz.view.figures.marks import Box, Curve, Drawing, Heatmap, Mark, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALIGNMENTS = {"start": "left", "end": "right"}
INCH = 2.54


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
    from matplotlib.patches import PathPatch, Rectangle
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
            bend = (x + to_x) / 2
            corners = [(x, y), (bend, y), (bend, to_y), (to_x, to_y)]
            codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
            style: dict[str, Any] = {"fill": False, "capstyle": "butt", "antialiased": True}
            width = mark.width * points
            path = Path(corners, codes)
            ax.add_patch(
                PathPatch(path, edgecolor=mark.color, lw=width, alpha=mark.opacity, **style)
            )
        case Box():
            size = (mark.width, mark.height)
            ax.add_patch(
                Rectangle((mark.x, mark.y), *size, color=mark.color, alpha=mark.opacity, lw=0)
            )
        case Heatmap():
            across, down = (mark.x, mark.x + mark.width), (mark.y + mark.height, mark.y)
            ax.imshow(mark.cells, extent=(*across, *down), interpolation="nearest", aspect="auto")
            ax.set_aspect("equal")


def _writable(text: str) -> str:
    """Return a line without the characters that no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def render_png(drawing: Drawing, *, width_cm: Size, dpi: Size) -> bytes:
    """Return the drawing as the bytes of a PNG file."""
    figure = draw_on_axes(drawing, width_cm=width_cm).get_figure(root=True)
    target = BytesIO()
    if figure is not None:
        figure.savefig(target, format="png", dpi=dpi, metadata={"Software": "normviz"})
    return target.getvalue()
