"""The finding in a few lines of text: who takes the weight, and who moves what."""

from normviz.core.flow import Flow
from normviz.core.stream import Stream

DEMO_TEXT = "The animal didn't cross the street because it was too tired."
DEMO_PAIR = "It lay down in the shade, and slept."


def headline(flow: Flow, stream: str | None = None) -> str:
    """The layer in which weight and norm differ most about one category, then all layers."""
    chosen = flow.stream(stream)
    weight, norm = chosen.shares("weight"), chosen.shares("weighted-norm")
    gaps = {
        (kind, n): float(weight[kind][n] - norm[kind][n])
        for kind in weight
        for n in range(len(chosen.layers))
    }
    (kind, n), _ = max(gaps.items(), key=lambda gap: gap[1])
    sentence = (
        f"In layer {chosen.layers[n]}, {called(kind)} takes {weight[kind][n]:.0%} "
        f"of the attention weight, and {norm[kind][n]:.0%} of what attention moves."
    )
    return "\n".join([sentence, "", *_table(chosen)])


def _table(stream: Stream) -> list[str]:
    """Shares of weight and norm by category, a line for each layer."""
    weight, norm = stream.shares("weight"), stream.shares("weighted-norm")
    lines = [
        "share of   " + "".join(f"{called(kind):>20}" for kind in weight),
        "layer      " + f"{'α → ‖αf(x)‖':>20}" * len(weight),
    ]
    for n, layer in enumerate(stream.layers):
        cells = (f"{weight[kind][n]:.1%} → {norm[kind][n]:.1%}" for kind in weight)
        lines.append(f"{layer:<11}" + "".join(f"{cell:>20}" for cell in cells))
    return lines


def called(kind: str) -> str:
    """A category as a reader would call it."""
    return "words" if kind == "other" else kind


def shares(flow: Flow) -> dict[str, dict[str, dict[str, list[float]]]]:
    """For each stream and measure, the share of each category in each layer, for a script."""
    return {
        name: {
            measure: {
                kind: [round(float(part), 6) for part in by_layer]
                for kind, by_layer in stream.shares(measure).items()
            }
            for measure in ("weight", "weighted-norm")
            if measure in stream
        }
        for name, stream in flow.streams.items()
    }
