"""The marks of a figure, whatever file they are written to."""

from dataclasses import dataclass, field

from normviz.view.figures import Size
from normviz.view.figures.colors import Palette
from normviz.view.figures.picture import Numbers


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
    """A ribbon: a cubic curve, flat at both ends."""

    points: tuple[Size, Size, Size, Size]
    """The x and y of its start, then of its end."""
    width: Size
    color: str
    opacity: Size


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
    """A heatmap: one color for each cell."""

    x: Size
    y: Size
    width: Size
    height: Size
    cells: Numbers
    """[row column channel], in 8 bits."""


Mark = Text | Curve | Box | Heatmap


@dataclass
class Drawing:
    """Marks on a sheet of some size, in the order in which they are painted."""

    width: Size
    height: Size
    palette: Palette
    panes: int = 1
    marks: list[Mark] = field(default_factory=list)
