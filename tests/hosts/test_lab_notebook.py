"""A tutorial in a real JupyterLab: opened, run from top to bottom, and used as a reader would."""

import shutil

import nbformat
import pytest
from browser import choose_layer, token
from hosts import KERNEL
from paths import ROOT
from playwright.sync_api import expect
from visits import Notebook, painted, visiting

FIRST = ROOT / "notebooks" / "01-first-look.ipynb"
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
PATIENCE = 120_000
"""Milliseconds for a kernel to load torch and a model, on a machine that is busy."""


@pytest.fixture(scope="module")
def tutorial():
    """The notebook as it is in the repository, for the kernel of the tests."""
    made = nbformat.read(FIRST, as_version=4)
    made.metadata["kernelspec"] = {"name": KERNEL, "display_name": KERNEL}
    return made


@pytest.fixture(scope="module")
def lab(browser, jupyter_host, tutorial):
    """The notebook, open in a workspace of its own, after all its cells have run."""
    nbformat.write(tutorial, jupyter_host.folder / FIRST.name)
    shutil.copytree(FIRST.parent / "pictures", jupyter_host.folder / "pictures")
    with visiting(browser) as visit:
        opened = Notebook(visit, jupyter_host, "lab/workspaces/tutorial/tree", FIRST.name)
        opened.run_all()
        places = coded(tutorial)
        prompt = opened.cell(places[-1]).locator(".jp-InputPrompt")
        expect(prompt).to_have_text(f"[{len(places)}]:", timeout=PATIENCE)
        yield opened
    # The badge is the only thing that a notebook shows from elsewhere; here it cannot be reached.
    assert {*visit.elsewhere} <= {BADGE}
    assert [line for line in visit.trouble if BADGE not in line] == []


def coded(notebook):
    return [place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"]


def showing(notebook, word):
    """The place of the first cell with this code."""
    return next(n for n in coded(notebook) if word in notebook.cells[n].source)


def test_every_cell_runs_without_complaint(lab, tutorial):
    complaints = ".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']"
    for place in coded(tutorial):
        expect(lab.cell(place).locator(complaints)).to_have_count(0)
        expect(lab.cell(place).locator(".jp-OutputArea-output.jp-mod-error")).to_have_count(0)


def test_every_widget_of_the_notebook_is_drawn(lab, tutorial):
    places = [n for n in coded(tutorial) if lab.view(n).count()]
    assert len(places) == 3
    for place in places:
        painted(lab.view(place))
        expect(lab.view(place).locator(".nv-notice")).to_have_count(0)


def test_two_measures_stand_side_by_side_and_answer_together(lab, tutorial):
    view = lab.view(showing(tutorial, 'compare="weighted-norm", layer=2'))
    expect(view.locator(".nv-sentence")).to_have_count(2)
    before = painted(view)
    choose_layer(view, 4)
    painted(view, unlike=before)
    for sentence in view.locator(".nv-sentence").all():
        expect(sentence).to_contain_text("Layer 4,")


def test_what_a_reader_pins_is_what_python_selects(lab, tutorial):
    """The notebook pins “it” from Python; a reader pins another word, and the next cell tells."""
    place = showing(tutorial, "w.token = ")
    view, told = lab.view(place), lab.cell(place + 1).locator(".jp-OutputArea-output").last
    expect(view.locator(".nv-sentence").first).to_contain_text("‘it’ takes")
    before = told.inner_text()
    token(view, "query", 2).click()
    expect(view.locator(".nv-sentence").first).to_contain_text("‘animal’ takes")
    lab.run(place + 1)
    expect(told).not_to_have_text(before)


def test_still_pictures_of_the_prose_are_shown(lab):
    picture = lab.page.locator(".jp-RenderedMarkdown img[src*=pictures]")
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 500
