"""Bars beside a column of tokens, with a percentage where there is room."""

from collections.abc import Iterator, Sequence

from normviz.view.figures import Size, geometry
from normviz.view.figures.colors import Palette
from normviz.view.figures.legend import SMALL
from normviz.view.figures.marks import Box, Mark, Text
from normviz.view.figures.metrics import text_width
from normviz.view.figures.picture import Bars

BAR = 60
"""The length of the longest share bar."""
ASIDE = 4
"""The space to the left of a column and to the right of its line."""
LABELED = 0.05
"""Shares from here on are written beside their bar."""


def column_width(heading: str) -> Size:
    """Return the width of a column of share bars under a heading, which begins inside it."""
    return max(BAR, text_width(heading, SMALL)) + ASIDE


def bar_marks(
    bars: Bars, colors: Sequence[str], corner: tuple[Size, Size], pitch: Size, longest: Size
) -> Iterator[Mark]:
    """Yield bars that begin at the left of their rows; a negative length makes them go left."""
    base, top = corner
    starts, ends = geometry.place_bars(bars)
    height = max(2, round(pitch * 0.5))
    for plane, color in enumerate(colors):
        for row in range(bars.values.shape[1]):
            a, b = float(starts[plane, row]) * longest, float(ends[plane, row]) * longest
            y = top + (row + 0.5) * pitch - height / 2
            yield Box(base + min(a, b), y, abs(b - a), height, color)


def share_marks(
    bars: Bars, colors: Sequence[str], corner: tuple[Size, Size], pitch: Size, palette: Palette
) -> Iterator[Mark]:
    """Yield share bars that grow to the left of a line, and their percentages."""
    base, top = corner
    yield from bar_marks(bars, colors, corner, pitch, -BAR)
    size = min(10, pitch * 0.5 + 3)
    for row, share in enumerate(bars.totals):
        if share < LABELED:
            continue
        length, text = float(share) / bars.unit * BAR, f"{share:.0%}"
        width = text_width(text, size)
        y = top + (row + 0.5) * pitch + size * 0.36
        if length + 3 + width <= BAR:
            yield Text(base - length - 3, y, text, size, palette.soft, "end")
        elif length >= width + 6 and len(colors) == 1:
            yield Text(base - length + 4, y, text, size, palette.paper)
