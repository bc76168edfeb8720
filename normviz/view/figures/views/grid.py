"""The grid view: every layer and head in small, and how far two measures differ there."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from normviz.core.catalog import MEASURES
from normviz.derived.agreement import PERFECT, agreement
from normviz.view.figures import Size
from normviz.view.figures.colors import oklch_to_hex
from normviz.view.figures.legend import SMALL, Legend
from normviz.view.figures.marks import Box, Drawing, Heatmap, Mark, Text
from normviz.view.figures.metrics import text_width
from normviz.view.figures.panes import Pane
from normviz.view.figures.picture import Numbers
from normviz.view.figures.views.heat import color_cells, heat_ramp
from normviz.view.figures.views.place import WIDTH, Place
from normviz.view.tiles import add_axes, pool_cells, total_variation

GUTTER, HEADING, GAP = 34, 34, 4
LEAST, MOST = 6, 72
CAPTION, CAPTION_SIZE = 11, 8
RIM = 2
LEAST_FULL = 0.1
"""The full color is at least this far from agreement, so that small differences stay pale."""
WASH = {"light": (0.965, 0.76), "dark": (0.27, 0.5)}
WASH_HUE = 62
NAMES = {
    "none": "share that differs (total variation)",
    "rank": "rank correlation",
    "overlap": "top-3 overlap",
    "distance": "Jensen–Shannon distance",
}
SCALES = {"layer": "the greatest of its layer", "query": "the greatest of its thumbnail"}


@dataclass(frozen=True)
class Thumbs:
    """The cells of every layer and head, and how far two measures agree there."""

    heads: tuple[int | None, ...]
    values: Numbers
    """[layer head row column]"""
    agreement: Numbers | None
    """[layer head]; NaN where there is nothing to compare."""

    def tops(self, scale: str) -> Numbers:
        """Return the number of the full color [layer head]."""
        peaks = np.abs(self.values).max(axis=(2, 3))
        if scale == "absolute":
            peaks = np.full_like(peaks, peaks.max())
        elif scale == "layer":
            peaks = np.repeat(peaks.max(axis=1, keepdims=True), peaks.shape[1], axis=1)
        return np.where(peaks > 0, peaks, 1.0)


def make_thumbs(pane: Pane) -> Thumbs:
    """Return thumbnails of the whole stream, of all heads or of the chosen ones."""
    stream, measure = pane.stream, pane.measure
    layers = [add_axes(stream.at(measure.id, layer), measure.id) for layer in stream.layers]
    values = np.stack([pool_cells(pool_cells(layer, axis=1), axis=2) for layer in layers])
    compared = _compare(pane)
    if "head" not in measure.axes:
        if compared is not None and compared.shape[1] > 1:
            compared = compared.mean(axis=1, keepdims=True)
        return Thumbs((None,), values, compared)
    chosen = list(stream.heads) if pane.state.heads is None else pane.state.heads
    columns = [stream.heads.index(head) for head in chosen]
    return Thumbs(
        tuple(chosen), values[:, columns], None if compared is None else compared[:, columns]
    )


def _compare(pane: Pane) -> Numbers | None:
    """Return how far the measure agrees with the compared one [layer head]; None without one."""
    state, stream = pane.state, pane.stream
    other = state.compare
    if not isinstance(other, str) or other not in MEASURES:
        return None
    if state.color_by != "none":
        found = agreement(pane.flow, state.measure, other, stream=stream.name)  # type: ignore[arg-type]
        return np.asarray(getattr(found, state.color_by))
    pairs = [
        [add_axes(stream.at(name, layer), name) for name in (state.measure, other)]
        for layer in stream.layers
    ]
    return np.stack([total_variation(*pair) for pair in pairs])


def explain_grid(pane: Pane, place: Place) -> Legend:
    """Return the ramp of the cells, and what the numbers below the thumbnails are."""
    thumbs, scale = make_thumbs(pane), pane.state.normalize
    ramp = heat_ramp(pane.measure, place.theme, float(thumbs.tops("absolute").max()))
    if scale in SCALES:
        low = ramp.low if not pane.measure.signed else f"minus {SCALES[scale]}"
        ramp = replace(ramp, low=low, high=SCALES[scale])
    phrases = ["rows of a thumbnail receive, columns are read"]
    if thumbs.agreement is not None:
        other = MEASURES[str(pane.state.compare)].label
        phrases.append(f"numbers: {NAMES[pane.state.color_by]} of {pane.measure.label} and {other}")
    return Legend(phrases, ramp=ramp)


def draw_grid(sheet: Drawing, pane: Pane, place: Place) -> Size:
    """Add the thumbnails, layers down and heads across; return the height of the bottom."""
    thumbs = make_thumbs(pane)
    layers, heads = thumbs.values.shape[:2]
    below = 0 if thumbs.agreement is None else CAPTION
    pitch = min((WIDTH - GUTTER) / heads, MOST + GAP)
    size = max(LEAST, pitch - GAP)
    has_query = "query" in pane.measure.axes
    tall = size if has_query else min(20, max(LEAST, size / 3))
    left, top = place.left + GUTTER, place.top + HEADING
    soft, tops = sheet.palette.soft, thumbs.tops(pane.state.normalize)
    sheet.marks.append(Text(place.left, top - 8, "layer", SMALL, soft))
    if thumbs.heads != (None,):
        sheet.marks.append(Text(left, top - 22, "head", SMALL, soft))
        sheet.marks += _head_numbers(thumbs, left, top - 8, pitch, soft)
    for row, layer in enumerate(pane.stream.layers):
        y = top + row * (tall + GAP + below)
        baseline = y + tall / 2 + SMALL * 0.35
        sheet.marks.append(Text(left - 10, baseline, str(layer), SMALL, soft, "end"))
        for column in range(heads):
            x = left + column * pitch
            sheet.marks += _tile(thumbs, (row, column), (x, y, size, tall), pane, place)
            values = thumbs.values[row, column] / tops[row, column]
            values = np.where(np.abs(values) >= pane.state.threshold, values, 0)
            cells = color_cells(values, pane.measure, place.theme)
            sheet.marks.append(Heatmap(x, y, size, tall, cells, layers * heads))
    return float(top + layers * (tall + GAP + below) + 4)


def _head_numbers(thumbs: Thumbs, left: Size, y: Size, pitch: Size, color: str) -> Iterator[Mark]:
    step = max(1, math.ceil(text_width("00 ", SMALL) / pitch))
    for column, head in list(enumerate(thumbs.heads))[::step]:
        yield Text(left + column * pitch + (pitch - GAP) / 2, y, str(head), SMALL, color, "middle")


def _tile(
    thumbs: Thumbs,
    at: tuple[int, int],
    box: tuple[Size, Size, Size, Size],
    pane: Pane,
    place: Place,
) -> Iterator[Mark]:
    """Yield the agreement of a thumbnail: a number below it, on a wash of color where asked."""
    if thumbs.agreement is None:
        return
    value, (x, y, size, tall) = float(thumbs.agreement[at]), box
    by = pane.state.color_by
    if by != "none" and not math.isnan(value):
        apart = np.abs(thumbs.agreement - PERFECT[by])
        full = max(LEAST_FULL, float(np.nanmax(apart)))
        pale, deep = WASH[place.theme]
        part = min(1.0, abs(value - PERFECT[by]) / full)
        color = oklch_to_hex(pale + (deep - pale) * part, 0.008 + 0.142 * part**0.8, WASH_HUE)
        yield Box(x - RIM, y - RIM, size + 2 * RIM, tall + CAPTION + RIM, color)
    text = "–" if math.isnan(value) else f"{value:.2f}".replace("-", "−")
    if text_width(text, CAPTION_SIZE) <= size + GAP - 1:
        color = place.palette.ink if by != "none" else place.palette.soft
        yield Text(x + size / 2, y + tall + CAPTION_SIZE, text, CAPTION_SIZE, color, "middle")
