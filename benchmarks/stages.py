"""Where the time goes: from three lines to the picture, and inside one analysis.

The user's three lines run in fresh processes, step by step. Inside an analysis with the shape of
BERT-base, the functions that do the work are timed as they are called, in turn with plain passes.

    python benchmarks/stages.py            about two minutes
    python benchmarks/stages.py --quick    a tiny model and one process, nothing written
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
from shapes import build_bert, build_tiny, random_ids
from sweep import run_plain_pass
from tables import README, format_spread, format_table, write_section
from timing import describe_machine, median_and_quartiles, time_in_turn, write_results

import normviz
from normviz.model.measures import reducer

SCRIPT = """
import json, os, sys, tempfile, time
os.environ["HF_HUB_OFFLINE"] = "1"
marks = [("start", time.perf_counter())]
def mark(name): marks.append((name, time.perf_counter()))
import normviz
mark("import normviz")
import torch, transformers
mark("import torch and transformers")
transformers.logging.set_verbosity_error()
from normviz.model.loading import load_model
loaded = load_model("demo")
mark("load the model")
text = "The animal didn't cross the street because it was too tired."
model, tokenizer = loaded.model, loaded.tokenizer
flow = normviz.analyze(model, text, tokenizer=tokenizer, pair="It slept in the shade.")
mark("first analysis")
flow = normviz.analyze(model, text, tokenizer=tokenizer, pair="It lay in the shade.")
mark("any further analysis")
flow.widget()
mark("the widget, as far as Python goes")
flow.to_html(os.path.join(tempfile.mkdtemp(), "flow.html"))
mark("or the HTML file")
print(json.dumps({b[0]: b[1] - a[1] for a, b in zip(marks, marks[1:])}))
"""
"""The user's three lines, with a time after each step."""

STAGES = {
    "f(x), and the heads' inner products": "gram",
    "the head sum": "head_sum_norm",
    "the receipt's checks": "check_attention",
}
"""The timed functions of an analysis: names that `measures/reducer.py` calls."""


def time_steps(rounds: int) -> dict[str, Any]:
    """Return the seconds of each step, over fresh processes."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    runs = []
    for _ in range(rounds):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    return {step: median_and_quartiles([run[step] for run in runs]) for step in runs[0]}


@contextmanager
def time_stages(spent: dict[str, list[float]]) -> Iterator[None]:
    """Add up the seconds of each stage in a `with` block."""
    originals = {name: getattr(reducer, name) for name in STAGES.values()}

    def wrap(label: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timer(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                spent[label][-1] += time.perf_counter() - start

        return timer

    try:
        for label, name in STAGES.items():
            setattr(reducer, name, wrap(label, originals[name]))
        yield
    finally:
        for name, function in originals.items():
            setattr(reducer, name, function)


def measure_stages(model: Any, tokens: int, rounds: int) -> dict[str, Any]:
    """Return the milliseconds of the plain pass, of an analysis, and of its stages."""
    spent: dict[str, list[float]] = {label: [] for label in STAGES}

    def run_analysis() -> None:
        for seconds_of in spent.values():
            seconds_of.append(0.0)
        normviz.analyze(model, inputs=random_ids(tokens))

    with time_stages(spent):
        seconds = time_in_turn(
            {"plain": partial(run_plain_pass, model, tokens), "normviz": run_analysis},
            rounds=rounds,
        )
    stage_seconds = {label: each[1:] for label, each in spent.items()}  # the first is a warm-up
    every = zip(seconds["normviz"], seconds["plain"], *stage_seconds.values(), strict=True)
    rest = [whole - plain - sum(stages) for whole, plain, *stages in every]
    stages = seconds | stage_seconds | {"listening, gathering and the rest": rest}
    return {name: median_and_quartiles([1000 * s for s in row]) for name, row in stages.items()}


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Write both tables into the README."""
    way = format_table(
        ["step", "seconds"],
        [[step, format_spread(took)] for step, took in results["way, seconds"].items()],
    )
    inside = results["inside, milliseconds"]
    lengths = list(inside)
    rows = [
        [stage, *(format_spread(inside[n][stage]) for n in lengths)] for stage in inside[lengths[0]]
    ]
    head = ["inside one analysis, ms", *(f"{n} tokens" for n in lengths)]
    write_section(readme, "stages", f"{way}\n\n{format_table(head, rows)}")


def main() -> None:
    """Measure, and write the result unless it is a quick run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    transformers.logging.set_verbosity_error()
    lengths = {16: 3} if quick else {128: 25, 512: 9}
    model = build_tiny() if quick else build_bert()
    results = {
        "machine": describe_machine(),
        "way, seconds": time_steps(1 if quick else 5),
        "inside, milliseconds": {
            str(tokens): measure_stages(model, tokens, rounds) for tokens, rounds in lengths.items()
        },
    }
    print(json.dumps(results, ensure_ascii=False))
    if not quick:
        write_results("stages", results)
        report(results)


if __name__ == "__main__":
    main()
