"""Add the measures that are computed from other measures, after a model has run."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from normviz.core.catalog import MEASURES, base_of, split_statistic
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.derived.max_flow import attention_flow
from normviz.derived.rollout import is_stacked, rollout

if TYPE_CHECKING:
    from normviz.core.catalog import MeasureId


def is_derived(measure: str) -> bool:
    """Whether a measure is computed from another."""
    return base_of(measure) != measure


def required_measures(measures: Iterable[str]) -> tuple[str, ...]:
    """Return the measures and statistics that a model must be run for to have all of these."""
    required = dict.fromkeys(base_of(name) for name in measures)
    statistics = [name for name in required if name not in MEASURES]
    return (*(name for name in MEASURES if name in required), *statistics)


def add_derived(
    flow: Flow, measures: Collection[str], layers: Collection[int] | None, *, insist: bool
) -> Flow:
    """Return the flow with the derived measures, and without those that were only their bases.

    A measure is added to every stream that holds its base. Where no stream does, it is left out;
    with `insist` an error is raised instead.
    """
    for name in filter(is_derived, measures):
        able = [s for s in flow.streams.values() if is_stacked(s) and base_of(name) in s]
        for stream in able or (list(flow.streams.values())[:1] if insist else []):
            flow = _derive(flow, name, stream, layers)
    kept = {name: _select(s, measures, layers) for name, s in flow.streams.items()}
    return replace(flow, streams={name: s for name, s in kept.items() if s.measures} or kept)


def _derive(flow: Flow, measure: str, stream: Stream, layers: Collection[int] | None) -> Flow:
    # The maximum flow is the last of the catalog: no other measure needs the layers it drops.
    if MEASURES[measure].family == "max-flow":
        return attention_flow(flow, layers=_held_layers(stream, layers), stream=stream.name)
    base = cast("MeasureId", base_of(measure))
    return rollout(flow, base, stream=stream.name)


def _held_layers(stream: Stream, layers: Collection[int] | None) -> tuple[int, ...]:
    return tuple(n for n in stream.layers if layers is None or n in layers)


def _select(stream: Stream, measures: Collection[str], layers: Collection[int] | None) -> Stream:
    """Return the stream with only the requested measures and layers."""
    requested = {stream.canonical_id(name) for name in measures}
    requested |= {split_statistic(name)[1] for name in requested}
    requested |= {"weight", "value-norm"} if "weighted-norm" in requested else set()
    selected = replace(
        stream,
        stored={name: held for name, held in stream.stored.items() if name in requested},
        statistics={
            n: held for n, held in stream.statistics.items() if split_statistic(n)[1] in requested
        },
    )
    return selected.select_layers(_held_layers(stream, layers))
