"""The profile view: the share of each kind of token, layer by layer."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from normviz.core.catalog import MEASURES
from normviz.view.figures import Size
from normviz.view.figures.colors import Palette, oklch_to_hex
from normviz.view.figures.legend import SMALL, Legend
from normviz.view.figures.marks import Drawing, Line, Mark, Text
from normviz.view.figures.metrics import text_width
from normviz.view.figures.panes import Pane
from normviz.view.figures.views.place import Place

HEIGHT, AXIS, BELOW = 240, 40, 34
TITLE = 20
LEADER, LABEL_PITCH = 24, 14
TICKS = (0, 0.25, 0.5, 0.75, 1)
MARK = 3.2
KINDS: dict[str, tuple[Size | None, int, Size]] = {
    "[CLS]": (262, 4, 45),
    "[SEP]": (30, 3, -90),
    "punctuation": (150, 4, 0),
    "special": (320, 6, 0),
    "other": (None, 20, 0),
}
"""The hue of each kind of token, and its mark: how many corners, and the angle of the first."""
OTHER_HUES = (85, 200, 0, 230)
NAMES = {"other": "words"}


@dataclass(frozen=True)
class Curve:
    """The share of one kind of token in every layer."""

    kind: str
    name: str
    shares: Sequence[float]
    is_other: bool
    """Whether it belongs to the compared measure."""


def make_curves(pane: Pane) -> list[Curve]:
    """Return the curves of the measure, and of the one it is compared with."""
    stream, other = pane.stream, pane.state.compare
    both = isinstance(other, str) and other in MEASURES and other != pane.state.measure
    measures = [pane.measure, MEASURES[str(other)]] if both else [pane.measure]
    keys = stream.keys
    plain = {
        kind for kind, special in zip(keys.categories, keys.special, strict=True) if not special
    }
    every = [kind for kind in KINDS if kind in keys.categories]
    every += sorted({*keys.categories} - {*KINDS})
    kinds = [kind for kind in every if pane.state.special != "hidden" or kind in plain] or every
    return [
        Curve(
            kind,
            NAMES.get(kind, kind) + (f" {measure.label}" if both else ""),
            stream.shares(measure.id)[kind].tolist(),
            at > 0,
        )
        for at, measure in enumerate(measures)
        for kind in kinds
    ]


def explain_profile(pane: Pane, _place: Place) -> Legend:
    """Return what the curves are shares of."""
    other = MEASURES.get(str(pane.state.compare))
    whole = "all that the layer's queries receive"
    phrases = [f"share of {whole if 'query' in pane.measure.axes else 'the sum of the layer'}"]
    if pane.measure.signed or (other and other.signed):
        phrases.append("negative numbers count by size")
    if any(curve.is_other for curve in make_curves(pane)) and other:
        phrases.append(f"solid: {pane.measure.label}, dashed: {other.label}")
    return Legend(phrases)


def draw_profile(sheet: Drawing, pane: Pane, place: Place) -> Size:
    """Add the curves to a sheet and return the height of the bottom."""
    curves, layers = make_curves(pane), pane.stream.layers
    longest = max(text_width(curve.name, SMALL) for curve in curves)
    left, right = place.left + AXIS, place.right - LEADER - 8 - longest
    top, bottom = place.top + TITLE, place.top + TITLE + HEIGHT
    soft = sheet.palette.soft
    for tick in TICKS:
        y = bottom - tick * HEIGHT
        sheet.marks.append(Line(((left, y), (right, y)), soft, 0.6, 0.35))
        sheet.marks.append(Text(left - 6, y + 4, f"{tick:.0%}", SMALL, soft, "end"))
    span = max(1, layers[-1] - layers[0])
    xs = [left + 8 + (layer - layers[0]) / span * (right - left - 16) for layer in layers]
    sheet.marks += _layer_numbers(layers, xs, bottom + 15, soft)
    sheet.marks.append(Text((left + right) / 2, bottom + 29, "layer", SMALL, soft, "middle"))
    looks = _looks(curves, place.theme)
    for curve in reversed(curves):
        points = [(x, bottom - share * HEIGHT) for x, share in zip(xs, curve.shares, strict=True)]
        sheet.marks += _curve_marks(curve, points, looks[curve.kind], sheet.palette)
    ends = [bottom - curve.shares[-1] * HEIGHT for curve in curves]
    for curve, end, y in zip(curves, ends, spread(ends, LABEL_PITCH, top, bottom), strict=True):
        bent = ((xs[-1] + 6, end), (right + 4, y), (right + LEADER - 8, y))
        sheet.marks.append(Line(bent, soft, 0.6, 0.6))
        sheet.marks += _mark((right + LEADER - 2, y), curve, looks[curve.kind], sheet.palette)
        sheet.marks.append(Text(right + LEADER + 6, y + 4, curve.name, SMALL, sheet.palette.ink))
    return bottom + BELOW


def _layer_numbers(
    layers: Sequence[int], xs: Sequence[Size], y: Size, color: str
) -> Iterator[Mark]:
    gap = min((b - a for a, b in pairwise(xs)), default=100.0)
    step = max(1, math.ceil(text_width("00 ", SMALL) / gap))
    for layer, x in list(zip(layers, xs, strict=True))[::step]:
        yield Text(x, y, str(layer), SMALL, color, "middle")


Look = tuple[str, int, Size]
"""A color, and the corners and the angle of a mark."""


def _looks(curves: Sequence[Curve], theme: str) -> dict[str, Look]:
    light, gray = (0.76, 0.7) if theme == "dark" else (0.53, 0.56)
    looks: dict[str, Look] = {}
    others = iter(OTHER_HUES * len(curves))
    for kind in dict.fromkeys(curve.kind for curve in curves):
        hue, corners, angle = KINDS.get(kind, (None, 3, 90))
        if kind not in KINDS:
            hue = next(others)
        color = oklch_to_hex(gray, 0.012, 255) if hue is None else oklch_to_hex(light, 0.16, hue)
        looks[kind] = (color, corners, angle)
    return looks


def _curve_marks(
    curve: Curve, points: list[tuple[Size, Size]], look: Look, palette: Palette
) -> Iterator[Mark]:
    if len(points) > 1:
        yield Line(tuple(points), look[0], 1.6, dashed=curve.is_other)
    for point in points:
        yield from _mark(point, curve, look, palette)


def _mark(point: tuple[Size, Size], curve: Curve, look: Look, palette: Palette) -> Iterator[Mark]:
    """Yield the mark of a kind of token; hollow for the compared measure."""
    color, corners, angle = look
    (x, y), turn = point, math.radians(angle)
    angles = [turn + 2 * math.pi * n / corners for n in range(corners)]
    outline = tuple((x + MARK * math.cos(a), y + MARK * math.sin(a)) for a in angles)
    yield Line(outline, color, 1.2, fill=palette.paper if curve.is_other else color)


def spread(heights: Sequence[Size], pitch: Size, top: Size, bottom: Size) -> list[Size]:
    """Return heights moved apart by at least a pitch, within bounds as far as there is room."""
    order = sorted(range(len(heights)), key=lambda n: heights[n])
    placed: dict[int, Size] = {}
    last = top - pitch
    for n in order:
        last = placed[n] = max(heights[n], last + pitch)
    limit = max(bottom, top + pitch * (len(heights) - 1))
    for n in reversed(order):
        placed[n] = limit = min(placed[n], limit)
        limit -= pitch
    return [placed[n] for n in range(len(heights))]
