"""The one-file view in a real browser: how large the file is, and how soon it opens and answers.

The file is opened from disk in headless Chromium (software rendering). The first picture is counted
from the start of the navigation, so reading, unpacking and drawing are all in it. Every time ends
when the browser has put the new picture on the screen and its pixels have changed.

    python benchmarks/snapshot.py            about two minutes
    python benchmarks/snapshot.py --quick    one small text, to see that it runs
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright
from tables import README, judged, table, write
from timing import keep, machine
from view import ARGUMENTS, LOOK, NAMES, executable, random_flow

GOALS = {"128": {"megabytes": 5.3, "first": 1000}}

TIMING = (
    LOOK
    + """
const isThere = () => document.querySelector(".nv-sentence")?.textContent;
window.first = (async () => {
  while (!isThere()) await shown();
  await shown();
  const took = performance.now();
  return {took, changed: look() !== 0};
})();
window.pressed = async (key) => {
  const before = look();
  await shown();
  const start = performance.now();
  const root = document.querySelector(".normviz");
  root.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  await shown();
  const took = performance.now() - start;
  return {took, changed: look() !== before};
};
"""
)

STEPS = {"layer": "]]][", "measure": "1313", "token": ["ArrowDown", "ArrowDown", "Escape"]}
"""Which keys are pressed, by kind."""


def opened(page: Page, path: Path) -> dict[str, list[float]]:
    """The milliseconds of one opening, and of every step after it."""
    page.add_init_script(TIMING)
    page.goto(path.as_uri())
    steps = [("first", "first")]
    steps += [(kind, f"pressed('{key}')") for kind, keys in STEPS.items() for key in keys]
    found: dict[str, list[float]] = {}
    for kind, code in steps:
        result = page.evaluate(code)
        if not result["changed"]:
            raise SystemExit(f"The picture did not change: {kind} {code}")
        found.setdefault(kind, []).append(result["took"])
    return found


def measure(tokens: int, rounds: int) -> dict[str, object]:
    """The size of a file, and the median milliseconds over fresh browsers."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = random_flow(tokens).to_html(Path(folder) / "flow.html")
        megabytes = path.stat().st_size / 1e6
        for _ in range(rounds):
            chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
            options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
            for kind, times in opened(chromium.new_page(**options), path).items():
                found.setdefault(kind, []).extend(times)
            chromium.close()
    times = {
        kind: {"median": round(statistics.median(row)), "most": round(max(row))}
        for kind, row in found.items()
    }
    return {"megabytes": round(megabytes, 2), "milliseconds": times}


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Sizes and steps by length, with the goals judged by their medians."""
    lengths = [name for name in results if name.isdigit()]
    times = {n: results[n]["milliseconds"] for n in lengths}
    rows = [["size of the file", *(f"{results[n]['megabytes']} MB" for n in lengths)]]
    rows += [
        [
            NAMES.get(kind, kind),
            *(f"{times[n][kind]['median']:,} ms ({times[n][kind]['most']:,})" for n in lengths),
        ]
        for kind in times[lengths[0]]
    ]
    told = []
    for n, goal in results["goals"].items():
        first, size = float(times[n]["first"]["median"]), results[n]["megabytes"]
        told += [
            judged(f"{n} tokens, size", size, goal["megabytes"], unit="MB"),
            judged(f"{n} tokens, first picture", first, goal["first"], unit="ms"),
        ]
    head = ["median (most)", *(f"{n} tokens" for n in lengths)]
    write(readme, "snapshot", f"{table(head, rows)}\n\n" + "\n".join(told))


def main() -> None:
    """Measure, and keep the result unless it was only a quick look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    results: dict[str, Any] = {"machine": machine(), "goals": GOALS}
    for tokens in (24,) if chosen.quick else (128, 512):
        row = measure(tokens, 1 if chosen.quick else 3)
        results[str(tokens)] = row
        print(tokens, json.dumps(row), flush=True)
    if not chosen.quick:
        keep("snapshot", results)
        report(results)


if __name__ == "__main__":
    main()
