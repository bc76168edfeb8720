"""What tokens are made of, traced through the layers (`js/src/math/trace.ts`, `data/stack.ts`)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from normviz.core.catalog import Measure
from normviz.core.reductions import row_shares
from normviz.core.stream import Stream
from normviz.view.figures import Size
from normviz.view.figures.geometry import SHARE, select_strongest
from normviz.view.figures.panes import Pane
from normviz.view.figures.picture import Numbers, select_layer, visible_rows

Mode = Literal["traced", "direct", "separate"]
"""Layers divided again by the layer below; a measure that reaches the input; each by itself."""

MAX_LINKS = 4000


@dataclass(frozen=True)
class Trace:
    """Mass that flows through the layers, in layer order."""

    nodes: list[Numbers]
    """The mass at each token before the first layer, then after each layer [token]."""
    flows: list[Numbers]
    """The mass that each layer carries [query key]."""

    def strongest_links(self, threshold: Size) -> list[Numbers]:
        """Return which pairs of each layer to draw [query key]."""
        least = threshold * max((float(flow.max(initial=0)) for flow in self.flows), default=0.0)
        limit = MAX_LINKS // max(1, len(self.flows))
        return [
            select_strongest(flow.ravel(), SHARE, limit).reshape(flow.shape) & (flow >= least)
            for flow in self.flows
        ]


def mode_of(stream: Stream, measure: Measure) -> Mode:
    """Return how the layers of a measure are shown together."""
    is_self = stream.kind != "cross" and stream.queries.pieces == stream.keys.pieces
    if is_self and measure.reaches == "input":
        return "direct"
    return "traced" if is_self and not stream.interruption else "separate"


def divide_layers(pane: Pane) -> list[Numbers]:
    """Return how each query of each layer divides what it takes [query key].

    Rows add up to 1; to less where keys are hidden.
    """
    state, measure = pane.state, pane.measure
    stream = pane.stream.words() if state.words else pane.stream
    queries, keys = (visible_rows(side, state.special) for side in (stream.queries, stream.keys))
    divisions = []
    for layer in stream.layers:
        planes = np.abs(select_layer(stream, measure, layer, state.heads).sum(axis=0))
        shares = row_shares(planes.astype(np.float64), keep_empty=True)
        divisions.append(shares[queries][:, keys])
    return divisions


def traced_layer(pane: Pane) -> int:
    """Return the layer that a trace ends at: of a pinned query the chosen one, else the last."""
    role = pane.picture.focus[0] if pane.picture.focus else None
    chosen = role == "query" or isinstance(pane.state.compare, int)
    return pane.state.layer if chosen else pane.stream.layers[-1]


def trace_tokens(pane: Pane, mode: Mode) -> Trace:
    """Return the trace of the pinned token, or of all tokens together."""
    divisions = divide_layers(pane)
    last = pane.stream.layers.index(traced_layer(pane))
    below = divisions[last : last + 1] if mode == "direct" else divisions[: last + 1]
    size = len(divisions[0])
    focus = pane.picture.focus
    start = np.full(size, 1 / size) if focus is None else np.eye(size)[focus[1]]
    return (
        _trace_forward(below, start) if focus and focus[0] == "key" else _trace_back(below, start)
    )


def _trace_back(divisions: list[Numbers], start: Numbers) -> Trace:
    nodes, flows = [start], list[Numbers]()
    for division in reversed(divisions):
        flow = nodes[0][:, None] * division
        flows.insert(0, flow)
        nodes.insert(0, flow.sum(axis=0))
    return Trace(nodes, flows)


def _trace_forward(divisions: list[Numbers], start: Numbers) -> Trace:
    nodes, flows = [start], list[Numbers]()
    for division in divisions:
        flow = division * nodes[-1]
        flows.append(flow)
        nodes.append(flow.sum(axis=1))
    return Trace(nodes, flows)
