"""What people say is aligned, laid over a flow: words counted as they count, links checked."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from normviz.alignment.words import Words, recounted, spelled
from normviz.core.flow import Flow
from normviz.core.gold import Gold
from normviz.errors import BadInput


def overlaid(
    flow: Flow,
    gold: Gold | Iterable[Sequence[int]],
    *,
    source: Words | None = None,
    target: Words | None = None,
    prefix: str = "",
) -> Flow:
    """The flow with gold links, and with its tokens as pieces of the words they count in."""
    links = gold if isinstance(gold, Gold) else Gold(gold)
    _refuse_one_text(flow)
    streams = {
        name: recounted(stream, source, target, prefix) for name, stream in flow.streams.items()
    }
    return replace(flow, streams=streams, gold=links)


def check(flow: Flow, gold: Gold) -> None:
    """Refuse links to words that a flow does not have."""
    _refuse_one_text(flow)
    cross = flow.streams["cross"]
    for side, place, tokens in (("source", 0, cross.keys), ("target", 1, cross.queries)):
        count = len(spelled(tokens))
        beyond = sorted(link for link in gold.possible if link[place] >= count)
        if beyond:
            raise BadInput(
                f"The link {beyond[0]} names {side} word {beyond[0][place]}.",
                f"This flow has {count} {side} words, counted from 0 without special tokens.",
                f"Give the words that the links count in: with_gold(…, {side}=…).",
            )


def _refuse_one_text(flow: Flow) -> None:
    if "cross" not in flow.streams:
        raise BadInput(
            f"This flow has no cross stream, only: {', '.join(flow.streams)}.",
            "Links join the words of two texts, so a stream from one to the other is wanted.",
            "Analyze a translation: normviz.analyze(model, text, target=…).",
        )
