"""The stack view: all layers at once, and what tokens are made of."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from normviz.view.figures import Size, geometry
from normviz.view.figures.legend import SMALL, Legend
from normviz.view.figures.marks import Box, Curve, Drawing, Line, Mark, Text
from normviz.view.figures.metrics import GAP, LABELS, label_width, shorten, text_width
from normviz.view.figures.panes import Pane
from normviz.view.figures.picture import Bars, Numbers
from normviz.view.figures.trace import Trace, divide_layers, mode_of, trace_tokens, traced_layer
from normviz.view.figures.views.bars import ASIDE, column_width, share_marks
from normviz.view.figures.views.matrix import require_queries
from normviz.view.figures.views.place import Place
from normviz.view.figures.words import format_percent

HEADING = 34
COVER, BESIDE, TALLEST, OF_GAP = 2.4, 1.25, 0.36, 0.5
"""How many lanes a token may cover, how much of the height a traced one, how wide a ribbon."""
WHOLE = 1 - 1e-9
FAINT, STRONG = 0.15, 0.65
"""The opacity of the weakest and of the strongest ribbon."""
POST, DOT = 2, 1
"""Half the width of a post and of a dot."""
SHARES = "share"


@dataclass(frozen=True)
class Lanes:
    """The places of tokens (lanes) and of layers (posts)."""

    posts: list[Size]
    top: Size
    pitch: Size
    rows: int

    def center(self, row: int, band: Size) -> Size:
        """Return the middle of a token's band, moved so that the band stays on the sheet."""
        height = self.rows * self.pitch
        if band >= height:
            return self.top + height / 2
        return self.top + min(height - band / 2, max(band / 2, (row + 0.5) * self.pitch))


def explain_stack(pane: Pane, _place: Place) -> Legend:
    """Return how tokens are divided, and how much of it is drawn."""
    require_queries(pane, "stack")
    label, mode = pane.measure.label, mode_of(pane.stream, pane.measure)
    aside = ", by size, signs aside" if pane.measure.signed else ""
    phrases = [f"each token is divided in proportion to {label} ({pane.heads}){aside}"]
    if mode == "separate":
        longest = format_percent(max(float(s.max()) for s in _layer_shares(pane)))
        return Legend([*phrases, "each layer by itself", f"longest bar: {longest}"])
    trace = trace_tokens(pane, mode)
    links = trace.strongest_links(pane.state.threshold)
    drawn = sum(float(flow[kept].sum()) for flow, kept in zip(trace.flows, links, strict=True))
    whole = sum(float(flow.sum()) for flow in trace.flows) or 1.0
    phrases.append(f"{format_percent(drawn / whole)} of the mass drawn")
    if mode == "direct":
        phrases.append("ribbons go straight to the input's tokens")
    if not pane.measure.has_residual:
        phrases.append("the residual connection is not part of this measure")
    lost = 1 - float(trace.nodes[0].sum())
    is_forward = pane.picture.pinned_row("key") is not None
    if lost > geometry.HAIR and pane.state.special == "hidden" and not is_forward:
        phrases.append(f"{format_percent(lost)} went to hidden special tokens")
    return Legend(phrases)


def draw_stack(sheet: Drawing, pane: Pane, place: Place) -> Size:
    """Add the marks of the stack view to a sheet and return the height of its bottom."""
    require_queries(pane, "stack")
    mode = mode_of(pane.stream, pane.measure)
    if mode == "separate":
        return _draw_separate(sheet, pane, place)
    picture, trace = pane.picture, trace_tokens(pane, mode)
    pitch, font = geometry.row_sizes(len(picture.queries))
    bars, top = column_width(SHARES), place.top + HEADING
    start = (
        place.left
        + bars
        + ASIDE
        + label_width(
            picture.keys.pieces, font, text_width("made of", SMALL), bold=picture.pinned_row("key")
        )
    )
    end = place.right - label_width(
        picture.queries.pieces, font, text_width("00", SMALL), bold=picture.pinned_row("query")
    )
    last = traced_layer(pane)
    layers = [layer for layer in pane.stream.layers if layer <= last]
    columns = [last] if mode == "direct" else layers
    posts = [start + n * (end - start) / len(columns) for n in range(len(columns) + 1)]
    lanes = Lanes(posts, top, pitch, len(picture.queries))
    sheet.marks += _layer_titles(sheet, lanes, columns)
    sheet.marks += _column_labels(sheet, pane, (start - GAP, end + GAP), lanes, font)
    color = _color_of(pane, place)
    links = trace.strongest_links(pane.state.threshold)
    width = _mass_width(trace, links, lanes)
    sheet.marks += _dots(sheet, lanes)
    for layer, kept in enumerate(links):
        ends = (trace.nodes[layer], trace.nodes[layer + 1])
        sheet.marks += _ribbons(trace.flows[layer], kept, ends, (lanes, layer), (width, color))
    sheet.marks += _posts(trace, lanes, width, color)
    if picture.pinned_row("key") is None:
        shares = trace.nodes[0][None]
        made_of = Bars(shares, (None,), place.full or float(shares.max(initial=0)) or 1.0)
        sheet.marks.append(
            Text(place.left + bars, top - 8, SHARES, SMALL, sheet.palette.soft, "end")
        )
        sheet.marks += share_marks(made_of, [color], (place.left + bars, top), pitch, sheet.palette)
    return top + lanes.rows * pitch + 4


def _color_of(pane: Pane, place: Place) -> str:
    heads = pane.state.heads
    if heads is not None and len(heads) == 1 and "head" in pane.measure.axes:
        return place.palette.head(heads[0])
    return place.palette.measure(pane.measure)


def _layer_titles(sheet: Drawing, lanes: Lanes, layers: Sequence[int]) -> Iterator[Mark]:
    """Yield the numbers of the layers above their posts, as many as there is room for."""
    soft, gap = sheet.palette.soft, lanes.posts[1] - lanes.posts[0]
    middle = (lanes.posts[0] + lanes.posts[-1]) / 2
    yield Text(middle, lanes.top - 22, "after layer", SMALL, soft, "middle")
    step = max(1, int(np.ceil(text_width("00 ", SMALL) / gap)))
    for n, layer in list(enumerate(layers))[::-step][::-1]:
        yield Text(lanes.posts[n + 1], lanes.top - 8, str(layer), SMALL, soft, "middle")


def _column_labels(
    sheet: Drawing, pane: Pane, edges: tuple[Size, Size], lanes: Lanes, font: Size
) -> Iterator[Mark]:
    picture, (left, right) = pane.picture, edges
    soft, ink = sheet.palette.soft, sheet.palette.ink
    heading = "made of" if picture.pinned_row("key") is None else "input"
    yield Text(left, lanes.top - 8, heading, SMALL, soft, "end")
    for role, tokens, x, anchor in (
        ("key", picture.keys, left, "end"),
        ("query", picture.queries, right, "start"),
    ):
        for row, token in enumerate(tokens):
            y = lanes.top + (row + 0.5) * lanes.pitch + font * 0.35
            bold = picture.focus == (role, row)
            color = soft if tokens.special[row] else ink
            yield Text(x, y, shorten(token, LABELS, font), font, color, anchor, bold=bold)


def _mass_width(trace: Trace, links: list[Numbers], lanes: Lanes) -> Size:
    """Return how wide all of the mass would be, as in the view (`widthOf` in its layout)."""
    peaks = [float(node.max()) for node in trace.nodes]
    kept = [float(flow[at].max(initial=0)) for flow, at in zip(trace.flows, links, strict=True)]
    gap = lanes.posts[1] - lanes.posts[0]
    bend = max(0.6 * lanes.pitch, gap * OF_GAP) / (max(kept) or 1)
    if all(peak <= WHOLE for peak in peaks):
        return min(bend, COVER * lanes.pitch / (max(peaks) or 1))
    rest = max((peak for peak in peaks if peak <= WHOLE), default=0) or 1
    height = TALLEST * lanes.rows * lanes.pitch
    return max(lanes.pitch, min(bend, BESIDE * lanes.pitch / rest, height))


def _dots(sheet: Drawing, lanes: Lanes) -> Iterator[Mark]:
    for x in lanes.posts:
        for row in range(lanes.rows):
            y = lanes.top + (row + 0.5) * lanes.pitch
            yield Box(x - DOT, y - DOT, 2 * DOT, 2 * DOT, sheet.palette.ink, 0.25)


def _ribbons(
    flow: Numbers,
    kept: Numbers,
    ends: tuple[Numbers, Numbers],
    at: tuple[Lanes, int],
    look: tuple[Size, str],
) -> Iterator[Mark]:
    """Yield the ribbons of one layer, weakest first, stacked at both ends."""
    (lanes, layer), (width, color) = at, look
    query, key = np.nonzero(kept)
    mass = flow[query, key]
    start = _stack_ends(key, mass, ends[0], lanes, width)
    end = _stack_ends(query, mass, ends[1], lanes, width)
    left, right = lanes.posts[layer], lanes.posts[layer + 1]
    for n in np.argsort(mass, kind="stable"):
        strength = math.sqrt(float(mass[n] / flow.max()))
        opacity = FAINT + (STRONG - FAINT) * strength
        yield Curve((left, start[n], right, end[n]), float(mass[n]) * width, color, opacity)


def _stack_ends(
    rows: Numbers, mass: Numbers, nodes: Numbers, lanes: Lanes, width: Size
) -> list[float]:
    """Return the middle of each link at one end; links overlap where the band is too small."""
    wholes = np.bincount(rows, weights=mass, minlength=len(nodes))
    used = np.zeros(len(nodes))
    middles = []
    for row, own in zip(rows.tolist(), mass.tolist(), strict=True):
        space = min(nodes[row], wholes[row])
        spread = used[row] / (wholes[row] - own) if wholes[row] > own else 0.0
        used[row] += own
        top = lanes.center(row, float(nodes[row]) * width) - space * width / 2
        middles.append(float(top + (spread * (space - own) + own / 2) * width))
    return middles


def _posts(trace: Trace, lanes: Lanes, width: Size, color: str) -> Iterator[Mark]:
    for x, node in zip(lanes.posts, trace.nodes, strict=True):
        for row, mass in enumerate(node):
            band = float(mass) * width
            if band >= POST / 4:
                yield Box(x - POST, lanes.center(row, band) - band / 2, 2 * POST, band, color)


def _layer_shares(pane: Pane) -> list[Numbers]:
    """Return what the pinned query, or the mean of all, takes from each key in each layer."""
    row = pane.picture.pinned_row("query")
    divisions = divide_layers(pane)
    return [d.mean(axis=0) if row is None else d[row] for d in divisions]


def _draw_separate(sheet: Drawing, pane: Pane, place: Place) -> Size:
    """Draw each layer by itself, as bars, and return the height of the bottom."""
    picture, shares = pane.picture, _layer_shares(pane)
    pitch, font = geometry.row_sizes(len(picture.keys))
    start = place.left + label_width(picture.keys.pieces, font, text_width("read from", SMALL))
    column, top = (place.right - start) / len(shares), place.top + HEADING
    soft, ink, color = sheet.palette.soft, sheet.palette.ink, _color_of(pane, place)
    sheet.marks.append(Text(start - GAP, top - 8, "read from", SMALL, soft, "end"))
    sheet.marks.append(Text(start, top - 22, "layer", SMALL, soft))
    for row, token in enumerate(picture.keys):
        y = top + (row + 0.5) * pitch + font * 0.35
        sheet.marks.append(Text(start - GAP, y, shorten(token, LABELS, font), font, ink, "end"))
    longest, height = max(float(s.max()) for s in shares) or 1.0, max(2, round(pitch * 0.5))
    bottom = top + len(picture.keys) * pitch
    for n, (layer, parts) in enumerate(zip(pane.stream.layers, shares, strict=True)):
        x = start + n * column
        sheet.marks.append(Text(x, top - 8, str(layer), SMALL, soft))
        sheet.marks.append(Line(((x, top), (x, bottom)), soft, 0.5))
        for row, share in enumerate(parts):
            y = top + (row + 0.5) * pitch - height / 2
            length = float(share) / longest * column * 0.86
            sheet.marks.append(Box(x + 0.5, y, length, height, color))
    return bottom + 4
