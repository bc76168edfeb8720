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

SMALLEST = 8
"""The smallest letters above the columns."""


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
    pitch, font = geometry.row_sizes(rows)
    margin = label_width(picture.queries.pieces, font, bold=picture.pinned_row("query"))
    width = min(WIDTH - margin - 2, columns * pitch)
    cell = width / columns
    small = max(SMALLEST, min(font, int(cell) - 1))
    labels = [shorten(token, LABELS, small) for token in picture.keys.pieces]
    left, top = place.left + margin, place.top + 8
    top += max(text_width(label, small, bold=True) for label in labels)
    cells = color_cells(values / (np.abs(values).max() or 1), pane.measure, place.theme)
    sheet.marks.append(Heatmap(left, top, width, rows * pitch, cells))
    ink, soft = sheet.palette.ink, sheet.palette.soft
    for row, token in enumerate(picture.queries.pieces):
        y = top + (row + 0.5) * pitch + font * 0.35
        text, bold = shorten(token, LABELS, font), picture.focus == ("query", row)
        color = soft if picture.queries.special[row] else ink
        sheet.marks.append(Text(left - GAP, y, text, font, color, "end", bold=bold))
    step = max(1, int(np.ceil((small + 1) / cell)))
    for column in range(0, columns, step):
        x = left + (column + 0.5) * cell + small * 0.35
        color = soft if picture.keys.special[column] else ink
        bold = picture.focus == ("key", column)
        sheet.marks.append(Text(x, top - 4, labels[column], small, color, bold=bold, rotated=True))
    return float(top + rows * pitch + 4)
