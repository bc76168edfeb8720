"""From the kernel to the picture: the cost of one layer switch in a real JupyterLab.

The flow is too large to be sent at once, so the widget requests a layer when it is first shown.
Times run from the choice to the painted picture, with nothing attached to the browser's sockets;
bytes are counted on other layers, over a separate debugging socket (`devtools.py`).

    python benchmarks/transport.py            about two minutes
    python benchmarks/transport.py --quick    one small text, nothing written
"""

import argparse
import base64
import json
import os
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import requests
from contenders import make_flow, save_tensors, tile_names
from devtools import Tab, run_chromium
from hosts import TOKEN, Host, jupyter
from playwright.sync_api import expect, sync_playwright
from sidebyside import GOALS, median_and_range
from tables import format_number, judge_goal, write_section
from timing import describe_machine
from view import HERE, LOOK_SCRIPT
from visits import Notebook, Visit, painted

from normviz.view.tiles import TileKey, make_tile

SIZES = (128, 512)
ROUNDS = 3

FLOW_CELL = """
import numpy as np, normviz, normviz.view.widget
tensors = np.load("weights{tokens}.npz")
tokens = [f"t{{n}}" for n in range({tokens})]
flow = normviz.from_arrays(tensors["weights"], tokens, value_norms=tensors["norms"])
normviz.view.widget.SEND_WHOLE_LIMIT = min(normviz.view.widget.SEND_WHOLE_LIMIT, {whole})
order = iter({order})
"""
SHOW_CELL = """
w = flow.widget(measure="weight", layer=0)
w
"""
CHOOSE_CELL = """
import time
layer, now = next(order), time.time()
w.layer = layer
print(f"layer {layer} at {1000 * now}")
"""

PROBE = """
window.transport = (() => {
  LOOK
  const painted = async (layer, before) => {
    for (;;) {
      await shown();
      const now = performance.timeOrigin + performance.now();
      if (document.querySelector(".normviz .nv-waiting").textContent) continue;
      const said = document.querySelector(".normviz .nv-sentence").textContent;
      if (said.startsWith(`Layer ${layer},`) && look() !== before) return now;
    }
  };
  const choose = async (layer) => {
    const before = look();
    const bar = document.querySelector(`.normviz .nv-layers [data-layer="${layer}"]`);
    await shown();
    await shown();
    const start = performance.timeOrigin + performance.now();
    bar.click();
    return (await painted(layer, before)) - start;
  };
  let waited = null;
  const wait = (layer) => { waited = painted(layer, look()); };
  return {choose, wait, waited: () => waited};
})(), null
""".replace("LOOK", LOOK_SCRIPT)
"""The script for the page: waits for the picture of a layer chosen there or in Python."""

IN_PICTURE, IN_PYTHON, COUNTED = (1, 2, 3), (4, 5, 6), (7, 8)
"""Layers that are shown twice each, for times and for bytes."""

Results = dict[str, Any]


def open_notebook(port: int, host: Host, name: str) -> None:
    """Open a notebook in JupyterLab and run it until its picture is painted."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
        page = browser.contexts[0].new_page()
        notebook = Notebook(
            Visit(page, [], []), host, f"lab/workspaces/{Path(name).stem}/tree", name
        )
        notebook.run_all()
        expect(notebook.cell(2)).to_contain_text("layer 0 at")
        painted(notebook.view(1))
        page.wait_for_timeout(1000)  # until the picture is fully painted and Lab is idle


def time_in_picture(tab: Tab, layers: Sequence[int]) -> list[float]:
    """Return the milliseconds from a choice in the picture to the next picture."""
    milliseconds = []
    for layer in layers:
        milliseconds.append(tab.evaluate(f"transport.choose({layer})"))
        time.sleep(0.3)  # until fully painted
    return milliseconds


def time_in_python(tab: Tab, layers: Sequence[int]) -> list[float]:
    """Return the milliseconds from `w.layer = n` in a cell to the picture."""
    cell = "document.querySelectorAll('.jp-Notebook .jp-Cell')[2]"
    milliseconds = []
    for layer in layers:
        tab.evaluate(f"transport.wait({layer})")
        tab.press_in(f"{cell}.querySelector('.jp-Editor')", "Enter", 13)
        painted_at = tab.evaluate("transport.waited()")
        printed = None
        while printed is None:  # the cell's output may come after its picture
            time.sleep(0.3)
            printed = re.search(rf"layer {layer} at ([\d.]+)", tab.evaluate(f"{cell}.textContent"))
        milliseconds.append(painted_at - float(printed[1]))
    return milliseconds


def count_bytes(tab: Tab, layers: Sequence[int]) -> list[dict[str, int]]:
    """Return the bytes sent and received for each layer switch."""
    counts = []
    for layer in layers:
        tab.events.clear()
        tab.evaluate(f"transport.choose({layer})")
        tab.settle(0.6)
        counts.append({way: sum(frame_sizes(tab, way)) for way in ("Sent", "Received")})
    return counts


def frame_sizes(tab: Tab, way: str) -> Iterator[int]:
    """Yield the bytes of each WebSocket frame in one direction."""
    for event in tab.events:
        if event.get("method") == f"Network.webSocketFrame{way}":
            frame = event["params"]["response"]
            data = frame["payloadData"]
            yield len(base64.b64decode(data) if frame["opcode"] == 2 else data.encode())


def visit_notebook(port: int, host: Host, tokens: int, turn: int, whole: int) -> Results:
    """Open a fresh notebook; return times and bytes of first and second switches to layers."""
    name = f"transport-{tokens}-{turn}.ipynb"
    order = [0, *IN_PYTHON, *IN_PYTHON]
    host.notebook(
        name, FLOW_CELL.format(tokens=tokens, whole=whole, order=order), SHOW_CELL, CHOOSE_CELL
    )
    open_notebook(port, host, name)
    tab = Tab(port, name)
    tab.evaluate(PROBE)
    found: Results = {
        "by hand, first": time_in_picture(tab, IN_PICTURE),
        "by hand, again": time_in_picture(tab, IN_PICTURE),
        "in Python, first": time_in_python(tab, IN_PYTHON),
        "in Python, again": time_in_python(tab, IN_PYTHON),
    }
    tab.ask("Network.enable")
    found |= {"bytes, first": count_bytes(tab, COUNTED), "bytes, again": count_bytes(tab, COUNTED)}
    tab.close()
    end_kernel(host, name)
    return found


def end_kernel(host: Host, name: str) -> None:
    """Shut down the kernel of a notebook."""
    sessions, key = f"{host.url}api/sessions", {"Authorization": f"token {TOKEN}"}
    open_sessions = requests.get(sessions, headers=key, timeout=30).json()
    (session,) = [each["id"] for each in open_sessions if each["path"] == name]
    requests.delete(f"{sessions}/{session}", headers=key, timeout=30).raise_for_status()


def time_tiles(flow: Any) -> list[float]:
    """Return the milliseconds that a kernel takes to make the tiles of one layer."""
    milliseconds = []
    for layer in COUNTED:
        start = time.perf_counter()
        for name in tile_names(range(layer, layer + 1)):
            make_tile([flow], TileKey.parse(name), "log16")
        milliseconds.append(1000 * (time.perf_counter() - start))
    return milliseconds


def run(sizes: Sequence[int], rounds: int, *, whole: int = 10**9) -> Results:
    """Measure the texts in turn, each in a fresh notebook and browser."""
    results: Results = {"tokens": {}}
    runs: dict[int, list[Results]] = {tokens: [] for tokens in sizes}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        (folder / "server").mkdir()
        host = stack.enter_context(jupyter(folder / "server"))
        for tokens in sizes:
            save_tensors(tokens, host.folder / f"weights{tokens}.npz")
        for turn in range(rounds):
            for tokens in sizes:
                tensors = np.load(host.folder / f"weights{tokens}.npz")
                times = time_tiles(make_flow(tensors["weights"], tensors["norms"]))
                with run_chromium(folder / f"browser-{tokens}-{turn}") as port:
                    found = visit_notebook(port, host, tokens, turn, whole)
                runs[tokens].append(found | {"the kernel's part": times})
    for tokens in sizes:
        results["tokens"][str(tokens)] = row = summarize(runs[tokens])
        print(tokens, json.dumps(row), flush=True)
    return results


def summarize(runs: Sequence[Results]) -> Results:
    """Return the median and range of each round's medians, and of all byte counts."""
    row: Results = {}
    for name in runs[0]:
        if name.startswith("bytes"):
            counts = [count for run in runs for count in run[name]]
            row[name] = {
                way: median_and_range([count[way] for count in counts])
                for way in ("Sent", "Received")
            }
        else:
            row[name] = median_and_range([statistics.median(run[name]) for run in runs])
    return row


def describe_setup() -> Results:
    """Return the machine and the versions that the numbers were measured with."""
    packages = ("jupyterlab", "ipykernel", "anywidget", "ipywidgets")
    load = {"cores": os.cpu_count(), "load before": round(os.getloadavg()[0], 2)}
    return describe_machine() | load | {name: version(name) for name in packages}


def markdown(results: Results) -> str:
    """Return the table for the README."""

    def format_cell(row: Results, divisor: float = 1, unit: str = "ms") -> str:
        middle, low, high = (
            format_number(row[name] / divisor) for name in ("median", "low", "high")
        )
        return f"{middle} {unit}" + (f" ({low} … {high})" if low != high else "")

    rows = results["tokens"]
    lines = [f"| | {' | '.join(f'{tokens} tokens' for tokens in rows)} |", "|---" * 3 + "|"]
    labels = {
        "by hand, first": "chosen in the picture, first time",
        "by hand, again": "chosen in the picture, again",
        "in Python, first": "`w.layer = n` in a cell, first time",
        "in Python, again": "`w.layer = n` in a cell, again",
        "the kernel's part": "part of the first time: making the tiles in Python",
    }
    for name, label in labels.items():
        lines.append(f"| {label} | {' | '.join(format_cell(row[name]) for row in rows.values())} |")
    for name, when in {"bytes, first": "first time", "bytes, again": "again"}.items():
        for way in ("Received", "Sent"):
            cells = (format_cell(row[name][way], 1000, "kB") for row in rows.values())
            lines.append(f"| {way.lower()} by the page, {when} | {' | '.join(cells)} |")
    about = results["machine"]
    names = ("jupyterlab", "ipykernel", "anywidget", "ipywidgets", "python")
    versions = ", ".join(f"{name} {about[name]}" for name in names)
    load = f"{about['cores']} cores, load {about['load before']} before the run"
    slowest = judge_goal(
        "a layer of 512 tokens for the first time, with the goal of the views alone",
        rows["512"]["by hand, first"]["median"], GOALS["answer, ms"], unit="ms",
    )  # fmt: skip
    return "\n".join(lines) + f"\n\n{slowest}\n\nMeasured with {versions}, on {load}."


def main() -> None:
    """Measure, and write numbers and table unless it is a quick run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one small text, nothing written")
    parser.add_argument(
        "--report", action="store_true", help="only write the table of stored results"
    )
    args = parser.parse_args()
    path = HERE / "results" / "transport.json"
    if args.quick:
        run((24,), 1, whole=0)
        return
    if not args.report:
        path.write_text(
            json.dumps({"machine": describe_setup()} | run(SIZES, ROUNDS), indent=1) + "\n"
        )
    write_section(HERE / "README.md", "transport", markdown(json.loads(path.read_text())))


if __name__ == "__main__":
    main()
