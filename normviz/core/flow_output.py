"""How a flow is shown, drawn and saved: each method imports what it needs when it is called."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes

    from normviz.core.flow import Flow
    from normviz.view.figures.figure import Figure
    from normviz.view.frame import Frame
    from normviz.view.state import FigureOptions, FrameOptions, PageOptions, WidgetOptions
    from normviz.view.widget import FlowWidget


class FlowOutput:
    """The methods of `Flow` that turn it into a widget, a page, a figure or a file."""

    @property
    def _flow(self) -> "Flow":
        return cast("Flow", self)

    def widget(self, **state: "Unpack[WidgetOptions]") -> "FlowWidget":
        """Return the flow as a notebook widget that opens in this state.

        Parameters
        ----------
        **state
            `view stream measure compare layer heads token role normalize words special threshold
            color_by target_row difference theme`, as `FlowWidget` explains; each can be set on the
            widget later.
        """
        from normviz.view.widget import FlowWidget

        return FlowWidget(self._flow, **state)

    def show(self, *, static: bool = False, **state: "Unpack[FrameOptions]") -> None:
        """Display the flow in a notebook.

        Parameters
        ----------
        static
            False for the widget, whose state Python can read and set. True for the same picture
            as a page in a frame: it needs no kernel, no widget manager and no network, so it also
            works in hosts that would load widgets from elsewhere, and in a saved notebook.
        **state
            The state that the picture opens in, as for `widget`; with `static`, also `height` in
            pixels.

        See Also
        --------
        widget, frame : return the widget or the frame instead of displaying it.
        """
        from normviz.view.display import show

        show(self._flow, static=static, **state)

    def frame(self, **options: "Unpack[FrameOptions]") -> "Frame":
        """Return the picture as a page in an iframe, for any program that shows HTML.

        Parameters
        ----------
        **options
            As for `to_html`, and `height` in pixels.
        """
        from normviz.view.frame import frame_flow

        return frame_flow(self._flow, **options)

    def to_html(self, path: str | Path, **options: "Unpack[PageOptions]") -> Path:
        """Write the picture to one file that opens in any browser, with no kernel and no network.

        Parameters
        ----------
        path
            Where to write; returned as a `Path`.
        **options
            `precision` (`log16`, `float32`, `uint8`), `max_mb`, and the state that the picture
            opens in, as for `widget`. `normviz.to_html` writes several flows to one file.
        """
        from normviz.view.page import to_html

        return to_html(self._flow, path, **options)

    def to_svg(self, path: str | Path, **options: "Unpack[FigureOptions]") -> Path:
        """Write a figure for a paper as SVG, with text and marks as vectors; needs no browser.

        Parameters
        ----------
        path
            Where to write; returned as a `Path`.
        **options
            `width_cm` (8.5, one column; 17 for two panes), `title` (another text, or False for
            none), `legend=False` to leave out the lines below the figure, and what it shows, as
            for `widget`; the views are `flow`, `stack`, `grid`, `matrix`, `profile`, `alignment`
            and `text`.

        See Also
        --------
        figure : the same, with a caption and LaTeX.
        """
        from normviz.view.figures.files import to_svg

        return to_svg(self._flow, path, **options)

    def to_png(self, path: str | Path, **options: "Unpack[FigureOptions]") -> Path:
        """Write the same figure as PNG, at `dpi=300` unless you pass another; needs matplotlib."""
        from normviz.view.figures.files import to_png

        return to_png(self._flow, path, **options)

    def to_pdf(self, path: str | Path, **options: "Unpack[FigureOptions]") -> Path:
        """Write the same figure as PDF, with text and marks as vectors; needs matplotlib."""
        from normviz.view.figures.files import to_pdf

        return to_pdf(self._flow, path, **options)

    def figure(self, name: str | None = None, **options: "Unpack[FigureOptions]") -> "Figure":
        """Return the same figure as an object, with a caption and LaTeX for a paper.

        Parameters
        ----------
        name
            What its file is called, without suffix; by default named after what is shown.
        **options
            As for `to_svg`; `dpi` too, for a PNG.

        Returns
        -------
        Figure
            With `.caption`, `.latex`, `.svg` and `.save(path)`; a notebook shows the picture.
        """
        from normviz.view.figures.figure import make_figure

        return make_figure(self._flow, name, **options)

    def plot(self, ax: "Axes | None" = None, **options: "Unpack[FigureOptions]") -> "Axes":
        """Draw the same figure on matplotlib axes, by default on new ones."""
        from normviz.view.figures.files import plot

        return plot(self._flow, ax, **options)

    def save(self, path: str | Path) -> Path:
        """Write the flow to one file; `normviz.load` opens it, without torch."""
        from normviz.io.flow_file import save

        return save(self._flow, path)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from normviz.view.display import mimebundle

        return mimebundle(self._flow)
