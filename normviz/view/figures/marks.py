"""The marks of a figure, whatever file they are written to."""

from dataclasses import dataclass, field

import numpy as np

from normviz.view.figures import Size
from normviz.view.figures.colors import Palette
from normviz.view.figures.picture import Numbers

MAX_VECTOR_CELLS = 20_000
MAGNIFIED, MAX_PIXELS = 8, 4000
"""How many pixels wide a cell of a large heatmap is, and the heatmap at most."""


@dataclass(frozen=True)
class Text:
    """One line of text, at its baseline."""

    x: Size
    y: Size
    text: str
    size: Size
    color: str
    anchor: str = "start"
    opacity: Size = 1.0
    bold: bool = False
    rotated: bool = False
    """Whether it runs upwards."""


@dataclass(frozen=True)
class Curve:
    """A ribbon: a cubic curve, flat at both ends; or upright at both."""

    points: tuple[Size, Size, Size, Size]
    """The x and y of its start, then of its end."""
    width: Size
    color: str
    opacity: Size = 1.0
    upright: bool = False
    dashed: bool = False

    @property
    def bends(self) -> tuple[tuple[Size, Size], tuple[Size, Size]]:
        """The two points between its ends that it bends toward."""
        x, y, to_x, to_y = self.points
        if self.upright:
            return (x, (y + to_y) / 2), (to_x, (y + to_y) / 2)
        return ((x + to_x) / 2, y), ((x + to_x) / 2, to_y)


@dataclass(frozen=True)
class Line:
    """Straight strokes from point to point, or the area that they enclose."""

    points: tuple[tuple[Size, Size], ...]
    color: str
    width: Size = 1.0
    opacity: Size = 1.0
    dashed: bool = False
    fill: str | None = None
    """The color inside; None for a line that encloses nothing."""


@dataclass(frozen=True)
class Box:
    """A filled rectangle."""

    x: Size
    y: Size
    width: Size
    height: Size
    color: str
    opacity: Size = 1.0


@dataclass(frozen=True)
class Heatmap:
    """A heatmap: one color for each cell.

    Small ones are drawn as vectors. Of large ones each cell becomes a block of pixels, so that
    programs that smooth pictures do not blur them.
    """

    x: Size
    y: Size
    width: Size
    height: Size
    cells: Numbers
    """[row column channel], in 8 bits."""
    is_one_of: int = 1
    """How many such heatmaps the figure has."""

    @property
    def is_large(self) -> bool:
        """Whether the figure has too many cells to draw each as a vector."""
        rows, columns, _ = self.cells.shape
        return bool(rows * columns * self.is_one_of > MAX_VECTOR_CELLS)

    def magnify(self) -> Numbers:
        """Return the cells as pixels, several of them for each cell [row column channel]."""
        times = max(1, min(MAGNIFIED, MAX_PIXELS // max(self.cells.shape[:2])))
        return np.asarray(self.cells.repeat(times, axis=0).repeat(times, axis=1))


Mark = Text | Curve | Line | Box | Heatmap


@dataclass
class Drawing:
    """Marks on a sheet of some size, in the order in which they are painted."""

    width: Size
    height: Size
    palette: Palette
    panes: int = 1
    marks: list[Mark] = field(default_factory=list)
