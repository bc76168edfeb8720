"""BertViz, CircuitsVis and both views of normviz in one run of one browser, on the same tensors.

Each run of a contender is a process of its own with a fresh headless Chromium, from the tensors to
the last click (`contenders.py`); contenders take turns in every round. A run that is not done in
time is ended with all that it started; what it had found is kept, and that contender is not tried
again, here or at larger sizes. Ratios are taken within a round.

    python benchmarks/sidebyside.py            ten minutes and more on two cores
    python benchmarks/sidebyside.py --quick    one small text, one round, nothing kept
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
from sidebyside_told import figure, markdown
from tables import write
from timing import machine
from view import ARGUMENTS, HERE, executable

SIZES = (16, 64, 128, 256, 512)
ROUNDS = 3
PATIENCE = 60.0
"""Seconds after which a run is ended."""
SLOW = 40.0
"""A run that takes so many seconds is not repeated."""

GOALS = {"times smaller": 20, "times sooner": 10, "times faster": 50, "answer, ms": 250}
"""Against BertViz at 128 tokens, the file; and the longest step of either view at 512."""

KINDS = {
    "make": "making it",
    "first": "opening it",
    "layer": "switching the layer",
    "hover": "pointing at a token",
    "head": "choosing a head",
}
"""What is timed, in this order, and what a contender was doing that came no further."""

Found = dict[str, Any]


def attempt(command: Sequence[str], patience: float) -> Found:
    """Run a process that prints JSON, and end it and all that it started when time is up."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complained:
        process = psutil.Popen(command, stdout=said, stderr=complained)
        start = time.monotonic()
        trouble = None
        try:
            if process.wait(patience) != 0:
                complained.seek(0)
                trouble = (complained.read().strip().splitlines() or ["it ended"])[-1]
        except psutil.TimeoutExpired:
            trouble = f"not done after {patience:g} s"
        finally:
            end(process)
        said.seek(0)
        found: Found = {"seconds": time.monotonic() - start}
        for line in said.read().splitlines():
            if line.endswith("}"):  # the last may be cut off
                found |= json.loads(line)
    return found | ({"gave up": trouble} if trouble else {})


def stuck(found: Found, name: str) -> str:
    """Why a contender gave up, and at what."""
    kinds = [kind for kind in KINDS if (name, kind) != ("circuitsvis", "layer")]
    at = next((KINDS[kind] for kind in kinds if kind not in found), "closing it")
    return f"{found['gave up']}, while {at}"


def rounds_of(
    names: Sequence[str], weights: Path, rounds: int, *more: str, patience: float = PATIENCE
) -> dict[str, list[Found]]:
    """Every contender in turn, round by round; who gives up or is slow is not asked again."""
    runs: dict[str, list[Found]] = {name: [] for name in names}
    asked = list(names)
    for turn in range(rounds):
        first = turn % len(names)
        for name in [n for n in (*names[first:], *names[:first]) if n in asked]:
            command = [sys.executable, "-W", "ignore", contenders.__file__, name, str(weights)]
            found = attempt([*command, *more], patience)
            if "gave up" in found:
                found["gave up"] = stuck(found, name)
            runs[name].append(found)
            if "gave up" in found or found["seconds"] > SLOW:
                asked.remove(name)
    return runs


def extent(values: Sequence[float]) -> dict[str, float]:
    """The median of some rounds, with the least and the most."""
    middle = statistics.median(values)
    return {"median": round(middle, 2), "low": round(min(values), 2), "high": round(max(values), 2)}


def summary(runs: Sequence[Found]) -> Found:
    """What the rounds of one contender have found, and whether it gave up."""
    kinds = ("size", *KINDS, "whole layer", "seen", "nodes", "heap")
    found: Found = {
        kind: extent([run[kind] for run in runs if kind in run])
        for kind in kinds
        if any(kind in run for run in runs)
    }
    reasons = [run["gave up"] for run in runs if "gave up" in run]
    return {"rounds": len(runs), **found} | ({"gave up": reasons[0]} if reasons else {})


def ratios(runs: Mapping[str, Sequence[Found]], of: str, to: str) -> Found:
    """How many times more one contender takes than another, each ratio within one round."""
    pairs = list(zip(runs.get(of, ()), runs.get(to, ()), strict=False))
    kinds = ("size", *KINDS, "whole layer", "nodes", "heap")
    return {
        kind: extent([a[kind] / b[kind] for a, b in pairs if kind in a and kind in b])
        for kind in kinds
        if any(kind in a and kind in b for a, b in pairs)
    }


def measured(
    tokens: int, names: Sequence[str], folder: Path, rounds: int, *more: str
) -> tuple[Found, Found]:
    """One text: what each contender needs, and how many times that of normviz's file."""
    path = folder / "weights.npz"
    contenders.save(tokens, path)
    runs = rounds_of(names, path, rounds, *more)
    against = {name: ratios(runs, name, "snapshot") for name in names if name != "snapshot"}
    return {name: summary(runs[name]) for name in names}, against


def setting() -> Found:
    """What the numbers were measured on, and with which versions."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        browser = chromium.version
        chromium.close()
    packages = ("bertviz", "circuitsvis", "playwright")
    return machine() | {
        "chromium": browser,
        "cores": os.cpu_count(),
        "load before": round(os.getloadavg()[0], 2),
        **{name: version(name) for name in packages},
        "scripts of BertViz": [package for package, _ in contenders.SCRIPTS.values()],
    }


def run(sizes: Sequence[int], rounds: int, *more: str) -> Found:
    """Every size in turn, printed as it is done."""
    contenders.fetch()
    results: Found = {"goals": GOALS, "patience": PATIENCE, "tokens": {}, "ratios to the file": {}}
    left = list(contenders.MAKERS)
    with tempfile.TemporaryDirectory() as folder:
        for tokens in sizes:
            row, against = measured(tokens, left, Path(folder), rounds, *more)
            results["tokens"][str(tokens)] = row
            results["ratios to the file"][str(tokens)] = against
            left = [name for name in left if "gave up" not in row[name]]
            print(tokens, json.dumps(row), flush=True)
    return results


def main() -> None:
    """Measure, and keep numbers, table and plot unless it was only a quick look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one small text, nothing kept")
    parser.add_argument("--tell", action="store_true", help="table and plot of what was kept")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    place = HERE / "results" / "browser.json"
    if chosen.quick:
        run((16,), 1, "--enough=0")
        return
    if not chosen.tell:
        found = {"machine": setting()} | run(SIZES, chosen.rounds)
        place.write_text(json.dumps(found, indent=1) + "\n")
    results = json.loads(place.read_text())
    figure(results["tokens"], place.with_suffix(".svg"))
    write(HERE / "README.md", "browser", markdown(results))


if __name__ == "__main__":
    main()
