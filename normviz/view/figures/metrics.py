"""How wide a text is, and labels that are made to fit."""

import unicodedata
from collections.abc import Sequence

from normviz.view.figures import Size

LABELS, GAP = 110, 7
"""The widest that a label may be, and the space beside it."""

FIRST_LETTER = 32
# fmt: off
LETTERS = (
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 56, 102, 69, 69, 73, 78, 67, 62, 78, 76, 30, 50, 67, 56, 87, 75, 79,
    67, 79, 73, 67, 62, 74, 69, 99, 69, 67, 69, 40, 34, 40, 84, 56, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
)
# fmt: on
"""The widths of ASCII from the space on, in hundredths of the font size.

The wider of DejaVu Sans and Liberation Sans (which has the widths of Arial and Helvetica), so that
a line fits whichever of the fonts a program has.
"""
SIGNS = {"‖": 0.5, "·": 0.32, "…": 1.0, "→": 1.0, "“": 0.52, "”": 0.52, "–": 0.56, "⊥": 0.88}
OTHER_LETTER, IDEOGRAPH, BOLD = 0.72, 1.0, 1.14
"""The widths of letters outside ASCII, and how much wider bold letters are."""


def text_width(text: str, size: Size, *, bold: bool = False) -> Size:
    """Return the width that a line needs in the widest of the fonts it may be set in."""
    width = sum(map(_letter_width, text))
    return width * size * (BOLD if bold else 1)


def _letter_width(letter: str) -> Size:
    place = ord(letter) - FIRST_LETTER
    if 0 <= place < len(LETTERS):
        return LETTERS[place] / 100
    if letter in SIGNS:
        return SIGNS[letter]
    if unicodedata.combining(letter):
        return 0.0
    return IDEOGRAPH if unicodedata.east_asian_width(letter) in "WF" else OTHER_LETTER


def label_width(
    pieces: Sequence[str], font: Size, heading: Size = 0, *, bold: int | None = None
) -> Size:
    """Return the width that a column of labels needs, under a heading, with one label bold."""
    widths = [
        text_width(shorten(piece, LABELS, font), font, bold=row == bold)
        for row, piece in enumerate(pieces)
    ]
    return max((heading, *widths)) + 2 * GAP


def shorten(piece: str, width: Size, size: Size) -> str:
    """Return a token with its blanks made visible, cut to a width."""
    return cut_text(" ".join(piece.split()) if piece.strip() else _show_blanks(piece), width, size)


def cut_text(text: str, width: Size, size: Size, *, bold: bool = False) -> str:
    """Return a line that fits a width, with an ellipsis where letters are left out."""
    if text_width(text, size, bold=bold) <= width:
        return text
    while text and text_width(text + "…", size, bold=bold) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def _show_blanks(piece: str) -> str:
    marks = {"\n": "↵", "\t": "⇥"}
    return "".join(marks.get(letter, "␣") for letter in piece) or "∅"


def wrap_phrases(phrases: Sequence[str], width: Size, size: Size) -> list[str]:
    """Join phrases to lines of at most this width; a phrase that is longer is broken at blanks."""
    lines: list[str] = []
    for phrase in phrases:
        joined = f"{lines[-1]} · {phrase}" if lines else phrase
        if lines and text_width(joined, size) <= width:
            lines[-1] = joined
        else:
            lines += _break_phrase(phrase, width, size)
    return lines


def wrap_title(title: str, width: Size, size: Size, most: int = 2) -> list[str]:
    """Return a text in a few lines, the last of them cut where there is more."""
    lines = _break_phrase(title, width, size) if title else []
    rest = " ".join(lines[most - 1 :])
    return [*lines[: most - 1], cut_text(rest, width, size)] if len(lines) > most else lines


def _break_phrase(phrase: str, width: Size, size: Size) -> list[str]:
    lines: list[str] = []
    for word in phrase.split(" "):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(joined, size) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return [cut_text(line, width, size) for line in lines]
