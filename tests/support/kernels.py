"""Kernels that run notebooks: a plain one, and one that looks like Colab's."""

import asyncio
import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

PATIENCE = 600
"""Seconds to wait for a kernel to start and for a cell to finish."""

OUTPUT = """
class _widgets:
    _installed_url = None


def enable_custom_widget_manager():
    pass
"""
"""The part of `google.colab.output` that anywidget uses."""

STARTUP = """
import comm
import google.colab.output

comm.create_comm = comm._create_comm  # as it was before the kernel replaced it
"""
"""Provides Colab's module, and drops the messages of widgets."""

PROBE = """
import sys
import comm

print("google.colab" in sys.modules, comm.create_comm.__module__)
"""
"""Prints whether this looks like Colab, and which module creates comms."""


def colab(folder: Path) -> dict[str, str]:
    """The environment of a kernel that looks like Colab's and has no widget manager."""
    module = folder / "modules" / "google" / "colab"
    startup = folder / "ipython" / "profile_default" / "startup"
    for made in (module, startup):
        made.mkdir(parents=True)
    (module / "__init__.py").touch()
    (module / "output.py").write_text(OUTPUT)
    (startup / "00-colab.py").write_text(STARTUP)
    paths = [str(folder / "modules"), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "IPYTHONDIR": str(folder / "ipython"),
    }


def run(path: Path, folder: Path) -> tuple[NotebookNode, NotebookNode]:
    """A notebook as run by a plain kernel and by one like Colab's, both at once.

    A cell is appended that prints which kernel it was.
    """
    folders = [folder / "jupyter", folder / "colab"]
    for made in folders:
        made.mkdir()
    settings = [{"IPYTHONDIR": str(folder / "ipython-plain")}, colab(folder)]

    async def both() -> list[NotebookNode]:
        running = (_run(path, *where) for where in zip(folders, settings, strict=True))
        return await asyncio.gather(*running)

    plain, like_colab = asyncio.run(both())
    return plain, like_colab


async def _run(path: Path, folder: Path, settings: dict[str, str]) -> NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(PROBE))
    resources = {"metadata": {"path": str(folder)}}
    patience = {"timeout": PATIENCE, "startup_timeout": PATIENCE}
    client = NotebookClient(notebook, resources=resources, **patience)
    # One thread each: two kernels run side by side.
    await client.async_execute(env={**os.environ, "OMP_NUM_THREADS": "1", **settings})
    return notebook
