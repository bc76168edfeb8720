"""normviz's measures compared with the model's pass, the literal formulas, and lower bounds.

Four shapes, 32 to 2,048 tokens, float32 and bfloat16. Contenders take turns in one process; results
are ratios of two contenders in the same round, as medians with quartiles. A matrix product and a
copy take turns with them; they give the bounds of arithmetic and memory.

    python benchmarks/sweep.py            about ten minutes on two cores
    python benchmarks/sweep.py --quick    one tiny model, nothing written, as a smoke test
"""

import argparse
import json
import statistics
from functools import partial
from typing import Any

import literal
import torch
import transformers
from growth import fit_growth
from limits import OperationCounter, Yardstick, least_seconds
from shapes import SHAPES, Shape, Sizes, build_tiny, random_ids
from sweep_report import report
from timing import (
    Seconds,
    Task,
    describe_machine,
    median_and_quartiles,
    medians,
    peak_memory,
    ratio_by_round,
    time_in_turn,
    write_results,
)

import normviz
from normviz.core.catalog import DEFAULT, LADDER

GOALS = {
    "four, x plain": 1.25,
    "memory of four, x plain": 1.3,
    "literal four, x four": 20.0,
    "block, x plain": 2.0,
    "whole, x unavoidable products": 2.0,
}
TIME_BUDGET = 6.0
"""Seconds for one length of one model, after three rounds."""
LONG_TEXT = 1024
"""Texts of at least this length have no warm-up round and no bfloat16."""
MEASURES: dict[str, Any] = {
    "four": DEFAULT,
    "block": LADDER[:3],
    "whole": LADDER,
    "effective": ["effective-weight"],
    "attribution": ["hidden-attribution"],
}


def run_plain_pass(model: Any, tokens: int) -> object:
    """Run the model's own eager pass, and return its attentions."""
    with torch.no_grad():
        return model(**random_ids(tokens), output_attentions=True).attentions


def run_normviz(name: str, model: Any, tokens: int) -> object:
    """Run normviz: the pass, some measures, the receipt, and the result in numpy."""
    return normviz.analyze(model, inputs=random_ids(tokens), measures=MEASURES[name])


def run_products(model: Any, tokens: int) -> None:
    """Run the products that the ladder cannot avoid: every pair of tokens through W_2."""
    sizes, run = Sizes.of(model), 32  # few sources at a time keep memory small
    parts = torch.ones(min(run, tokens) * tokens, sizes.inner)
    back = torch.ones(sizes.model, sizes.inner)
    for _ in range(sizes.layers):
        for _ in range(0, tokens, run):
            torch.nn.functional.linear(parts, back)


def make_tasks(model: Any, tokens: int, names: list[str]) -> dict[str, Task]:
    """Return the plain pass and some measures as tasks."""
    tasks: dict[str, Task] = {"plain": partial(run_plain_pass, model, tokens)}
    return tasks | {name: partial(run_normviz, name, model, tokens) for name in names}


def make_literal_task(model: Any, tokens: int, name: str) -> Task:
    """Return a measure by the papers' literal formulas, as a task."""
    inputs = random_ids(tokens)
    return {
        "four": partial(literal.compute_four, model, inputs),
        "block": partial(literal.compute_ladder, model, inputs, whole=False),
        "whole": partial(literal.compute_ladder, model, inputs, whole=True),
        "effective": partial(literal.compute_effective, model, inputs),
    }[name]


def compare_with_limits(
    seconds: Seconds, name: str, sizes: Sizes, tokens: int, itemsize: int
) -> Any:
    """Return the ratios of a contender's time to the bounds of arithmetic and memory."""
    rows = zip(seconds[name], seconds["product"], seconds["move"], strict=True)
    least = [
        (took, least_seconds(name, sizes, tokens, itemsize, product=product, move=move))
        for took, product, move in rows
    ]
    kinds = ("arithmetic", "memory")
    return {
        kind: median_and_quartiles([took / limit[kind] for took, limit in least]) for kind in kinds
    }


def measure_light(model: Any, tokens: int, names: list[str], rounds: int) -> dict[str, Any]:
    """Measure one length: the pass and cheap measures, with yardsticks and peak memory."""
    dtype = next(model.parameters()).dtype
    tasks, yards = make_tasks(model, tokens, names), Yardstick(dtype).tasks
    # Long texts take so long that warming up makes no difference.
    seconds = time_in_turn(
        tasks | yards, rounds=rounds, budget=TIME_BUDGET, warm=tokens < LONG_TEXT
    )
    peaks = {name: peak_memory(task) for name, task in tasks.items()}
    sizes = Sizes.of(model)
    return {
        "rounds": len(seconds["plain"]),
        "seconds": medians(seconds),
        "x plain": {name: ratio_by_round(seconds, name, "plain") for name in names},
        "bytes": peaks,
        "memory, x plain": {name: round(peaks[name] / peaks["plain"], 2) for name in names},
        "x limits": {
            name: compare_with_limits(seconds, name, sizes, tokens, dtype.itemsize)
            for name in tasks
        },
    }


def measure_heavy(
    model: Any, tokens: int, name: str, *, formulas: bool, rounds: int = 2
) -> dict[str, Any]:
    """Measure one expensive measure in a few rounds, with the literal formulas if there are any."""
    tasks = make_tasks(model, tokens, [name])
    if formulas:
        tasks["literal"] = make_literal_task(model, tokens, name)
    if name == "whole":
        tasks["products"] = partial(run_products, model, tokens)
    seconds = time_in_turn(tasks | Yardstick(torch.float32).tasks, rounds=rounds, warm=False)
    found: dict[str, Any] = {
        "seconds": medians(seconds),
        "x plain": ratio_by_round(seconds, name, "plain"),
    }
    if name != "effective" or formulas:  # by row, there is no lower bound
        found["x limits"] = compare_with_limits(seconds, name, Sizes.of(model), tokens, 4)
    if formulas:
        middle = {each: statistics.median(took) for each, took in seconds.items()}
        own = middle[name] - middle["plain"]
        found["literal, x normviz"] = ratio_by_round(seconds, "literal", name)
        without = (middle["literal"] - middle["plain"]) / own if own > 0 else None
        found["the same without the pass"] = without and round(without, 1)
        found["bytes, literal"] = peak_memory(tasks["literal"])
    if name == "whole":
        found["x unavoidable products"] = ratio_by_round(seconds, "whole", "products")
    return found | {"bytes": peak_memory(tasks[name])}


def measure_attribution(model: Any, tokens: int, each: int) -> dict[str, Any]:
    """Measure exact ∂e/∂x, compared with the pass and one backward pass per coordinate."""
    sizes = Sizes.of(model)
    coordinates = tokens * sizes.model * sizes.layers
    passes: list[list[float]] = []
    sample = lambda: passes.append(literal.time_backward_passes(model, random_ids(tokens), each))  # noqa: E731
    tasks = make_tasks(model, tokens, ["attribution"]) | {"backward": sample}
    seconds = time_in_turn(tasks | Yardstick(torch.float32).tasks, rounds=2, warm=False)
    rounds = zip(passes, seconds["attribution"], strict=True)
    with OperationCounter() as counted:
        tasks["attribution"]()
    rates = [took / Yardstick.operations for took in seconds["product"]]
    least = [counted.total * rate for rate in rates]
    return {
        "seconds": medians({name: seconds[name] for name in ("plain", "attribution")}),
        "x arithmetic of its own products": median_and_quartiles(
            [one / limit for one, limit in zip(seconds["attribution"], least, strict=True)]
        ),
        "x plain": ratio_by_round(seconds, "attribution", "plain"),
        "literal, x normviz": median_and_quartiles(
            [coordinates * statistics.mean(backward) / one for backward, one in rounds]
        ),
        "backward passes run": sum(map(len, passes)),
        "backward passes wanted": coordinates,
    }


def measure_shape(name: str, shape: Shape, rounds: int) -> dict[str, Any]:
    """Run all measurements of one model."""
    model = shape.build()
    reads_all = model.config.model_type == "bert"
    found: dict[str, Any] = {"title": shape.title, "float32": {}, "bfloat16": {}, "heavy": {}}
    names = ["four", "block", "effective"] if reads_all else ["four", "block"]
    for tokens in shape.tokens:
        found["float32"][str(tokens)] = measure_light(model, tokens, names, rounds)
        print_progress(name, "float32", tokens, found["float32"][str(tokens)]["x plain"])
    short = [
        tokens
        for tokens in shape.tokens
        if literal.weighted_vector_bytes(model, tokens) <= literal.MAX_TENSOR_BYTES
    ]
    lengths = {"four": max(short[:2]), "whole": shape.ladder_tokens, "effective": 128}
    for measure, tokens in lengths.items():
        formulas = measure == "four" or reads_all
        turns = 5 if measure == "four" else 2  # others take seconds, where noise matters less
        row = measure_heavy(model, tokens, measure, formulas=formulas, rounds=turns)
        found["heavy"][measure] = {"tokens": tokens} | row
        print_progress(name, measure, tokens, row)
    if name == "minilm":
        found["heavy"]["attribution"] = {"tokens": 16} | measure_attribution(model, 16, 6)
        print_progress(name, "attribution", 16, found["heavy"]["attribution"])
    model = model.to(torch.bfloat16)
    for tokens in (n for n in shape.tokens[1:] if n < LONG_TEXT):
        found["bfloat16"][str(tokens)] = measure_light(model, tokens, names[:2], rounds)
        print_progress(name, "bfloat16", tokens, found["bfloat16"][str(tokens)]["x plain"])
    return found


def print_progress(*words: object) -> None:
    """Print the progress."""
    print(*(json.dumps(word) if isinstance(word, dict) else word for word in words), flush=True)


def run_quickly() -> None:
    """Run all measurements on a tiny model."""
    model = build_tiny()
    print_progress(
        "tiny", "float32", 16, measure_light(model, 16, ["four", "block", "effective"], 3)
    )
    for name in ("four", "whole", "effective"):
        print_progress("tiny", name, 16, measure_heavy(model, 16, name, formulas=True))
    print_progress("tiny", "attribution", 4, measure_attribution(model, 4, 2))
    print_progress(
        "tiny", "bfloat16", 16, measure_light(model.to(torch.bfloat16), 16, ["four", "block"], 3)
    )


def main() -> None:
    """Measure, and write the result unless it is a quick run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    args = parser.parse_args()
    transformers.logging.set_verbosity_error()
    if args.quick:
        run_quickly()
        return
    found = {name: measure_shape(name, SHAPES[name], 9) for name in args.shapes}
    results = {
        "machine": describe_machine(),
        "goals": GOALS,
        "shapes": found,
        "growth": fit_growth(found),
    }
    write_results("sweep", results)
    report(results)


if __name__ == "__main__":
    main()
