"""The main finding of a flow in one sentence: who takes the weight, and who moves what."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float64

from normviz.core.catalog import MEASURES
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.core.tokens import FIRST_TOKEN

COMPARED = ("weight", "weighted-norm")
"""Where attention looks, and what it moves: the two that a flow opens with."""

WHOLES = {"weight": "the attention weight", "weighted-norm": "what attention moves"}
"""What a share of a measure is a share of; for others, the label of the measure."""

LABELS = {"other": "words", "special": "special tokens", FIRST_TOKEN: "the first token"}
"""Categories as a reader would call them, where that is not their name."""

PLURALS = {"words", "special tokens"}


_KNOWN: "WeakKeyDictionary[Stream, list[Headline]]" = WeakKeyDictionary()
"""What was found, while its stream is in use: a long text takes a second."""


@dataclass(frozen=True)
class Headline:
    """What one layer says about one kind of token: its share by each measure."""

    layer: int
    tokens: str
    shares: Mapping[str, float]
    """By the id of a measure."""

    @property
    def difference(self) -> float:
        """How far the first measure and the last differ; the share itself where there is one."""
        first, *rest = self.shares.values()
        return abs(first - rest[-1]) if rest else first

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The sentence in parts, each with the id of the measure whose share it is, or empty."""
        verb = "take" if self.tokens in PLURALS else "takes"
        parts = [(f"In layer {self.layer}, {self.tokens} {verb} ", "")]
        for number, (measure, share) in enumerate(self.shares.items()):
            whole = WHOLES.get(measure, MEASURES[measure].label)
            parts += [(" and ", "")] * bool(number)
            parts += [(f"{share:.0%}", measure), (f" of {whole}", "")]
        return [*parts, (".", "")]

    def __str__(self) -> str:
        """Return the sentence."""
        return "".join(text for text, _ in self.parts)


def find_headline(flow: Flow, stream: str | None = None) -> Headline | None:
    """Return the headline of a stream; by default, of the one that the flow opens on."""
    chosen = opening_stream(flow) if stream is None else flow.stream(stream)
    return None if chosen is None else strongest_headline(chosen)


def opening_stream(flow: Flow) -> Stream | None:
    """Return the stream a flow opens on: cross-attention if it translates, else the first."""
    held = [stream for stream in flow.streams.values() if stream.measures and stream.layers]
    translating = [stream for stream in held if stream.name == "cross"]
    return next(iter(translating or held), None)


def strongest_headline(stream: Stream) -> Headline | None:
    """Return the headline of the layer where weight and norm differ most; None without numbers."""
    return max(find_headlines(stream), key=lambda headline: headline.difference, default=None)


def find_headlines(stream: Stream) -> list[Headline]:
    """Return the headline of each layer: the kind of token about which the measures differ most.

    Words are too many to be a finding. Where there is no other kind, it is about a single token.
    """
    if stream not in _KNOWN:
        _KNOWN[stream] = _find_headlines(stream)
    return _KNOWN[stream]


def _find_headlines(stream: Stream) -> list[Headline]:
    measures = [name for name in COMPARED if name in stream] or list(stream.measures[:1])
    if not measures or not len(stream.keys):
        return []
    groups = [stream.shares(name) for name in measures]
    if set(groups[0]) == {"other"}:
        groups = [_by_token(stream, stream.key_shares(name)) for name in measures]
    headlines = []
    for number, layer in enumerate(stream.layers):
        options = [
            Headline(
                layer,
                category_label(name),
                {m: float(g[name][number]) for m, g in zip(measures, groups, strict=True)},
            )
            for name in groups[0]
            if name != "other"
        ]
        known = [option for option in options if isfinite(option.difference)]
        headlines += [max(known, key=lambda headline: headline.difference)] if known else []
    return headlines


def _by_token(stream: Stream, shares: Float64[np.ndarray, "layer key"]) -> dict[str, np.ndarray]:
    """Return the shares of single tokens under their text; tokens of one text count together."""
    texts = np.array([f"‘{piece.strip() or piece}’" for piece in stream.keys.pieces])
    return {text: shares[:, texts == text].sum(axis=1) for text in dict.fromkeys(texts.tolist())}


def category_label(category: str) -> str:
    """Return a category of tokens as a reader would call it."""
    return LABELS.get(category, category)
