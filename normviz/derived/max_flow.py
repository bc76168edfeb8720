"""Attention flow (Abnar and Zuidema 2020): the maximum flow from each input token upwards."""

from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float64, Int

from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.core.keywords import refuse_unknown_keywords
from normviz.derived.rollout import (
    add_identity,
    add_measure,
    combined_map,
    describe_heads,
    require_stacked,
)
from normviz.system.progress import track_progress

if TYPE_CHECKING:
    from normviz.core.axes import StreamName

Node = tuple[int, int]
"""How many layers below the top, and which token."""
Capacities = Float64[np.ndarray, "depth query key"]
"""A capacity for each pair of tokens in neighboring layers, the top layer first."""
Distances = Int[np.ndarray, "node token"]
"""How many edges lie between each node and the sink; -1 where it is not known."""

EPSILON = 1e-12
"""A remaining capacity below this is a rounding error, and counts as none."""


@refuse_unknown_keywords
def attention_flow(
    flow: Flow,
    *,
    identity: bool = True,
    layers: Collection[int] | None = None,
    stream: "StreamName | None" = None,
) -> Flow:
    """Return the flow with `attention-flow`: the maximum flow with weights as capacities.

    For each layer, query and input token, the maximum flow between the two through all layers
    below, where the mean weight over heads (½A + ½I) is the capacity of an edge. That is one
    problem for each layer and pair of tokens, solved exactly by Dinic's algorithm: the work grows
    faster than the third power of the tokens, and with the square of the layers. Six layers took
    half a second for 10 tokens and 14 seconds for 30, on one core.

    Parameters
    ----------
    flow
        A flow that holds `weight` in every layer from 0 on.
    identity
        Whether the residual connection is an edge too: ½A + ½I. Otherwise A as it is.
    layers
        The layers to compute it for; the stream then holds only these. All by default.
    stream
        Which self-attention, where there are several.
    """
    chosen = require_stacked(flow.stream(stream))
    for layer in layers or ():
        require_known(layer, chosen.layers, "layer")
    maps = [combined_map(chosen, "weight", layer) for layer in chosen.layers]
    capacities = np.stack([add_identity(step) if identity else step for step in maps])
    kept = tuple(n for n in chosen.layers if layers is None or n in layers)
    tokens = range(len(chosen.queries))
    flows = np.zeros((len(kept), len(tokens), len(tokens)))
    with track_progress("attention flows", len(kept) * len(tokens)) as step:
        for index, layer in enumerate(kept):
            below = capacities[layer::-1]  # from this layer down to the first
            for query in tokens:
                flows[index, query] = [maximum_flow(below, query, key) for key in tokens]
                step()
    note = describe_heads(chosen, "weight")
    note += "half identity added" if identity else "no identity added"
    return add_measure(flow, chosen.select_layers(kept), "attention-flow", flows, [note])


def maximum_flow(capacities: Capacities, query: int, key: int) -> float:
    """Return the maximum flow from a query at the top to a key below the last layer.

    Dinic 1970: saturate the shortest paths until none is open, then the next longer ones. A path
    may push back what another one sent. Each path saturates an edge, so the algorithm ends.
    """
    free, used = capacities.copy(), np.zeros_like(capacities)
    source, sink = (0, query), (len(capacities), key)
    total = 0.0
    while True:
        distance = _distances(free > EPSILON, used > EPSILON, source, sink)
        if distance[source] < 0:
            return total
        total += _saturate_shortest_paths(free, used, distance, source, sink)


def _distances(
    down: Bool[np.ndarray, "depth query key"],
    back: Bool[np.ndarray, "depth query key"],
    source: Node,
    sink: Node,
) -> Distances:
    """Return the number of open edges from each node to the sink, as far as the source; else -1."""
    distance = np.full((len(down) + 1, down.shape[1]), -1)
    front = np.zeros(distance.shape, dtype=bool)
    front[sink] = True
    distance[sink] = steps = 0
    while front.any() and distance[source] < 0:
        reached = np.zeros_like(front)
        reached[:-1] = (down & front[1:, None, :]).any(axis=2)
        reached[1:] |= (back & front[:-1, :, None]).any(axis=1)
        front = reached & (distance < 0)
        steps += 1
        distance[front] = steps
    return distance


def _saturate_shortest_paths(
    free: Capacities, used: Capacities, distance: Distances, source: Node, sink: Node
) -> float:
    """Send flow along the shortest paths until each has a saturated edge; return how much."""
    total = 0.0
    path = [source]
    ahead = {source: _next_nodes(free, used, distance, source)}
    while path:
        here = path[-1]
        if here == sink:
            total += _send_along(free, used, path)
            full = [_capacity(free, used, *edge) <= EPSILON for edge in pairwise(path)].index(True)
            path = path[: full + 1]  # the path above the first saturated edge is still open
        elif not ahead[here]:
            path.pop()
            if path:
                ahead[path[-1]].pop()
        elif _capacity(free, used, here, ahead[here][-1]) <= EPSILON:
            ahead[here].pop()
        else:
            path.append(ahead[here][-1])
            if path[-1] not in ahead:
                ahead[path[-1]] = _next_nodes(free, used, distance, path[-1])
    return total


def _next_nodes(free: Capacities, used: Capacities, distance: Distances, here: Node) -> list[Node]:
    """Return the nodes that are one edge nearer to the sink and can be reached."""
    depth, token = here
    nearer = distance == distance[here] - 1
    nodes: list[Node] = []
    if depth < len(free):
        below = np.flatnonzero(nearer[depth + 1] & (free[depth, token] > EPSILON))
        nodes += [(depth + 1, other) for other in below.tolist()]
    if depth > 0:
        above = np.flatnonzero(nearer[depth - 1] & (used[depth - 1, :, token] > EPSILON))
        nodes += [(depth - 1, other) for other in above.tolist()]
    return nodes


def _edge(here: Node, there: Node) -> tuple[int, int, int]:
    """Return the edge between two nodes: its depth, its upper and its lower token."""
    down = there[0] > here[0]
    return (here[0], here[1], there[1]) if down else (there[0], there[1], here[1])


def _capacity(free: Capacities, used: Capacities, here: Node, there: Node) -> float:
    """Return the residual capacity: what is free on the way down, what is used on the way up."""
    down = there[0] > here[0]
    return float((free if down else used)[_edge(here, there)])


def _send_along(free: Capacities, used: Capacities, path: list[Node]) -> float:
    """Send as much along a path as its narrowest edge takes, and return it."""
    steps = list(pairwise(path))
    amount = min(_capacity(free, used, here, there) for here, there in steps)
    for here, there in steps:
        signed = amount if there[0] > here[0] else -amount
        free[_edge(here, there)] -= signed
        used[_edge(here, there)] += signed
    return amount
