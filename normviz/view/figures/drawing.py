"""A figure as plain marks, before anyone writes it to a file: the same marks for every format."""

from collections.abc import Iterator, Sequence

import numpy as np

from normviz.errors import UnknownName
from normviz.view.figures import Size, geometry, words
from normviz.view.figures.colors import BELOW, PALETTES, Palette, heat
from normviz.view.figures.marks import Box, Curve, Drawing, Field, Mark, Text
from normviz.view.figures.picture import Numbers, Picture
from normviz.view.figures.words import GAP, LABELS

WIDTH = 440
"""How wide one pane is, in the pixels of the screen."""

HEADING, BAR, BETWEEN = 24, 72, 24
SMALL = 11
DIM = 0.35
LIT = 0.1
"""A token is lit when it has this much of what the strongest has."""

VIEWS = ("flow", "matrix")
"""The views that a figure can be made of without a browser."""


def drawing(
    pictures: Sequence[tuple[str, Picture]],
    view: str,
    theme: str,
    *,
    legend: bool = True,
    most: int = geometry.LIMIT,
) -> Drawing:
    """One pane, or two side by side under their titles, with at most so many ribbons each."""
    if view not in VIEWS:
        raise UnknownName(
            f"The {view} view cannot be written as a figure from Python.",
            f"Figures can be made of: {', '.join(VIEWS)}.",
            'Choose one of these, or open the view and press "save SVG" there.',
        )
    palette = PALETTES[_theme(theme)]
    sheet = Drawing(len(pictures) * (WIDTH + BETWEEN) - BETWEEN, 0, palette, len(pictures))
    for index, (title, picture) in enumerate(pictures):
        left = index * (WIDTH + BETWEEN)
        if title:
            sheet.marks.append(Text(left, 13, title, 13, palette.ink, bold=True))
        place = (left, 18 if title else 0)
        if view == "flow":
            bottom = _flow(sheet, picture, place, most)
        else:
            bottom = _matrix(sheet, picture, place, theme)
        for line in _legend(picture, view, most) if legend else ():
            bottom += SMALL * 1.4
            sheet.marks.append(Text(left, bottom, line, SMALL, palette.soft))
        sheet.height = max(sheet.height, bottom + 6)
    return sheet


def _legend(picture: Picture, view: str, most: int) -> list[str]:
    return words.wrapped(words.legend(picture, view, most), WIDTH, SMALL)


def _flow(sheet: Drawing, picture: Picture, place: tuple[Size, Size], most: int) -> Size:
    left, top = place
    palette = sheet.palette
    count = max(len(picture.queries), len(picture.keys))
    pitch, font = geometry.rows_for(count)
    has_ribbons = picture.values.shape[0] > 0
    bars = 86.0 if picture.norms is not None and has_ribbons else 0.0
    start = left + bars + words.room(picture.keys.pieces, font)
    end = left + WIDTH - (words.room(picture.queries.pieces, font) if has_ribbons else 0)
    top += HEADING
    lit = _lit(picture)
    for side, tokens, x, anchor in (
        ("key", picture.keys.pieces, start - GAP, "end"),
        ("query", picture.queries.pieces, end + GAP, "start"),
    ):
        if side == "query" and not has_ribbons:
            continue
        heading = "read from" if side == "key" else "receives"
        sheet.marks.append(Text(x, top - 10, heading, 12, palette.soft, anchor))
        for row, piece in enumerate(tokens):
            y = top + (row + 0.5) * pitch + font * 0.35
            seen = lit is None or row in lit[side]
            own = picture.focus == (side, row)
            text = words.shortened(piece, LABELS, font)
            faint = 1 if seen else DIM
            sheet.marks.append(Text(x, y, text, font, palette.ink, anchor, faint, bold=own))
    if has_ribbons:
        sheet.marks += _curves(picture, pitch, (start, end, top), palette, most)
    if picture.norms is not None:
        wide = (left + bars - GAP, GAP - BAR) if has_ribbons else (start, end - start - GAP)
        sheet.marks += _bars(picture, pitch, top, wide, palette)
        if has_ribbons:
            x = left + bars - GAP
            sheet.marks.append(Text(x, top - 10, "‖f(x)‖", 12, palette.soft, "end"))
    return top + count * pitch + 4


def _curves(
    picture: Picture,
    pitch: Size,
    place: tuple[Size, Size, Size],
    palette: Palette,
    most: int,
) -> Iterator[Mark]:
    start, end, top = place
    pinned = picture.focus is not None
    every = geometry.focused if pinned else geometry.ribbons
    found = every(picture, pitch, limit=most)
    solid = 1.0 if pinned else 0.75
    columns = (found.plane, found.width, found.start, found.end)
    heads = [palette.head(head) for head in picture.heads]
    colors = palette.signs if picture.measure.signed else heads
    for plane, width, a, b in zip(*columns, strict=True):
        where = (start, top + float(a), end, top + float(b))
        yield Curve(where, float(width), colors[plane], solid)


def _bars(
    picture: Picture, pitch: Size, top: Size, place: tuple[Size, Size], palette: Palette
) -> Iterator[Mark]:
    norms = picture.norms
    if norms is None:
        return
    base, reach = place
    starts, ends = geometry.bars(norms)
    height = max(2, round(pitch * 0.4))
    for plane, head in enumerate(norms.heads):
        # Where hues stand for signs, the bars have none.
        color = palette.soft if picture.measure.signed else palette.head(head)
        for key in range(norms.values.shape[1]):
            a, b = starts[plane, key] * reach, ends[plane, key] * reach
            y = top + (key + 0.5) * pitch - height / 2
            yield Box(base + min(a, b), y, abs(b - a), height, color, 0.75)


def _matrix(sheet: Drawing, picture: Picture, place: tuple[Size, Size], theme: str) -> Size:
    left, top = place
    values = picture.values.sum(axis=0, dtype=np.float64)
    if not picture.values.shape[0]:
        raise UnknownName(
            f"{picture.measure.label} has no query, so there is no matrix of it.",
            "A measure with both query and key is needed.",
            'Choose another measure, or view="flow".',
        )
    rows, columns = values.shape
    pitch, font = geometry.rows_for(rows)
    room = words.room(picture.queries.pieces, font)
    head = (
        max(words.length(words.shortened(p, LABELS, font), font) for p in picture.keys.pieces) + 8
    )
    width = min(WIDTH - room, columns * pitch)
    cell = width / columns
    top += head
    wholes = np.abs(values).sum(axis=1, keepdims=True)
    scaled = values / np.where(wholes > 0, wholes, 1) if picture.scale == "query" else values
    cells = _colored(scaled / (np.abs(scaled).max() or 1), _theme(theme))
    sheet.marks.append(Field(left + room, top, width, rows * pitch, cells))
    ink = sheet.palette.ink
    for row, piece in enumerate(picture.queries.pieces):
        y = top + (row + 0.5) * pitch + font * 0.35
        text = words.shortened(piece, LABELS, font)
        own = picture.focus == ("query", row)
        sheet.marks.append(Text(left + room - GAP, y, text, font, ink, "end", bold=own))
    step = max(1, int(np.ceil((font + 1) / cell)))
    for column in range(0, columns, step):
        x = left + room + (column + 0.5) * cell + font * 0.35
        text = words.shortened(picture.keys.pieces[column], LABELS, font)
        own = picture.focus == ("key", column)
        sheet.marks.append(Text(x, top - 4, text, font, ink, bold=own, turned=True))
    return float(top + rows * pitch + 4)


def _colored(parts: Numbers, theme: str) -> Numbers:
    """The color of each part of the whole, from -1 to 1 [row column red green blue]."""
    above, below = (
        np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in ramp])
        for ramp in (heat(theme), heat(theme, BELOW))
    )
    steps = np.rint(np.clip(np.abs(parts), 0, 1) * 255).astype(int)
    colors: Numbers = np.where(parts[..., None] < 0, below[steps], above[steps])
    return colors.astype(np.uint8)


def _theme(theme: str) -> str:
    return "dark" if theme == "dark" else "light"


def _lit(picture: Picture) -> dict[str, set[int]] | None:
    """Which rows matter to the pinned token; None where nothing is pinned."""
    if picture.focus is None or not picture.values.shape[0]:
        return None
    side, row = picture.focus
    other = "key" if side == "query" else "query"
    sizes = picture.sizes
    planes = sizes[:, row] if side == "query" else sizes[:, :, row]
    parts = planes.sum(axis=0)
    enough = (parts > 0) & (parts >= LIT * parts.max(initial=0))
    return {side: {row}, other: set(np.nonzero(enough)[0].tolist())}
