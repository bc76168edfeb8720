"""What is kept of every text: sums by kind of token, and nothing that grows with their number."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from normviz.corpus.moments import Moments
from normviz.corpus.rank_correlation import Occurrences, Relation

Key = tuple[str, str]
"""A measure and a kind of token."""

EXAMPLES = 20
"""How many texts are kept in which two measures disagree most."""

Sum = TypeVar("Sum", Moments, Relation, Occurrences)


@dataclass(frozen=True, order=True)
class Example:
    """A text in which α and ‖αf(x)‖ disagree in a head."""

    distance: float
    layer: int
    head: int
    text: str


@dataclass(frozen=True)
class Failure:
    """A text that could not be measured, and why."""

    number: int
    """Its place in the corpus, from 0."""
    text: str
    """How it begins."""
    reason: str


@dataclass
class Tally:
    """Everything that is known of some texts of a corpus."""

    texts: int = 0
    tokens: int = 0
    masses: dict[Key, Moments] = field(default_factory=dict)
    """What a query takes from each kind of key, averaged over queries: [layer column].

    A column for each head, and where there are several a last one for their mean.
    """
    shares: dict[Key, Moments] = field(default_factory=dict)
    """The same as a share of what a query takes from all keys together: [layer column]."""
    means: dict[Key, Moments] = field(default_factory=dict)
    """Means over the tokens of a kind, of ‖f(x)‖ and of mixing ratios: [layer column]."""
    spreads: dict[Key, Moments] = field(default_factory=dict)
    """‖f(x)‖ over single tokens, whatever their kind: [layer head]."""
    relations: dict[str, Relation] = field(default_factory=dict)
    """α against ‖f(x)‖, pair by pair, by kind of key."""
    occurrences: dict[str, Occurrences] = field(default_factory=dict)
    """What each entry of the vocabulary has of a measure, averaged over layers and heads."""
    shapes: dict[Key, Moments] = field(default_factory=dict)
    """How far each head has each pattern under each measure, beyond chance: [layer head]."""
    apart: dict[Key, Moments] = field(default_factory=dict)
    """How far two measures are apart: [layer head]."""
    examples: list[Example] = field(default_factory=list)

    def __add__(self, other: "Tally") -> "Tally":
        """Both together; the order makes no difference but in the last digits."""
        return Tally(
            self.texts + other.texts,
            self.tokens + other.tokens,
            _merged(self.masses, other.masses, self.texts, other.texts),
            _merged(self.shares, other.shares, self.texts, other.texts),
            _merged(self.means, other.means),
            _merged(self.spreads, other.spreads),
            _merged(self.relations, other.relations),
            _merged(self.occurrences, other.occurrences),
            _merged(self.shapes, other.shapes),
            _merged(self.apart, other.apart),
            heapq.nlargest(EXAMPLES, {*self.examples, *other.examples}),
        )


def _merged(one: Mapping[Any, Sum], other: Mapping[Any, Sum], *texts: int) -> dict[Any, Sum]:
    """Sums under all names of both; a mass that some texts do not know was nothing there."""
    found: dict[Any, Sum] = {}
    for name in {**one, **other}:
        first, second = one.get(name), other.get(name)
        if first is None or second is None:
            known = first if first is not None else second
            missing = texts[0 if first is None else 1] if texts else 0
            found[name] = _with_nothing(known, missing) if missing else known  # type: ignore[assignment, arg-type]
        else:
            found[name] = first + second
    return found


def _with_nothing(moments: Moments, texts: int) -> Moments:
    """The same with so many texts more, in which there was nothing."""
    zero = np.zeros(moments.mean.shape)
    return moments + Moments(np.full(zero.shape, texts), zero, zero)
