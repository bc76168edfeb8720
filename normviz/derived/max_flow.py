"""How much could flow up from each input token: the maximum flow of Abnar and Zuidema 2020."""

from collections.abc import Collection
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float64, Int

from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.derived.rollout import extended, layer_map, stacked, with_identity
from normviz.system.progress import track_progress

Node = tuple[int, int]
"""How many layers below the top, and which token."""
Pipes = Float64[np.ndarray, "depth query key"]
"""A capacity for each pair of tokens in neighboring layers, the top layer first."""

LEAST = 1e-12
"""What is left of a full pipe by rounding counts as nothing."""


def attention_flow(
    flow: Flow,
    *,
    identity: bool = True,
    layers: Collection[int] | None = None,
    stream: str | None = None,
) -> Flow:
    """The same flow with `attention-flow`: what could reach each token, with weights as pipes.

    For each layer, query and input token, the maximum flow between the two through all layers
    below, where the mean weight over heads (½A + ½I) is the capacity of a pipe. That is one
    problem for each layer and pair of tokens, solved exactly by Dinic's algorithm: work grows
    with more than the third power of the tokens, and with the square of the layers. Six layers took
    half a second for 10 tokens and 14 seconds for 30, on one core.

    Parameters
    ----------
    flow
        A flow that holds `weight` in every layer from 0 on.
    identity
        Whether the residual is a pipe too: ½A + ½I. Otherwise A as it is.
    layers
        Up to which layers to compute it; the stream then holds these alone. All by default.
    stream
        Which self-attention, where there are several.
    """
    chosen = stacked(flow.stream(stream))
    for layer in layers or ():
        require_known(layer, chosen.layers, "layer")
    steps = [layer_map(chosen, "weight", layer) for layer in chosen.layers]
    pipes = np.stack([with_identity(step) if identity else step for step in steps])
    kept = tuple(n for n in chosen.layers if layers is None or n in layers)
    tokens = range(len(chosen.queries))
    found = np.zeros((len(kept), len(tokens), len(tokens)))
    with track_progress("attention flows", len(kept) * len(tokens)) as step:
        for place, layer in enumerate(kept):
            below = pipes[layer::-1]  # from this layer down to the first
            for query in tokens:
                found[place, query] = [maximum_flow(below, query, key) for key in tokens]
                step()
    done = f"mean over {len(chosen.heads)} heads, "
    done += "half identity added" if identity else "no identity added"
    return extended(flow, chosen.only(kept), "attention-flow", found, [done])


def maximum_flow(pipes: Pipes, query: int, key: int) -> float:
    """The most that can flow from a query at the top to a key below the last layer.

    Dinic 1970: along shortest ways only, until none is open, then along the next longer ones.
    A way may push back what another one sent; each fills a pipe, so there is an end.
    """
    left, used = pipes.copy(), np.zeros_like(pipes)
    source, sink = (0, query), (len(pipes), key)
    total = 0.0
    while True:
        distance = _distances(left > LEAST, used > LEAST, source, sink)
        if distance[source] < 0:
            return total
        total += _filled(left, used, distance, source, sink)


def _distances(
    down: Bool[np.ndarray, "depth query key"],
    back: Bool[np.ndarray, "depth query key"],
    source: Node,
    sink: Node,
) -> Int[np.ndarray, "node token"]:
    """How many pipes lie between each node and the sink; -1 where it is farther than the source."""
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


def _filled(
    left: Pipes, used: Pipes, distance: Int[np.ndarray, "node token"], source: Node, sink: Node
) -> float:
    """Fill the shortest ways until each has a full pipe; how much they took."""
    total = 0.0
    path = [source]
    ahead = {source: _ahead(left, used, distance, source)}
    while path:
        here = path[-1]
        if here == sink:
            total += _sent(left, used, path)
            full = [_room(left, used, *pipe) <= LEAST for pipe in pairwise(path)].index(True)
            path = path[: full + 1]  # what lies above the first full pipe is still open
        elif not ahead[here]:
            path.pop()
            if path:
                ahead[path[-1]].pop()
        elif _room(left, used, here, ahead[here][-1]) <= LEAST:
            ahead[here].pop()
        else:
            path.append(ahead[here][-1])
            if path[-1] not in ahead:
                ahead[path[-1]] = _ahead(left, used, distance, path[-1])
    return total


def _ahead(
    left: Pipes, used: Pipes, distance: Int[np.ndarray, "node token"], here: Node
) -> list[Node]:
    """The nodes that are one step nearer to the sink and can be reached."""
    depth, token = here
    nearer = distance == distance[here] - 1
    nodes: list[Node] = []
    if depth < len(left):
        below = np.flatnonzero(nearer[depth + 1] & (left[depth, token] > LEAST))
        nodes += [(depth + 1, other) for other in below.tolist()]
    if depth > 0:
        above = np.flatnonzero(nearer[depth - 1] & (used[depth - 1, :, token] > LEAST))
        nodes += [(depth - 1, other) for other in above.tolist()]
    return nodes


def _pipe(here: Node, there: Node) -> tuple[int, int, int]:
    """The pipe between two nodes: its depth, its upper and its lower end."""
    down = there[0] > here[0]
    return (here[0], here[1], there[1]) if down else (there[0], there[1], here[1])


def _room(left: Pipes, used: Pipes, here: Node, there: Node) -> float:
    """How much more fits: what is left on the way down, what can be pushed back on the way up."""
    down = there[0] > here[0]
    return float((left if down else used)[_pipe(here, there)])


def _sent(left: Pipes, used: Pipes, path: list[Node]) -> float:
    """Send as much along a path as its narrowest pipe takes."""
    steps = list(pairwise(path))
    most = min(_room(left, used, here, there) for here, there in steps)
    for here, there in steps:
        signed = most if there[0] > here[0] else -most
        left[_pipe(here, there)] -= signed
        used[_pipe(here, there)] += signed
    return most
