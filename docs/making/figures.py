"""Measured figures for the pages, read from the benchmarks' results: they cannot fall behind."""

import json
from typing import Any

from making.links import ROOT

RESULTS = ROOT / "benchmarks" / "results"


def figures() -> dict[str, str]:
    """Every figure that a text may name in braces."""
    shapes = _read("sweep")["shapes"]
    bert, causal = shapes["bert"], shapes["gpt2"]["heavy"]["effective"]
    found: dict[str, float | str] = {}
    for tokens in ("128", "512"):
        row = bert["float32"][tokens]
        found |= {f"{name}_{tokens}": row["x plain"][name]["median"] for name in row["x plain"]}
        found[f"memory_{tokens}"] = row["memory, x plain"]["four"]
    whole = bert["heavy"]["whole"]
    found["whole"] = whole["x plain"]["median"]
    found["products"] = whole["x unavoidable products"]["median"]
    found["effective_causal"] = causal["x plain"]["median"]
    found |= _slopes(_read("gradient"))
    return {name: _shown(figure) for name, figure in found.items()}


def _slopes(results: dict[str, Any]) -> dict[str, float | str]:
    """What exact and sketched gradients take, for the longest text that was measured."""
    tokens, found = list(results["tokens"].items())[-1]
    sketch = found["sketch"]["samples"]["16"]
    least, most = (one(found["times faster"]) for one in (min, max))
    return {
        "slope_tokens": tokens,
        "slope_seconds": f"{max(found['seconds']):.0f}",
        "slope_faster": f"{least:.0f} to {most:.0f}",
        "sketch_time": sketch["time, x exact"],
        "sketch_error": f"{sketch['stated error']:.1%}",
    }


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _shown(figure: float | str) -> str:
    return figure if isinstance(figure, str) else f"{figure:.3g}"
