"""Figures saved by pressing a button of the page, and what is written in them."""

from pathlib import Path
from xml.etree import ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


DARK = {"#15181c", "#e4e7ea", "#9aa5b0", "#343b43", "#23282e"}
"""Colors of the dark theme's paper, ink and lines."""


def save(view, kind):
    """Press the button on a page or in a part of one; the file that came, and its name."""
    with getattr(view, "page", view).expect_download() as coming:
        view.get_by_role("button", name=f"save {kind}").click()
    return Path(coming.value.path()).read_bytes(), coming.value.suggested_filename


def read(content):
    return ET.fromstring(content)  # noqa: S314


def figure(tab):
    return read(save(tab, "SVG")[0])


def texts(root):
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
