"""The legend of a figure: swatches, a ramp of colors, and lines of words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from normviz.view.figures import Size
from normviz.view.figures.marks import Box, Drawing, Heatmap, Text
from normviz.view.figures.metrics import text_width, wrap_phrases
from normviz.view.figures.picture import Numbers

SMALL = 11
LINE = 15
SWATCH = 9
RAMP = 72


@dataclass(frozen=True)
class Ramp:
    """A ramp of colors, and the numbers at its two ends."""

    colors: Sequence[str]
    low: str
    high: str


@dataclass(frozen=True)
class Legend:
    """What the marks of a pane stand for."""

    phrases: list[str] = field(default_factory=list)
    swatches: list[tuple[str, str]] = field(default_factory=list)
    """Labels and their colors."""
    label: str = ""
    """What the swatches are."""
    ramp: Ramp | None = None


def draw_legend(
    sheet: Drawing, legend: Legend, left: Size, top: Size, width: Size, *, lines: Sequence[str] = ()
) -> Size:
    """Add a legend below a pane, after further lines, and return the height of its bottom."""
    bottom = top
    soft = sheet.palette.soft
    if legend.ramp:
        bottom += LINE
        _draw_ramp(sheet, legend.ramp, left, bottom)
    if legend.swatches:
        bottom = _draw_swatches(sheet, legend, left, bottom + LINE, width)
    for line in wrap_phrases([*lines, *legend.phrases], width, SMALL):
        bottom += LINE
        sheet.marks.append(Text(left, bottom, line, SMALL, soft))
    return bottom


def _draw_ramp(sheet: Drawing, ramp: Ramp, left: Size, baseline: Size) -> None:
    soft = sheet.palette.soft
    start = left + text_width(ramp.low, SMALL) + 5
    cells = np.stack([rgb(color) for color in ramp.colors])[None]
    sheet.marks += [
        Text(left, baseline, ramp.low, SMALL, soft),
        Heatmap(start, baseline - SWATCH, RAMP, SWATCH, cells),
        Text(start + RAMP + 5, baseline, ramp.high, SMALL, soft),
    ]


def _draw_swatches(sheet: Drawing, legend: Legend, left: Size, baseline: Size, width: Size) -> Size:
    """Add swatches in lines of at most a width, and return the height of the last line."""
    soft, x = sheet.palette.soft, left
    if legend.label:
        sheet.marks.append(Text(x, baseline, legend.label, SMALL, soft))
        x += text_width(legend.label, SMALL) + 8
    start = x
    for text, color in legend.swatches:
        needed = SWATCH + 4 + text_width(text, SMALL)
        if x + needed > left + width and x > start:
            x, baseline = start, baseline + LINE
        sheet.marks += [
            Box(x, baseline - SWATCH, SWATCH, SWATCH, color),
            Text(x + SWATCH + 4, baseline, text, SMALL, soft),
        ]
        x += needed + 10
    return baseline


def rgb(color: str) -> Numbers:
    """Return the channels of #rrggbb, in 8 bits."""
    return np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)], np.uint8)
