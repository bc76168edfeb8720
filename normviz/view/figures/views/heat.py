"""Colors of cells, and the ramp that explains them."""

import numpy as np

from normviz.core.catalog import Measure
from normviz.view.figures.colors import BELOW, heat_colors, heat_hue
from normviz.view.figures.legend import Ramp, rgb
from normviz.view.figures.picture import Numbers
from normviz.view.figures.words import format_number

STEPS = 15
"""Every so many of the 256 colors is in the ramp of a legend."""


def color_cells(shares: Numbers, measure: Measure, theme: str) -> Numbers:
    """Return the color of each share from -1 to 1, in 8 bits [row column channel]."""
    above, below = (
        np.stack([rgb(color) for color in heat_colors(theme, hue)])
        for hue in (heat_hue(measure), BELOW)
    )
    steps = np.rint(np.clip(np.abs(shares), 0, 1) * 255).astype(int)
    colors: Numbers = np.where(shares[..., None] < 0, below[steps], above[steps])
    return colors.astype(np.uint8)


def heat_ramp(measure: Measure, theme: str, greatest: float) -> Ramp:
    """Return the colors from 0 to the greatest number; from minus it, where there are signs."""
    colors = heat_colors(theme, heat_hue(measure))[::STEPS]
    high = format_number(greatest)
    if not measure.signed:
        return Ramp(colors, "0", high)
    return Ramp([*heat_colors(theme, BELOW)[::STEPS][:0:-1], *colors], f"−{high}", high)
