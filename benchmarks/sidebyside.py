"""BertViz, CircuitsVis and both views of normviz in one run of one browser, on the same tensors.

Each run of a contender is a separate process with a fresh headless Chromium, from the tensors to
the last click (`contenders.py`); contenders take turns in every round. A run that exceeds its
timeout is ended with all of its child processes. Its results so far are kept, and the contender is
not run again, here or at larger sizes. Ratios are taken within a round.

    python benchmarks/sidebyside.py            at least ten minutes on two cores
    python benchmarks/sidebyside.py --quick    one small text, one round, nothing written
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import contenders
import psutil
from hosts import end
from playwright.sync_api import sync_playwright
from sidebyside_report import draw_figure, markdown
from tables import write_section
from timing import describe_machine
from view import ARGUMENTS, HERE, executable

SIZES = (16, 64, 128, 256, 512)
ROUNDS = 3
TIMEOUT = 60.0
"""The timeout of a run, in seconds."""
SLOW = 40.0
"""A run that takes longer than this many seconds is not repeated."""

GOALS = {"times smaller": 20, "times sooner": 10, "times faster": 50, "answer, ms": 250}
"""The file compared with BertViz at 128 tokens; the slowest step of either view at 512."""

STEP_NAMES = {
    "make": "making it",
    "first": "opening it",
    "layer": "switching the layer",
    "hover": "pointing at a token",
    "head": "choosing a head",
}
"""The timed steps, in this order, with the words for a step that was not finished."""

Results = dict[str, Any]


def run_with_timeout(command: Sequence[str], timeout: float) -> Results:
    """Run a process that prints JSON; at the timeout, end it and its child processes."""
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        process = psutil.Popen(command, stdout=stdout, stderr=stderr)
        start = time.monotonic()
        failure = None
        try:
            if process.wait(timeout) != 0:
                stderr.seek(0)
                failure = (stderr.read().strip().splitlines() or ["it ended"])[-1]
        except psutil.TimeoutExpired:
            failure = f"not done after {timeout:g} s"
        finally:
            end(process)
        stdout.seek(0)
        found: Results = {"seconds": time.monotonic() - start}
        for line in stdout.read().splitlines():
            if line.endswith("}"):  # the last line may be incomplete
                found |= json.loads(line)
    return found | ({"gave up": failure} if failure else {})


def describe_failure(found: Results, name: str) -> str:
    """Return why a contender gave up, and at which step."""
    kinds = [kind for kind in STEP_NAMES if (name, kind) != ("circuitsvis", "layer")]
    step = next((STEP_NAMES[kind] for kind in kinds if kind not in found), "closing it")
    return f"{found['gave up']}, while {step}"


def run_rounds(
    names: Sequence[str], weights: Path, rounds: int, *options: str, timeout: float = TIMEOUT
) -> dict[str, list[Results]]:
    """Run the contenders in turn; one that gives up or is slow is not run again."""
    runs: dict[str, list[Results]] = {name: [] for name in names}
    remaining = list(names)
    for turn in range(rounds):
        first = turn % len(names)
        for name in [n for n in (*names[first:], *names[:first]) if n in remaining]:
            command = [sys.executable, "-W", "ignore", contenders.__file__, name, str(weights)]
            found = run_with_timeout([*command, *options], timeout)
            if "gave up" in found:
                found["gave up"] = describe_failure(found, name)
            runs[name].append(found)
            if "gave up" in found or found["seconds"] > SLOW:
                remaining.remove(name)
    return runs


def median_and_range(values: Sequence[float]) -> dict[str, float]:
    """Return the median of some rounds, with the least and greatest value."""
    middle = statistics.median(values)
    return {"median": round(middle, 2), "low": round(min(values), 2), "high": round(max(values), 2)}


def summarize(runs: Sequence[Results]) -> Results:
    """Return the median results of one contender, and whether it gave up."""
    kinds = ("size", *STEP_NAMES, "whole layer", "seen", "nodes", "heap")
    found: Results = {
        kind: median_and_range([run[kind] for run in runs if kind in run])
        for kind in kinds
        if any(kind in run for run in runs)
    }
    reasons = [run["gave up"] for run in runs if "gave up" in run]
    return {"rounds": len(runs), **found} | ({"gave up": reasons[0]} if reasons else {})


def ratios_by_round(runs: Mapping[str, Sequence[Results]], name: str, reference: str) -> Results:
    """Return the ratios of one contender to another, each within one round."""
    pairs = list(zip(runs.get(name, ()), runs.get(reference, ()), strict=False))
    kinds = ("size", *STEP_NAMES, "whole layer", "nodes", "heap")
    return {
        kind: median_and_range([a[kind] / b[kind] for a, b in pairs if kind in a and kind in b])
        for kind in kinds
        if any(kind in a and kind in b for a, b in pairs)
    }


def measure_size(
    tokens: int, names: Sequence[str], folder: Path, rounds: int, *options: str
) -> tuple[Results, Results]:
    """Return the results of each contender for one text, and their ratios to normviz's file."""
    path = folder / "weights.npz"
    contenders.save_tensors(tokens, path)
    runs = run_rounds(names, path, rounds, *options)
    against = {
        name: ratios_by_round(runs, name, "snapshot") for name in names if name != "snapshot"
    }
    return {name: summarize(runs[name]) for name in names}, against


def describe_setup() -> Results:
    """Return the machine and the versions that the numbers were measured with."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        browser = chromium.version
        chromium.close()
    packages = ("bertviz", "circuitsvis", "playwright")
    return describe_machine() | {
        "chromium": browser,
        "cores": os.cpu_count(),
        "load before": round(os.getloadavg()[0], 2),
        **{name: version(name) for name in packages},
        "scripts of BertViz": [package for package, _ in contenders.SCRIPTS.values()],
    }


def run(sizes: Sequence[int], rounds: int, *options: str) -> Results:
    """Measure every size, and print the results as they come."""
    contenders.fetch_scripts()
    results: Results = {"goals": GOALS, "patience": TIMEOUT, "tokens": {}, "ratios to the file": {}}
    remaining = list(contenders.MAKERS)
    with tempfile.TemporaryDirectory() as folder:
        for tokens in sizes:
            row, against = measure_size(tokens, remaining, Path(folder), rounds, *options)
            results["tokens"][str(tokens)] = row
            results["ratios to the file"][str(tokens)] = against
            remaining = [name for name in remaining if "gave up" not in row[name]]
            print(tokens, json.dumps(row), flush=True)
    return results


def main() -> None:
    """Measure, and write numbers, tables and plot unless it is a quick run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one small text, nothing written")
    parser.add_argument(
        "--report", action="store_true", help="only write tables and plot of stored results"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    args = parser.parse_args()
    path = HERE / "results" / "browser.json"
    if args.quick:
        run((16,), 1, "--enough=0")
        return
    if not args.report:
        found = {"machine": describe_setup()} | run(SIZES, args.rounds)
        path.write_text(json.dumps(found, indent=1) + "\n")
    results = json.loads(path.read_text())
    draw_figure(results["tokens"], path.with_suffix(".svg"))
    write_section(HERE / "README.md", "browser", markdown(results))


if __name__ == "__main__":
    main()
