"""The main finding of a flow in a few lines: which tokens get the weight, and which move what."""

from typing import TYPE_CHECKING

from normviz.core.flow import Flow
from normviz.core.stream import Stream

if TYPE_CHECKING:
    from normviz.core.axes import StreamName


def summarize_flow(flow: Flow, stream: "StreamName | None" = None) -> str:
    """Return where weight and norm differ most about one category of tokens, then all layers."""
    chosen = flow.stream(stream)
    weight, norm = chosen.shares("weight"), chosen.shares("weighted-norm")
    gaps = {
        (category, n): float(weight[category][n] - norm[category][n])
        for category in weight
        for n in range(len(chosen.layers))
    }
    (category, n), _ = max(gaps.items(), key=lambda gap: gap[1])
    sentence = (
        f"In layer {chosen.layers[n]}, {category_label(category)} takes {weight[category][n]:.0%} "
        f"of the attention weight, and {norm[category][n]:.0%} of what attention moves."
    )
    return "\n".join([sentence, "", *_share_table(chosen)])


def _share_table(stream: Stream) -> list[str]:
    """Return a line for each layer with the shares of weight and norm by category."""
    weight, norm = stream.shares("weight"), stream.shares("weighted-norm")
    lines = [
        "share of   " + "".join(f"{category_label(category):>20}" for category in weight),
        "layer      " + f"{'α → ‖αf(x)‖':>20}" * len(weight),
    ]
    for n, layer in enumerate(stream.layers):
        cells = (f"{weight[category][n]:.1%} → {norm[category][n]:.1%}" for category in weight)
        lines.append(f"{layer:<11}" + "".join(f"{cell:>20}" for cell in cells))
    return lines


def category_label(category: str) -> str:
    """Return a category of tokens as a reader would call it."""
    return "words" if category == "other" else category


def category_shares(flow: Flow) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Return, for each stream and measure, the share of each category in each layer, as JSON."""
    return {
        name: {
            measure: {
                category: [round(float(share), 6) for share in by_layer]
                for category, by_layer in stream.shares(measure).items()
            }
            for measure in ("weight", "weighted-norm")
            if measure in stream
        }
        for name, stream in flow.streams.items()
    }
