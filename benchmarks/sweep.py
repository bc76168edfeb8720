"""normviz's measures against the model's pass, the formulas taken literally, and the limits.

Four shapes, 32 to 2,048 tokens, float32 and bfloat16. Contenders take turns in one process; what
counts is the ratio of two contenders in the same round, as a median with its quartiles. A matrix
product and a copy take turns with them: from these come the limits of arithmetic and memory.

    python benchmarks/sweep.py            some ten minutes on two cores
    python benchmarks/sweep.py --quick    one tiny model, nothing kept, to see that it runs
"""

import argparse
import json
import statistics
from functools import partial
from typing import Any

import literal
import torch
import transformers
from growth import growth
from limits import Counted, Yardstick, least_seconds
from shapes import SHAPES, Shape, Sizes, ids, tiny
from sweep_report import report
from timing import Seconds, Task, in_turn, keep, machine, medians, peak, ratio, spread

import normviz
from normviz.core.catalog import LADDER

GOALS = {
    "four, x plain": 1.25,
    "memory of four, x plain": 1.3,
    "literal four, x four": 20.0,
    "block, x plain": 2.0,
    "whole, x unavoidable products": 2.0,
}
PATIENCE = 6.0
"""Seconds for one length of one model, beyond three rounds."""
LONG = 1024
"""From how many tokens on no round is run only to warm, and bfloat16 is left out."""
MEASURES: dict[str, Any] = {
    "four": normviz.core.catalog.DEFAULT,
    "block": LADDER[:3],
    "whole": LADDER,
    "effective": ["effective-weight"],
    "attribution": ["hidden-attribution"],
}


def plain(model: Any, tokens: int) -> object:
    """The model's own eager pass, keeping its attention."""
    with torch.no_grad():
        return model(**ids(tokens), output_attentions=True).attentions


def analyzed(name: str, model: Any, tokens: int) -> object:
    """normviz: the pass, some measures, the receipt, the result in numpy."""
    return normviz.analyze(model, inputs=ids(tokens), measures=MEASURES[name])


def products(model: Any, tokens: int) -> None:
    """Only what the ladder cannot avoid: every pair of tokens through W_2, layer by layer."""
    sizes, run = Sizes.of(model), 32  # as many sources at a time as keep memory small
    parts = torch.ones(min(run, tokens) * tokens, sizes.inner)
    back = torch.ones(sizes.model, sizes.inner)
    for _ in range(sizes.layers):
        for _ in range(0, tokens, run):
            torch.nn.functional.linear(parts, back)


def contenders(model: Any, tokens: int, names: list[str]) -> dict[str, Task]:
    """The pass and some measures, as tasks."""
    tasks: dict[str, Task] = {"plain": partial(plain, model, tokens)}
    return tasks | {name: partial(analyzed, name, model, tokens) for name in names}


def literally(model: Any, tokens: int, name: str) -> Task:
    """A measure by the papers' formulas, as a task."""
    inputs = ids(tokens)
    return {
        "four": partial(literal.four, model, inputs),
        "block": partial(literal.ladder, model, inputs, whole=False),
        "whole": partial(literal.ladder, model, inputs, whole=True),
        "effective": partial(literal.effective, model, inputs),
    }[name]


def against_limits(seconds: Seconds, name: str, sizes: Sizes, tokens: int, itemsize: int) -> Any:
    """How many times the limits of arithmetic and memory a contender takes, round by round."""
    rows = zip(seconds[name], seconds["product"], seconds["move"], strict=True)
    least = [
        (took, least_seconds(name, sizes, tokens, itemsize, product=product, move=move))
        for took, product, move in rows
    ]
    kinds = ("arithmetic", "memory")
    return {kind: spread([took / limit[kind] for took, limit in least]) for kind in kinds}


def light(model: Any, tokens: int, names: list[str], rounds: int) -> dict[str, Any]:
    """One length: the pass and what costs little, with the yardsticks and peaks of memory."""
    dtype = next(model.parameters()).dtype
    tasks, yards = contenders(model, tokens, names), Yardstick(dtype).tasks
    # Long texts take so long that a first round is as good as another.
    seconds = in_turn(tasks | yards, rounds=rounds, patience=PATIENCE, warm=tokens < LONG)
    grown = {name: peak(task) for name, task in tasks.items()}
    sizes = Sizes.of(model)
    return {
        "rounds": len(seconds["plain"]),
        "seconds": medians(seconds),
        "x plain": {name: ratio(seconds, name, "plain") for name in names},
        "bytes": grown,
        "memory, x plain": {name: round(grown[name] / grown["plain"], 2) for name in names},
        "x limits": {
            name: against_limits(seconds, name, sizes, tokens, dtype.itemsize) for name in tasks
        },
    }


def heavy(model: Any, tokens: int, name: str, *, formulas: bool, rounds: int = 2) -> dict[str, Any]:
    """One measure in a few rounds with the pass, and with the formulas where there are some."""
    tasks = contenders(model, tokens, [name])
    if formulas:
        tasks["literal"] = literally(model, tokens, name)
    if name == "whole":
        tasks["products"] = partial(products, model, tokens)
    seconds = in_turn(tasks | Yardstick(torch.float32).tasks, rounds=rounds, warm=False)
    found: dict[str, Any] = {"seconds": medians(seconds), "x plain": ratio(seconds, name, "plain")}
    if name != "effective" or formulas:  # row by row there is no count that one could not go below
        found["x limits"] = against_limits(seconds, name, Sizes.of(model), tokens, 4)
    if formulas:
        middle = {each: statistics.median(took) for each, took in seconds.items()}
        own = middle[name] - middle["plain"]
        found["literal, x normviz"] = ratio(seconds, "literal", name)
        without = (middle["literal"] - middle["plain"]) / own if own > 0 else None
        found["the same without the pass"] = without and round(without, 1)
        found["bytes, literal"] = peak(tasks["literal"])
    if name == "whole":
        found["x unavoidable products"] = ratio(seconds, "whole", "products")
    return found | {"bytes": peak(tasks[name])}


def attribution(model: Any, tokens: int, each: int) -> dict[str, Any]:
    """Exact ∂e/∂x, against the pass and one backward pass for each coordinate of each layer."""
    sizes = Sizes.of(model)
    coordinates = tokens * sizes.model * sizes.layers
    passes: list[list[float]] = []
    sample = lambda: passes.append(literal.backward_seconds(model, ids(tokens), each))  # noqa: E731
    tasks = contenders(model, tokens, ["attribution"]) | {"backward": sample}
    seconds = in_turn(tasks | Yardstick(torch.float32).tasks, rounds=2, warm=False)
    rounds = zip(passes, seconds["attribution"], strict=True)
    with Counted() as counted:
        tasks["attribution"]()
    rates = [took / Yardstick.operations for took in seconds["product"]]
    least = [counted.total * rate for rate in rates]
    return {
        "seconds": medians({name: seconds[name] for name in ("plain", "attribution")}),
        "x arithmetic of its own products": spread(
            [one / limit for one, limit in zip(seconds["attribution"], least, strict=True)]
        ),
        "x plain": ratio(seconds, "attribution", "plain"),
        "literal, x normviz": spread(
            [coordinates * statistics.mean(backward) / one for backward, one in rounds]
        ),
        "backward passes run": sum(map(len, passes)),
        "backward passes wanted": coordinates,
    }


def measured(name: str, shape: Shape, rounds: int) -> dict[str, Any]:
    """Everything about one model."""
    model = shape.build()
    reads_all = model.config.model_type == "bert"
    found: dict[str, Any] = {"title": shape.title, "float32": {}, "bfloat16": {}, "heavy": {}}
    names = ["four", "block", "effective"] if reads_all else ["four", "block"]
    for tokens in shape.tokens:
        found["float32"][str(tokens)] = light(model, tokens, names, rounds)
        told(name, "float32", tokens, found["float32"][str(tokens)]["x plain"])
    few = [tokens for tokens in shape.tokens if literal.needed(model, tokens) <= literal.MOST]
    asked = {"four": max(few[:2]), "whole": shape.climbed, "effective": 128}
    for measure, tokens in asked.items():
        formulas = measure == "four" or reads_all
        turns = 5 if measure == "four" else 2  # others take seconds, which noise hardly moves
        row = heavy(model, tokens, measure, formulas=formulas, rounds=turns)
        found["heavy"][measure] = {"tokens": tokens} | row
        told(name, measure, tokens, row)
    if name == "minilm":
        found["heavy"]["attribution"] = {"tokens": 16} | attribution(model, 16, 6)
        told(name, "attribution", 16, found["heavy"]["attribution"])
    model = model.to(torch.bfloat16)
    for tokens in (n for n in shape.tokens[1:] if n < LONG):
        found["bfloat16"][str(tokens)] = light(model, tokens, names[:2], rounds)
        told(name, "bfloat16", tokens, found["bfloat16"][str(tokens)]["x plain"])
    return found


def told(*words: object) -> None:
    """Say how far it has come."""
    print(*(json.dumps(word) if isinstance(word, dict) else word for word in words), flush=True)


def quick() -> None:
    """A tiny model through everything."""
    model = tiny()
    told("tiny", "float32", 16, light(model, 16, ["four", "block", "effective"], 3))
    for name in ("four", "whole", "effective"):
        told("tiny", name, 16, heavy(model, 16, name, formulas=True))
    told("tiny", "attribution", 4, attribution(model, 4, 2))
    told("tiny", "bfloat16", 16, light(model.to(torch.bfloat16), 16, ["four", "block"], 3))


def main() -> None:
    """Measure, and keep the result unless it was only a quick look."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    chosen = parser.parse_args()
    transformers.logging.set_verbosity_error()
    if chosen.quick:
        quick()
        return
    found = {name: measured(name, SHAPES[name], 9) for name in chosen.shapes}
    results = {"machine": machine(), "goals": GOALS, "shapes": found, "growth": growth(found)}
    keep("sweep", results)
    report(results)


if __name__ == "__main__":
    main()
