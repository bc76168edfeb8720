"""The sums of one text, from its flow."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float32

from normviz.core.catalog import MEASURES, split_statistic
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.corpus.categories import Categories
from normviz.corpus.moments import Moments
from normviz.corpus.rank_correlation import JointHistogram, Occurrences
from normviz.corpus.sums import COMPARED, CorpusSums, Example, Key
from normviz.derived.agreement import jensen_shannon_distance
from normviz.derived.patterns import patterns
from normviz.derived.shares import absolute_shares, mean_known

SAMPLED_QUERIES = 8
"""How many queries of a text, evenly spaced, are compared pair by pair."""

Membership = Float32[np.ndarray, "key category"]
"""Ones and zeros: which token is in which category."""


def summarize_text(
    flow: Flow,
    categories: Categories,
    *,
    stream: str | None = None,
    text: str = "",
    head_patterns: bool = True,
) -> CorpusSums:
    """Return the sums of one text; without `head_patterns`, no patterns and disagreements."""
    chosen = flow.stream(stream)
    by_token = categories.of(chosen.keys)
    names = tuple(dict.fromkeys((*categories.names, *by_token)))
    members = np.equal.outer(by_token, names).astype(np.float32)
    sums = CorpusSums(texts=1, tokens=len(chosen.queries))
    for measure in chosen.measures:
        if "query" in MEASURES[measure].axes:
            mass = np.stack([_layer_mass(chosen, measure, n, members) for n in chosen.layers])
            total = mass.sum(axis=-1, keepdims=True)
            share = np.divide(mass, total, out=np.zeros(mass.shape), where=total > 0)
            for index, name in enumerate(names):
                sums.masses[measure, name] = Moments.of(mass[..., index])
                sums.shares[measure, name] = Moments.of(share[..., index])
        else:
            sums.means |= dict(_category_means(chosen, measure, names, members))
    sums.means |= dict(_mixing_means(chosen, by_token))
    if {"weight", "value-norm"} <= set(chosen.measures):
        sums.dispersions["value-norm", "all"] = Moments.over_last_axis(chosen["value-norm"])
        sums.correlations = dict(_correlations(chosen, by_token))
        sums.occurrences = dict(_occurrences(chosen))
        if head_patterns:
            _add_head_patterns(flow, chosen, text, sums)
    return sums


def _layer_mass(stream: Stream, measure: str, layer: int, members: Membership) -> np.ndarray:
    """Return what queries take from each category, averaged over queries: [column category]."""
    if measure == "weighted-norm" and measure not in stream.stored:  # α · ‖f‖, without the product
        norm = stream.at("value-norm", layer)
        mass = stream.at("weight", layer) @ (norm[..., None] * members)
    else:
        mass = stream.at(measure, layer) @ members
    return _with_mean(mass.mean(axis=-2, dtype=np.float64).reshape(-1, members.shape[1]), axis=0)


def _with_mean(values: np.ndarray, axis: int) -> np.ndarray:
    """Append the mean of all heads as a further column; a single column is its own mean."""
    if values.shape[axis] == 1:
        return values
    return np.concatenate([values, values.mean(axis=axis, keepdims=True)], axis=axis)


def _category_means(
    stream: Stream, measure: str, names: tuple[str, ...], members: Membership
) -> Iterator[tuple[Key, Moments]]:
    """Yield the mean over the tokens of each category; NaN if a text has none of it."""
    count = members.sum(axis=0, dtype=np.float64)
    share = np.divide(members, count, out=np.full(members.shape, np.nan), where=count > 0)
    means = _with_mean(stream[measure].astype(np.float64) @ share, axis=1)
    for index, name in enumerate(names):
        yield (measure, name), Moments.of(means[..., index])


def _mixing_means(stream: Stream, by_token: tuple[str, ...]) -> Iterator[tuple[Key, Moments]]:
    """Yield mixing ratios, averaged over the tokens of each category and over all.

    Only self-attention has them: its queries are its keys.
    """
    for statistic in _mixing_statistics(stream):
        ratios = stream.statistics[statistic].stack().astype(np.float64)
        for name in dict.fromkeys(by_token):
            mean = ratios[:, np.array(by_token) == name].mean(axis=-1, keepdims=True)
            yield (statistic, name), Moments.of(mean)
        yield (statistic, "all"), Moments.of(ratios.mean(axis=-1, keepdims=True))


def _mixing_statistics(stream: Stream) -> list[str]:
    return [name for name in stream.statistics if split_statistic(name)[0] == "mixing"]


def _disagreement(stream: Stream, layer: int) -> np.ndarray:
    """Return the distance between the shares of α and of ‖αf(x)‖ in each head: [head]."""
    weight = stream.at("weight", layer)[:, _sample_queries(stream)].astype(np.float64)
    moved = weight * stream.at("value-norm", layer)[:, None]
    distance: np.ndarray = mean_known(
        jensen_shannon_distance(absolute_shares(weight), absolute_shares(moved))
    )
    return distance


def _sample_queries(stream: Stream) -> np.ndarray:
    """Return the indices of a few queries, evenly spaced."""
    count = len(stream.queries)
    return np.unique(np.linspace(0, count - 1, min(SAMPLED_QUERIES, count)).astype(int))


def _correlations(
    stream: Stream, by_token: tuple[str, ...]
) -> Iterator[tuple[str, JointHistogram]]:
    """Yield α against ‖f(x)‖ in all layers and heads, for a few queries, by category of key."""
    queries = _sample_queries(stream)
    weight = np.stack([stream.at("weight", layer)[:, queries] for layer in stream.layers])
    norm = np.broadcast_to(stream["value-norm"][:, :, None], weight.shape)
    visible = weight != 0  # a masked key is not a pair
    for name in dict.fromkeys(by_token):
        inside = np.array(by_token) == name
        pairs = visible[..., inside]
        yield name, JointHistogram.of(weight[..., inside][pairs], norm[..., inside][pairs])


def _occurrences(stream: Stream) -> Iterator[tuple[str, Occurrences]]:
    """Yield α and ‖f(x)‖ of each token, averaged over layers, heads and queries."""
    ids = stream.keys.ids
    weight = np.mean([stream.at("weight", layer).mean(axis=(0, 1)) for layer in stream.layers], 0)
    yield "weight", Occurrences.of(ids, weight)
    yield "value-norm", Occurrences.of(ids, stream["value-norm"].mean(axis=(0, 1)))
    for statistic in _mixing_statistics(stream):
        ratios = stream.statistics[statistic].stack().mean(axis=0)
        yield statistic, Occurrences.of(ids, ratios)


def _add_head_patterns(flow: Flow, stream: Stream, text: str, sums: CorpusSums) -> None:
    """Add the patterns of the heads, and how far α and ‖αf(x)‖ disagree in each."""
    for measure in COMPARED:
        result = patterns(flow, measure, stream=stream.name)
        for name in result.scores:
            sums.patterns[measure, name] = Moments.of(result.excess(name))
    distance = np.stack([_disagreement(stream, layer) for layer in stream.layers])
    sums.disagreements[COMPARED] = Moments.of(distance)
    if np.isfinite(distance).any():
        layer, head = np.unravel_index(np.nanargmax(distance), distance.shape)
        largest = float(distance[layer, head])
        sums.examples.append(Example(largest, stream.layers[layer], stream.heads[head], text[:200]))
