"""The widget in a real JupyterLab, used as a person would, with Python on the other side."""

from itertools import pairwise

import pytest
from browser import choose_head, choose_layer, expect_layer, measure_button, step_layer, token
from hosts import FLOW
from playwright.sync_api import expect
from visits import STATIC, Notebook, expect_drawn, expect_framed, painted, visiting

PLAIN = 'measure="weighted-norm", layer=0, normalize="layer"'
"""A widget of one measure in its first layer."""
WIDGET = f"w = flow.widget({PLAIN})\nw"
SEEN = "print(w.layer, w.measure, w.token, w.role, w.heads, w.normalize, w.theme)"
FRESH = f"""
first = flow.widget({PLAIN})
for name in ("layer", "measure", "token", "role", "heads", "normalize", "theme"):
    setattr(w, name, getattr(first, name))
print("fresh")
"""


def in_lab(visit, host, name, *cells):
    """A notebook with these cells, open in a workspace of its own, where no other comes back."""
    host.notebook(f"{name}.ipynb", *cells)
    return Notebook(visit, host, f"lab/workspaces/{name}/tree", f"{name}.ipynb")


@pytest.fixture
def opened(browser, jupyter_host):
    """Opens a notebook in Lab; an error in the console or a request elsewhere fails the test."""
    with visiting(browser) as visit:
        yield lambda name, *cells: in_lab(visit, jupyter_host, name, *cells)
    assert (visit.trouble, visit.elsewhere) == ([], [])


@pytest.fixture(scope="module")
def shared(browser, jupyter_host):
    """One notebook for many tests, which shows one widget in two cells."""
    with visiting(browser) as visit:
        cells = FLOW, WIDGET, "w", SEEN, "w.layer = 2", FRESH
        lab = in_lab(visit, jupyter_host, "shared", *cells)
        lab.run_all()
        yield lab


@pytest.fixture
def lab(shared):
    """The shared notebook with everything chosen as at first."""
    shared.says(5, "fresh")
    shared.says(3, "0 weighted-norm None query None layer auto")
    yield shared
    assert (shared.visit.trouble, shared.visit.elsewhere) == ([], [])


@pytest.fixture(scope="module")
def notebook_of_several(browser, jupyter_host):
    """Three widgets in one notebook; the layers of the first two are linked."""
    with visiting(browser) as visit:
        cells = (
            f"import ipywidgets{FLOW}",
            *(f"{name} = flow.widget({PLAIN})\n{name}" for name in "abc"),
            'link = ipywidgets.jslink((a, "layer"), (b, "layer"))',
            "print(a.layer, b.layer, c.layer, a.measure, b.measure, c.measure)",
            "c.close()\nprint('closed')",
        )
        yield in_lab(visit, jupyter_host, "several", *cells)


@pytest.fixture
def several(notebook_of_several):
    """The three widgets, made anew."""
    notebook = notebook_of_several
    for cell in range(5):
        notebook.run(cell)
    notebook.says(5, "0 0 0 weighted-norm weighted-norm weighted-norm")
    yield notebook
    assert (notebook.visit.trouble, notebook.visit.elsewhere) == ([], [])


def test_the_widget_is_drawn_and_its_tokens_are_text(lab):
    for cell in (1, 2):
        expect_drawn(lab.view(cell))


CONTROLS = {
    "measure": (
        lambda view: measure_button(view, "α").click(),
        "0 weight None query None layer auto",
    ),
    "layer": (
        lambda view: choose_layer(view, 2),
        "2 weighted-norm None query None layer auto",
    ),
    "the next layer": (
        step_layer,
        "1 weighted-norm None query None layer auto",
    ),
    "one head": (
        lambda view: choose_head(view, 2),
        "0 weighted-norm None query [2] layer auto",
    ),
    "scale": (
        lambda view: view.locator("select[aria-label=scale]").select_option("query"),
        "0 weighted-norm None query None query auto",
    ),
    "theme": (
        lambda view: view.locator("select[aria-label=theme]").select_option("dark"),
        "0 weighted-norm None query None layer dark",
    ),
    "a query": (
        lambda view: token(view, "query", 3).click(),
        "0 weighted-norm 3 query None layer auto",
    ),
    "a key": (
        lambda view: token(view, "key", 0).click(),
        "0 weighted-norm 0 key None layer auto",
    ),
}


@pytest.mark.parametrize("control", CONTROLS)
def test_python_sees_what_a_reader_chooses(lab, control):
    use, seen = CONTROLS[control]
    before = painted(lab.view(1))
    use(lab.view(1))
    lab.says(3, seen)
    if control not in {"a query", "a key"}:
        painted(lab.view(1), unlike=before)


def test_heads_are_added_and_all_come_back(lab):
    view = lab.view(1)
    for head in (3, 1):
        choose_head(view, head)
    lab.says(3, "0 weighted-norm None query [1, 3] layer auto")
    choose_head(view, "all")
    lab.says(3, "0 weighted-norm None query None layer auto")


def test_python_sees_what_the_keys_choose(lab):
    lab.view(1).focus()
    for key, seen in (
        ("1", "0 weight None query"),
        ("]", "1 weight None query"),
        ("ArrowDown", "1 weight 0 query"),
        ("ArrowDown", "1 weight 1 query"),
        ("ArrowLeft", "1 weight 1 key"),
        ("ArrowUp", "1 weight 0 key"),
        ("3", "1 weighted-norm 0 key"),
        ("[", "0 weighted-norm 0 key"),
        ("Escape", "0 weighted-norm None key"),
    ):
        lab.view(1).focus()
        lab.page.keyboard.press(key)
        lab.says(3, f"{seen} None layer auto")


KINDS = "cells => cells.map(cell => cell.className.match(/jp-(Code|Markdown|Raw)Cell/)[1])"


def test_keys_pressed_in_the_widget_are_no_shortcuts_of_lab(lab):
    cells = lab.page.locator(".jp-Notebook .jp-Cell")
    before = cells.evaluate_all(KINDS)
    lab.view(1).locator(".nv-title").first.click()
    for key in ("1", "2", "[", "]", "ArrowDown", "ArrowUp", "Escape", *"mryabxdd", "0", "0"):
        lab.page.keyboard.press(key)
    expect(lab.view(1)).to_be_focused()
    lab.says(3, "1 value-norm None query None layer auto")
    assert cells.evaluate_all(KINDS) == before


def test_the_same_keys_are_shortcuts_beside_the_widget(lab):
    """Otherwise the test before would show nothing."""
    for key, cells in (("m", 1), ("y", 0)):
        lab.cell(4).locator(".jp-InputPrompt").click()
        lab.page.keyboard.press(key)
        expect(lab.page.locator(".jp-MarkdownCell")).to_have_count(cells)


def test_what_python_sets_is_shown_in_every_view(lab):
    before = painted(lab.view(1))
    lab.run(4)
    for cell in (1, 2):
        expect_layer(lab.view(cell), 2)
        expect(lab.view(cell).locator(".nv-sentence").first).to_contain_text("Layer 2,")
    painted(lab.view(1), unlike=before)


def test_two_views_of_one_widget_stay_in_step(lab):
    one, other = lab.view(1), lab.view(2)
    measure_button(one, "α").click()
    expect(measure_button(other, "α")).to_have_attribute("aria-pressed", "true")
    token(other, "query", 4).click()
    lab.page.mouse.move(2, 2)
    sentences = [view.locator(".nv-sentence").first for view in (one, other)]
    for sentence in sentences:
        expect(sentence).to_contain_text("‘mats’ takes")
    assert all(left.inner_text() == right.inner_text() for left, right in pairwise(sentences))


def test_the_view_is_dark_when_lab_is_dark(lab):
    light = painted(lab.view(1))
    try:
        lab.choose("Settings", "Theme", "JupyterLab Dark")
        expect(lab.view(1)).to_have_attribute("data-shade", "dark")
        painted(lab.view(1), unlike=light)
    finally:
        lab.choose("Settings", "Theme", "JupyterLab Light")
    expect(lab.view(1)).to_have_attribute("data-shade", "light")


def test_linked_widgets_share_a_layer_and_others_are_left_alone(several):
    before = painted(several.view(3))
    choose_layer(several.view(1), 2)
    measure_button(several.view(1), "α").click()
    expect_layer(several.view(2), 2)
    several.says(5, "2 2 0 weight weighted-norm weighted-norm")
    choose_layer(several.view(2), 1)
    several.says(5, "1 1 0 weight weighted-norm weighted-norm")
    assert painted(several.view(3)) == before


def test_a_cell_that_runs_again_has_one_view(several):
    for _ in range(3):
        several.run(3)
    choose_layer(several.view(1), 2)
    several.says(5, "2 2 0 weighted-norm weighted-norm weighted-norm")
    for cell in (1, 2, 3):
        expect(several.view(cell)).to_have_count(1)
        expect_drawn(several.view(cell))


def test_a_closed_widget_takes_its_view_along(several):
    painted(several.view(3))
    several.says(6, "closed")
    expect(several.view(3)).to_have_count(0)
    measure_button(several.view(1), "α").click()
    several.says(5, "0 0 0 weight weighted-norm weighted-norm")
    expect_drawn(several.view(1))


def test_after_a_restart_of_the_kernel_the_picture_stays_and_can_be_used(opened):
    lab = opened("restarted", FLOW, WIDGET, "print('w' in globals())")
    lab.run_all()
    lab.says(2, "True")
    lab.choose("Kernel", "Restart Kernel…")
    lab.page.locator(".jp-Dialog .jp-mod-accept").click()
    lab.says(2, "False")
    before = painted(lab.view(1))
    choose_layer(lab.view(1), 2)
    expect(lab.view(1).locator(".nv-sentence").first).to_contain_text("Layer 2,")
    painted(lab.view(1), unlike=before)


def test_a_notebook_that_is_loaded_again_shows_what_was_chosen_and_static_flows(opened):
    lab = opened("reloaded", FLOW, WIDGET, STATIC)
    lab.run_all()
    expect_framed(lab.page)
    choose_layer(lab.view(1), 2)
    lab.save()
    lab.page.reload()
    expect_layer(lab.view(1), 2)
    expect_drawn(lab.view(1))
    expect_framed(lab.page)


LARGE = f"""
import normviz.view.widget
normviz.view.widget.SEND_WHOLE_LIMIT, normviz.view.widget.MESSAGE_BYTES = 0, 64
large = flow.widget({PLAIN})
large
"""


def test_numbers_that_are_not_sent_at_once_are_fetched_when_they_are_shown(opened):
    notebook = opened("large", FLOW, LARGE, "print(len(large._data), large.layer)")
    notebook.run_all()
    view = notebook.view(1)
    expect_drawn(view)
    before = painted(view)
    choose_layer(view, 2)
    expect(view.locator(".nv-sentence").first).to_contain_text("Layer 2,")
    painted(view, unlike=before)
    for name in ("text", "stack", "grid", "matrix", "profile"):
        view.locator("[aria-label=view] button").get_by_text(name, exact=True).click()
        expect(view.locator(".nv-waiting")).to_have_text("")
        expect(view.locator(".nv-notice")).to_have_count(0)
        expect(view.locator(".nv-sentence").first).not_to_be_empty()
    notebook.says(2, "0 2")
