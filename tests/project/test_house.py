"""The house rules: one version, no local names, and that everything shipped is in the wheel."""

import json
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
