"""Fit how time and memory grow with tokens, layers and heads, as exponents."""

from functools import partial
from typing import Any

from shapes import build_bert, random_ids
from timing import fit_exponent, medians, peak_memory, time_in_turn

import normviz

FIRST_LENGTH = 128
"""The shortest text for the fit: shorter ones mostly measure Python."""


def fit_by_tokens(shape: dict[str, Any]) -> dict[str, Any]:
    """Return the exponents of one model over tokens, from lengths already measured."""
    rows = {int(n): row for n, row in shape["float32"].items() if int(n) >= FIRST_LENGTH}
    names = list(next(iter(rows.values()))["bytes"])
    return {
        "sizes": list(rows),
        "time": {
            n: fit_exponent(list(rows), [r["seconds"][n] for r in rows.values()]) for n in names
        },
        "bytes": {
            n: fit_exponent(list(rows), [r["bytes"][n] for r in rows.values()]) for n in names
        },
    }


def fit_by_size(name: str, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return the exponents over one dimension of BERT-base at 128 tokens; sizes take turns."""
    models = {size: build_bert(**{name: size}) for size in sizes}
    tasks = {
        str(size): partial(normviz.analyze, model, inputs=random_ids(FIRST_LENGTH))
        for size, model in models.items()
    }
    seconds = medians(time_in_turn(tasks, rounds=7))
    peaks = {size: peak_memory(task) for size, task in tasks.items()}
    return {
        "sizes": list(sizes),
        "seconds": seconds,
        "bytes grown": peaks,
        "time": {"four": fit_exponent(sizes, list(seconds.values()))},
        "bytes": {"four": fit_exponent(sizes, list(peaks.values()))},
    }


def fit_growth(shapes: dict[str, Any]) -> dict[str, Any]:
    """Return exponents over tokens for every model, and over layers and heads for BERT-base."""
    return {
        "tokens": {name: fit_by_tokens(shape) for name, shape in shapes.items()},
        "layers": fit_by_size("num_hidden_layers", (3, 6, 12, 24)),
        "heads": fit_by_size("num_attention_heads", (6, 12, 24, 48)),
    }
