"""Notebooks run for their pages, and kept until something they depend on changes."""

import hashlib
import os
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat

from making.links import ROOT

KEPT = ROOT / ".cache" / "docs"
PATIENCE = 900
"""Seconds until a cell that does not end is given up."""


def is_wanted() -> bool:
    """Whether cells are to be run; `EXECUTE=0` in the environment leaves that out."""
    return os.environ.get("EXECUTE", "1") != "0"


def depended_on() -> Iterator[bytes]:
    """All that a notebook's results may depend on, besides its own cells."""
    yield "\n".join(sorted(f"{d.name} {d.version}" for d in distributions())).encode()
    data = [ROOT / "notebooks" / folder for folder in ("data", "models", "training")]
    for folder in (ROOT / "normviz", *data):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield str(path.relative_to(ROOT)).encode()
                yield path.read_bytes()


def key(path: Path) -> str:
    """A name for a notebook together with everything it depends on."""
    digest = hashlib.sha256(path.read_bytes())
    for piece in depended_on():
        digest.update(hashlib.sha256(piece).digest())
    return digest.hexdigest()[:16]


def ran(path: Path) -> Any:
    """A notebook with its outputs: run now, or as it was kept when nothing has changed since."""
    kept = KEPT / f"{path.stem}-{key(path)}.ipynb"
    if kept.exists():
        return nbformat.read(kept, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    _run(notebook)
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob(f"{path.stem}-*.ipynb"):
        old.unlink()
    nbformat.write(notebook, kept)
    return notebook


def _run(notebook: Any) -> None:
    from nbclient import NotebookClient

    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    offline = {"NORMVIZ_STATIC": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": paths}
    with TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        patience = {"timeout": PATIENCE, "startup_timeout": PATIENCE}
        NotebookClient(notebook, resources=where, **patience).execute(env=os.environ | offline)
