"""What a notebook displays of a flow: a live widget with a still picture, or a page in a frame."""

from typing import Any, Unpack

from normviz.core.flow import Flow
from normviz.errors import MissingPackage, NormvizError
from normviz.view.figures.files import render_svg
from normviz.view.frame import frame_flow, frames_requested
from normviz.view.state import FrameOptions, ViewOptions, WidgetOptions, require_options

STILL_RIBBONS = 400
STILL_TOKENS = 800
"""A still picture beside a widget stays small: so many ribbons of each measure, so many tokens."""


def show(flow: Flow, *, static: bool = False, **options: Unpack[FrameOptions]) -> None:
    """Display the widget of a flow, or its page in a frame."""
    if static:
        display_object(frame_flow(flow, **options))
        return
    require_options("show without static=True", options, WidgetOptions.__annotations__)
    for_widget: ViewOptions = options
    display_object(flow.widget(**for_widget))


def display_object(shown: object) -> None:
    """Display an object in the notebook."""
    try:
        from IPython.display import display
    except ImportError as error:
        raise MissingPackage(
            "The package IPython is not installed.",
            "A notebook shows things through IPython.",
            "Run: pip install ipython. Outside of notebooks, write a file with to_html(path).",
        ) from error
    display(shown)  # type: ignore[no-untyped-call]


def mimebundle(flow: Flow) -> dict[str, Any]:
    """Return a flow for a notebook: the widget and a still picture, or why there is none.

    Where the widget is a page in a frame (see `FlowWidget`), so is the flow.
    """
    plain = {"text/plain": repr(flow)}
    if frames_requested():
        return {**plain, "text/html": frame_flow(flow).html}
    try:
        # Where its JavaScript was not built, the widget cannot be imported.
        from normviz.view.widget import FlowWidget

        shown, _ = FlowWidget(flow)._repr_mimebundle_()
    except (ImportError, NormvizError) as reason:
        return {"text/plain": f"{plain['text/plain']}\n  (no picture: {reason})"}
    still = {} if "text/html" in shown else _still_picture(flow)
    return {**shown, **still, **plain}


def _still_picture(flow: Flow) -> dict[str, str]:
    """Return a small SVG of the flow, for places that keep outputs but have no widgets."""
    if max(len(s.queries) + len(s.keys) for s in flow.streams.values()) > STILL_TOKENS:
        return {}
    return {"image/svg+xml": render_svg(flow, max_ribbons=STILL_RIBBONS)}
