"""The matrix view: one layer as a heatmap, queries down and keys across."""

import numpy as np

from normviz.core.reductions import row_shares
from normviz.errors import UnknownName
from normviz.view.figures import Size, geometry, words
from normviz.view.figures.legend import Legend
from normviz.view.figures.marks import Drawing, Heatmap, Text
from normviz.view.figures.metrics import GAP, LABELS, label_width, shorten, text_width
from normviz.view.figures.panes import Pane
from normviz.view.figures.picture import Numbers
from normviz.view.figures.views.heat import color_cells, heat_ramp
from normviz.view.figures.views.place import WIDTH, Place

SMALLEST, EDGE = 8, 2
"""The smallest letters of a label, and the space to the right of the last column."""


def explain_matrix(pane: Pane, place: Place) -> Legend:
    """Return the ramp of the cells, and what is not drawn."""
    greatest = float(np.abs(_cells_of(pane)).max(initial=0))
    phrases = ["rows receive, columns are read", *words.legend_phrases(pane.picture, "matrix")]
    return Legend(phrases, ramp=heat_ramp(pane.measure, place.theme, greatest))


def _cells_of(pane: Pane) -> Numbers:
    """Return the number of each cell [query key]."""
    picture = pane.picture
    require_queries(pane, "matrix")
    values = picture.values.sum(axis=0, dtype=np.float64)
    return row_shares(values, keep_empty=True) if picture.scale == "query" else values


def require_queries(pane: Pane, view: str) -> None:
    """Raise `UnknownName` where a view needs a measure with queries."""
    if "query" not in pane.measure.axes:
        raise UnknownName(
            f"{pane.measure.label} has no query, so there is no {view} of it.",
            "Expected a measure with both query and key.",
            'Choose another measure, or view="flow".',
        )


def draw_matrix(sheet: Drawing, pane: Pane, place: Place) -> Size:
    """Add the marks of the matrix view to a sheet and return the height of its bottom."""
    values, picture = _cells_of(pane), pane.picture
    rows, columns = values.shape
    cell, margin = _fit_cells(pane, columns)
    font = _font_of(cell)
    left, top = place.left + margin, place.top + 8
    labels = [shorten(token, LABELS, font) for token in picture.keys.pieces]
    top += max(text_width(label, font, bold=True) for label in labels)
    cells = color_cells(values / (np.abs(values).max() or 1), pane.measure, place.theme)
    sheet.marks.append(Heatmap(left, top, columns * cell, rows * cell, cells))
    ink, soft = sheet.palette.ink, sheet.palette.soft
    step = max(1, int(np.ceil((font + 1) / cell)))
    for row in range(0, rows, step):
        y = top + (row + 0.5) * cell + font * 0.35
        text = shorten(picture.queries[row], LABELS, font)
        color, bold = soft if picture.queries.special[row] else ink, picture.focus == ("query", row)
        sheet.marks.append(Text(left - GAP, y, text, font, color, "end", bold=bold))
    for column in range(0, columns, step):
        x = left + (column + 0.5) * cell + font * 0.35
        color = soft if picture.keys.special[column] else ink
        bold = picture.focus == ("key", column)
        sheet.marks.append(Text(x, top - 4, labels[column], font, color, bold=bold, rotated=True))
    return float(top + rows * cell + 4)


def _fit_cells(pane: Pane, columns: int) -> tuple[Size, Size]:
    """Return the side of a cell, and the space for the labels of the rows."""
    picture, cell, margin = pane.picture, float(geometry.PITCH[1]), 0.0
    # Smaller cells have smaller labels, which leave more room for the cells.
    for _ in range(2):
        bold = picture.pinned_row("query")
        margin = label_width(picture.queries.pieces, _font_of(cell), bold=bold)
        cell = min(geometry.PITCH[1], (WIDTH - margin - EDGE) / columns)
    margin = label_width(picture.queries.pieces, _font_of(cell), bold=picture.pinned_row("query"))
    return cell, margin


def _font_of(cell: Size) -> Size:
    return max(SMALLEST, min(geometry.FONT[1], int(cell) - 1))
