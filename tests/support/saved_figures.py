"""Figures saved with the buttons of a page, and the texts in them."""

from pathlib import Path
from xml.etree import ElementTree as ET

from flows import plain_state

from normviz.view.figures.files import draw_figure

SVG = "{http://www.w3.org/2000/svg}"

DARK = {"#15181c", "#e4e7ea", "#9aa5b0", "#343b43", "#23282e"}
"""Colors of the dark theme: background, inks and lines."""


def save(view, kind):
    """Press a save button of a page or of a part of it; return the file's bytes and name."""
    with getattr(view, "page", view).expect_download() as download:
        view.get_by_role("button", name=f"save {kind}").click()
    return Path(download.value.path()).read_bytes(), download.value.suggested_filename


def parse_svg(content):
    """Return the root element of an SVG file."""
    return ET.fromstring(content)  # noqa: S314


def figure(tab):
    """Save the figure of a page as SVG and return its root element."""
    return parse_svg(save(tab, "SVG")[0])


def texts(root):
    """Return the texts of an SVG in the order of the file."""
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def draw_plain(flow, **options):
    """A figure of one measure in the first layer, unless the options say otherwise."""
    return draw_figure(flow, **plain_state(flow, options))
