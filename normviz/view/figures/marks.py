"""The marks a figure is made of, whatever file it is written to."""

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
    turned: bool = False


@dataclass(frozen=True)
class Curve:
    """A ribbon: a cubic curve, flat at both ends."""

    points: tuple[Size, Size, Size, Size]
    """Where it starts and ends: x and y, x and y."""
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
class Field:
    """A heatmap: one color for each cell."""

    x: Size
    y: Size
    width: Size
    height: Size
    cells: Numbers
    """[row column red green blue], 8 bits each."""


Mark = Text | Curve | Box | Field


@dataclass
class Drawing:
    """Marks on a sheet of a size, in the order in which they are painted."""

    width: Size
    height: Size
    palette: Palette
    panes: int = 1
    marks: list[Mark] = field(default_factory=list)
