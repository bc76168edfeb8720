"""How time and memory grow with tokens, layers and heads, as fitted exponents."""

from functools import partial
from typing import Any

from shapes import bert, ids
from timing import exponent, in_turn, medians, peak

import normviz

FIRST = 128
"""From how many tokens on growth is fitted: below, what is counted is Python."""


def by_tokens(shape: dict[str, Any]) -> dict[str, Any]:
    """The exponents of one model, from lengths that were measured already."""
    rows = {int(n): row for n, row in shape["float32"].items() if int(n) >= FIRST}
    names = list(next(iter(rows.values()))["bytes"])
    return {
        "sizes": list(rows),
        "time": {n: exponent(list(rows), [r["seconds"][n] for r in rows.values()]) for n in names},
        "bytes": {n: exponent(list(rows), [r["bytes"][n] for r in rows.values()]) for n in names},
    }


def by_size(name: str, sizes: tuple[int, ...]) -> dict[str, Any]:
    """The exponents over one size of BERT-base's shape, at 128 tokens; all sizes take turns."""
    models = {size: bert(**{name: size}) for size in sizes}
    tasks = {
        str(size): partial(normviz.analyze, model, inputs=ids(FIRST))
        for size, model in models.items()
    }
    seconds = medians(in_turn(tasks, rounds=7))
    grown = {size: peak(task) for size, task in tasks.items()}
    return {
        "sizes": list(sizes),
        "seconds": seconds,
        "bytes grown": grown,
        "time": {"four": exponent(sizes, list(seconds.values()))},
        "bytes": {"four": exponent(sizes, list(grown.values()))},
    }


def growth(shapes: dict[str, Any]) -> dict[str, Any]:
    """Exponents over tokens for every model, and over layers and heads for BERT-base's shape."""
    return {
        "tokens": {name: by_tokens(shape) for name, shape in shapes.items()},
        "layers": by_size("num_hidden_layers", (3, 6, 12, 24)),
        "heads": by_size("num_attention_heads", (6, 12, 24, 48)),
    }
