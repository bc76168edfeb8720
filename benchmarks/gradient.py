"""Attribution by gradients against one backward pass for each coordinate, and the sketch's error.

The straightforward way to ∂e/∂x is one backward pass for every coordinate of every layer's output:
layers × tokens × width of them. Only some are run, spread over all layers and tokens, and counted
as many times as there are coordinates; they take turns with normviz in one process.

    python benchmarks/gradient.py                about three minutes on two cores
    python benchmarks/gradient.py --tokens 64    some twelve minutes, kept beside the other
    python benchmarks/gradient.py --quick        one small text, nothing kept
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from literal import backward_seconds
from tables import README, judged, table, write
from timing import RESULTS, keep, machine
from transformers import LlamaConfig, LlamaModel, PreTrainedModel

import normviz
from normviz.model.loading import load_model

NAME = "hidden-attribution"
GOALS = {"times faster than one backward pass for each coordinate": 5.0}
TEXT = "The keys to the old cabinet in the kitchen are on the table, said Mary to her brother. "


def inputs_of(tokens: int) -> tuple[PreTrainedModel, dict[str, Any]]:
    """The trained demo model, and a text of so many tokens."""
    loaded = load_model("demo")
    text = TEXT * (1 + tokens // 15)
    cut = loaded.tokenizer(text, truncation=True, max_length=tokens, return_tensors="pt")
    return loaded.model, dict(cut)


def wide_model() -> tuple[PreTrainedModel, dict[str, Any]]:
    """A random Llama that is wide enough for a thousand directions to be a sample."""
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=1280, intermediate_size=2560, num_hidden_layers=2, num_attention_heads=20,
        num_key_value_heads=5, vocab_size=100,
    )  # fmt: skip
    return LlamaModel(config).eval(), {"input_ids": torch.arange(3, 11)[None]}


def attribution(model: PreTrainedModel, inputs: dict[str, Any], **how: Any) -> normviz.Flow:
    """The norms themselves, by normviz."""
    return normviz.analyze(model, inputs=inputs, measures=[NAME], rows="raw", **how)


def against_backward(tokens: int, rounds: int, each: int) -> dict[str, Any]:
    """How much faster normviz is, round by round."""
    model, inputs = inputs_of(tokens)
    coordinates = tokens * model.config.hidden_size * model.config.num_hidden_layers
    found = []
    for _ in range(rounds):
        before = backward_seconds(model, inputs, each)
        start = time.perf_counter()
        attribution(model, inputs)
        mine = time.perf_counter() - start
        others = before + backward_seconds(model, inputs, each)
        found.append((coordinates * statistics.mean(others) / mine, mine))
    return {
        "coordinates": coordinates,
        "backward passes run": 2 * rounds * each * model.config.num_hidden_layers,
        "seconds": [round(seconds, 1) for _, seconds in found],
        "times faster": [round(times, 2) for times, _ in found],
    }


def sketched(
    model: PreTrainedModel, inputs: dict[str, Any], samples: tuple[int, ...]
) -> dict[str, Any]:
    """For some numbers of directions: the true error, the stated one, and the time, x exact."""
    start = time.perf_counter()
    exact = attribution(model, inputs)
    whole = time.perf_counter() - start
    rows = {}
    for count in samples:
        start = time.perf_counter()
        flow = attribution(model, inputs, samples=count)
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


def run(tokens: int, rounds: int, each: int, samples: tuple[int, ...]) -> dict[str, Any]:
    """Both parts on the trained model, printed as they are done."""
    speed = against_backward(tokens, rounds, each)
    print(tokens, json.dumps(speed), flush=True)
    sketch = sketched(*inputs_of(tokens), samples)
    print("sketch", json.dumps(sketch), flush=True)
    return speed | {"sketch": sketch}


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Speed and sketches as tables, with the goal judged."""
    speeds = [
        [
            tokens,
            f"{found['backward passes run']:,} of {found['coordinates']:,}",
            *(", ".join(map(str, found[name])) for name in ("times faster", "seconds")),
        ]
        for tokens, found in results["tokens"].items()
    ]
    head = ["tokens", "backward passes run", "times faster, in each round", "seconds of normviz"]
    ((said, goal),) = results["goals"].items()
    worst = min(min(found["times faster"]) for found in results["tokens"].values())
    write(
        readme, "gradient", f"{table(head, speeds)}\n\n{judged(said, worst, goal, at_least=True)}"
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
    write(readme, "gradient-sketch", table(head, rows))


def main() -> None:
    """Measure, and keep the result beside those of other lengths, unless it was a quick look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tokens", type=int, default=24)
    chosen = parser.parse_args()
    if chosen.quick:
        run(6, rounds=1, each=2, samples=(8,))
        return
    place = RESULTS / "gradient.json"
    kept = json.loads(place.read_text())["tokens"] if place.exists() else {}
    found = run(chosen.tokens, rounds=2, each=12, samples=(4, 16, 64, 256))
    wide = sketched(*wide_model(), (64, 256, 1024))
    everything = dict(
        sorted({**kept, str(chosen.tokens): found}.items(), key=lambda one: int(one[0]))
    )
    results = {"machine": machine(), "goals": GOALS, "tokens": everything, "wide": wide}
    keep("gradient", results)
    report(results)


if __name__ == "__main__":
    main()
