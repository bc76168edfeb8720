"""The view in a real browser: the time from the data to the picture, and between pictures.

The notebook's bundle runs in headless Chromium (software rendering) with a substitute for the
host's model that already has the tiles Python would send, so the time of the kernel and the network
is not included. Every time ends when the browser has painted the new picture; a picture counts only
if its pixels have changed.

    python benchmarks/view.py            about two minutes
    python benchmarks/view.py --quick    one small text, as a smoke test
"""

import argparse
import json
import statistics
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, Route, sync_playwright
from tables import README, format_table, judge_goal, write_section
from timing import describe_machine, write_results

import normviz
from normviz.core.flow import Flow
from normviz.view.assets import asset_path
from normviz.view.payload import build_header
from normviz.view.state import resolve_state
from normviz.view.tiles import TileKey, make_tile

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "support"))
from browser import ARGUMENTS, executable  # noqa: E402

GOALS = {"128": {"first": 1000, "interaction": 100}, "512": {"first": 3000, "interaction": 250}}
SITE = "http://normviz.test"

LOOK_SCRIPT = """
const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
const look = () => {
  let sum = 0;
  for (const canvas of document.querySelectorAll(".normviz canvas")) {
    if (!canvas.width || !canvas.height) continue;
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) sum = (sum * 31 + data[at] + data[at + 3]) % 1e9;
  }
  return sum;
};
"""
"""Helpers for the page: wait for the next paint, and a number that changes with the pixels."""

PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="/widget.css">
<div id="host"></div>
<script type="module">
import widget from "/widget.js";
const listeners = new Map(), kept = new Map();
const values = await (await fetch("/values")).json();
values._data = new DataView(new ArrayBuffer(0));
const model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; },
  save_changes: () => {},
  on: (event, listener) => listeners.set(event, (listeners.get(event) ?? []).concat(listener)),
  off: () => {},
  send: ({want}) => setTimeout(() => deliver(want), 0),
};
async function load(name) {
  const answer = await fetch(`/tile/${name}`);
  const [dtype, about] = JSON.parse(answer.headers.get("x-about"));
  kept.set(name, [{tile: name, dtype, about}, new DataView(await answer.arrayBuffer())]);
}
async function deliver(name) {
  if (!kept.has(name)) await load(name);
  const [content, data] = kept.get(name);
  for (const listener of listeners.get("msg:custom") ?? []) listener(content, [data]);
}
LOOK
window.load = (names) => Promise.all(names.map(load));
window.first = async () => {
  const start = performance.now();
  widget.render({model, el: document.getElementById("host"), signal: new AbortController().signal});
  while (!document.querySelector(".nv-sentence")) await shown();
  await shown();
  return performance.now() - start;
};
window.timed = async (changes) => {
  const before = look();
  await shown();
  const start = performance.now();
  for (const [name, value] of Object.entries(changes)) values[name] = value;
  for (const name of Object.keys(changes)) {
    for (const listener of listeners.get(`change:${name}`) ?? []) listener();
  }
  while (document.querySelector("[role=status]").textContent) await shown();
  await shown();
  const took = performance.now() - start;
  return {took, changed: look() !== before};
};
window.ready = true;
</script>
""".replace("LOOK", LOOK_SCRIPT)


def random_flow(tokens: int, layers: int = 12, heads: int = 12) -> Flow:
    """Return a random flow with the shape of BERT-base and weights as peaked as trained ones."""
    rng = np.random.default_rng(0)
    shape = (layers, heads, tokens, tokens)
    logits = rng.standard_normal(shape, dtype=np.float32) * 2
    logits -= logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits, out=logits)
    weights /= weights.sum(axis=-1, keepdims=True)
    norms = rng.gamma(5, 0.3, (layers, heads, tokens)).astype(np.float32)
    return normviz.from_arrays(weights, [f"t{n}" for n in range(tokens)], value_norms=norms)


def serve(page: Page, flow: Flow) -> None:
    """Answer the page's requests as a kernel would."""
    values = asdict(resolve_state(flow, {"measure": "weight", "layer": 0}))
    values["_header"] = {**build_header([flow]), "tiles": []}

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(SITE)
        if path == "/":
            route.fulfill(content_type="text/html", body=PAGE)
        elif path == "/values":
            route.fulfill(json=values)
        elif path.startswith("/tile/"):
            made = make_tile([flow], TileKey.parse(path.removeprefix("/tile/")), "log16")
            about = json.dumps([made.dtype, made.about])
            route.fulfill(body=made.data, headers={"x-about": about})
        else:
            route.fulfill(path=asset_path(path.removeprefix("/")))

    page.route(f"{SITE}/**", answer)
    page.goto(SITE)
    page.wait_for_function("window.ready")


STEPS = {
    "layer": [{"layer": 1}, {"layer": 0}, {"layer": 2}, {"layer": 1}],
    "measure": [{"measure": "weighted-norm"}, {"measure": "weight"}],
    "head": [{"heads": [3]}, {"heads": None}, {"heads": [3, 4]}, {"heads": None}],
    "pin": [{"token": 5}, {"token": 9}, {"token": None}],
    "view matrix": [{"view": "matrix"}, {"layer": 0}, {"layer": 1}],
    "view stack": [{"view": "stack"}, {"token": 7}, {"token": 11}],
    "view grid": [{"view": "grid", "token": None}],
    "view profile": [{"view": "profile"}],
    "compare": [{"view": "flow", "compare": "weighted-norm"}, {"layer": 2}],
}
"""The changes to the view, in this order, by kind."""


def measure(tokens: int, rounds: int) -> dict[str, object]:
    """Return the median milliseconds of each kind of step, over fresh pages."""
    flow = random_flow(tokens)
    names = [f"0/encoder/{name}/{n}/all" for name in ("weight", "value-norm") for n in range(3)]
    names += [f"0/encoder/{name}/overview" for name in ("weight", "weighted-norm", "value-norm")]
    names += [f"0/encoder/weight/{n}/sum" for n in range(12)]
    milliseconds: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        for _ in range(rounds):
            options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
            page = chromium.new_page(**options)
            serve(page, flow)
            page.evaluate("names => load(names)", names)
            milliseconds.setdefault("first", []).append(page.evaluate("first()"))
            for kind, steps in STEPS.items():
                for step in steps:
                    result = page.evaluate("step => timed(step)", step)
                    if not result["changed"]:
                        raise SystemExit(f"The picture did not change: {kind} {step}")
                    milliseconds.setdefault(kind, []).append(result["took"])
            page.close()
        chromium.close()
    return {
        kind: {"median": round(statistics.median(times)), "most": round(max(times))}
        for kind, times in milliseconds.items()
    }


NAMES = {"first": "first picture", "pin": "pin a token", "compare": "side by side"}
"""Labels of steps whose key is not a label."""


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Write the table of steps by length into the README, with the goals."""
    found = results["milliseconds"]
    lengths = list(found)
    rows = [
        [
            NAMES.get(kind, kind.removeprefix("view ")),
            *(f"{found[n][kind]['median']:,} ({found[n][kind]['most']:,})" for n in lengths),
        ]
        for kind in found[lengths[0]]
    ]
    head = ["median (maximum), ms", *(f"{n} tokens" for n in lengths)]
    goals = []
    for n, goal in results["goals"].items():
        middle = {kind: float(row["median"]) for kind, row in found[n].items()}
        slowest = max(("layer", "measure", "head"), key=middle.__getitem__)
        goals += [
            judge_goal(f"{n} tokens, first picture", middle["first"], goal["first"], unit="ms"),
            judge_goal(f"{n} tokens, {slowest} (the slowest of layer, measure and head)",
                   middle[slowest], goal["interaction"], unit="ms"),
        ]  # fmt: skip
    write_section(readme, "view", f"{format_table(head, rows)}\n\n" + "\n".join(goals))


def main() -> None:
    """Measure, and write the result unless it is a quick run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    results: dict[str, Any] = {"machine": describe_machine(), "goals": GOALS, "milliseconds": {}}
    for tokens in (24,) if args.quick else (128, 512):
        row = measure(tokens, 1 if args.quick else 2)
        results["milliseconds"][str(tokens)] = row
        print(tokens, json.dumps(row), flush=True)
    if not args.quick:
        write_results("view", results)
        report(results)


if __name__ == "__main__":
    main()
