"""Exported notebooks: the picture is there without a kernel, without widgets, without a network."""

import os
import subprocess
import sys

import nbformat
import pytest
from browser import INK, choose_head
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import expect

CELL = """
import numpy as np
import normviz
weights = np.full((2, 2, 3, 3), 1 / 3)
weights[:, 1] = [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
flow = normviz.from_arrays(weights, ["the", "cat", "sat"], value_norms=np.ones((2, 2, 3)))
flow
"""


@pytest.fixture
def notebook(tmp_path):
    """A notebook that ends in a flow, not yet executed."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    path = tmp_path / "notebook.ipynb"
    nbformat.write(made, path)
    return path


@pytest.fixture
def offline(browser, tmp_path):
    """Opens an exported page in a browser that can reach nothing but the file."""
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1100, "height": 900})

    def opened(html):
        path = tmp_path / "notebook.html"
        path.write_text(html, encoding="utf-8")
        tab = context.new_page()
        tab.route("**/*", _only_files)
        tab.goto(path.as_uri())
        return tab

    yield opened
    context.close()


def _only_files(route):
    route.continue_() if route.request.url.startswith("file:") else route.abort()


def test_a_notebook_executed_for_export_holds_the_whole_page(notebook, offline):
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", str(notebook)]
    environment = {**os.environ, "NORMVIZ_STATIC": "1"}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    tab = offline(notebook.with_suffix(".html").read_text(encoding="utf-8"))
    inside = tab.frame_locator("iframe")
    pane = inside.locator(".nv-pane").first
    expect(pane.locator(".nv-tokens.nv-key li")).to_have_text(["the", "cat", "sat"])
    assert pane.locator(".nv-base").evaluate(INK)["inked"] > 500
    before = pane.locator(".nv-base").evaluate(INK)
    choose_head(inside, 1)
    assert pane.locator(".nv-base").evaluate(INK) != before


def test_a_saved_notebook_without_widget_state_shows_a_still_picture(notebook, offline):
    read = nbformat.read(notebook, as_version=4)
    NotebookClient(read, store_widget_state=False).execute()
    html, _ = HTMLExporter().from_notebook_node(read)
    tab = offline(html)
    picture = tab.locator("svg[role=img], img[src*=svg]").first
    expect(picture).to_be_visible()
    assert picture.bounding_box()["width"] > 200
    (output,) = [o for o in read.cells[0].outputs if "data" in o]
    assert "application/vnd.jupyter.widget-view+json" in output["data"]
    assert ">cat</text>" in output["data"]["image/svg+xml"]
