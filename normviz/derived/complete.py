"""Measures that are made of other measures, after a model has run."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from normviz.core.catalog import MEASURES, split_statistic
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.derived.max_flow import attention_flow
from normviz.derived.rollout import is_stacked, rollout


def base_of(measure: str) -> str:
    """The measure that another is made of; itself, where a model is run for it."""
    return "weight" if measure == "attention-flow" else measure.removeprefix("rollout:")


def is_derived(measure: str) -> bool:
    """Whether a measure is made of another."""
    return base_of(measure) != measure


def required_measures(measures: Iterable[str]) -> tuple[str, ...]:
    """What a model must be run for to have all of these, in the order of the catalog."""
    wanted = dict.fromkeys(base_of(name) for name in measures)
    readings = [name for name in wanted if name not in MEASURES]
    return (*(name for name in MEASURES if name in wanted), *readings)


def add_derived(
    flow: Flow, measures: Collection[str], layers: Collection[int] | None, *, insist: bool
) -> Flow:
    """The flow with what is made of its measures, and without what was needed for that alone.

    A measure is made in every stream that holds what it is made of; where no stream does, it is
    left out, or refused where a person insists.
    """
    made = [name for name in measures if is_derived(name)]
    for name in made:
        able = [s for s in flow.streams.values() if is_stacked(s) and base_of(name) in s]
        anywhere = able or (list(flow.streams.values())[:1] if insist else [])
        for stream in anywhere:
            flow = _made(flow, name, stream, layers)
    kept = {name: _kept(s, measures, layers) for name, s in flow.streams.items()}
    return replace(flow, streams={name: s for name, s in kept.items() if s.measures} or kept)


def _made(flow: Flow, measure: str, stream: Stream, layers: Collection[int] | None) -> Flow:
    if measure == "attention-flow":  # the last in the catalog: no other needs the layers it drops
        return attention_flow(flow, layers=_those(stream, layers), stream=stream.name)
    return rollout(flow, base_of(measure), stream=stream.name)


def _those(stream: Stream, layers: Collection[int] | None) -> tuple[int, ...]:
    return tuple(n for n in stream.layers if layers is None or n in layers)


def _kept(stream: Stream, measures: Collection[str], layers: Collection[int] | None) -> Stream:
    """Only the measures that were asked for, in the layers that were."""
    wanted = {stream.canonical_id(name) for name in measures}
    wanted |= {split_statistic(name)[1] for name in wanted}
    wanted |= {"weight", "value-norm"} if "weighted-norm" in wanted else set()
    less = replace(
        stream,
        stored={name: held for name, held in stream.stored.items() if name in wanted},
        statistics={
            n: held for n, held in stream.statistics.items() if split_statistic(n)[1] in wanted
        },
    )
    return less.only(_those(stream, layers))
