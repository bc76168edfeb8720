"""Real notebook hosts for tests: JupyterLab, Notebook 7 and Voila from one server, and marimo."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil

TOKEN = "for-tests-only"  # noqa: S105

KERNEL = "this-interpreter"

TOKENS = ["the", "<b>cat</b>", "sat", "on", "mats"]

FLOW = f"""
import numpy as np
import normviz

draw = np.random.default_rng(0)
weights = draw.random((3, 4, 5, 5)) ** 3
weights /= weights.sum(axis=-1, keepdims=True)
norms = draw.gamma(5, 0.3, (3, 4, 5))
flow = normviz.from_arrays(weights, {TOKENS}, value_norms=norms)
"""
"""Code that creates a small flow of 3 layers and 4 heads, without torch."""

PATIENCE = 60
"""Seconds to wait for a server."""


@dataclass(frozen=True)
class Host:
    """A server on this machine, and the folder that it serves."""

    url: str
    folder: Path

    def notebook(self, name: str, *cells: str) -> str:
        """Write a notebook with these cells and return its name."""
        made = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in cells],
            metadata={"kernelspec": {"name": KERNEL, "display_name": KERNEL}},
        )
        nbformat.write(made, self.folder / name)
        return name


@contextmanager
def jupyter(folder: Path) -> Iterator[Host]:
    """A Jupyter server for Lab, Notebook 7 and Voila that ignores the settings of this machine."""
    homes = {
        name: folder / name
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    kernel = homes["JUPYTER_DATA_DIR"] / "kernels" / KERNEL
    served = folder / "notebooks"
    for made in (*homes.values(), kernel, served):
        made.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    about = {"argv": argv, "display_name": KERNEL, "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(about))
    asks = homes["JUPYTER_CONFIG_DIR"] / "lab/user-settings/@jupyterlab/apputils-extension"
    asks.mkdir(parents=True)
    (asks / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    port = free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={served}"),
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    url = f"http://127.0.0.1:{port}/"
    with running(command, f"{url}api", folder, {name: str(path) for name, path in homes.items()}):
        yield Host(url, served)


@contextmanager
def marimo(folder: Path, app: str) -> Iterator[Host]:
    """The server of `marimo run` for one app."""
    path = folder / "app.py"
    path.write_text(app)
    port = free_port()
    command = [
        *(sys.executable, "-m", "marimo", "run", str(path), "--headless", "--no-token"),
        *("--host", "127.0.0.1", "--port", str(port)),
    ]
    url = f"http://127.0.0.1:{port}/"
    homes = {name: str(folder) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    with running(command, url, folder, homes):
        yield Host(url, folder)


def free_port() -> int:
    """A free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str], url: str, folder: Path, settings: dict[str, str]
) -> Iterator[psutil.Popen]:
    """A server for the duration of a `with`; afterwards it and its children are gone."""
    log = folder / "server.log"
    with log.open("w") as output:
        server = psutil.Popen(
            command,
            cwd=folder,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(url, server, log)
        yield server
    finally:
        end(server)


def end(server: psutil.Popen) -> None:
    """Terminate a server, then kill what remains of it and its children."""
    if server.poll() is None:
        started = server.children(recursive=True)
        server.terminate()
        _, left = psutil.wait_procs([server], timeout=20)
        for process in (*left, *started):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs([server, *started], timeout=5)


def wait_for(url: str, server: psutil.Popen, log: Path) -> None:
    """Wait until a server answers; if it exits or stays silent, fail with its log."""
    deadline = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"No answer from {url}. The server's log:\n{log.read_text()[-3000:]}")
