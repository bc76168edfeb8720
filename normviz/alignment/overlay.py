"""Gold links added to a flow: tokens regrouped into the gold set's words, and links checked."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from normviz.alignment.words import (
    Words,
    content_words,
    regroup_stream,
    require_cross_stream,
)
from normviz.core.flow import Flow
from normviz.core.gold import Gold
from normviz.errors import BadInput


def add_gold(
    flow: Flow,
    gold: Gold | Iterable[Sequence[int]],
    *,
    source: Words | None = None,
    target: Words | None = None,
    prefix: str = "",
) -> Flow:
    """Return the flow with gold links, and with its tokens grouped into the words they count."""
    links = gold if isinstance(gold, Gold) else Gold(gold)
    require_cross_stream(flow)
    streams = {
        name: regroup_stream(stream, source, target, prefix)
        for name, stream in flow.streams.items()
    }
    return replace(flow, streams=streams, gold=links)


def check_gold(flow: Flow, gold: Gold) -> None:
    """Refuse links to words that a flow does not have."""
    cross = require_cross_stream(flow)
    for side, index, tokens in (("source", 0, cross.keys), ("target", 1, cross.queries)):
        count = len(content_words(tokens))
        outside = sorted(link for link in gold.possible if link[index] >= count)
        if outside:
            raise BadInput(
                f"The link {outside[0]} names {side} word {outside[0][index]}.",
                f"This flow has {count} {side} words, counted from 0 without special tokens.",
                f"Give the words that the links refer to: with_gold(…, {side}=…).",
            )
