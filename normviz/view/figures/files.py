"""Figures in files: SVG with nothing but numpy, PNG and axes with matplotlib."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from normviz.core.flow import Flow
from normviz.system.files import atomic_file
from normviz.view.bounds import bounded_dots, checked_size
from normviz.view.figures import Size
from normviz.view.figures.drawing import drawing
from normviz.view.figures.geometry import LIMIT
from normviz.view.figures.marks import Drawing
from normviz.view.figures.picture import panes
from normviz.view.state import BadChoice, resolve, split, yes_or_no

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN = 8.5
"""The width of a column in a paper, in centimeters; two panes take two columns."""


def drawing_of(flow: Flow, *, legend: Any = True, most: int = LIMIT, **choice: Any) -> Drawing:
    """The drawing of a choice; light, unless the choice says dark."""
    yes_or_no(legend, "legend")
    chosen, others = split(choice)
    first = resolve(flow, chosen)
    if first["compare"] == "other" and not others:
        raise BadChoice(
            "There is no other flow here.",
            "Another flow is wanted.",
            "Give it: flow.to_svg(path, compare=other).",
        )
    found = panes(flow, first, *others)
    return drawing(found, first["view"], first["theme"], legend=legend, most=most)


def _wide(sheet: Drawing, width_cm: Any) -> Size:
    if width_cm is None:
        return COLUMN * (2 if sheet.panes > 1 else 1)
    return checked_size("width_cm", width_cm)


def svg_of(flow: Flow, *, width_cm: Any = None, **choice: Any) -> str:
    """A flow as the text of an SVG file."""
    from normviz.view.figures.svg import svg

    sheet = drawing_of(flow, **choice)
    return svg(sheet, width_cm=_wide(sheet, width_cm), title=flow.title or flow.receipt.model)


def to_svg(flow: Flow, path: str | Path, *, width_cm: Any = None, **choice: Any) -> Path:
    """Write a figure as SVG."""
    text = svg_of(flow, width_cm=width_cm, **choice)
    with atomic_file(Path(path)) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return Path(path)


def to_png(
    flow: Flow,
    path: str | Path,
    *,
    width_cm: Any = None,
    dpi: Any = 300,
    **choice: Any,
) -> Path:
    """Write a figure as PNG."""
    from normviz.view.figures.matplotlib import png

    sheet = drawing_of(flow, **choice)
    wide, dots = _wide(sheet, width_cm), checked_size("dpi", dpi)
    bounded_dots(wide, wide * sheet.height / sheet.width, dots)
    data = png(sheet, width_cm=wide, dpi=dots)
    with atomic_file(Path(path)) as unfinished:
        unfinished.write_bytes(data)
    return Path(path)


def plot(flow: Flow, ax: "Axes | None" = None, *, width_cm: Any = None, **choice: Any) -> "Axes":
    """Draw a figure on matplotlib axes."""
    from normviz.view.figures.matplotlib import plot as draw

    sheet = drawing_of(flow, **choice)
    return draw(sheet, ax, width_cm=_wide(sheet, width_cm))
