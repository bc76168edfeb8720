"""One text's part of a tally, from its flow."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float32

from normviz.core.catalog import MEASURES, split_statistic
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.corpus.categories import Kinds
from normviz.corpus.moments import Moments
from normviz.corpus.rank_correlation import Occurrences, Relation
from normviz.corpus.sums import Example, Key, Tally
from normviz.derived.agreement import distance_in_rows
from normviz.derived.patterns import patterns
from normviz.derived.shares import divided, mean_known

POOLED = 8
"""How many queries of a text, evenly spread, are looked at pair by pair."""
COMPARED = ("weight", "weighted-norm")
"""The measures whose patterns are scored, and whose disagreement is told."""

Members = Float32[np.ndarray, "key kind"]
"""Which token is of which kind, as ones and zeros."""


def tallied(
    flow: Flow, kinds: Kinds, *, stream: str | None = None, text: str = "", heads: bool = True
) -> Tally:
    """What one text adds to a tally; without `heads`, neither patterns nor disagreements."""
    chosen = flow.stream(stream)
    named = kinds.of(chosen.keys)
    names = tuple(dict.fromkeys((*kinds.names, *named)))
    members = np.equal.outer(named, names).astype(np.float32)
    tally = Tally(texts=1, tokens=len(chosen.queries))
    for measure in chosen.measures:
        if "query" in MEASURES[measure].axes:
            taken = np.stack([_taken(chosen, measure, n, members) for n in chosen.layers])
            whole = taken.sum(axis=-1, keepdims=True)
            share = np.divide(taken, whole, out=np.zeros(taken.shape), where=whole > 0)
            for place, name in enumerate(names):
                tally.masses[measure, name] = Moments.of(taken[..., place])
                tally.shares[measure, name] = Moments.of(share[..., place])
        else:
            tally.means |= dict(_means(chosen, measure, names, members))
    tally.means |= dict(_mixings(chosen, named))
    if {"weight", "value-norm"} <= set(chosen.measures):
        tally.spreads["value-norm", "all"] = Moments.along(chosen["value-norm"])
        tally.relations = dict(_relations(chosen, named))
        tally.occurrences = dict(_occurrences(chosen))
        if heads:
            _compare(flow, chosen, text, tally)
    return tally


def _taken(stream: Stream, measure: str, layer: int, members: Members) -> np.ndarray:
    """What a layer's queries take from each kind of key, averaged over queries: [column kind]."""
    if measure == "weighted-norm" and measure not in stream.stored:  # α · ‖f‖, without the product
        norm = stream.at("value-norm", layer)
        taken = stream.at("weight", layer) @ (norm[..., None] * members)
    else:
        taken = stream.at(measure, layer) @ members
    return _with_mean(taken.mean(axis=-2, dtype=np.float64).reshape(-1, members.shape[1]), axis=0)


def _with_mean(values: np.ndarray, axis: int) -> np.ndarray:
    """The columns of all heads, and one more for their mean; a single one is its own mean."""
    if values.shape[axis] == 1:
        return values
    return np.concatenate([values, values.mean(axis=axis, keepdims=True)], axis=axis)


def _means(
    stream: Stream, measure: str, names: tuple[str, ...], members: Members
) -> Iterator[tuple[Key, Moments]]:
    """The mean over the tokens of each kind; none, where a text has none of the kind."""
    count = members.sum(axis=0, dtype=np.float64)
    share = np.divide(members, count, out=np.full(members.shape, np.nan), where=count > 0)
    layers = _with_mean(stream[measure].astype(np.float64) @ share, axis=1)
    for place, name in enumerate(names):
        yield (measure, name), Moments.of(layers[..., place])


def _mixings(stream: Stream, named: tuple[str, ...]) -> Iterator[tuple[Key, Moments]]:
    """Mixing ratios, averaged over the tokens of each kind and over all.

    Only a self-attention has any: its queries are its keys.
    """
    for reading in _mixing_readings(stream):
        ratios = stream.statistics[reading].joined().astype(np.float64)
        for name in dict.fromkeys(named):
            mean = ratios[:, np.array(named) == name].mean(axis=-1, keepdims=True)
            yield (reading, name), Moments.of(mean)
        yield (reading, "all"), Moments.of(ratios.mean(axis=-1, keepdims=True))


def _mixing_readings(stream: Stream) -> list[str]:
    return [name for name in stream.statistics if split_statistic(name)[0] == "mixing"]


def _apart(stream: Stream, layer: int) -> np.ndarray:
    """How far α and ‖αf(x)‖ divide otherwise in each head, over some queries."""
    weight = stream.at("weight", layer)[:, _some(stream)].astype(np.float64)
    moved = weight * stream.at("value-norm", layer)[:, None]
    distance: np.ndarray = mean_known(distance_in_rows(divided(weight), divided(moved)))
    return distance


def _some(stream: Stream) -> np.ndarray:
    """A few queries, evenly spread."""
    count = len(stream.queries)
    return np.unique(np.linspace(0, count - 1, min(POOLED, count)).astype(int))


def _relations(stream: Stream, named: tuple[str, ...]) -> Iterator[tuple[str, Relation]]:
    """α against ‖f(x)‖ over pairs of all layers and heads, from some queries, by kind of key."""
    queries = _some(stream)
    weight = np.stack([stream.at("weight", layer)[:, queries] for layer in stream.layers])
    norm = np.broadcast_to(stream["value-norm"][:, :, None], weight.shape)
    seen = weight != 0  # what a mask forbids is no pair
    for name in dict.fromkeys(named):
        of_kind = np.array(named) == name
        here = seen[..., of_kind]
        yield name, Relation.of(weight[..., of_kind][here], norm[..., of_kind][here])


def _occurrences(stream: Stream) -> Iterator[tuple[str, Occurrences]]:
    """What each token gets of α and has of ‖f(x)‖, averaged over layers, heads and queries."""
    ids = stream.keys.ids
    weight = np.mean([stream.at("weight", layer).mean(axis=(0, 1)) for layer in stream.layers], 0)
    yield "weight", Occurrences.of(ids, weight)
    yield "value-norm", Occurrences.of(ids, stream["value-norm"].mean(axis=(0, 1)))
    for reading in _mixing_readings(stream):
        ratios = stream.statistics[reading].joined().mean(axis=0)
        yield reading, Occurrences.of(ids, ratios)


def _compare(flow: Flow, stream: Stream, text: str, tally: Tally) -> None:
    """How far heads have patterns, and where α and ‖αf(x)‖ are apart."""
    for measure in COMPARED:
        found = patterns(flow, measure, stream=stream.name)
        for name in found.scores:
            tally.shapes[measure, name] = Moments.of(found.excess(name))
    distance = np.stack([_apart(stream, layer) for layer in stream.layers])
    tally.apart[COMPARED] = Moments.of(distance)
    if np.isfinite(distance).any():
        layer, head = np.unravel_index(np.nanargmax(distance), distance.shape)
        worst = float(distance[layer, head])
        tally.examples.append(Example(worst, stream.layers[layer], stream.heads[head], text[:200]))
