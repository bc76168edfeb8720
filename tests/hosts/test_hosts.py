"""The widget in its other hosts: it is drawn, Python hears of it, and nothing is loaded."""

import re
import sys
import textwrap

import psutil
import pytest
from browser import expect_layer, step_layer
from hosts import FLOW, TOKEN, free_port, marimo, running
from playwright.sync_api import expect
from visits import STATIC, Notebook, expect_drawn, expect_framed, visiting

TELLING = """
import ipywidgets

w = flow.widget(layer=0)
told = ipywidgets.Label()
w.observe(lambda _: setattr(told, "value", f"Python sees layer {w.layer}"), "layer")
ipywidgets.VBox([w, told])
"""
"""A widget with a line below it that Python writes."""

APP = f"""
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
{textwrap.indent(FLOW, "    ")}
    return flow, mo


@app.cell
def _(flow, mo):
    view = mo.ui.anywidget(flow.widget(layer=0))
    view
    return (view,)


@app.cell
def _(mo, view):
    mo.md(f"Python sees layer {{view.value['layer']}}")
    return


@app.cell
def _(flow):
    flow.widget(layer=1)
    return


@app.cell
def _(flow):
    flow
    return


@app.cell
def _(flow):
    {STATIC}
    return
"""


@pytest.fixture
def visit(browser):
    with visiting(browser) as tab:
        yield tab


@pytest.fixture(scope="module")
def marimo_host(tmp_path_factory):
    with marimo(tmp_path_factory.mktemp("marimo"), APP) as host:
        yield host


def expect_heard(page, view):
    """A click goes to Python, which writes a line about it."""
    step_layer(view)
    expect(page.get_by_text("Python sees layer 1")).to_be_visible()
    expect(view.locator(".nv-sentence").first).to_contain_text("Layer 1,")


def test_notebook_7_draws_the_widget_and_loads_nothing(visit, jupyter_host):
    jupyter_host.notebook("seven.ipynb", FLOW, TELLING, STATIC)
    notebook = Notebook(visit, jupyter_host, "notebooks", "seven.ipynb")
    notebook.run_all()
    expect_drawn(notebook.view(1))
    expect_heard(notebook.page, notebook.view(1))
    expect_framed(notebook.page)
    assert (visit.ours, visit.elsewhere) == ([], [])


def test_voila_draws_the_widget_which_loads_nothing(visit, jupyter_host):
    """Voila's page itself asks a CDN for icons and for MathJax, whatever the notebook."""
    jupyter_host.notebook("voila.ipynb", FLOW, TELLING, STATIC)
    visit.page.goto(f"{jupyter_host.url}voila/render/voila.ipynb?token={TOKEN}")
    view = visit.page.locator(".normviz")
    expect_drawn(view)
    expect_heard(visit.page, view)
    expect_framed(visit.page)
    asked = [url for url in visit.elsewhere if not re.search("/@fortawesome/|/mathjax/", url)]
    assert (visit.ours, asked) == ([], [])


def test_marimo_draws_the_widget_and_loads_nothing(visit, marimo_host):
    visit.page.goto(marimo_host.url)
    views = visit.page.locator(".normviz")
    expect(views).to_have_count(3)
    for index, layer in enumerate((0, 1, 1)):
        expect_drawn(views.nth(index))
        expect_layer(views.nth(index), str(layer))
    expect_heard(visit.page, views.nth(0))
    expect_framed(visit.page)
    assert (visit.ours, visit.elsewhere) == ([], [])


def fail_beside_a_server(folder, family):
    """Start a server that starts a process itself, note both, and fail."""
    port = free_port()
    code = (
        "import http.server, subprocess; subprocess.Popen(['sleep', '600']); "
        f"http.server.HTTPServer(('127.0.0.1', {port}), http.server.BaseHTTPRequestHandler)"
        ".serve_forever()"
    )
    command = [sys.executable, "-c", code]
    with running(command, f"http://127.0.0.1:{port}/", folder, {}) as server:
        family += [server, *server.children(recursive=True)]
        raise ArithmeticError("as a failing test would")


def test_a_server_takes_what_it_started_along_even_if_a_test_fails(tmp_path):
    family = []
    with pytest.raises(ArithmeticError, match="as a failing test would"):
        fail_beside_a_server(tmp_path, family)
    assert len(family) == 2
    assert not any(psutil.pid_exists(process.pid) for process in family)


def test_a_server_that_ends_at_once_is_told_with_its_own_words(tmp_path):
    command = [sys.executable, "-c", "raise SystemExit('there is no room')"]
    with (
        pytest.raises(RuntimeError, match="there is no room"),
        running(command, "http://127.0.0.1:9/", tmp_path, {}),
    ):
        pass
