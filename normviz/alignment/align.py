"""Word links read off cross-attention, after Kobayashi et al. 2020 (their Experiment 2)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from normviz.alignment.formats import written
from normviz.alignment.words import Words, numbered, recounted, spelled
from normviz.core.catalog import MEASURES, require_known
from normviz.core.flow import Flow
from normviz.core.gold import Link, swapped
from normviz.core.stream import Stream
from normviz.core.tokens import Tokens
from normviz.errors import BadInput, UnknownName
from normviz.system.optional import require_packages

if TYPE_CHECKING:
    import pandas as pd

SETTINGS = ("input", "output")
"""Whose row a target word is given: the one that reads it, or the one that predicts it."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which tokens make up the words on both sides of a cross-attention."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    columns: Float[np.ndarray, "key column"]
    """A column for each source word, then one for each token that is in none."""
    rows: Float[np.ndarray, "target query"]
    """Each target word as the mean of its rows."""

    def matrix(
        self, values: Float[np.ndarray, "*more query key"]
    ) -> Float[np.ndarray, "*more target column"]:
        """Numbers between tokens as numbers between words."""
        found: np.ndarray = self.rows @ (values @ self.columns)
        return found

    def best(
        self, matrix: Float[np.ndarray, "*more target column"]
    ) -> Int[np.ndarray, "*more target"]:
        """For each target word the column with most, or −1 where none has anything."""
        found = matrix.argmax(axis=-1)
        return np.where(matrix.max(axis=-1) > 0, found, -1)


@dataclass(frozen=True, eq=False)
class Alignment:
    """Which source word each target word is linked to, and how strongly to all of them."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[Link]
    """Pairs (source word, target word), counted from 0."""
    soft: Float[np.ndarray, "target source"]
    """Which share of what a target word takes comes from each source word."""
    none: Float[np.ndarray, " target"]
    """The share that comes from no word: from the end of the sentence, for the most."""
    about: str = ""
    """Where it was read: measure, layer, heads, setting."""

    def __iter__(self) -> Iterator[Link]:
        """The links, in the order of the target."""
        return iter(sorted(self.links, key=lambda link: link[::-1]))

    def __len__(self) -> int:
        """How many links there are."""
        return len(self.links)

    def __str__(self) -> str:
        """The links as a line of a Pharaoh file."""
        return written([self])[0]

    def __repr__(self) -> str:
        """The links in words."""
        pairs = ", ".join(f"{self.source[s]}–{self.target[t]}" for s, t in self)
        return f"<alignment by {self.about}: {pairs or 'no links'}>"

    def swapped(self) -> "Alignment":
        """The same read from the other side; what is soft becomes shares of the other side too."""
        sums = self.soft.sum(axis=0)
        soft = self.soft.T / np.where(sums > 0, sums, 1)[:, None]
        none = np.zeros(len(self.source), dtype=self.none.dtype)
        return replace(
            self,
            source=self.target,
            target=self.source,
            links=swapped(self.links),
            soft=soft,
            none=none,
        )

    def to_dataframe(self) -> "pd.DataFrame":
        """One row for each pair of words: its share, and whether it is linked."""
        with require_packages("pandas", extra="tables"):
            import pandas as pd

        return pd.DataFrame(
            {
                "target": t,
                "target_word": self.target[t],
                "source": s,
                "source_word": self.source[s],
                "share": float(self.soft[t, s]),
                "linked": (s, t) in self.links,
            }
            for t in range(len(self.target))
            for s in range(len(self.source))
        )


def align(
    flow: Flow,
    measure: str = "weighted-norm",
    *,
    layer: int | None = None,
    heads: Any = None,
    setting: str = "input",
    source: Words | None = None,
    target: Words | None = None,
    prefix: str = "",
) -> Alignment:
    """Word links from the cross-attention of a flow, as Kobayashi et al. 2020 draw them.

    Numbers between tokens are added up over the pieces of a source word and averaged over those of
    a target word. Each target word is linked to the source word with most; where a token that is
    no word has most, as the end of the sentence often does, it gets no link.

    Parameters
    ----------
    flow
        A flow of an encoder–decoder: `analyze(model, tokenizer, text, target=…)`.
    measure
        A measure between queries and keys. `weighted-norm` with all heads is the paper's
        ‖Σ_h αf(x)‖, which flows hold as `attention`.
    layer
        A layer of the decoder; by default the mean of all that the flow holds.
    heads
        A head or several; by default all. Weights are averaged over heads, norms of several named
        heads are added up.
    setting
        `"input"`: the row whose input is the target word. `"output"`: the row before, which
        predicts it.
    source, target
        The words to link, in one string with spaces between them or one by one; by default those
        of the tokenizer. Tokens outside the source words, such as a prompt, are no words to link.
    prefix
        What stood before the source words, where they are given: T5's prompt, for instance.

    Returns
    -------
    Alignment
        `.links`, `.soft` shares, and `str()` for a line in Pharaoh's format.
    """
    stream = flow.cross
    grouping = grouped(recounted(stream, source, target, prefix), setting)
    layers = stream.layers if layer is None else (layer,)
    values = np.mean([_values(stream, measure, one, heads) for one in layers], axis=0)
    matrix = grouping.matrix(values.astype(np.float64))
    best, words = grouping.best(matrix), len(grouping.source)
    sums = matrix.sum(axis=-1, keepdims=True)
    shares = matrix / np.where(sums > 0, sums, 1)
    named = "all heads" if heads is None else f"heads {heads}"
    where = "all layers" if layer is None else f"layer {layer}"
    return Alignment(
        grouping.source,
        grouping.target,
        frozenset((int(s), t) for t, s in enumerate(best) if 0 <= s < words),
        shares[:, :words],
        shares[:, words:].sum(axis=-1),
        f"{measure}, {where}, {named}, {setting}",
    )


def grouped(stream: Stream, setting: str) -> Grouping:
    """The words on both sides of a cross-attention, and the rows that belong to each."""
    require_known(setting, SETTINGS, "setting")
    keys, queries = stream.keys, stream.queries
    into = _membership(queries, others=False)
    if setting == "output":
        if into[0].any():
            raise BadInput(
                f"The first token of the decoder is {queries[0]!r}, a word.",
                "No row predicts it: a decoder that is taught a text begins with a start token.",
                'Give target=… to analyze, or setting="input".',
            )
        into = np.vstack([into[1:], np.zeros_like(into[:1])])
    return Grouping(
        spelled(keys),
        spelled(queries),
        _membership(keys, others=True),
        into.T / into.sum(axis=0)[:, None],
    )


def _membership(tokens: Tokens, *, others: bool) -> Float[np.ndarray, "token word"]:
    """Which token is a piece of which word, and perhaps the others one by one."""
    numbers, words = numbered(tokens), len(spelled(tokens))
    if not words:
        raise BadInput(
            f"There is no word in {' '.join(tokens)!r}.",
            "At least one word on each side is wanted.",
            "Give a text and a target that are not empty.",
        )
    outside = [at for at, n in enumerate(numbers) if n is None] if others else []
    found = np.zeros((len(tokens), words + len(outside)))
    for at, number in enumerate(numbers):
        if number is not None:
            found[at, number] = 1
    found[outside, words + np.arange(len(outside))] = 1
    return found


def _values(stream: Stream, measure: str, layer: int, heads: Any) -> Float[np.ndarray, "query key"]:
    """A measure between queries and keys in one layer, heads put together."""
    require_known(measure, stream.measures, "measure")
    if "query" not in MEASURES[measure].axes:
        raise UnknownName(
            f"{measure!r} says nothing of pairs of tokens.",
            "An alignment needs a measure between queries and keys.",
            'Use "weight", "weighted-norm" or "attention".',
        )
    if measure == "weighted-norm" and heads is None:
        if "attention" not in stream:
            raise UnknownName(
                "The flow does not hold ‖Σ αf(x)‖ ('attention').",
                "All heads together are measured by it.",
                'Add "attention" to measures=… of analyze, or name heads=….',
            )
        measure = "attention"
    values = stream.at(measure, layer)
    if "head" not in MEASURES[measure].axes:
        return values
    named = stream.heads if heads is None else stream.named_heads(heads)
    chosen = [stream.heads.index(head) for head in named]
    total: np.ndarray = values[chosen].sum(axis=0)
    return total / len(chosen) if measure in AVERAGED else total


AVERAGED = ("weight", "effective-weight")
"""Measures that are averaged over heads; lengths are added up."""
