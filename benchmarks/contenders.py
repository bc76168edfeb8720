"""The viewers that stand side by side: each makes its picture of the same tensors and opens it.

BertViz asks a CDN for require.js, d3 and jQuery; here npm fetches them once into a folder that git
does not keep, and the browser is answered from there. CircuitsVis is taken with its script inside,
as it makes it where there is no network.

    python benchmarks/contenders.py bertviz weights.npz    one run: a line of JSON for each finding
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
from normviz.view.tiles import tile
from normviz.view.widget import WHOLE, FlowWidget

LIBRARIES = HERE / "node_modules"
SCRIPTS = {
    "require.js": ("requirejs@2.3.6", "requirejs/require.js"),
    "d3": ("d3@5.7.0", "d3/dist/d3.min.js"),
    # npm's oldest of the second series; BertViz names 2.0.0, which it does not have.
    "jquery": ("jquery@2.1.0", "jquery/dist/jquery.min.js"),
}
"""What BertViz asks a CDN for: the package of npm, and the file in it."""

STEPS = {"layer": (1, 2, 3), "hover": (3, 5, 7), "head": (3, 4, 5)}
"""What is done, in this order: which layer, which token, which head."""

ENOUGH = 6.0
"""After so many seconds of one kind of step the rest of that kind is left out."""

Weights = tuple[np.ndarray, np.ndarray]


def fetch() -> None:
    """Let npm put what BertViz asks for where the browser is answered from; only once."""
    if all((LIBRARIES / path).exists() for _, path in SCRIPTS.values()):
        return
    packages = [package for package, _ in SCRIPTS.values()]
    options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
    command = ["npm", "install", "--loglevel=error", *options, "--prefix", str(HERE), *packages]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"npm could not fetch {', '.join(packages)}:\n{done.stderr}")


def names(tokens: int) -> list[str]:
    """The words of a text of so many tokens."""
    return [f"t{n}" for n in range(tokens)]


def save(tokens: int, path: Path) -> None:
    """Keep the tensors of a text of so many tokens, for every contender alike."""
    encoder = random_flow(tokens).stream("encoder")
    np.savez(path, weights=encoder["weight"], norms=encoder["value-norm"])


def flow_of(weights: np.ndarray, norms: np.ndarray) -> Flow:
    """The tensors as a flow."""
    return normviz.from_arrays(weights, names(weights.shape[-1]), value_norms=norms)


def snapshot(weights: np.ndarray, norms: np.ndarray, path: Path) -> int:
    """normviz: one file with α, ‖f(x)‖ and ‖αf(x)‖ of every layer."""
    return flow_of(weights, norms).to_html(path, measure="weight").stat().st_size


def widget(weights: np.ndarray, norms: np.ndarray, _path: Path) -> int:
    """normviz: the notebook's widget, and the tiles that its first picture asks for."""
    flow = flow_of(weights, norms)
    made = FlowWidget(flow, measure="weight")
    size = len(json.dumps(made._header)) + len(made._data)  # noqa: SLF001
    if weights.size + norms.size > WHOLE:
        size += sum(len(tile([flow], name, "log16").data) for name in tiles(range(1)))
    made.close()
    return size


def bertviz(weights: np.ndarray, _norms: np.ndarray, path: Path) -> int:
    """BertViz: the head view of every layer."""
    import torch
    from bertviz import head_view

    layers = [torch.from_numpy(layer[None]) for layer in weights]
    page = head_view(layers, names(weights.shape[-1]), html_action="return")
    return path.write_text(page.data, encoding="utf-8")


def circuitsvis(weights: np.ndarray, _norms: np.ndarray, path: Path) -> int:
    """CircuitsVis: the attention heads of one layer, which is all that a call takes."""
    from circuitsvis.attention import attention_heads

    page = attention_heads(weights[0], names(weights.shape[-1]), mask_upper_tri=False)
    return path.write_text(page.local_src, encoding="utf-8")


MAKERS: dict[str, Callable[[np.ndarray, np.ndarray, Path], int]] = {
    "snapshot": snapshot,
    "widget": widget,
    "bertviz": bertviz,
    "circuitsvis": circuitsvis,
}
"""Each contender: what it makes of weights and norms, and how many bytes that is."""


def tiles(layers: range) -> list[str]:
    """The tiles that the widget asks for to show these layers."""
    kinds = ("weight", "value-norm")
    return [f"0/encoder/{kind}/{layer}/all" for layer in layers for kind in kinds]


def local(route: Route) -> None:
    """Answer what BertViz asks a CDN for; nothing else gets out."""
    for name, (_, path) in SCRIPTS.items():
        if f"/libs/{name}/" in route.request.url:
            route.fulfill(path=LIBRARIES / path, content_type="text/javascript")
            return
    route.abort()


def opened(page: Page, name: str, path: Path, made: Weights) -> dict[str, Any]:
    """Open what was made, and give the milliseconds to its first picture.

    A file counts from the start of its navigation. A notebook is open already; there it counts
    from the moment when the widget is shown.
    """
    page.add_init_script(path=HERE / "probe.js")
    if name == "widget":
        serve(page, flow_of(*made))
        page.evaluate("names => load(names)", tiles(range(4)))
        code = "() => { const now = performance.now(); first(); return probe.first('widget', now) }"
        return page.evaluate(code)
    page.route(re.compile("^https?://"), local)
    page.goto(path.as_uri(), wait_until="commit")
    return page.evaluate("name => probe.first(name)", name)


def stepped(page: Page, name: str, kind: str, enough: float) -> dict[str, float]:
    """The median milliseconds of one kind of step, and for layers until all of it is painted."""
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
    found = {kind: times} | ({f"whole {kind}": wholes} if wholes else {})
    return {name: round(statistics.median(values), 1) for name, values in found.items()}


def held(page: Page) -> dict[str, float]:
    """How many nodes the page has, and what its scripts hold after a clean-up, in megabytes."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    found = devtools.send("Runtime.getHeapUsage")
    # Typed arrays lie outside the heap proper.
    bytes_held = found["usedSize"] + found.get("backingStorageSize", 0)
    return {"nodes": page.evaluate("probe.nodes()"), "heap": round(bytes_held / 1e6, 2)}


def findings(
    name: str, made: Weights, *, picture: Path | None = None, enough: float = ENOUGH
) -> Iterator[dict[str, Any]]:
    """One contender from tensors to the last step; each finding as soon as it is there."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        MAKERS[name](np.ones((1, 1, 1, 1)), np.ones((1, 1, 1)), path)  # imports are not counted
        start = time.perf_counter()
        size = MAKERS[name](*made, path)
        yield {"make": round(1000 * (time.perf_counter() - start), 1), "size": size}
        chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        page = chromium.new_page(**options)
        page.set_default_timeout(0)  # whoever waits for this process is patient, or ends it
        first = opened(page, name, path, made)
        if not first["changed"]:
            raise SystemExit(f"The first picture of {name} is blank.")
        yield {"first": round(first["took"], 1), "seen": round(first["seen"], 1)}
        yield held(page)
        if picture:
            page.wait_for_timeout(1000)
            page.screenshot(path=picture)
        for kind in STEPS:
            if (name, kind) != ("circuitsvis", "layer"):  # a call shows one layer
                yield stepped(page, name, kind, enough)
        chromium.close()


def main() -> None:
    """Run one contender once, and print what is found as it is found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=MAKERS)
    parser.add_argument("weights", nargs="?", type=Path, help="the tensors, as numpy keeps them")
    parser.add_argument("--fetch", action="store_true", help="only fetch what BertViz asks for")
    parser.add_argument("--enough", type=float, default=ENOUGH, help="seconds for a kind of step")
    parser.add_argument("--picture", type=Path, help="where to keep a look at the first picture")
    chosen = parser.parse_args()
    if chosen.fetch or chosen.weights is None:
        fetch()
        return
    kept = np.load(chosen.weights)
    options = {"picture": chosen.picture, "enough": chosen.enough}
    try:
        for found in findings(chosen.name, (kept["weights"], kept["norms"]), **options):
            print(json.dumps(found), flush=True)
    except (Error, MemoryError) as error:
        print(json.dumps({"gave up": str(error).splitlines()[0] or type(error).__name__}))


if __name__ == "__main__":
    main()
