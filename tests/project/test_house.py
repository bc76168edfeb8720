"""The house rules: one version, no local names, and that everything shipped is in the wheel."""

import ast
import json
import re
import subprocess
import sys
import tomllib
import venv
import zipfile

import pytest
from paths import ROOT


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


def tracked(*endings):
    """The files of the repository with these endings, as paths and texts."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split() if name.endswith(endings)]
    return {name: (ROOT / name).read_text() for name in names if (ROOT / name).is_file()}


PACKAGES = sorted(path.parent for path in (ROOT / "normviz").rglob("__init__.py"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_package_says_what_it_is_for_and_stands_in_the_tree(package):
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    assert len(docstring.split()) >= 15, "A short paragraph: what it is for, what goes in and out."
    tree = (ROOT / "CONTRIBUTING.md").read_text().split("```")[3]
    depth = len(package.relative_to(ROOT / "normviz").parts)
    assert depth > 2 or package.parts[-2] == "studies" or f"{package.name}/" in tree


def test_the_tree_names_only_what_is_there():
    tree = (ROOT / "CONTRIBUTING.md").read_text().split("```")[3]
    folders = {path.name for path in [*ROOT.glob("normviz/**/"), *ROOT.glob("js/src/**/")]}
    named = set(re.findall(r"(?<![\w/])(\w+)/(?=[\s<])", tree)) - {
        "normviz",
        "src",
        "tests",
        "test",
    }
    assert named - folders == set()


BRITISH = re.compile(
    r"colour|normalis|analyse[dr]?\b|quantis|behaviour|centre|neighbour|labelled|modelling|symmetris"
    r"|recognis|summaris|contextualis|favour|learnt|judgement|licence|\bgrey",
    re.IGNORECASE,
)


def test_spelling_is_american():
    files = tracked(".py", ".ts", ".css", ".md", ".toml", ".ipynb", "Makefile")
    texts = {name: text for name, text in files.items() if name != "tests/project/test_house.py"}
    assert {
        name: BRITISH.findall(text) for name, text in texts.items() if BRITISH.search(text)
    } == {}


def test_the_residual_connection_is_never_called_a_stream():
    """A stream is an encoder's, a decoder's or a cross-attention here."""
    files = tracked(".py", ".ts", ".toml")
    shown = [name for name in files if name.startswith(("normviz/view/", "js/src/", "docs/"))]
    assert [name for name in shown if "residual stream" in files[name].lower()] == []


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
    assert inside >= STATIC | {"js/src/entry/widget.ts", "hatch_build.py", "LICENSE", "README.md"}
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
