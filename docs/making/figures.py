"""Measured figures for the pages, read from the benchmark results so that they stay current."""

import json
from typing import Any

from making.links import ROOT

RESULTS = ROOT / "benchmarks" / "results"


def figures() -> dict[str, str]:
    """Return every figure that a text may name in braces."""
    shapes = _read_results("sweep")["shapes"]
    bert, causal = shapes["bert"], shapes["gpt2"]["heavy"]["effective"]
    values: dict[str, float | str] = {}
    for tokens in ("128", "512"):
        row = bert["float32"][tokens]
        values |= {f"{name}_{tokens}": row["x plain"][name]["median"] for name in row["x plain"]}
        values[f"memory_{tokens}"] = row["memory, x plain"]["four"]
    whole = bert["heavy"]["whole"]
    values["whole"] = whole["x plain"]["median"]
    values["products"] = whole["x unavoidable products"]["median"]
    values["effective_causal"] = causal["x plain"]["median"]
    values |= _gradient_figures(_read_results("gradient"))
    return {name: _format(value) for name, value in values.items()}


def _gradient_figures(results: dict[str, Any]) -> dict[str, float | str]:
    """Return the costs of exact and sampled gradients, for the longest measured text."""
    tokens, row = list(results["tokens"].items())[-1]
    sketch = row["sketch"]["samples"]["16"]
    least, greatest = min(row["times faster"]), max(row["times faster"])
    return {
        "gradient_tokens": tokens,
        "gradient_seconds": f"{max(row['seconds']):.0f}",
        "gradient_faster": f"{least:.0f} to {greatest:.0f}",
        "sketch_time": sketch["time, x exact"],
        "sketch_error": f"{sketch['stated error']:.1%}",
    }


def _read_results(name: str) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return results


def _format(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"
