"""A figure with all that a paper needs of it: the drawing, a caption, and the LaTeX around it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from normviz.core.flow import Flow
from normviz.system.files import by_suffix
from normviz.view.bounds import require_size
from normviz.view.figures import Size
from normviz.view.figures.caption import name_figure, write_caption, write_latex
from normviz.view.figures.files import render_svg, resolve_panes, to_pdf, to_png, to_svg
from normviz.view.figures.geometry import MAX_RIBBONS
from normviz.view.state import FigureOptions, require_options

if TYPE_CHECKING:
    from collections.abc import Mapping

WRITERS = {".pdf": to_pdf, ".svg": to_svg, ".png": to_png}
NOT_OF_THE_VIEW = ("width_cm", "title", "legend", "dpi")


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of a flow. `.caption` and `.latex` go with it; a notebook shows the picture."""

    flow: Flow
    options: "Mapping[str, object]"
    name: str
    """A file name without suffix; it differs by view, measure, layer, heads and token."""
    caption: str
    """What is shown, what the marks stand for, and where the measures are from: plain text."""
    panes: int
    width_cm: Size | None = None

    @property
    def svg(self) -> str:
        """The figure as the text of an SVG file."""
        return render_svg(self.flow, **self._options(without="dpi"))

    @property
    def latex(self) -> str:
        r"""A LaTeX figure environment with \includegraphics, the caption and a label."""
        return write_latex(self.name, self.caption, self.panes, self.width_cm)

    def save(self, path: str | Path | None = None) -> Path:
        """Write the figure as `.pdf`, `.svg` or `.png`, and return its path.

        Parameters
        ----------
        path
            By default the name that `.latex` includes, in the current folder. PDF and PNG need
            matplotlib.
        """
        target = Path(f"{self.name}.pdf" if path is None else path)
        write = by_suffix(str(target), WRITERS)
        return write(self.flow, target, **self._options(without="" if write is to_png else "dpi"))

    def _options(self, without: str) -> FigureOptions:
        kept = {name: value for name, value in self.options.items() if name != without}
        return cast("FigureOptions", kept)

    def _repr_svg_(self) -> str:
        """Return what a notebook shows."""
        return self.svg

    def __repr__(self) -> str:
        """Return the name and the caption."""
        return f"<figure {self.name}: {self.caption}>"


def make_figure(flow: Flow, name: str | None = None, **options: object) -> Figure:
    """Return the figure of a view, under a name of its own or a given one."""
    require_options("figure", options, FigureOptions.__annotations__)
    for_view = {key: value for key, value in options.items() if key not in NOT_OF_THE_VIEW}
    panes, view = resolve_panes(flow, cast("FigureOptions", for_view))
    width = options.get("width_cm")
    return Figure(
        flow,
        options,
        name or name_figure(panes, view),
        write_caption(panes, view, MAX_RIBBONS),
        len(panes),
        None if width is None else require_size("width_cm", width),
    )
