"""A figure as plain marks, the same for every file format: title, panes side by side, legends."""

from collections.abc import Sequence

from normviz.errors import UnknownName
from normviz.view.figures import Size, geometry
from normviz.view.figures.colors import PALETTES
from normviz.view.figures.legend import LINE, SMALL, draw_legend
from normviz.view.figures.marks import Box, Drawing, Text
from normviz.view.figures.metrics import cut_text, text_width, wrap_phrases, wrap_title
from normviz.view.figures.panes import Pane, common_phrases
from normviz.view.figures.trace import mode_of, trace_tokens
from normviz.view.figures.views import FIGURE_VIEWS
from normviz.view.figures.views.matrix import require_queries
from normviz.view.figures.views.place import WIDTH, Place
from normviz.view.figures.views.text import shares_of

BETWEEN = 24
NEEDS_QUERIES = ("matrix", "stack")
LARGE, SWATCH = 13, 9
MARGIN = 6
"""The space at the bottom of a sheet."""


def draw_panes(
    panes: Sequence[Pane],
    view: str,
    theme: str,
    *,
    title: str | None = None,
    legend: bool = True,
    max_ribbons: int = geometry.MAX_RIBBONS,
) -> Drawing:
    """Return the drawing of one pane, or of two side by side under their titles.

    Without a title, the figure says in its legend alone what it shows.
    """
    if view not in FIGURE_VIEWS:
        raise UnknownName(
            f"The {view} view cannot be written as a figure from Python.",
            f"Figures can be made of: {', '.join(FIGURE_VIEWS)}.",
            'Choose one of these, or open the view and press "save SVG" there.',
        )
    theme = "dark" if theme == "dark" else "light"  # a figure has no host to follow
    sheet = Drawing(len(panes) * (WIDTH + BETWEEN) - BETWEEN, 0, PALETTES[theme], len(panes))
    top = 0.0 if title is None else _draw_title(sheet, title, common_phrases(panes, view))
    for pane in panes:
        if view in NEEDS_QUERIES:
            require_queries(pane, view)
    full = common_share(panes, view)
    bottoms = []
    for index, pane in enumerate(panes):
        left = index * (WIDTH + BETWEEN)
        start = _draw_pane_title(sheet, pane, left, top) if len(panes) > 1 else top
        place = Place(left, start, theme, full, max_ribbons)
        bottoms.append(FIGURE_VIEWS[view].draw(sheet, pane, place))
    sheet.height = max(bottoms) + MARGIN
    # Legends begin at one height, below the taller pane.
    for index, pane in enumerate(panes) if legend else ():
        left = index * (WIDTH + BETWEEN)
        place = Place(left, top, theme, full, max_ribbons)
        lines = common_phrases([pane], view)[1:] if title is None else []
        said = FIGURE_VIEWS[view].explain(pane, place)
        end = draw_legend(sheet, said, left, max(bottoms), WIDTH, lines=lines)
        sheet.height = max(sheet.height, end + MARGIN)
    return sheet


def _draw_title(sheet: Drawing, title: str, phrases: Sequence[str]) -> Size:
    """Add the title and what all panes have in common; return the height of what follows."""
    y = 0.0
    for line in wrap_title(" ".join(title.split()), sheet.width, LARGE):
        y += LARGE + 3
        sheet.marks.append(Text(0, y, line, LARGE, sheet.palette.ink))
    for line in wrap_phrases(phrases, sheet.width, SMALL):
        y += LINE
        sheet.marks.append(Text(0, y, line, SMALL, sheet.palette.soft))
    return y + 8


def _draw_pane_title(sheet: Drawing, pane: Pane, left: Size, top: Size) -> Size:
    """Add what tells a pane apart, with the color of its measure; return what follows."""
    y, x = top + LARGE + 1, left
    if pane.one_hue:
        color = sheet.palette.measure(pane.measure)
        sheet.marks.append(Box(x, y - SWATCH, SWATCH, SWATCH, color))
        x += SWATCH + 6
    text = cut_text(pane.title, left + WIDTH - x, LARGE, bold=True)
    sheet.marks.append(Text(x, y, text, LARGE, sheet.palette.ink, bold=True))
    x += text_width(text, LARGE, bold=True) + 8
    if pane.note and x + text_width(pane.note, SMALL) <= left + WIDTH:
        sheet.marks.append(Text(x, y, pane.note, SMALL, sheet.palette.soft))
    return y + 4


def common_share(panes: Sequence[Pane], view: str) -> Size | None:
    """Return the greatest share in any pane, for one scale; None where shares are not drawn."""
    if view == "text":
        return max(float(shares_of(pane).max(initial=0)) for pane in panes) or None
    if view == "stack" and len(panes) > 1:
        modes = [mode_of(pane.stream, pane.measure) for pane in panes]
        nodes = [
            trace_tokens(pane, mode).nodes[0]
            for pane, mode in zip(panes, modes, strict=True)
            if mode != "separate"
        ]
        return max((float(node.max(initial=0)) for node in nodes), default=None)
    if view != "flow":
        return None
    units = [pane.picture.shares.unit for pane in panes if pane.picture.shares is not None]
    return max(units, default=None)
