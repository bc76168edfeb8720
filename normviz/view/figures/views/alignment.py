"""The alignment view: two texts that face each other, and the links between their words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from normviz.alignment.align import Alignment, align
from normviz.view.figures import Size
from normviz.view.figures.legend import SMALL, Legend
from normviz.view.figures.marks import Curve, Drawing, Mark, Text
from normviz.view.figures.metrics import cut_text, text_width
from normviz.view.figures.panes import Pane
from normviz.view.figures.views.place import WIDTH, Place

FONT, GAP_LEAST, GAP_MOST = 13, 10, 44
BETWEEN_ROWS, BETWEEN_COLUMNS = 92, 120
PITCH, WORD, MOST_WORDS = 20, 130, 80
HEADINGS = ("source", "target")
VERDICTS = {
    "light": {"right": "#14803c", "extra": "#d26a00", "missed": "#b3189c"},
    "dark": {"right": "#5fd08f", "extra": "#f7a64f", "missed": "#f28de2"},
}
"""The colors of links that are compared with gold ones (`js/src/views/alignment`)."""


@dataclass(frozen=True)
class WordLink:
    """A pair of words that is linked, or should be."""

    source: int
    target: int
    share: float
    verdict: str
    """`right`, `extra` or `missed`; empty where there is no gold."""


def align_pane(pane: Pane) -> Alignment:
    """Return the word alignment that a pane shows, as `normviz.align` reads it."""
    state = pane.state
    return align(
        pane.flow,
        state.measure,
        layer=state.layer,
        heads=state.heads,
        target_row=state.target_row,
    )


def find_links(pane: Pane, alignment: Alignment) -> list[WordLink]:
    """Return the links, and those that are missed by the gold alignment."""
    gold = pane.flow.gold
    pairs = alignment.links if gold is None else alignment.links | gold.sure

    def verdict(pair: tuple[int, int]) -> str:
        if gold is None:
            return ""
        if pair not in alignment.links:
            return "missed"
        return "right" if pair in gold.possible else "extra"

    return [
        WordLink(source, target, float(alignment.soft[target, source]), verdict((source, target)))
        for source, target in sorted(pairs, key=lambda pair: pair[::-1])
    ]


def explain_alignment(pane: Pane, place: Place) -> Legend:
    """Return what a link is, and how many words have none."""
    alignment = align_pane(pane)
    linked = {target for _, target in alignment.links}
    free = len(alignment.target) - len(linked)
    row = "reads" if pane.state.target_row == "input" else "predicts"
    phrases = [
        "each target word is linked to the source word from which it takes most",
        f"a target word is represented by the row that {row} it",
    ]
    if free:
        phrases.append(f"{free} of {len(alignment.target)} target words (gray) have no link")
    found = find_links(pane, alignment)
    colors = VERDICTS[place.theme] if pane.flow.gold is not None else {}
    counts = {name: sum(link.verdict == name for link in found) for name in colors}
    return Legend(phrases, [(f"{counts[name]} {name}", colors[name]) for name in colors])


def draw_alignment(sheet: Drawing, pane: Pane, place: Place) -> Size:
    """Add two texts and their links to a sheet and return the height of the bottom."""
    alignment = align_pane(pane)
    links = find_links(pane, alignment)
    texts = [
        [" ".join(word.split()) for word in side] for side in (alignment.source, alignment.target)
    ]
    widths = [[text_width(word, FONT) for word in text] for text in texts]
    needed = max(sum(row) + GAP_LEAST * (len(row) - 1) for row in widths)
    if needed <= WIDTH:
        return _draw_rows(sheet, pane, place, (texts, widths), links)
    return _draw_columns(sheet, pane, place, texts, links)


Texts = tuple[list[list[str]], list[list[Size]]]
"""The words of both texts, and how wide they are."""


def _draw_rows(
    sheet: Drawing, pane: Pane, place: Place, words: Texts, links: Sequence[WordLink]
) -> Size:
    """Draw one text above the other."""
    texts, widths = words
    top = place.top + 30
    heights = (top, top + BETWEEN_ROWS + FONT + 8)
    centers = [_spread_row(row, place) for row in widths]
    sheet.marks += _headings(sheet, place.left, (top - 20, heights[1] + 20))
    for side, (text, places) in enumerate(zip(texts, centers, strict=True)):
        for word, (label, x) in enumerate(zip(text, places, strict=True)):
            color = _word_color(sheet, side, word, links)
            sheet.marks.append(Text(x, heights[side], label, FONT, color, "middle"))
    for link in links:
        ends = (centers[0][link.source], top + 6, centers[1][link.target], heights[1] - FONT)
        sheet.marks.append(_link_mark(link, ends, pane, place, upright=True))
    return heights[1] + 24


def _headings(sheet: Drawing, x: Size, heights: tuple[Size, Size]) -> Iterator[Mark]:
    for text, y in zip(HEADINGS, heights, strict=True):
        yield Text(x, y, text, SMALL, sheet.palette.soft)


def _spread_row(widths: list[Size], place: Place) -> list[Size]:
    """Return the middles of the words of a line, spread over the pane."""
    gap = min(GAP_MOST, (WIDTH - sum(widths)) / max(1, len(widths) - 1))
    x = place.left + (WIDTH - sum(widths) - gap * (len(widths) - 1)) / 2
    middles = []
    for width in widths:
        middles.append(x + width / 2)
        x += width + gap
    return middles


def _draw_columns(
    sheet: Drawing, pane: Pane, place: Place, texts: list[list[str]], links: Sequence[WordLink]
) -> Size:
    """Draw long texts side by side, from top to bottom; of very long ones not every label."""
    short = [[cut_text(word, WORD, FONT) for word in text] for text in texts]
    widths = [
        max(text_width(word, FONT) for word in (*text, heading))
        for text, heading in zip(short, HEADINGS, strict=True)
    ]
    start, top = place.left + widths[0] + 6, place.top + 20
    end = min(place.right - widths[1] - 6, start + 1.5 * BETWEEN_COLUMNS)
    height = PITCH * min(MOST_WORDS, max(map(len, texts)))
    pitches = [min(PITCH, height / max(1, len(text))) for text in texts]
    soft = sheet.palette.soft
    for side, (x, anchor) in enumerate(((start - 6, "end"), (end + 6, "start"))):
        sheet.marks.append(Text(x, top - 8, HEADINGS[side], SMALL, soft, anchor))
        step = max(1, math.ceil((FONT + 1) / pitches[side]))
        for word in range(0, len(texts[side]), step):
            y, color = top + (word + 0.5) * pitches[side], _word_color(sheet, side, word, links)
            sheet.marks.append(Text(x, y + FONT * 0.35, short[side][word], FONT, color, anchor))
    for link in links:
        source, target = (link.source + 0.5) * pitches[0], (link.target + 0.5) * pitches[1]
        ends = (start, top + source, end, top + target)
        sheet.marks.append(_link_mark(link, ends, pane, place, upright=False))
    return top + height + 4


def _word_color(sheet: Drawing, side: int, word: int, links: Sequence[WordLink]) -> str:
    """Return the color of a word: muted where it has no link."""
    linked = {(link.source, link.target)[side] for link in links if link.verdict != "missed"}
    return sheet.palette.ink if word in linked else sheet.palette.soft


def _link_mark(
    link: WordLink,
    ends: tuple[Size, Size, Size, Size],
    pane: Pane,
    place: Place,
    *,
    upright: bool,
) -> Mark:
    """Return a link, wider where the target word takes more through it."""
    colors = VERDICTS[place.theme]
    plain = place.palette.soft if pane.measure.signed else place.palette.measure(pane.measure)
    missed = link.verdict == "missed"
    width = 1.6 if missed else 1.2 + 2.6 * link.share
    color = colors.get(link.verdict, plain)
    return Curve(ends, width, color, upright=upright, dashed=missed)
