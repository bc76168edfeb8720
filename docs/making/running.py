"""Runs notebooks for their pages, and caches the results until something they depend on changes."""

import hashlib
import os
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat

from making.links import ROOT

CACHE = ROOT / ".cache" / "docs"
TIMEOUT = 900
"""Seconds until a cell, or the start of the kernel, times out."""


def is_enabled() -> bool:
    """Whether to run cells; `EXECUTE=0` in the environment turns it off."""
    return os.environ.get("EXECUTE", "1") != "0"


def iterate_dependencies() -> Iterator[bytes]:
    """Yield everything that a notebook's results may depend on, besides its own cells."""
    yield "\n".join(sorted(f"{d.name} {d.version}" for d in distributions())).encode()
    data = [ROOT / "notebooks" / folder for folder in ("data", "models", "training")]
    for folder in (ROOT / "normviz", *data):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield str(path.relative_to(ROOT)).encode()
                yield path.read_bytes()


def cache_key(path: Path) -> str:
    """Return a hash of a notebook and everything it depends on."""
    digest = hashlib.sha256(path.read_bytes())
    for piece in iterate_dependencies():
        digest.update(hashlib.sha256(piece).digest())
    return digest.hexdigest()[:16]


def run_notebook(path: Path) -> Any:
    """Return a notebook with its outputs, from the cache if nothing has changed."""
    cached = CACHE / f"{path.stem}-{cache_key(path)}.ipynb"
    if cached.exists():
        return nbformat.read(cached, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    _execute(notebook)
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.glob(f"{path.stem}-*.ipynb"):
        old.unlink()
    nbformat.write(notebook, cached)
    return notebook


def _execute(notebook: Any) -> None:
    from nbclient import NotebookClient

    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    offline = {"NORMVIZ_STATIC": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": paths}
    with TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        timeouts = {"timeout": TIMEOUT, "startup_timeout": TIMEOUT}
        NotebookClient(notebook, resources=resources, **timeouts).execute(env=os.environ | offline)
