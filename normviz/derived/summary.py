"""The main finding of a flow in a few lines: which tokens get the weight, and which move what."""

from typing import TYPE_CHECKING

from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.derived.headline import category_label, find_headline

if TYPE_CHECKING:
    from normviz.core.axes import StreamName


def summarize_flow(flow: Flow, stream: "StreamName | None" = None) -> str:
    """Return where weight and norm differ most about one category of tokens, then all layers."""
    chosen = flow.stream(stream)
    return "\n".join([str(find_headline(flow, chosen.name)), "", *_share_table(chosen)])


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
