"""A figure as plain marks, the same for every file format."""

from collections.abc import Iterator, Sequence

import numpy as np

from normviz.core.reductions import row_shares
from normviz.errors import UnknownName
from normviz.view.figures import Size, geometry, words
from normviz.view.figures.colors import BELOW, PALETTES, Palette, heat_colors
from normviz.view.figures.marks import Box, Curve, Drawing, Heatmap, Mark, Text
from normviz.view.figures.picture import Numbers, Pane, Picture
from normviz.view.figures.words import GAP, LABELS

WIDTH = 440
"""How wide one pane is, in the pixels of the screen."""

HEADING, BAR, BETWEEN = 24, 72, 24
SMALL = 11
DIM = 0.35
LIT = 0.1
"""A token is lit when it has this share of what the strongest has."""

FIGURE_VIEWS = ("flow", "matrix")
"""The views that can be drawn without a browser."""


def draw_panes(
    panes: Sequence[Pane],
    view: str,
    theme: str,
    *,
    legend: bool = True,
    max_ribbons: int = geometry.MAX_RIBBONS,
) -> Drawing:
    """Return the drawing of one pane, or of two side by side under their titles."""
    if view not in FIGURE_VIEWS:
        raise UnknownName(
            f"The {view} view cannot be written as a figure from Python.",
            f"Figures can be made of: {', '.join(FIGURE_VIEWS)}.",
            'Choose one of these, or open the view and press "save SVG" there.',
        )
    palette = PALETTES[_paper_theme(theme)]
    sheet = Drawing(len(panes) * (WIDTH + BETWEEN) - BETWEEN, 0, palette, len(panes))
    for index, (title, picture) in enumerate(panes):
        left = index * (WIDTH + BETWEEN)
        if title:
            sheet.marks.append(Text(left, 13, title, 13, palette.ink, bold=True))
        corner = (left, 18 if title else 0)
        if view == "flow":
            bottom = _draw_flow(sheet, picture, corner, max_ribbons)
        else:
            bottom = _draw_matrix(sheet, picture, corner, theme)
        for line in _legend_lines(picture, view, max_ribbons) if legend else ():
            bottom += SMALL * 1.4
            sheet.marks.append(Text(left, bottom, line, SMALL, palette.soft))
        sheet.height = max(sheet.height, bottom + 6)
    return sheet


def _legend_lines(picture: Picture, view: str, max_ribbons: int) -> list[str]:
    return words.wrap_phrases(words.legend_phrases(picture, view, max_ribbons), WIDTH, SMALL)


def _draw_flow(
    sheet: Drawing, picture: Picture, corner: tuple[Size, Size], max_ribbons: int
) -> Size:
    """Add the marks of the flow view to a sheet and return the height of its bottom."""
    left, top = corner
    palette = sheet.palette
    count = max(len(picture.queries), len(picture.keys))
    pitch, font = geometry.row_sizes(count)
    has_ribbons = picture.values.shape[0] > 0
    bars = 86.0 if picture.norms is not None and has_ribbons else 0.0
    start = left + bars + words.label_width(picture.keys.pieces, font)
    end = left + WIDTH
    if has_ribbons:
        end -= words.label_width(picture.queries.pieces, font)
    top += HEADING
    lit = _lit_rows(picture)
    for role, tokens, x, anchor in (
        ("key", picture.keys.pieces, start - GAP, "end"),
        ("query", picture.queries.pieces, end + GAP, "start"),
    ):
        if role == "query" and not has_ribbons:
            continue
        heading = "read from" if role == "key" else "receives"
        sheet.marks.append(Text(x, top - 10, heading, 12, palette.soft, anchor))
        for row, token in enumerate(tokens):
            y = top + (row + 0.5) * pitch + font * 0.35
            is_lit = lit is None or row in lit[role]
            is_focus = picture.focus == (role, row)
            text = words.shorten(token, LABELS, font)
            opacity = 1 if is_lit else DIM
            sheet.marks.append(Text(x, y, text, font, palette.ink, anchor, opacity, bold=is_focus))
    if has_ribbons:
        sheet.marks += _ribbon_marks(picture, pitch, (start, end, top), palette, max_ribbons)
    if picture.norms is not None:
        span = (left + bars - GAP, GAP - BAR) if has_ribbons else (start, end - start - GAP)
        sheet.marks += _bar_marks(picture, pitch, top, span, palette)
        if has_ribbons:
            x = left + bars - GAP
            sheet.marks.append(Text(x, top - 10, "‖f(x)‖", 12, palette.soft, "end"))
    return top + count * pitch + 4


def _ribbon_marks(
    picture: Picture,
    pitch: Size,
    edges: tuple[Size, Size, Size],
    palette: Palette,
    max_ribbons: int,
) -> Iterator[Mark]:
    """Yield the ribbons between the left, right and top edges."""
    left, right, top = edges
    pinned = picture.focus is not None
    place = geometry.place_focused_ribbons if pinned else geometry.place_ribbons
    ribbons = place(picture, pitch, limit=max_ribbons)
    opacity = 1.0 if pinned else 0.75
    columns = (ribbons.plane, ribbons.width, ribbons.start, ribbons.end)
    heads = [palette.head(head) for head in picture.heads]
    colors = palette.signs if picture.measure.signed else heads
    for plane, width, start, end in zip(*columns, strict=True):
        points = (left, top + float(start), right, top + float(end))
        yield Curve(points, float(width), colors[plane], opacity)


def _bar_marks(
    picture: Picture, pitch: Size, top: Size, span: tuple[Size, Size], palette: Palette
) -> Iterator[Mark]:
    """Yield the bars of the norms; a span is where they begin and how long the longest is."""
    norms = picture.norms
    if norms is None:
        return
    base, longest = span
    starts, ends = geometry.place_bars(norms)
    height = max(2, round(pitch * 0.4))
    for plane, head in enumerate(norms.heads):
        # Where hues stand for signs, the bars have none.
        color = palette.soft if picture.measure.signed else palette.head(head)
        for key in range(norms.values.shape[1]):
            a, b = starts[plane, key] * longest, ends[plane, key] * longest
            y = top + (key + 0.5) * pitch - height / 2
            yield Box(base + min(a, b), y, abs(b - a), height, color, 0.75)


def _draw_matrix(sheet: Drawing, picture: Picture, corner: tuple[Size, Size], theme: str) -> Size:
    """Add the marks of the matrix view to a sheet and return the height of its bottom."""
    left, top = corner
    values = picture.values.sum(axis=0, dtype=np.float64)
    if not picture.values.shape[0]:
        raise UnknownName(
            f"{picture.measure.label} has no query, so there is no matrix of it.",
            "Expected a measure with both query and key.",
            'Choose another measure, or view="flow".',
        )
    rows, columns = values.shape
    pitch, font = geometry.row_sizes(rows)
    margin = words.label_width(picture.queries.pieces, font)
    labels = [words.shorten(token, LABELS, font) for token in picture.keys.pieces]
    width = min(WIDTH - margin, columns * pitch)
    cell = width / columns
    top += max(words.text_width(label, font) for label in labels) + 8
    if picture.scale == "query":
        values = row_shares(values, keep_empty=True)
    cells = _color_cells(values / (np.abs(values).max() or 1), _paper_theme(theme))
    sheet.marks.append(Heatmap(left + margin, top, width, rows * pitch, cells))
    ink = sheet.palette.ink
    for row, token in enumerate(picture.queries.pieces):
        y = top + (row + 0.5) * pitch + font * 0.35
        text = words.shorten(token, LABELS, font)
        bold = picture.focus == ("query", row)
        sheet.marks.append(Text(left + margin - GAP, y, text, font, ink, "end", bold=bold))
    step = max(1, int(np.ceil((font + 1) / cell)))
    for column in range(0, columns, step):
        x = left + margin + (column + 0.5) * cell + font * 0.35
        bold = picture.focus == ("key", column)
        sheet.marks.append(Text(x, top - 4, labels[column], font, ink, bold=bold, rotated=True))
    return float(top + rows * pitch + 4)


def _color_cells(shares: Numbers, theme: str) -> Numbers:
    """Return the color of each share from -1 to 1, in 8 bits [row column channel]."""
    above, below = (
        np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in ramp])
        for ramp in (heat_colors(theme), heat_colors(theme, BELOW))
    )
    steps = np.rint(np.clip(np.abs(shares), 0, 1) * 255).astype(int)
    colors: Numbers = np.where(shares[..., None] < 0, below[steps], above[steps])
    return colors.astype(np.uint8)


def _paper_theme(theme: str) -> str:
    """Return the theme of a figure, which has no host to follow: light unless it is dark."""
    return "dark" if theme == "dark" else "light"


def _lit_rows(picture: Picture) -> dict[str, set[int]] | None:
    """Return the rows that matter to the pinned token; None where nothing is pinned."""
    if picture.focus is None or not picture.values.shape[0]:
        return None
    role, row = picture.focus
    opposite = "key" if role == "query" else "query"
    planes = picture.sizes[:, row] if role == "query" else picture.sizes[:, :, row]
    sizes = planes.sum(axis=0)
    enough = (sizes > 0) & (sizes >= LIT * sizes.max(initial=0))
    return {role: {row}, opposite: set(np.nonzero(enough)[0].tolist())}
