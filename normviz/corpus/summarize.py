"""The sums of one text, from its flow."""

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float32, Float64

from normviz.core.catalog import MEASURES, split_statistic
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.corpus.categories import Categories
from normviz.corpus.moments import Moments
from normviz.corpus.rank_correlation import JointHistogram, TokenSample, bin_indices
from normviz.corpus.sums import COMPARED, CorpusSums, Example, Key
from normviz.derived.agreement import jensen_shannon_distance
from normviz.derived.patterns import patterns
from normviz.derived.shares import absolute_shares, mean_known

Membership = Float32[np.ndarray, "key category"]
"""Ones and zeros: which token is in which category."""
Taken = Float64[np.ndarray, "head query category"]
"""What each query takes from the keys of each category."""


def summarize_text(
    flow: Flow,
    categories: Categories,
    *,
    stream: str | None = None,
    text: str = "",
    head_patterns: bool = True,
) -> CorpusSums:
    """Return the sums of one text; without `head_patterns`, no patterns and disagreements."""
    flow = categories.with_punctuation(flow)
    chosen = flow.stream(stream)
    by_token = categories.of(chosen.keys)
    names = tuple(dict.fromkeys((*categories.names, *by_token)))
    members = np.equal.outer(by_token, names).astype(np.float32)
    sums = CorpusSums(texts=1, tokens=len(chosen.queries))
    for measure in chosen.measures:
        if "query" in MEASURES[measure].axes:
            taken = [_taken_by_queries(chosen, measure, n, members) for n in chosen.layers]
            mass = np.stack([_with_mean(one.mean(axis=1), axis=0) for one in taken])
            share = _shares(mass, missing=0.0)
            of_query = np.stack([_mean_query_shares(one) for one in taken])
            for index, name in enumerate(names):
                sums.masses[measure, name] = Moments.of(mass[..., index])
                sums.shares[measure, name] = Moments.of(share[..., index])
                sums.query_shares[measure, name] = Moments.of(of_query[..., index])
        else:
            sums.means |= dict(_category_means(chosen, measure, names, members))
    sums.means |= dict(_mixing_means(chosen, by_token))
    if {"weight", "value-norm"} <= set(chosen.measures):
        sums.dispersions["value-norm", "all"] = Moments.over_last_axis(chosen["value-norm"])
        sums.correlations = dict(_correlations(chosen, by_token))
        sums.occurrences = _sample_tokens(chosen, text)
        if head_patterns:
            _add_head_patterns(flow, chosen, text, sums)
    return sums


def _taken_by_queries(stream: Stream, measure: str, layer: int, members: Membership) -> Taken:
    """Return what each query takes from each category; all heads together are one head."""
    if measure == "weighted-norm" and measure not in stream.stored:  # α · ‖f‖, without the product
        norm = stream.at("value-norm", layer)
        mass = stream.at("weight", layer) @ (norm[..., None] * members)
    else:
        mass = stream.at(measure, layer) @ members
    taken: Taken = mass.astype(np.float64).reshape(-1, *mass.shape[-2:])
    return taken


def _shares(mass: np.ndarray, *, missing: float) -> np.ndarray:
    """Divide by the sum over the last axis; `missing` where it is not above zero."""
    total = mass.sum(axis=-1, keepdims=True)
    shares = np.full(mass.shape, missing)
    np.divide(mass, total, out=shares, where=total > 0)
    return shares


def _mean_query_shares(taken: Taken) -> np.ndarray:
    """Return the shares of single queries, averaged over queries, then heads [column category]."""
    by_head: np.ndarray = mean_known(_shares(taken, missing=math.nan), axis=1)
    if len(by_head) == 1:
        return by_head
    return np.concatenate([by_head, mean_known(by_head, axis=0)[None]])


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
    weight = stream.at("weight", layer).astype(np.float64)
    moved = weight * stream.at("value-norm", layer)[:, None]
    distance: np.ndarray = mean_known(
        jensen_shannon_distance(absolute_shares(weight), absolute_shares(moved))
    )
    return distance


def _correlations(
    stream: Stream, by_token: tuple[str, ...]
) -> Iterator[tuple[str, JointHistogram]]:
    """Yield α against ‖f(x)‖ over all layers, heads and queries, by category of key."""
    weight = np.stack([bin_indices(stream.at("weight", layer)) for layer in stream.layers])
    norm = np.broadcast_to(bin_indices(stream["value-norm"])[:, :, None], weight.shape)
    for name in dict.fromkeys(by_token):
        inside = np.array(by_token) == name
        pairs, norms = weight[..., inside].ravel(), norm[..., inside].ravel()
        visible = pairs > 0  # a masked key is not a pair
        every = visible.all()
        yield (
            name,
            JointHistogram.of_bins(
                pairs if every else pairs[visible], norms if every else norms[visible]
            ),
        )


def _sample_tokens(stream: Stream, text: str) -> TokenSample:
    """Return α and ‖f(x)‖ of each token, averaged over layers, heads and queries."""
    values = {
        "weight": np.mean([stream.at("weight", n).mean(axis=(0, 1)) for n in stream.layers], 0),
        "value-norm": stream["value-norm"].mean(axis=(0, 1)),
    }
    for statistic in _mixing_statistics(stream):
        values[statistic] = stream.statistics[statistic].stack().mean(axis=0)
    return TokenSample.of(text, stream.keys.ids, values)


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
