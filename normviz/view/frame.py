"""A page inside an iframe, for every place that shows HTML but runs no widgets."""

import html
import os
import textwrap
from dataclasses import dataclass
from typing import Unpack

from normviz.core.flow import Flow
from normviz.view.bounds import require_size
from normviz.view.page import build_page, escape_text
from normviz.view.state import FrameOptions, PageOptions, require_options

HEIGHT = 640
"""Pixels, enough for the controls and twenty tokens; a longer page scrolls inside its frame."""

# The sandbox gives the page an origin of its own: it cannot reach the notebook around it, but it
# may save its figure.
IFRAME = (
    '<iframe title="{title}" sandbox="allow-scripts allow-downloads" '
    'width="100%" height="{height}" '
    'style="border: 0" srcdoc="{page}"></iframe>'
)


@dataclass(frozen=True, repr=False)
class Frame:
    """The one-file view inside an iframe, for every place that shows HTML.

    As the last line of a cell it shows itself. `html` is its markup, `text` the plain text for
    places without HTML.
    """

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        """Return the plain text."""
        return self.text


def frame_flow(flow: Flow, **options: Unpack[FrameOptions]) -> Frame:
    """Return the view of a flow in an iframe that may run its own script, and nothing more."""
    require_options("frame", options, FrameOptions.__annotations__)
    height = options.pop("height", HEIGHT)
    title = f"normviz: {flow.title or flow.receipt.model}"
    for_page: PageOptions = options
    return wrap_in_iframe(build_page(flow, **for_page), title, repr(flow), height)


def wrap_in_iframe(page: str, title: str, text: str, height: object = HEIGHT) -> Frame:
    """Return a page in an iframe, with a title for screen readers and a plain text."""
    short = escape_text(textwrap.shorten(title, 100, placeholder=" …"))
    pixels = round(require_size("height", height))
    return Frame(IFRAME.format(title=short, height=pixels, page=html.escape(page)), text)


def frames_requested() -> bool:
    """Return whether NORMVIZ_STATIC asks for pages in frames in place of widgets."""
    return bool(os.environ.get("NORMVIZ_STATIC"))
