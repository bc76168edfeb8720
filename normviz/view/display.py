"""A flow before a reader: as a live widget, or as a page in a frame that asks for nothing."""

import html
import textwrap
from dataclasses import dataclass
from typing import Any

from normviz.core.flow import Flow
from normviz.errors import MissingPackage
from normviz.view.bounds import checked_size
from normviz.view.page import as_text, page

HEIGHT = 640
"""Pixels, enough for the controls and twenty tokens; a longer page scrolls inside its frame."""

# The sandbox gives the page an origin of its own: it cannot reach the notebook around it, but it
# may save its figure.
FRAME = (
    '<iframe title="{title}" sandbox="allow-scripts allow-downloads" '
    'width="100%" height="{height}" '
    'style="border: 0" srcdoc="{page}"></iframe>'
)


@dataclass(frozen=True, repr=False)
class Frame:
    """The one-file view inside an iframe, for every place that shows HTML.

    As the last line of a cell it shows itself. `html` is its markup, `text` what stands for it
    where there is only text.
    """

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        """What is inside, in words."""
        return self.text


def frame(flow: Flow, *, height: Any = HEIGHT, **choice: Any) -> Frame:
    """The view of a flow in an iframe that may run its own script, and nothing more."""
    name = f"normviz: {flow.title or flow.receipt.model}"
    return iframe(name, page(flow, **choice), repr(flow), height)


def iframe(name: str, content: str, text: str, height: Any = HEIGHT) -> Frame:
    """A page in an iframe, with a name for those who do not see it."""
    title = as_text(textwrap.shorten(name, 100, placeholder=" …"))
    tall = round(checked_size("height", height))
    return Frame(FRAME.format(title=title, height=tall, page=html.escape(content)), text)


def show(flow: Flow, *, static: bool = False, **choice: Any) -> None:
    """Display the widget of a flow, or its page in a frame."""
    display_object(frame(flow, **choice) if static else flow.widget(**choice))


def display_object(shown: Any) -> None:
    """Hand something to the notebook."""
    try:
        from IPython.display import display
    except ImportError as error:
        raise MissingPackage(
            "The package IPython is not installed.",
            "A notebook shows things through IPython.",
            "Run: pip install ipython. Outside of notebooks, write a file with to_html(path).",
        ) from error
    display(shown)  # type: ignore[no-untyped-call]
