"""The words of a figure: its legend, its labels, and how much room they take."""

from collections.abc import Sequence

import numpy as np

from normviz.view.figures import Size, geometry
from normviz.view.figures.picture import Picture

LABELS, GAP = 150, 7
"""The widest that a label may be, and the space beside it."""

PLAIN, WHOLE = (1e-3, 1e5), 100
"""Between which sizes numbers are written plainly, and from where without decimals."""

IDEOGRAPHS = 0x2E80
"""From here on, most letters are as wide as they are tall."""


def legend(picture: Picture, view: str, most: int = geometry.LIMIT) -> list[str]:
    """What the marks stand for, in the words of the view."""
    measure = picture.measure
    shown = "all heads together" if picture.heads == (None,) else f"{len(picture.heads)} heads"
    if len(picture.heads) == 1 and picture.heads[0] is not None:
        shown = f"head {picture.heads[0]}"
    phrases = [f"{measure.label}, layer {picture.layer}, {shown}"]
    if measure.signed:
        wide = "; widths and sums go by size" if view == "flow" else ""
        phrases.append(f"blue: above zero, orange: below{wide}")
    if picture.values.shape[0]:
        top = "100% of its own" if picture.scale == "query" else number(float(picture.units[0]))
        if view == "flow":
            phrases.append(f"full row: {top}")
            pitch, _ = geometry.rows_for(max(len(picture.queries), len(picture.keys)))
            drawn = geometry.ribbons(picture, pitch, limit=most)
            if picture.focus is None:
                whole = "the sizes" if measure.signed else "the sum"
                phrases.append(f"{drawn.shown:.0%} of {whole} drawn")
            elif (zoom := geometry.focused(picture, pitch).zoom) > 1:
                phrases.append(f"drawn {zoom} times wider")
        else:
            most = np.abs(picture.values.sum(axis=0)).max()
            sign = "±" if measure.signed else ""
            phrases.append(
                f"darkest cell: {sign}{number(float(most))}"
                if picture.scale != "query"
                else "each row divided by its own whole"
            )
    if picture.norms is not None and view == "flow":
        longest = float(picture.norms.values.sum(axis=0).max(initial=0))
        phrases.append(f"longest bar: {number(longest)}")
    if picture.hidden:
        phrases.append(f"special tokens hidden, and with them {picture.hidden:.0%} of the sum")
    if picture.least:
        phrases.append(f"nothing below {number(picture.least)} is drawn")
    return phrases


def number(value: Size) -> str:
    """A number with three significant digits, as the view writes it."""
    if value == 0:
        return "0"
    size = abs(value)
    if not PLAIN[0] <= size < PLAIN[1]:
        return f"{value:.1e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return f"{value:.0f}" if size >= WHOLE else f"{value:#.3g}"


def wrapped(phrases: list[str], width: Size, size: Size) -> list[str]:
    """Phrases in lines of a width."""
    lines: list[str] = []
    for phrase in phrases:
        joined = f"{lines[-1]} · {phrase}" if lines else phrase
        if lines and length(joined, size) <= width:
            lines[-1] = joined
        else:
            lines.append(phrase)
    return lines


def length(text: str, size: Size) -> Size:
    """About how long a line is: letters are half as wide as tall, ideographs as wide as tall."""
    wide = sum(1.0 if ord(letter) >= IDEOGRAPHS else 0.56 for letter in text)
    return wide * size


def room(pieces: Sequence[str], font: Size) -> Size:
    """How much room a column of labels needs."""
    longest = max((length(shortened(piece, LABELS, font), font) for piece in pieces), default=0)
    return max(36.0, longest + 2 * GAP)


def shortened(piece: str, width: Size, size: Size) -> str:
    """A token as a reader can see it, cut to a width."""
    text = " ".join(piece.split()) if piece.strip() else _visible(piece)
    if length(text, size) <= width:
        return text
    while text and length(text + "…", size) > width:
        text = text[:-1]
    return text + "…"


def _visible(piece: str) -> str:
    marks = {"\n": "↵", "\t": "⇥"}
    return "".join(marks.get(letter, "␣") for letter in piece) or "∅"
