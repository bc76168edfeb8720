"""The text view: running text, each token shaded by its share."""

from collections.abc import Iterator

import numpy as np

from normviz.view.figures import Size
from normviz.view.figures.colors import blend
from normviz.view.figures.legend import Legend, Ramp
from normviz.view.figures.marks import Box, Drawing, Mark, Text
from normviz.view.figures.metrics import shorten, text_width
from normviz.view.figures.panes import Pane
from normviz.view.figures.picture import Numbers
from normviz.view.figures.views.place import WIDTH, Place
from normviz.view.figures.words import format_percent, legend_phrases

FONT, LINE, TALL = 13, 25, 20
PAD, BETWEEN_WORDS, BETWEEN_PIECES = 3, 5, 1
DEEPEST = 0.9
"""How much of the color the greatest share has."""
DARK = 0.5
"""From this share of the color on, letters have the color of the paper."""
WIDEST = WIDTH / 2
STEPS = 16


def shares_of(pane: Pane) -> Numbers:
    """Return the share of each token shown.

    Of all that is given; with a token pinned, of what it receives; with a key pinned, the share of
    each query that comes from it. Without queries, the share of the sum.
    """
    picture = pane.picture
    if picture.shares is None:
        totals = np.zeros(len(picture.keys)) if picture.norms is None else picture.norms.totals
        return np.asarray(totals / (totals.sum() or 1.0))
    if picture.focus is None:
        return picture.shares.totals
    role, row = picture.focus
    sizes = picture.sizes.sum(axis=0, dtype=np.float64)
    if role == "query":
        return np.asarray(sizes[row] / (sizes[row].sum() or 1.0))
    received = sizes.sum(axis=1)
    return np.asarray(sizes[:, row] / np.where(received > 0, received, 1.0))


def explain_text(pane: Pane, place: Place) -> Legend:
    """Return what the shade of a token stands for."""
    picture, palette = pane.picture, place.palette
    full = place.full or float(shares_of(pane).max(initial=0))
    color = _color_of(pane, place)
    ramp = [blend(color, palette.paper, DEEPEST * n / (STEPS - 1)) for n in range(STEPS)]
    label = picture.measure.label
    if picture.shares is None:
        phrase = f"shade: each token's share of the sum of {label}"
    elif picture.focus is None:
        phrase = f"shade: each token's share of all {label} that is given"
    elif picture.focus[0] == "query":
        phrase = f"shade: share of what “{picture.queries[picture.focus[1]]}” receives ({label})"
    else:
        phrase = f"shade: share that comes from “{picture.keys[picture.focus[1]]}” ({label})"
    hidden = [p for p in legend_phrases(picture, "text") if p.startswith("special")]
    return Legend([phrase, *hidden], ramp=Ramp(ramp, "0%", format_percent(full)))


def _color_of(pane: Pane, place: Place) -> str:
    return place.palette.soft if pane.measure.signed else place.palette.measure(pane.measure)


def draw_text(sheet: Drawing, pane: Pane, place: Place) -> Size:
    """Add a text in lines to a sheet and return the height of its bottom."""
    picture = pane.picture
    tokens = picture.queries if picture.pinned_row("key") is not None else picture.keys
    shares = shares_of(pane)
    full = place.full or float(shares.max(initial=0)) or 1.0
    color = _color_of(pane, place)
    x, y = place.left, place.top + 4
    for row, token in enumerate(tokens):
        text = shorten(token, WIDEST, FONT)
        is_own = picture.focus is not None and tokens is not picture.keys
        bold = picture.focus == ("query" if is_own else "key", row)
        width = text_width(text, FONT, bold=bold) + 2 * PAD
        if row:
            same = tokens.words[row] == tokens.words[row - 1]
            x += BETWEEN_PIECES if same else BETWEEN_WORDS
        if x + width > place.right and x > place.left:
            x, y = place.left, y + LINE
        depth = DEEPEST * min(1.0, float(shares[row]) / full)
        sheet.marks += _token(text, (x, y), width, blend(color, sheet.palette.paper, depth), (
            sheet.palette.paper if depth > DARK else
            sheet.palette.soft if tokens.special[row] else sheet.palette.ink
        ), bold=bold)  # fmt: skip
        x += width
    return y + TALL + 4


def _token(
    text: str, corner: tuple[Size, Size], width: Size, shade: str, ink: str, *, bold: bool
) -> Iterator[Mark]:
    x, y = corner
    yield Box(x, y, width, TALL, shade)
    # Centered, since the letters of most fonts are narrower than the room that is kept for them.
    yield Text(x + width / 2, y + TALL * 0.71, text, FONT, ink, "middle", bold=bold)
