"""The flow view: two columns of tokens, ribbons between them, and share bars beside the keys."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from normviz.view.figures import Size, geometry, words
from normviz.view.figures.colors import Palette
from normviz.view.figures.legend import SMALL, Legend
from normviz.view.figures.marks import Curve, Drawing, Mark, Text
from normviz.view.figures.metrics import GAP, LABELS, label_width, shorten, text_width
from normviz.view.figures.panes import Pane
from normviz.view.figures.picture import Bars, Picture
from normviz.view.figures.views.bars import ASIDE, bar_marks, column_width, share_marks
from normviz.view.figures.views.place import Place

HEADING = 20
KEYS, QUERIES, SHARES = "read from", "receives", "share given"
DIM = 0.35
LIT = 0.1
"""A token is lit when it has this share of what the strongest has."""
FAINT, STRONG = 0.3, 0.85
"""The opacity of the weakest and of the strongest ribbon; those of a pinned token are solid."""


def explain_flow(pane: Pane, place: Place) -> Legend:
    """Return what ribbons and bars stand for, and the colors of heads that are shown singly."""
    phrases = words.legend_phrases(pane.picture, "flow", place.max_ribbons)
    picture, palette = pane.picture, place.palette
    is_split = picture.heads != (None,) and not picture.measure.signed
    swatches = [(str(head), palette.head(head)) for head in picture.heads] if is_split else []
    return Legend(phrases, swatches, "heads" if len(swatches) > 1 else "head")


def draw_flow(sheet: Drawing, pane: Pane, place: Place) -> Size:
    """Add the marks of the flow view to a sheet and return the height of its bottom."""
    picture = pane.picture
    if not picture.values.shape[0]:
        return _draw_norms(sheet, picture, place)
    count = max(len(picture.queries), len(picture.keys))
    pitch, font = geometry.row_sizes(count)
    top = place.top + HEADING
    bars = column_width(SHARES)
    start, end = place.left + bars + ASIDE, place.right
    for role, tokens, heading in (("key", picture.keys, KEYS), ("query", picture.queries, QUERIES)):
        bold = picture.pinned_row("key" if role == "key" else "query")
        width = label_width(tokens.pieces, font, text_width(heading, SMALL), bold=bold)
        start, end = (start + width, end) if role == "key" else (start, end - width)
    soft = sheet.palette.soft
    sheet.marks += [
        Text(place.left + bars, top - 8, SHARES, SMALL, soft, "end"),
        Text(start - GAP, top - 8, KEYS, SMALL, soft, "end"),
        Text(end + GAP, top - 8, QUERIES, SMALL, soft),
    ]
    sheet.marks += _token_marks(picture, (start, end, top), pitch, font, sheet.palette)
    sheet.marks += _ribbon_marks(picture, pitch, (start, end, top), sheet.palette, place)
    if picture.shares is not None:
        shares = replace(picture.shares, unit=place.full or picture.shares.unit)
        colors = _bar_colors(picture, shares, sheet.palette)
        base = place.left + bars
        sheet.marks += share_marks(shares, colors, (base, top), pitch, sheet.palette)
    return top + count * pitch + 4


def _token_marks(
    picture: Picture, edges: tuple[Size, Size, Size], pitch: Size, font: Size, palette: Palette
) -> Iterator[Mark]:
    start, end, top = edges
    lit = _lit_rows(picture)
    for role, tokens, x, anchor in (
        ("key", picture.keys, start - GAP, "end"),
        ("query", picture.queries, end + GAP, "start"),
    ):
        for row, token in enumerate(tokens):
            y = top + (row + 0.5) * pitch + font * 0.35
            opacity = 1 if lit is None or row in lit[role] else DIM
            text, bold = shorten(token, LABELS, font), picture.focus == (role, row)
            color = palette.soft if tokens.special[row] else palette.ink
            yield Text(x, y, text, font, color, anchor, opacity, bold=bold)


def _ribbon_marks(
    picture: Picture,
    pitch: Size,
    edges: tuple[Size, Size, Size],
    palette: Palette,
    place: Place,
) -> Iterator[Mark]:
    """Yield the ribbons between the left, right and top edges."""
    left, right, top = edges
    pinned = picture.focus is not None
    find = geometry.place_focused_ribbons if pinned else geometry.place_ribbons
    ribbons = find(picture, pitch, limit=place.max_ribbons)
    columns = (ribbons.plane, ribbons.width, ribbons.start, ribbons.end)
    colors = palette.signs if picture.measure.signed else _plane_colors(picture, palette)
    widest = float(ribbons.width.max(initial=0)) or 1.0
    for plane, width, start, end in zip(*columns, strict=True):
        points = (left, top + float(start), right, top + float(end))
        strength = FAINT + (STRONG - FAINT) * math.sqrt(float(width) / widest)
        yield Curve(points, float(width), colors[plane], 1.0 if pinned else strength)


def _plane_colors(picture: Picture, palette: Palette) -> tuple[str, ...]:
    whole = palette.measure(picture.measure)
    return tuple(whole if head is None else palette.head(head) for head in picture.heads)


def _bar_colors(picture: Picture, bars: Bars, palette: Palette) -> list[str]:
    # Where hues stand for signs, the bars have none.
    whole = palette.soft if picture.measure.signed else palette.measure(picture.measure)
    return [whole if head is None else palette.head(head) for head in bars.heads]


def _draw_norms(sheet: Drawing, picture: Picture, place: Place) -> Size:
    """Draw a measure without queries as a bar chart, and return the height of its bottom."""
    pitch, font = geometry.row_sizes(len(picture.keys))
    start = place.left + label_width(picture.keys.pieces, font, bold=picture.pinned_row("key"))
    soft, ink, top = sheet.palette.soft, sheet.palette.ink, place.top + 4
    for row, token in enumerate(picture.keys.pieces):
        y = top + (row + 0.5) * pitch + font * 0.35
        color = soft if picture.keys.special[row] else ink
        text, bold = shorten(token, LABELS, font), picture.focus == ("key", row)
        sheet.marks.append(Text(start - GAP, y, text, font, color, "end", bold=bold))
    if picture.norms is not None:
        numbers = [words.format_number(float(norm)) for norm in picture.norms.totals]
        space = max(text_width(number, font - 2) for number in numbers) + GAP
        colors = _bar_colors(picture, picture.norms, sheet.palette)
        longest = place.right - start - space
        sheet.marks += bar_marks(picture.norms, colors, (start, top), pitch, longest)
        for row, number in enumerate(numbers):
            x = start + float(picture.norms.totals[row]) / picture.norms.unit * longest + 5
            y = top + (row + 0.5) * pitch + (font - 2) * 0.35
            sheet.marks.append(Text(x, y, number, font - 2, soft))
    return top + len(picture.keys) * pitch + 4


def _lit_rows(picture: Picture) -> dict[str, set[int]] | None:
    """Return the rows that matter to the pinned token; None where nothing is pinned."""
    if picture.focus is None:
        return None
    role, row = picture.focus
    opposite = "key" if role == "query" else "query"
    planes = picture.sizes[:, row] if role == "query" else picture.sizes[:, :, row]
    sizes = planes.sum(axis=0)
    enough = (sizes > 0) & (sizes >= LIT * sizes.max(initial=0))
    return {role: {row}, opposite: set(np.nonzero(enough)[0].tolist())}
