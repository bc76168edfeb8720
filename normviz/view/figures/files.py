"""Figures in files: SVG with nothing but numpy; PNG, PDF and axes with matplotlib."""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from normviz.core.flow import Flow
from normviz.system.files import atomic_file
from normviz.view.bounds import require_few_dots, require_size
from normviz.view.figures import Size
from normviz.view.figures.drawing import draw_panes
from normviz.view.figures.geometry import MAX_RIBBONS
from normviz.view.figures.marks import Drawing
from normviz.view.figures.panes import Pane, make_panes
from normviz.view.state import (
    BadChoice,
    FigureOptions,
    require_bool,
    require_options,
    require_other_flow,
    resolve_state,
    split_flows,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN_CM = 8.5
"""The width of a column in a paper; two panes take two columns."""

WITHOUT_DPI = [name for name in FigureOptions.__annotations__ if name != "dpi"]
"""The options of figures that have no dots."""


def draw_figure(
    flow: Flow, *, max_ribbons: int = MAX_RIBBONS, **options: Unpack[FigureOptions]
) -> Drawing:
    """Return the drawing of a view, light unless its theme is dark."""
    title = _title_of(flow, options.pop("title", True))
    legend = require_bool(options.pop("legend", True), "legend")
    panes, view = resolve_panes(flow, options)
    theme = panes[0].state.theme
    return draw_panes(panes, view, theme, title=title, legend=legend, max_ribbons=max_ribbons)


def resolve_panes(flow: Flow, options: FigureOptions) -> tuple[list[Pane], str]:
    """Return the panes of a figure, and the name of its view."""
    flows, for_view = split_flows(flow, options)
    state = resolve_state(flow, for_view)
    require_other_flow(state.compare, flows, "flow.to_svg(path, compare=other)")
    if state.difference:
        raise BadChoice(
            "difference=True is given for a figure.",
            "A figure shows two measures side by side.",
            "Leave it out, or open the flow as a widget or page and save the picture there.",
        )
    return make_panes(flows, state, state.view), state.view


def _title_of(flow: Flow, title: object) -> str | None:
    """Return the title to draw: a given one, or that of the flow; None for a figure without."""
    if isinstance(title, str):
        return title
    if title is None or require_bool(title, "title"):
        return flow.title
    return None


def _width_of(sheet: Drawing, width_cm: object) -> Size:
    if width_cm is None:
        return COLUMN_CM * (2 if sheet.panes > 1 else 1)
    return require_size("width_cm", width_cm)


def render_svg(
    flow: Flow, *, max_ribbons: int = MAX_RIBBONS, **options: Unpack[FigureOptions]
) -> str:
    """Return a flow as the text of an SVG file."""
    from normviz.view.figures.svg import svg_text

    require_options("to_svg", options, WITHOUT_DPI)
    width_cm = options.pop("width_cm", None)
    sheet = draw_figure(flow, max_ribbons=max_ribbons, **options)
    title = flow.title or flow.receipt.model
    return svg_text(sheet, width_cm=_width_of(sheet, width_cm), title=title)


def to_svg(flow: Flow, path: str | Path, **options: Unpack[FigureOptions]) -> Path:
    """Write a figure as SVG and return its path."""
    text = render_svg(flow, **options)
    with atomic_file(Path(path)) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return Path(path)


def to_png(flow: Flow, path: str | Path, **options: Unpack[FigureOptions]) -> Path:
    """Write a figure as PNG and return its path."""
    from normviz.view.figures.matplotlib import render_png

    require_options("to_png", options, FigureOptions.__annotations__)
    width_cm, dpi = options.pop("width_cm", None), options.pop("dpi", 300)
    sheet = draw_figure(flow, **options)
    width, dots = _width_of(sheet, width_cm), require_size("dpi", dpi)
    require_few_dots(width, width * sheet.height / sheet.width, dots)
    data = render_png(sheet, width_cm=width, dpi=dots)
    with atomic_file(Path(path)) as unfinished:
        unfinished.write_bytes(data)
    return Path(path)


def to_pdf(flow: Flow, path: str | Path, **options: Unpack[FigureOptions]) -> Path:
    """Write a figure as PDF and return its path."""
    from normviz.view.figures.matplotlib import render_pdf

    require_options("to_pdf", options, WITHOUT_DPI)
    width_cm = options.pop("width_cm", None)
    sheet = draw_figure(flow, **options)
    title = flow.title or flow.receipt.model
    data = render_pdf(sheet, width_cm=_width_of(sheet, width_cm), title=title)
    with atomic_file(Path(path)) as unfinished:
        unfinished.write_bytes(data)
    return Path(path)


def plot(flow: Flow, ax: "Axes | None" = None, **options: Unpack[FigureOptions]) -> "Axes":
    """Draw a figure on matplotlib axes, new ones by default, and return them."""
    from normviz.view.figures.matplotlib import draw_on_axes

    require_options("plot", options, WITHOUT_DPI)
    width_cm = options.pop("width_cm", None)
    sheet = draw_figure(flow, **options)
    return draw_on_axes(sheet, ax, width_cm=_width_of(sheet, width_cm))
