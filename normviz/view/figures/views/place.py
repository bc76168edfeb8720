"""Where a pane stands on its sheet, and how it is drawn."""

from dataclasses import dataclass

from normviz.view.figures import Size, geometry
from normviz.view.figures.colors import PALETTES, Palette

WIDTH = 440
"""How wide one pane is, in the pixels of the screen."""


@dataclass(frozen=True)
class Place:
    """The upper left corner of a pane, and what all panes of a figure share."""

    left: Size
    top: Size
    theme: str
    full: Size | None = None
    """The share that the longest bar or the deepest color stands for, the same in all panes."""
    max_ribbons: int = geometry.MAX_RIBBONS

    @property
    def right(self) -> Size:
        """The right edge of the pane."""
        return self.left + WIDTH

    @property
    def palette(self) -> Palette:
        """The colors of the theme."""
        return PALETTES[self.theme]
