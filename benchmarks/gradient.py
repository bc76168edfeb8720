"""Attribution by gradients against one backward pass for each coordinate, and the sketch's error.

The straightforward way to ∂e/∂x is one backward pass for every coordinate of every layer's output:
layers × tokens × width of them. Only some are run, spread over all layers and tokens, and counted
as many times as there are coordinates; they take turns with normviz in one process.

    python benchmarks/gradient.py            about ten minutes on two cores
    python benchmarks/gradient.py --quick    one small text, to see that it runs
"""

import json
import statistics
import time
from typing import Any

import numpy as np
import torch
from attention import command, machine
from transformers import LlamaConfig, LlamaModel, PreTrainedModel

import normviz
from normviz.models import resolve

NAME = "hidden-attribution"
GOALS = {"times faster than one backward pass for each coordinate": 5.0}
TEXT = "The keys to the old cabinet in the kitchen are on the table, said Mary to her brother. "


def inputs_of(tokens: int) -> tuple[PreTrainedModel, dict[str, Any]]:
    """The trained demo model, and a text of so many tokens."""
    loaded = resolve("demo")
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


def backward(model: PreTrainedModel, inputs: dict[str, Any], each: int) -> list[float]:
    """Seconds of single backward passes, from so many coordinates of every layer, after a first."""
    model.set_attn_implementation("eager")
    vectors = model.embeddings(inputs["input_ids"]).detach().requires_grad_()
    ends: list[torch.Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda _, __, out: ends.append(out))
        for layer in model.encoder.layer
    ]
    model.encoder(vectors)
    for hook in hooks:
        hook.remove()
    seconds = []
    for end in ends:
        flat = end.flatten()
        places = torch.linspace(0, len(flat) - 1, each + 1).long().tolist()
        for turn, place in enumerate(places):
            start = time.perf_counter()
            torch.autograd.grad(flat[place], vectors, retain_graph=True)
            if turn:
                seconds.append(time.perf_counter() - start)
    return seconds


def against_backward(tokens: int, rounds: int, each: int) -> tuple[dict[str, Any], normviz.Flow]:
    """How much faster normviz is, round by round; and the exact norms."""
    model, inputs = inputs_of(tokens)
    coordinates = tokens * model.config.hidden_size * model.config.num_hidden_layers
    found = []
    for _ in range(rounds):
        before = backward(model, inputs, each)
        start = time.perf_counter()
        flow = attribution(model, inputs)
        mine = time.perf_counter() - start
        others = before + backward(model, inputs, each)
        found.append((coordinates * statistics.mean(others) / mine, mine))
    return {
        "coordinates": coordinates,
        "backward passes run": 2 * rounds * each * model.config.num_hidden_layers,
        "seconds": [round(seconds, 1) for _, seconds in found],
        "times faster": [round(times, 2) for times, _ in found],
    }, flow


def sketched(
    model: PreTrainedModel, inputs: dict[str, Any], exact: normviz.Flow, samples: tuple[int, ...]
) -> dict[str, Any]:
    """For some numbers of directions: the true error, the stated one, and the time, x exact."""
    start = time.perf_counter()
    attribution(model, inputs)
    whole = time.perf_counter() - start
    rows = {}
    for count in samples:
        start = time.perf_counter()
        flow = attribution(model, inputs, samples=count)
        seconds = time.perf_counter() - start
        error = (flow[NAME] - exact[NAME]).astype(np.float64)
        stated = flow.stream().reading("error", NAME).astype(np.float64)
        size = np.sqrt((exact[NAME].astype(np.float64) ** 2).mean())
        rows[str(count)] = {
            "true error": round(float(np.sqrt((error**2).mean()) / size), 5),
            "stated error": round(float(np.sqrt((stated**2).mean()) / size), 5),
            "time, x exact": round(seconds / whole, 3),
        }
    return {"directions": model.config.hidden_size, "samples": rows}


def run(*, quick: bool) -> dict[str, object]:
    """Every part in turn, printed as it is done."""
    results: dict[str, object] = {"machine": machine(), "goals": GOALS}
    tokens = 6 if quick else 64
    speed, exact = against_backward(tokens, rounds=1 if quick else 2, each=2 if quick else 12)
    results["tokens"] = {str(tokens): speed}
    print(tokens, json.dumps(speed), flush=True)
    samples = (8,) if quick else (4, 16, 64, 256)
    trained = inputs_of(tokens)
    results["sketch"] = {"demo": sketched(*trained, exact, samples)}
    if not quick:
        wide = wide_model()
        results["sketch"]["wide"] = sketched(*wide, attribution(*wide), (64, 256, 1024))
    print("sketch", json.dumps(results["sketch"]))
    return results


if __name__ == "__main__":
    command(run, {}, "gradient")
