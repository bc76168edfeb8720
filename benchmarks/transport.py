"""From the kernel to the picture: what one change of layer takes in a real JupyterLab.

The flow is too large to be sent whole, so the widget asks for a layer when it is first shown. Times
run from the choice to the painted picture, with nobody listening to the browser's sockets; bytes
are counted on other layers, over a debugging socket of their own (`devtools.py`).

    python benchmarks/transport.py            about two minutes
    python benchmarks/transport.py --quick    one small text, nothing kept
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
from contenders import flow_of, save, tiles
from devtools import Tab, chromium
from hosts import TOKEN, Host, jupyter
from playwright.sync_api import expect, sync_playwright
from sidebyside import GOALS, extent
from tables import judged, shown, write
from timing import machine
from view import HERE, LOOK
from visits import Notebook, Visit, painted

from normviz.view.tiles import tile

SIZES = (128, 512)
ROUNDS = 3

FLOW = """
import numpy as np, normviz, normviz.view.widget
kept = np.load("weights{tokens}.npz")
tokens = [f"t{{n}}" for n in range({tokens})]
flow = normviz.from_arrays(kept["weights"], tokens, value_norms=kept["norms"])
normviz.view.widget.WHOLE = min(normviz.view.widget.WHOLE, {whole})
order = iter({order})
"""
SHOWN = """
w = flow.widget(measure="weight")
w
"""
CHOSEN = """
import time
layer, said = next(order), time.time()
w.layer = layer
print(f"layer {layer} at {1000 * said}")
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
    const before = look(), select = document.querySelector(".normviz select[aria-label=layer]");
    await shown();
    await shown();
    const start = performance.timeOrigin + performance.now();
    select.value = layer;
    select.dispatchEvent(new Event("change", {bubbles: true}));
    return (await painted(layer, before)) - start;
  };
  let waited = null;
  const wait = (layer) => { waited = painted(layer, look()); };
  return {choose, wait, waited: () => waited};
})(), null
""".replace("LOOK", LOOK)
"""What is put into the page: waiting for a layer's picture, chosen there or in Python."""

BY_HAND, IN_PYTHON, COUNTED = (1, 2, 3), (4, 5, 6), (7, 8)
"""Layers that are visited twice each, for times and for bytes."""

Found = dict[str, Any]


def open_notebook(port: int, host: Host, name: str) -> None:
    """Open a notebook in Lab and run it until its picture is there, then leave it to itself."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
        page = browser.contexts[0].new_page()
        notebook = Notebook(
            Visit(page, [], []), host, f"lab/workspaces/{Path(name).stem}/tree", name
        )
        notebook.run_all()
        expect(notebook.cell(2)).to_contain_text("layer 0 at")
        painted(notebook.view(1))
        page.wait_for_timeout(1000)  # all of the picture is painted, and Lab is still


def by_hand(tab: Tab, layers: Sequence[int]) -> list[float]:
    """The milliseconds from a choice in the picture to the next picture."""
    found = []
    for layer in layers:
        found.append(tab.evaluate(f"transport.choose({layer})"))
        time.sleep(0.3)  # until all of it is painted
    return found


def in_python(tab: Tab, layers: Sequence[int]) -> list[float]:
    """The milliseconds from `w.layer = n` in a cell to the picture."""
    cell = "document.querySelectorAll('.jp-Notebook .jp-Cell')[2]"
    found = []
    for layer in layers:
        tab.evaluate(f"transport.wait({layer})")
        tab.press_in(f"{cell}.querySelector('.jp-Editor')", "Enter", 13)
        seen = tab.evaluate("transport.waited()")
        said = None
        while said is None:  # the cell's own words may come after its picture
            time.sleep(0.3)
            said = re.search(rf"layer {layer} at ([\d.]+)", tab.evaluate(f"{cell}.textContent"))
        found.append(seen - float(said[1]))
    return found


def weighed(tab: Tab, layers: Sequence[int]) -> list[dict[str, int]]:
    """The bytes that a change of layer sends and receives."""
    found = []
    for layer in layers:
        tab.events.clear()
        tab.evaluate(f"transport.choose({layer})")
        tab.settle(0.6)
        found.append({way: sum(frames(tab, way)) for way in ("Sent", "Received")})
    return found


def frames(tab: Tab, way: str) -> Iterator[int]:
    """How many bytes each frame had that went one way."""
    for event in tab.events:
        if event.get("method") == f"Network.webSocketFrame{way}":
            frame = event["params"]["response"]
            data = frame["payloadData"]
            yield len(base64.b64decode(data) if frame["opcode"] == 2 else data.encode())


def visit(port: int, host: Host, tokens: int, turn: int, whole: int) -> Found:
    """One fresh notebook: times of first and second visits of layers, and their bytes."""
    name = f"transport-{tokens}-{turn}.ipynb"
    order = [0, *IN_PYTHON, *IN_PYTHON]
    host.notebook(name, FLOW.format(tokens=tokens, whole=whole, order=order), SHOWN, CHOSEN)
    open_notebook(port, host, name)
    tab = Tab(port, name)
    tab.evaluate(PROBE)
    found: Found = {
        "by hand, first": by_hand(tab, BY_HAND),
        "by hand, again": by_hand(tab, BY_HAND),
        "in Python, first": in_python(tab, IN_PYTHON),
        "in Python, again": in_python(tab, IN_PYTHON),
    }
    tab.ask("Network.enable")
    found |= {"bytes, first": weighed(tab, COUNTED), "bytes, again": weighed(tab, COUNTED)}
    tab.close()
    release(host, name)
    return found


def release(host: Host, name: str) -> None:
    """End the kernel of a notebook."""
    sessions, key = f"{host.url}api/sessions", {"Authorization": f"token {TOKEN}"}
    found = requests.get(sessions, headers=key, timeout=30).json()
    (session,) = [one["id"] for one in found if one["path"] == name]
    requests.delete(f"{sessions}/{session}", headers=key, timeout=30).raise_for_status()


def made(flow: Any) -> list[float]:
    """The milliseconds that a kernel takes to make the tiles of one layer."""
    found = []
    for layer in COUNTED:
        start = time.perf_counter()
        for name in tiles(range(layer, layer + 1)):
            tile([flow], name, "log16")
        found.append(1000 * (time.perf_counter() - start))
    return found


def run(sizes: Sequence[int], rounds: int, *, whole: int = 10**9) -> Found:
    """Texts in turn, round by round, each in a fresh notebook and browser."""
    results: Found = {"tokens": {}}
    runs: dict[int, list[Found]] = {tokens: [] for tokens in sizes}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        (folder / "server").mkdir()
        host = stack.enter_context(jupyter(folder / "server"))
        for tokens in sizes:
            save(tokens, host.folder / f"weights{tokens}.npz")
        for turn in range(rounds):
            for tokens in sizes:
                kept = np.load(host.folder / f"weights{tokens}.npz")
                times = made(flow_of(kept["weights"], kept["norms"]))
                with chromium(folder / f"browser-{tokens}-{turn}") as port:
                    found = visit(port, host, tokens, turn, whole)
                runs[tokens].append(found | {"the kernel's part": times})
    for tokens in sizes:
        results["tokens"][str(tokens)] = row = summary(runs[tokens])
        print(tokens, json.dumps(row), flush=True)
    return results


def summary(runs: Sequence[Found]) -> Found:
    """Medians of each round's medians, with the least and the most; bytes as they were."""
    row: Found = {}
    for name in runs[0]:
        if name.startswith("bytes"):
            every = [one for run in runs for one in run[name]]
            row[name] = {way: extent([one[way] for one in every]) for way in ("Sent", "Received")}
        else:
            row[name] = extent([statistics.median(run[name]) for run in runs])
    return row


def setting() -> Found:
    """What the numbers were measured on."""
    packages = ("jupyterlab", "ipykernel", "anywidget", "ipywidgets")
    load = {"cores": os.cpu_count(), "load before": round(os.getloadavg()[0], 2)}
    return machine() | load | {name: version(name) for name in packages}


def markdown(results: Found) -> str:
    """The table for the README."""

    def cell(found: Found, by: float = 1, unit: str = "ms") -> str:
        middle, low, high = (shown(found[name] / by) for name in ("median", "low", "high"))
        return f"{middle} {unit}" + (f" ({low} … {high})" if low != high else "")

    rows = results["tokens"]
    lines = [f"| | {' | '.join(f'{tokens} tokens' for tokens in rows)} |", "|---" * 3 + "|"]
    labels = {
        "by hand, first": "chosen in the picture, for the first time",
        "by hand, again": "chosen in the picture, again",
        "in Python, first": "`w.layer = n` in a cell, for the first time",
        "in Python, again": "`w.layer = n` in a cell, again",
        "the kernel's part": "of the first time: making the tiles in Python",
    }
    for name, label in labels.items():
        lines.append(f"| {label} | {' | '.join(cell(row[name]) for row in rows.values())} |")
    for name, when in {"bytes, first": "for the first time", "bytes, again": "again"}.items():
        for way in ("Received", "Sent"):
            cells = (cell(row[name][way], 1000, "kB") for row in rows.values())
            lines.append(f"| {way.lower()} by the page, {when} | {' | '.join(cells)} |")
    about = results["machine"]
    names = ("jupyterlab", "ipykernel", "anywidget", "ipywidgets", "python")
    said = ", ".join(f"{name} {about[name]}" for name in names)
    load = f"{about['cores']} cores, load {about['load before']} before it"
    slowest = judged(
        "a layer of 512 tokens for the first time, against what the views need by themselves",
        rows["512"]["by hand, first"]["median"], GOALS["answer, ms"], unit="ms",
    )  # fmt: skip
    return "\n".join(lines) + f"\n\n{slowest}\n\nMeasured with {said}, on {load}."


def main() -> None:
    """Measure, and keep numbers and table unless it was only a quick look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one small text, nothing kept")
    parser.add_argument("--tell", action="store_true", help="the table of what was kept")
    chosen = parser.parse_args()
    place = HERE / "results" / "transport.json"
    if chosen.quick:
        run((24,), 1, whole=0)
        return
    if not chosen.tell:
        place.write_text(json.dumps({"machine": setting()} | run(SIZES, ROUNDS), indent=1) + "\n")
    write(HERE / "README.md", "transport", markdown(json.loads(place.read_text())))


if __name__ == "__main__":
    main()
