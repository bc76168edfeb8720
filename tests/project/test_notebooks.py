"""Every notebook runs from top to bottom, in Jupyter and in Colab, and follows the conventions."""

import importlib.util
import json
import re
import subprocess
from itertools import pairwise

import nbformat
import pytest
from kernels import run
from paths import ROOT

from normviz.model.demo import DEMOS, PackagedModel

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SITE = "https://colab.research.google.com"
WIDGET = "application/vnd.jupyter.widget-view+json"
MAX_BYTES = 120_000
"""The maximum size of a still picture."""
EMBEDDED = {
    name: demo.distribution for name, demo in DEMOS.items() if isinstance(demo, PackagedModel)
}
"""The packages of the models that come as packages, by model."""

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read_notebook(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def markdown(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def install_cell(path):
    return code_cells(read_notebook(path))[0].source


def links_of(path):
    """Return the pictures and the other notebooks that a notebook links to."""
    text = "\n".join(markdown(read_notebook(path)))
    pictures = re.findall(r"!\[(.+?)\]\((pictures/[^)]+)\)", text)
    notebooks = re.findall(r"\]\(([\w-]+\.ipynb)\)", text)
    return pictures, notebooks


def test_there_are_notebooks():
    assert NOTEBOOKS


# --- conventions ---------------------------------------------------------------------------------


@each
def test_a_notebook_begins_with_its_title_and_a_badge_that_opens_it_in_colab(path):
    first = markdown(read_notebook(path))[0]
    page = f"{SITE}/github/normviz/normviz/blob/main/notebooks/{path.name}"
    assert re.match(r"# \S", first)
    assert f"[![Open in Colab]({SITE}/assets/colab-badge.svg)]({page})" in first


def without_packages(source):
    return re.sub(r"(?<=\[\*install, ).*(?=\], check)", "…", source)


def required_packages(path):
    """Return the packages of the models that a notebook uses, including its exercises."""
    text = "\n".join(cell.source for cell in read_notebook(path).cells)
    return [package for name, package in EMBEDDED.items() if f'"{name}"' in text]


@each
def test_all_notebooks_have_the_same_install_cell(path):
    *lines, models = without_packages(install_cell(NOTEBOOKS[0])).splitlines()
    expected = [*lines, models] if required_packages(path) else lines
    assert without_packages(install_cell(path)).splitlines() == expected


@each
def test_the_install_cell_does_nothing_if_normviz_is_installed(path, monkeypatch):
    commands = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: commands.append(command[5:]))
    exec(install_cell(path), {})  # noqa: S102 (a cell of this repository's own notebook)
    assert commands == []
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    exec(install_cell(path), {})  # noqa: S102
    (normviz, *_), *models = commands
    assert normviz.startswith("normviz[")
    assert models == ([["--no-deps", *required_packages(path)]] if required_packages(path) else [])


def colab_note(path):
    (note,) = [text for text in markdown(read_notebook(path)) if text.startswith("**In Colab.**")]
    return note


@each
def test_all_notebooks_say_the_same_about_colab(path):
    note = colab_note(path)
    assert note == colab_note(NOTEBOOKS[0])
    assert 'os.environ["NORMVIZ_STATIC"] = "1"' in note
    assert "flow.show(static=True)" in note


@each
def test_a_notebook_in_git_has_no_outputs(path):
    for cell in code_cells(read_notebook(path)):
        assert (cell.outputs, cell.execution_count) == ([], None)


@each
def test_a_notebook_has_three_exercises_with_hidden_answers(path):
    text = "\n".join(markdown(read_notebook(path)))
    exercises = text.partition("## Exercises\n")[2].partition("## Read on")[0]
    answers = re.findall(
        r"<details><summary>Answer</summary>\n\n(.+?)\n\n</details>", exercises, re.DOTALL
    )
    assert len(answers) == 3
    assert all("```python" in answer for answer in answers)


@each
def test_a_notebook_ends_with_further_reading(path):
    assert markdown(read_notebook(path))[-1].startswith("## Read on\n")
    assert re.search(r"\*[^*]+\* \(.*\d{4}\)", markdown(read_notebook(path))[-1])


@each
def test_still_pictures_exist_have_an_alt_text_and_are_small(path):
    pictures, _ = links_of(path)
    assert pictures
    for alt, name in pictures:
        assert len(alt) > 40
        assert 1000 < (FOLDER / name).stat().st_size < MAX_BYTES


@each
def test_the_script_draws_every_still_picture(path):
    spec = importlib.util.spec_from_file_location("pictures", FOLDER / "pictures.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert {name.removeprefix("pictures/") for _, name in links_of(path)[0]} <= {*script.PICTURES}


@each
def test_notebooks_link_to_notebooks_that_exist(path):
    _, notebooks = links_of(path)
    assert [name for name in notebooks if not (FOLDER / name).exists()] == []


def test_each_notebook_links_to_the_next():
    for path, following in pairwise(NOTEBOOKS):
        assert following.name in links_of(path)[1], path.name


# --- runs ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def executed(request, tmp_path_factory):
    """A notebook after a run in a plain kernel, and in one that imitates Colab's, in parallel."""
    return run(request.param, tmp_path_factory.mktemp(request.param.stem))


def pictures(cell):
    """Return the kinds of pictures that a cell shows, in order, without progress bars."""
    kinds = []
    for output in cell.outputs:
        data = output.get("data", {})
        if WIDGET in data and re.search(r"^Flow of|FlowWidget", data["text/plain"]):
            kinds.append("widget")
        elif "<iframe" in data.get("text/html", ""):
            kinds.append("frame")
        elif "image/png" in data:
            kinds.append("png")
    return kinds


def outputs(notebook):
    return [o for cell in code_cells(notebook) for o in cell.outputs]


def test_in_jupyter_a_notebook_shows_widgets(executed):
    jupyter, _ = executed
    assert "widget" in [kind for cell in code_cells(jupyter) for kind in pictures(cell)]
    assert outputs(jupyter)[-1].text.strip() == "False ipykernel.ipkernel"


def test_in_colab_without_widgets_every_picture_is_a_page(executed):
    jupyter, colab = executed
    assert outputs(colab)[-1].text.strip() == "True comm"
    for cell, other in zip(code_cells(jupyter), code_cells(colab), strict=True):
        expected = ["frame" if kind == "widget" else kind for kind in pictures(cell)]
        assert pictures(other) == expected, cell.source


def test_no_cell_fails_or_warns(executed):
    for notebook in executed:
        for output in outputs(notebook):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text
            assert "(no picture:" not in json.dumps(output.get("data", {}))
