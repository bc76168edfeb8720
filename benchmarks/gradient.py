"""Gradient attribution compared with one backward pass per coordinate, and the sketch's error.

The straightforward way to compute ∂e/∂x is one backward pass for every coordinate of every layer's
output: layers × tokens × width passes. Only a sample is run, spread over all layers and tokens, and
extrapolated to all coordinates. The passes take turns with normviz in one process.

    python benchmarks/gradient.py                about three minutes on two cores
    python benchmarks/gradient.py --tokens 64    about twelve minutes, added to the results
    python benchmarks/gradient.py --quick        one small text, nothing written
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from literal import time_backward_passes
from tables import README, format_table, judge_goal, write_section
from timing import RESULTS, describe_machine, write_results
from transformers import LlamaConfig, LlamaModel, PreTrainedModel

import normviz
from normviz.model.loading import load_model

NAME = "hidden-attribution"
GOALS = {"times faster than one backward pass for each coordinate": 5.0}
TEXT = "The keys to the old cabinet in the kitchen are on the table, said Mary to her brother. "


def load_inputs(tokens: int) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Return the trained demo model, and the inputs for a text of this length."""
    loaded = load_model("demo")
    text = TEXT * (1 + tokens // 15)
    inputs = loaded.tokenizer(text, truncation=True, max_length=tokens, return_tensors="pt")
    return loaded.model, dict(inputs)


def build_wide_model() -> tuple[PreTrainedModel, dict[str, Any]]:
    """Return a random Llama wide enough that a thousand directions are a sample."""
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=1280, intermediate_size=2560, num_hidden_layers=2, num_attention_heads=20,
        num_key_value_heads=5, vocab_size=100,
    )  # fmt: skip
    return LlamaModel(config).eval(), {"input_ids": torch.arange(3, 11)[None]}


def compute_attribution(
    model: PreTrainedModel, inputs: dict[str, Any], samples: int | None = None
) -> normviz.Flow:
    """Return a flow with the unnormalized norms of the derivatives."""
    gradients = normviz.Gradients(samples=samples, rows="raw")
    return normviz.analyze(model, inputs=inputs, measures=[NAME], gradients=gradients)


def compare_with_backward(tokens: int, rounds: int, each: int) -> dict[str, Any]:
    """Return how much faster normviz is, by round."""
    model, inputs = load_inputs(tokens)
    coordinates = tokens * model.config.hidden_size * model.config.num_hidden_layers
    runs = []
    for _ in range(rounds):
        before = time_backward_passes(model, inputs, each)
        start = time.perf_counter()
        compute_attribution(model, inputs)
        seconds = time.perf_counter() - start
        others = before + time_backward_passes(model, inputs, each)
        runs.append((coordinates * statistics.mean(others) / seconds, seconds))
    return {
        "coordinates": coordinates,
        "backward passes run": 2 * rounds * each * model.config.num_hidden_layers,
        "seconds": [round(seconds, 1) for _, seconds in runs],
        "times faster": [round(times, 2) for times, _ in runs],
    }


def measure_sketch(
    model: PreTrainedModel, inputs: dict[str, Any], samples: tuple[int, ...]
) -> dict[str, Any]:
    """Return, for each number of directions, the true and stated error and the time, x exact."""
    start = time.perf_counter()
    exact = compute_attribution(model, inputs)
    whole = time.perf_counter() - start
    rows = {}
    for count in samples:
        start = time.perf_counter()
        flow = compute_attribution(model, inputs, samples=count)
        seconds = time.perf_counter() - start
        error = (flow[NAME] - exact[NAME]).astype(np.float64)
        stated = flow.stream().statistic("error", NAME).astype(np.float64)
        size = np.sqrt((exact[NAME].astype(np.float64) ** 2).mean())
        rows[str(count)] = {
            "true error": round(float(np.sqrt((error**2).mean()) / size), 5),
            "stated error": round(float(np.sqrt((stated**2).mean()) / size), 5),
            "time, x exact": round(seconds / whole, 3),
        }
    return {"directions": model.config.hidden_size, "samples": rows}


def measure_length(tokens: int, rounds: int, each: int, samples: tuple[int, ...]) -> dict[str, Any]:
    """Run both measurements on the trained model, and print the results as they come."""
    speed = compare_with_backward(tokens, rounds, each)
    print(tokens, json.dumps(speed), flush=True)
    sketch = measure_sketch(*load_inputs(tokens), samples)
    print("sketch", json.dumps(sketch), flush=True)
    return speed | {"sketch": sketch}


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Write the tables of speed and sketches into the README, with the goal."""
    speeds = [
        [
            tokens,
            f"{found['backward passes run']:,} of {found['coordinates']:,}",
            *(", ".join(map(str, found[name])) for name in ("times faster", "seconds")),
        ]
        for tokens, found in results["tokens"].items()
    ]
    head = ["tokens", "backward passes run", "times faster, in each round", "seconds of normviz"]
    ((label, goal),) = results["goals"].items()
    worst = min(min(found["times faster"]) for found in results["tokens"].values())
    write_section(
        readme,
        "gradient",
        f"{format_table(head, speeds)}\n\n{judge_goal(label, worst, goal, at_least=True)}",
    )
    models = {f"demo, {n} tokens": found["sketch"] for n, found in results["tokens"].items()}
    models["random Llama, 2 layers, 8 tokens"] = results["wide"]
    rows = [
        [
            model,
            f"{int(samples):,} of {found['directions']:,}",
            *(f"{row[name]:.2%}" for name in ("true error", "stated error")),
            row["time, x exact"],
        ]
        for model, found in models.items()
        for samples, row in found["samples"].items()
    ]
    head = ["model", "samples", "true error", "stated", "time, × exact"]
    write_section(readme, "gradient-sketch", format_table(head, rows))


def main() -> None:
    """Measure, and add the result to those of other lengths unless it is a quick run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tokens", type=int, default=24)
    args = parser.parse_args()
    if args.quick:
        measure_length(6, rounds=1, each=2, samples=(8,))
        return
    path = RESULTS / "gradient.json"
    previous = json.loads(path.read_text())["tokens"] if path.exists() else {}
    found = measure_length(args.tokens, rounds=2, each=12, samples=(4, 16, 64, 256))
    wide = measure_sketch(*build_wide_model(), (64, 256, 1024))
    everything = dict(
        sorted({**previous, str(args.tokens): found}.items(), key=lambda item: int(item[0]))
    )
    results = {"machine": describe_machine(), "goals": GOALS, "tokens": everything, "wide": wide}
    write_results("gradient", results)
    report(results)


if __name__ == "__main__":
    main()
