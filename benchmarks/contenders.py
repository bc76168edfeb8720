"""The viewers to compare: each makes a page of the same tensors and opens it.

BertViz loads require.js, d3 and jQuery from a CDN. Here npm fetches them once into a folder that
git ignores, and the browser's requests are answered from there. CircuitsVis is used with its script
inlined, as it does without a network.

    python benchmarks/contenders.py bertviz weights.npz    one run: a line of JSON for each result
"""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Error, Page, Route, sync_playwright
from view import ARGUMENTS, HERE, executable, random_flow, serve

import normviz
from normviz.core.flow import Flow
from normviz.view.tiles import TileKey, make_tile
from normviz.view.widget import SEND_WHOLE_LIMIT, FlowWidget

LIBRARIES = HERE / "node_modules"
SCRIPTS = {
    "require.js": ("requirejs@2.3.6", "requirejs/require.js"),
    "d3": ("d3@5.7.0", "d3/dist/d3.min.js"),
    # The oldest version 2 on npm; BertViz asks for 2.0.0, which npm does not have.
    "jquery": ("jquery@2.1.0", "jquery/dist/jquery.min.js"),
}
"""The scripts that BertViz loads from a CDN: their npm packages, and the files in them."""

STEPS = {"layer": (1, 2, 3), "hover": (3, 5, 7), "head": (3, 4, 5)}
"""The steps, in this order: which layers, tokens and heads are chosen."""

STEP_SECONDS = 6.0
"""After this many seconds of one kind of step, the rest of that kind is skipped."""

Weights = tuple[np.ndarray, np.ndarray]


def fetch_scripts() -> None:
    """Install the scripts of BertViz with npm, unless they are installed."""
    if all((LIBRARIES / path).exists() for _, path in SCRIPTS.values()):
        return
    packages = [package for package, _ in SCRIPTS.values()]
    options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
    command = ["npm", "install", "--loglevel=error", *options, "--prefix", str(HERE), *packages]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"npm could not fetch {', '.join(packages)}:\n{done.stderr}")


def token_names(tokens: int) -> list[str]:
    """Return the tokens of a text of this length."""
    return [f"t{n}" for n in range(tokens)]


def save_tensors(tokens: int, path: Path) -> None:
    """Save the tensors of a text of this length, for all contenders."""
    encoder = random_flow(tokens).stream("encoder")
    np.savez(path, weights=encoder["weight"], norms=encoder["value-norm"])


def make_flow(weights: np.ndarray, norms: np.ndarray) -> Flow:
    """Return the tensors as a flow."""
    return normviz.from_arrays(weights, token_names(weights.shape[-1]), value_norms=norms)


def snapshot(weights: np.ndarray, norms: np.ndarray, path: Path) -> int:
    """Write normviz's one-file page with α, ‖f(x)‖ and ‖αf(x)‖ of every layer; return its size."""
    return make_flow(weights, norms).to_html(path, measure="weight", layer=0).stat().st_size


def widget(weights: np.ndarray, norms: np.ndarray, _path: Path) -> int:
    """Make normviz's widget and the tiles of its first picture; return their size."""
    flow = make_flow(weights, norms)
    shown = FlowWidget(flow, measure="weight", layer=0)
    size = len(json.dumps(shown._header)) + len(shown._data)  # noqa: SLF001
    if weights.size + norms.size > SEND_WHOLE_LIMIT:
        size += sum(
            len(make_tile([flow], TileKey.parse(name), "log16").data)
            for name in tile_names(range(1))
        )
    shown.close()
    return size


def bertviz(weights: np.ndarray, _norms: np.ndarray, path: Path) -> int:
    """Write BertViz's head view of every layer; return its size."""
    import torch
    from bertviz import head_view

    layers = [torch.from_numpy(layer[None]) for layer in weights]
    page = head_view(layers, token_names(weights.shape[-1]), html_action="return")
    return path.write_text(page.data, encoding="utf-8")


def circuitsvis(weights: np.ndarray, _norms: np.ndarray, path: Path) -> int:
    """Write CircuitsVis's attention heads of one layer, the most a call takes; return its size."""
    from circuitsvis.attention import attention_heads

    page = attention_heads(weights[0], token_names(weights.shape[-1]), mask_upper_tri=False)
    return path.write_text(page.local_src, encoding="utf-8")


MAKERS: dict[str, Callable[[np.ndarray, np.ndarray, Path], int]] = {
    "snapshot": snapshot,
    "widget": widget,
    "bertviz": bertviz,
    "circuitsvis": circuitsvis,
}
"""The contenders: functions that make a page of weights and norms, and return its bytes."""


def tile_names(layers: range) -> list[str]:
    """Return the tiles that the widget requests to show these layers."""
    kinds = ("weight", "value-norm")
    return [f"0/encoder/{kind}/{layer}/all" for layer in layers for kind in kinds]


def answer_from_disk(route: Route) -> None:
    """Answer BertViz's requests to the CDN from disk, and block all others."""
    for name, (_, path) in SCRIPTS.items():
        if f"/libs/{name}/" in route.request.url:
            route.fulfill(path=LIBRARIES / path, content_type="text/javascript")
            return
    route.abort()


def open_page(page: Page, name: str, path: Path, weights: Weights) -> dict[str, Any]:
    """Open a page, and return the milliseconds to its first picture.

    For a file, time runs from the start of the navigation. A notebook is already open; there it
    runs from the moment the widget is shown.
    """
    page.add_init_script(path=HERE / "probe.js")
    if name == "widget":
        serve(page, make_flow(*weights))
        page.evaluate("names => load(names)", tile_names(range(4)))
        code = "() => { const now = performance.now(); first(); return probe.first('widget', now) }"
        return page.evaluate(code)
    page.route(re.compile("^https?://"), answer_from_disk)
    page.goto(path.as_uri(), wait_until="commit")
    return page.evaluate("name => probe.first(name)", name)


def time_step(page: Page, name: str, kind: str, enough: float) -> dict[str, float]:
    """Return the median milliseconds of one kind of step; for layers, also until fully painted."""
    times: list[float] = []
    wholes: list[float] = []
    for n in STEPS[kind]:
        result = page.evaluate("step => probe.timed(...step)", [name, kind, n])
        if not result["changed"]:
            raise SystemExit(f"The picture of {name} did not change: {kind} {n}")
        times.append(result["took"])
        wholes += [result["whole"]] if result["whole"] else []
        if sum(times) > 1000 * enough:
            break
    rows = {kind: times} | ({f"whole {kind}": wholes} if wholes else {})
    return {name: round(statistics.median(values), 1) for name, values in rows.items()}


def measure_page(page: Page) -> dict[str, float]:
    """Return the number of DOM nodes, and the heap after garbage collection in megabytes."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    usage = devtools.send("Runtime.getHeapUsage")
    # Typed arrays are stored outside the heap.
    heap = usage["usedSize"] + usage.get("backingStorageSize", 0)
    return {"nodes": page.evaluate("probe.nodes()"), "heap": round(heap / 1e6, 2)}


def run_contender(
    name: str, weights: Weights, *, picture: Path | None = None, enough: float = STEP_SECONDS
) -> Iterator[dict[str, Any]]:
    """Run one contender from tensors to the last step; yield each result as soon as it is known."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        MAKERS[name](np.ones((1, 1, 1, 1)), np.ones((1, 1, 1)), path)  # imports are not measured
        start = time.perf_counter()
        size = MAKERS[name](*weights, path)
        yield {"make": round(1000 * (time.perf_counter() - start), 1), "size": size}
        chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        page = chromium.new_page(**options)
        page.set_default_timeout(0)  # the parent process has a timeout
        first = open_page(page, name, path, weights)
        if not first["changed"]:
            raise SystemExit(f"The first picture of {name} is blank.")
        yield {"first": round(first["took"], 1), "seen": round(first["seen"], 1)}
        yield measure_page(page)
        if picture:
            page.wait_for_timeout(1000)
            page.screenshot(path=picture)
        for kind in STEPS:
            if (name, kind) != ("circuitsvis", "layer"):  # a call shows one layer
                yield time_step(page, name, kind, enough)
        chromium.close()


def main() -> None:
    """Run one contender once, and print its results as they come."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=MAKERS)
    parser.add_argument("weights", nargs="?", type=Path, help="the tensors, an .npz file")
    parser.add_argument("--fetch", action="store_true", help="only fetch the scripts of BertViz")
    parser.add_argument(
        "--enough", type=float, default=STEP_SECONDS, help="seconds for a kind of step"
    )
    parser.add_argument("--picture", type=Path, help="a file for a screenshot of the first picture")
    args = parser.parse_args()
    if args.fetch or args.weights is None:
        fetch_scripts()
        return
    tensors = np.load(args.weights)
    options = {"picture": args.picture, "enough": args.enough}
    try:
        for result in run_contender(args.name, (tensors["weights"], tensors["norms"]), **options):
            print(json.dumps(result), flush=True)
    except (Error, MemoryError) as error:
        print(json.dumps({"gave up": str(error).splitlines()[0] or type(error).__name__}))


if __name__ == "__main__":
    main()
