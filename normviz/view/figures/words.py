"""The words of a figure: what the marks of a pane stand for, and its numbers."""

from normviz.view.figures import Size, geometry
from normviz.view.figures.picture import Picture

PLAIN, WHOLE = (1e-3, 1e5), 100
"""The range of numbers written without an exponent, and from where without decimals."""

TINY, FINE, NEARLY_ALL = 0.001, 0.0995, 0.995
"""The shares below which there is no number, below which a decimal, and above which not 100%."""


def legend_phrases(
    picture: Picture, view: str, max_ribbons: int = geometry.MAX_RIBBONS
) -> list[str]:
    """Return what the marks of a flow or a matrix stand for, in the words of the view."""
    measure, phrases = picture.measure, []
    if measure.signed:
        by_size = "; widths and sums go by size" if view == "flow" else ""
        phrases.append(f"blue: above zero, orange: below{by_size}")
    if picture.values.shape[0]:
        if view == "flow":
            phrases += _ribbon_phrases(picture, max_ribbons)
        elif picture.scale == "query":
            phrases.append("each row divided by its own whole")
    elif picture.norms is not None and view == "flow":
        phrases.append(f"longest bar: {format_number(float(picture.norms.totals.max(initial=0)))}")
    if picture.hidden:
        phrases.append(f"special tokens hidden, and with them {picture.hidden:.0%} of the sum")
    if picture.smallest_drawn:
        phrases.append(f"nothing below {format_number(picture.smallest_drawn)} is drawn")
    return phrases


def _ribbon_phrases(picture: Picture, max_ribbons: int) -> list[str]:
    unit = format_number(float(picture.units[0]))
    phrases = [f"full row: {'100% of its own' if picture.scale == 'query' else unit}"]
    pitch, _ = geometry.row_sizes(max(len(picture.queries), len(picture.keys)))
    if picture.focus is None:
        drawn = geometry.place_ribbons(picture, pitch, limit=max_ribbons)
        total = "the sizes" if picture.measure.signed else "the sum"
        phrases.append(f"{drawn.shown:.0%} of {total} drawn")
    elif (zoom := geometry.place_focused_ribbons(picture, pitch).zoom) > 1:
        phrases.append(f"drawn {zoom} times wider")
    if picture.shares is not None:
        phrases.append("bars: share of all that is given")
    return phrases


def format_number(value: Size) -> str:
    """Return a number with three significant digits, as the view writes it."""
    if value == 0:
        return "0"
    size = abs(value)
    if not PLAIN[0] <= size < PLAIN[1]:
        return f"{value:.1e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return f"{value:.0f}" if size >= WHOLE else f"{value:#.3g}"


def format_percent(share: Size) -> str:
    """Return a share with two significant digits, never rounded to 0% or 100%."""
    if share <= 0:
        return "0%"
    if share < TINY:
        return "<0.1%"
    if share < FINE:
        return f"{share:.1%}"
    return ">99%" if NEARLY_ALL <= share < 1 else f"{share:.0%}"
