"""The words of a figure: its legend, its labels, and how wide they are."""

from collections.abc import Sequence

import numpy as np

from normviz.view.figures import Size, geometry
from normviz.view.figures.picture import Picture

LABELS, GAP = 150, 7
"""The widest that a label may be, and the space beside it."""

PLAIN, WHOLE = (1e-3, 1e5), 100
"""The range of numbers written without an exponent, and from where without decimals."""

IDEOGRAPHS = 0x2E80
"""From here on, most letters are as wide as they are tall."""


def legend_phrases(
    picture: Picture, view: str, max_ribbons: int = geometry.MAX_RIBBONS
) -> list[str]:
    """Return what the marks stand for, in the words of the view."""
    measure = picture.measure
    heads = "all heads together" if picture.heads == (None,) else f"{len(picture.heads)} heads"
    if len(picture.heads) == 1 and picture.heads[0] is not None:
        heads = f"head {picture.heads[0]}"
    phrases = [f"{measure.label}, layer {picture.layer}, {heads}"]
    if measure.signed:
        by_size = "; widths and sums go by size" if view == "flow" else ""
        phrases.append(f"blue: above zero, orange: below{by_size}")
    if picture.values.shape[0]:
        full = (
            "100% of its own"
            if picture.scale == "query"
            else format_number(float(picture.units[0]))
        )
        if view == "flow":
            phrases.append(f"full row: {full}")
            pitch, _ = geometry.row_sizes(max(len(picture.queries), len(picture.keys)))
            drawn = geometry.place_ribbons(picture, pitch, limit=max_ribbons)
            if picture.focus is None:
                total = "the sizes" if measure.signed else "the sum"
                phrases.append(f"{drawn.shown:.0%} of {total} drawn")
            elif (zoom := geometry.place_focused_ribbons(picture, pitch).zoom) > 1:
                phrases.append(f"drawn {zoom} times wider")
        else:
            darkest = np.abs(picture.values.sum(axis=0)).max()
            sign = "±" if measure.signed else ""
            phrases.append(
                f"darkest cell: {sign}{format_number(float(darkest))}"
                if picture.scale != "query"
                else "each row divided by its own whole"
            )
    if picture.norms is not None and view == "flow":
        longest = float(picture.norms.values.sum(axis=0).max(initial=0))
        phrases.append(f"longest bar: {format_number(longest)}")
    if picture.hidden:
        phrases.append(f"special tokens hidden, and with them {picture.hidden:.0%} of the sum")
    if picture.smallest_drawn:
        phrases.append(f"nothing below {format_number(picture.smallest_drawn)} is drawn")
    return phrases


def format_number(value: Size) -> str:
    """Return a number with three significant digits, as the view writes it."""
    if value == 0:
        return "0"
    size = abs(value)
    if not PLAIN[0] <= size < PLAIN[1]:
        return f"{value:.1e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return f"{value:.0f}" if size >= WHOLE else f"{value:#.3g}"


def wrap_phrases(phrases: list[str], width: Size, size: Size) -> list[str]:
    """Join phrases to lines of at most this width."""
    lines: list[str] = []
    for phrase in phrases:
        joined = f"{lines[-1]} · {phrase}" if lines else phrase
        if lines and text_width(joined, size) <= width:
            lines[-1] = joined
        else:
            lines.append(phrase)
    return lines


def text_width(text: str, size: Size) -> Size:
    """Estimate the width of a line: letters are half as wide as tall, ideographs are square."""
    widths = sum(1.0 if ord(letter) >= IDEOGRAPHS else 0.56 for letter in text)
    return widths * size


def label_width(pieces: Sequence[str], font: Size) -> Size:
    """Return the width that a column of labels needs."""
    longest = max((text_width(shorten(piece, LABELS, font), font) for piece in pieces), default=0)
    return max(36.0, longest + 2 * GAP)


def shorten(piece: str, width: Size, size: Size) -> str:
    """Return a token with its blanks made visible, cut to a width."""
    text = " ".join(piece.split()) if piece.strip() else _show_blanks(piece)
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text + "…"


def _show_blanks(piece: str) -> str:
    marks = {"\n": "↵", "\t": "⇥"}
    return "".join(marks.get(letter, "␣") for letter in piece) or "∅"
