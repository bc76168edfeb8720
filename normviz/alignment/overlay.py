"""What people say is aligned, laid over a flow: words counted as they count, links checked."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from normviz.alignment.links import Gold
from normviz.alignment.words import Words, numbered, regrouped
from normviz.errors import BadInput
from normviz.flow import Flow
from normviz.stream import Stream

SIDES = {
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "cross": ("target", "source"),
}
"""For each stream, whose words its queries and its keys are."""


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
    words = {"source": (source, prefix), "target": (target, "")}
    streams = {name: _recounted(stream, words) for name, stream in flow.streams.items()}
    return replace(flow, streams=streams, gold=links)


def _recounted(stream: Stream, words: dict[str, tuple[Words | None, str]]) -> Stream:
    """A stream whose tokens are pieces of these words, behind what stood before them."""
    sides = [words[side] for side in SIDES[stream.name]]
    queries, keys = (
        tokens if given is None else regrouped(tokens, given, before)
        for tokens, (given, before) in zip((stream.queries, stream.keys), sides, strict=True)
    )
    return replace(stream, queries=queries, keys=keys)


def check(flow: Flow, gold: Gold) -> None:
    """Refuse links to words that a flow does not have."""
    _refuse_one_text(flow)
    cross = flow.streams["cross"]
    for side, place, tokens in (("source", 0, cross.keys), ("target", 1, cross.queries)):
        count = 1 + max((word for word in numbered(tokens) if word is not None), default=-1)
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
            "Analyse a translation: normviz.analyze(model, text, target=…).",
        )
