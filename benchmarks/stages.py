"""Where the time goes: from three lines to the picture, and inside one analysis.

The way of a reader is taken in fresh processes, step by step. Inside an analysis of the shape of
BERT-base, the functions that do the work are clocked as they are called, in turn with plain passes.

    python benchmarks/stages.py            about two minutes
    python benchmarks/stages.py --quick    a tiny model and one process, nothing kept
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any

import transformers
from shapes import bert, ids, tiny
from sweep import plain
from tables import README, table, times, write
from timing import in_turn, keep, machine, spread

import normviz
from normviz.model.measures import reducer as room

WAY = """
import json, os, sys, tempfile, time
os.environ["HF_HUB_OFFLINE"] = "1"
marks = [("start", time.perf_counter())]
def mark(name): marks.append((name, time.perf_counter()))
import normviz
mark("import normviz")
import torch, transformers
mark("import torch and transformers")
transformers.logging.set_verbosity_error()
from normviz.model.loading import resolve
loaded = resolve("demo")
mark("load the model")
text = "The animal didn't cross the street because it was too tired."
flow = normviz.analyze(loaded.model, loaded.tokenizer, text, pair="It slept in the shade.")
mark("first analysis")
flow = normviz.analyze(loaded.model, loaded.tokenizer, text, pair="It lay in the shade.")
mark("any further analysis")
flow.widget()
mark("the widget, as far as Python goes")
flow.to_html(os.path.join(tempfile.mkdtemp(), "flow.html"))
mark("or the HTML file")
print(json.dumps({b[0]: b[1] - a[1] for a, b in zip(marks, marks[1:])}))
"""
"""A reader's three lines, with a clock after each step."""

STAGES = {
    "f(x), and the heads' inner products": "gram",
    "the head sum": "head_sum_norm",
    "the receipt's checks": "checks",
}
"""What is clocked inside an analysis: names that `measures/layer` calls."""


def way(rounds: int) -> dict[str, Any]:
    """Seconds of each step, over fresh processes."""
    command = [sys.executable, "-W", "ignore", "-c", WAY]
    runs = []
    for _ in range(rounds):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    return {step: spread([run[step] for run in runs]) for step in runs[0]}


@contextmanager
def clocked(spent: dict[str, list[float]]) -> Iterator[None]:
    """Add up what each stage takes, for the length of a `with`."""
    own = {name: getattr(room, name) for name in STAGES.values()}

    def clock(label: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                spent[label][-1] += time.perf_counter() - start

        return timed

    try:
        for label, name in STAGES.items():
            setattr(room, name, clock(label, own[name]))
        yield
    finally:
        for name, function in own.items():
            setattr(room, name, function)


def inside(model: Any, tokens: int, rounds: int) -> dict[str, Any]:
    """Milliseconds of the plain pass, of an analysis, and of its stages."""
    spent: dict[str, list[float]] = {label: [] for label in STAGES}

    def analyzed() -> None:
        for parts in spent.values():
            parts.append(0.0)
        normviz.analyze(model, inputs=ids(tokens))

    with clocked(spent):
        seconds = in_turn(
            {"plain": partial(plain, model, tokens), "normviz": analyzed}, rounds=rounds
        )
    rounds_of = {label: each[1:] for label, each in spent.items()}  # the first warms
    every = zip(seconds["normviz"], seconds["plain"], *rounds_of.values(), strict=True)
    rest = [whole - own - sum(parts) for whole, own, *parts in every]
    stages = seconds | rounds_of | {"listening, gathering and the rest": rest}
    return {name: spread([1000 * one for one in each]) for name, each in stages.items()}


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Where the time goes, as two tables."""
    way = table(
        ["step", "seconds"], [[step, times(took)] for step, took in results["way, seconds"].items()]
    )
    inside = results["inside, milliseconds"]
    lengths = list(inside)
    rows = [[stage, *(times(inside[n][stage]) for n in lengths)] for stage in inside[lengths[0]]]
    head = ["inside one analysis, ms", *(f"{n} tokens" for n in lengths)]
    write(readme, "stages", f"{way}\n\n{table(head, rows)}")


def main() -> None:
    """Measure, and keep the result unless it was only a quick look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    transformers.logging.set_verbosity_error()
    lengths = {16: 3} if quick else {128: 25, 512: 9}
    model = tiny() if quick else bert()
    results = {
        "machine": machine(),
        "way, seconds": way(1 if quick else 5),
        "inside, milliseconds": {
            str(tokens): inside(model, tokens, rounds) for tokens, rounds in lengths.items()
        },
    }
    print(json.dumps(results, ensure_ascii=False))
    if not quick:
        keep("stages", results)
        report(results)


if __name__ == "__main__":
    main()
