"""The one-file page in a real browser: its size, and how fast it opens and responds.

The file is opened from disk in headless Chromium (software rendering). The first picture is timed
from the start of the navigation, which includes reading, unpacking and drawing. Every time ends
when the browser has painted the new picture and its pixels have changed.

    python benchmarks/snapshot.py            about two minutes
    python benchmarks/snapshot.py --quick    one small text, as a smoke test
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright
from tables import README, format_table, judge_goal, write_section
from timing import describe_machine, write_results
from view import ARGUMENTS, LOOK_SCRIPT, NAMES, executable, random_flow

GOALS = {"128": {"megabytes": 5.3, "first": 1000}}

TIMING = (
    LOOK_SCRIPT
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
"""The keys to press, by kind of step."""


def time_page(page: Page, path: Path) -> dict[str, list[float]]:
    """Return the milliseconds of one opening, and of every step after it."""
    page.add_init_script(TIMING)
    page.goto(path.as_uri())
    steps = [("first", "first")]
    steps += [(kind, f"pressed('{key}')") for kind, keys in STEPS.items() for key in keys]
    milliseconds: dict[str, list[float]] = {}
    for kind, code in steps:
        result = page.evaluate(code)
        if not result["changed"]:
            raise SystemExit(f"The picture did not change: {kind} {code}")
        milliseconds.setdefault(kind, []).append(result["took"])
    return milliseconds


def measure(tokens: int, rounds: int) -> dict[str, object]:
    """Return the size of a file, and the median milliseconds over fresh browsers."""
    milliseconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = random_flow(tokens).to_html(Path(folder) / "flow.html")
        megabytes = path.stat().st_size / 1e6
        for _ in range(rounds):
            chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
            options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
            for kind, times in time_page(chromium.new_page(**options), path).items():
                milliseconds.setdefault(kind, []).extend(times)
            chromium.close()
    times = {
        kind: {"median": round(statistics.median(row)), "most": round(max(row))}
        for kind, row in milliseconds.items()
    }
    return {"megabytes": round(megabytes, 2), "milliseconds": times}


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Write the table of sizes and steps by length into the README, with the goals."""
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
    goals = []
    for n, goal in results["goals"].items():
        first, size = float(times[n]["first"]["median"]), results[n]["megabytes"]
        goals += [
            judge_goal(f"{n} tokens, size", size, goal["megabytes"], unit="MB"),
            judge_goal(f"{n} tokens, first picture", first, goal["first"], unit="ms"),
        ]
    head = ["median (maximum)", *(f"{n} tokens" for n in lengths)]
    write_section(readme, "snapshot", f"{format_table(head, rows)}\n\n" + "\n".join(goals))


def main() -> None:
    """Measure, and write the result unless it is a quick run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    results: dict[str, Any] = {"machine": describe_machine(), "goals": GOALS}
    for tokens in (24,) if args.quick else (128, 512):
        row = measure(tokens, 1 if args.quick else 3)
        results[str(tokens)] = row
        print(tokens, json.dumps(row), flush=True)
    if not args.quick:
        write_results("snapshot", results)
        report(results)


if __name__ == "__main__":
    main()
