"""The house rules: sizes, versions, and that everything shipped is in the wheel."""

import ast
import json
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTHON = sorted((ROOT / "normviz").rglob("*.py"))
TYPESCRIPT = sorted((ROOT / "js" / "src").rglob("*.ts"))


@pytest.mark.parametrize("path", [*PYTHON, *TYPESCRIPT], ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_has_more_than_300_lines(path):
    assert len(path.read_text().splitlines()) <= 300


@pytest.mark.parametrize("path", PYTHON, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_function_has_more_than_40_lines_of_code(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            documented = ast.get_docstring(node) is not None
            first = node.body[1] if documented and len(node.body) > 1 else node.body[0]
            assert node.end_lineno - first.lineno < 40, node.name


def test_every_room_is_on_the_map():
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    rooms = [
        str(path.relative_to(ROOT / "normviz").with_suffix(""))
        for path in PYTHON
        if not path.name.startswith("__")
    ]
    assert [room for room in rooms if f"`{room}`" not in contributing] == []


def test_python_and_javascript_have_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    package = json.loads((ROOT / "js" / "package.json").read_text())
    assert project["version"] == package["version"]


def test_no_file_names_a_registry_or_a_local_path():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split():
        if name.endswith((".py", ".ts", ".json", ".md", ".toml", ".txt", "Makefile", ".ipynb")):
            text = (ROOT / name).read_text()
            for word in (
                "/ho" + "me/",
                "/wo" + "rk/",
                "regis" + "try.npmjs",
                "files.python" + "hosted",
            ):
                assert word not in text, f"{name} names {word}"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel built from it."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, capture_output=True
    )
    return folder


STATIC = {"normviz/static/widget.js", "normviz/static/widget.css", "normviz/static/standalone.js"}


def test_the_bundle_is_inside_the_wheel_and_the_sdist(built):
    import tarfile

    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= STATIC
    assert "normviz/py.typed" in names
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert inside >= STATIC | {"js/src/widget.ts", "hatch_build.py", "LICENSE", "README.md"}
    assert not any("node_modules" in name for name in inside)


def test_a_wheel_installed_alone_imports_and_works(built, tmp_path):
    """An empty environment, the wheel and what it asks for: no torch, no Node."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    install = [python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel]
    subprocess.run(install, check=True, capture_output=True, cwd=tmp_path)
    code = """
import sys, normviz
assert "torch" not in sys.modules
flow = normviz.from_arrays([[[[0.25, 0.75], [0.5, 0.5]]]], ["a", "b"], value_norms=[[[1, 2]]])
again = normviz.load(flow.save("flow.normviz"))
assert (again["weighted-norm"] == flow["weighted-norm"]).all()
assert flow.widget(layer=0).layer == 0
assert "DecompressionStream" in flow.to_html("flow.html").read_text()
try:
    normviz.analyze("demo", "A cat.")
except normviz.NormvizError as error:
    print(error)
"""
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "The package torch is not installed." in done.stdout
