"""Word links read from cross-attention, after Kobayashi et al. 2020 (their Experiment 2)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from normviz.alignment.formats import format_links
from normviz.alignment.words import (
    Words,
    content_words,
    find_cross_stream,
    regroup_stream,
    word_indices,
)
from normviz.core.catalog import MEASURES, MeasureId, require_known
from normviz.core.flow import Flow
from normviz.core.gold import Link, swap_links
from normviz.core.keywords import refuse_unknown_keywords
from normviz.core.reductions import combine_heads
from normviz.core.stream import Stream
from normviz.core.tokens import Tokens
from normviz.errors import BadInput, UnknownName
from normviz.io.tables import dataframe_of

if TYPE_CHECKING:
    import pandas as pd

TargetRow = Literal["input", "output"]
TARGET_ROWS: tuple[TargetRow, ...] = get_args(TargetRow)
"""Which row of the decoder stands for a target word: the one that reads it, or predicts it."""


@dataclass(frozen=True, eq=False)
class WordGrouping:
    """Which tokens make up the source and the target words of a cross-attention."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    columns: Float[np.ndarray, "key column"]
    """Ones and zeros: a column for each source word, then one for each token outside them."""
    rows: Float[np.ndarray, "target query"]
    """Weights that average the rows of each target word."""

    def between_words(
        self, values: Float[np.ndarray, "*more query key"]
    ) -> Float[np.ndarray, "*more target column"]:
        """Sum values over the tokens of each source word, and average over each target word's."""
        matrix: np.ndarray = self.rows @ (values @ self.columns)
        return matrix

    def best_columns(
        self, matrix: Float[np.ndarray, "*more target column"]
    ) -> Int[np.ndarray, "*more target"]:
        """Return the column with the largest value for each target word, or −1 if all are 0."""
        return np.where(matrix.max(axis=-1) > 0, matrix.argmax(axis=-1), -1)


@dataclass(frozen=True, eq=False)
class Alignment:
    """The source word that each target word is linked to, and its share of every source word."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[Link]
    """Pairs (source word, target word), counted from 0."""
    soft: Float[np.ndarray, "target source"]
    """The share of each target word that comes from each source word."""
    null_share: Float[np.ndarray, " target"]
    """The share that comes from tokens outside all words, mostly the end of the sentence."""
    about: str = ""
    """Where the links were read: measure, layer, heads, target row."""

    def __iter__(self) -> Iterator[Link]:
        """Iterate over the links in the order of the target."""
        return iter(sorted(self.links, key=lambda link: link[::-1]))

    def __len__(self) -> int:
        """Return the number of links."""
        return len(self.links)

    def __str__(self) -> str:
        """Return the links as one line of a Pharaoh file."""
        return format_links([self])[0]

    def __repr__(self) -> str:
        """Return the linked words."""
        pairs = ", ".join(f"{self.source[s]}–{self.target[t]}" for s, t in self)
        return f"<alignment by {self.about}: {pairs or 'no links'}>"

    def swapped(self) -> "Alignment":
        """Return the alignment with source and target exchanged; soft shares add up to 1 again."""
        sums = self.soft.sum(axis=0)
        return replace(
            self,
            source=self.target,
            target=self.source,
            links=swap_links(self.links),
            soft=self.soft.T / np.where(sums > 0, sums, 1)[:, None],
            null_share=np.zeros(len(self.source), dtype=self.null_share.dtype),
        )

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row for each pair of words: its share, and whether it is linked."""
        pairs = [(t, s) for t in range(len(self.target)) for s in range(len(self.source))]
        return dataframe_of(
            {
                "target": [t for t, _ in pairs],
                "target_word": [self.target[t] for t, _ in pairs],
                "source": [s for _, s in pairs],
                "source_word": [self.source[s] for _, s in pairs],
                "share": [float(self.soft[t, s]) for t, s in pairs],
                "linked": [(s, t) in self.links for t, s in pairs],
            }
        )


@refuse_unknown_keywords
def align(
    flow: Flow,
    measure: "MeasureId | str" = "weighted-norm",
    *,
    layer: int | None = None,
    heads: int | Collection[int] | None = None,
    target_row: TargetRow = "input",
    source: "Words | None" = None,
    target: "Words | None" = None,
    prefix: str = "",
) -> Alignment:
    """Read word links from the cross-attention of a flow, as Kobayashi et al. 2020 do.

    Values are summed over the tokens of a source word and averaged over those of a target word.
    Each target word is linked to the source word with the largest value. It gets no link if the
    largest value belongs to a token outside all words, which is often the end of the sentence.

    Parameters
    ----------
    flow
        A flow of an encoder–decoder: `analyze(model, text, target=…)`.
    measure
        A measure between queries and keys. `weighted-norm` with all heads is the paper's
        ‖Σ_h αf(x)‖, which flows hold as `attention`.
    layer
        A layer of the decoder; by default the mean of all layers in the flow.
    heads
        One head or several; by default all. Weights are averaged over heads, norms of several
        heads are summed.
    target_row
        `"input"`: the row whose input is the target word. `"output"`: the row before it, which
        predicts the word.
    source, target
        The words to link, as one string with spaces between them or as a list; by default the
        tokenizer's words. Tokens outside the source words, such as a prompt, get no links.
    prefix
        The text before the source words, such as T5's prompt, if `source` is given.

    Returns
    -------
    Alignment
        With `.links`, `.soft` shares, and `str()` for a line in Pharaoh's format.
    """
    if not isinstance(flow, Flow):
        raise BadInput(
            f"The flow is a {type(flow).__name__}.",
            "Expected a Flow of a translation.",
            "Write align(analyze(model, text, target=…)).",
        )
    stream = find_cross_stream(flow) or flow.cross  # which raises, and says what there is
    grouping = group_words(regroup_stream(stream, source, target, prefix), target_row)
    layers = stream.layers if layer is None else (layer,)
    values = np.mean([_layer_values(stream, measure, number, heads) for number in layers], axis=0)
    matrix = grouping.between_words(values.astype(np.float64))
    best, words = grouping.best_columns(matrix), len(grouping.source)
    sums = matrix.sum(axis=-1, keepdims=True)
    shares = matrix / np.where(sums > 0, sums, 1)
    layer_text = "all layers" if layer is None else f"layer {layer}"
    heads_text = "all heads" if heads is None else f"heads {heads}"
    return Alignment(
        grouping.source,
        grouping.target,
        frozenset((int(s), t) for t, s in enumerate(best) if 0 <= s < words),
        shares[:, :words],
        shares[:, words:].sum(axis=-1),
        f"{measure}, {layer_text}, {heads_text}, {target_row}",
    )


def group_words(stream: Stream, target_row: str) -> WordGrouping:
    """Return the words of a cross-attention, with the rows and columns that belong to each."""
    require_known(target_row, TARGET_ROWS, "target row")
    keys, queries = stream.keys, stream.queries
    rows = _membership(queries, with_others=False)
    if target_row == "output":
        if rows[0].any():
            raise BadInput(
                f"The first token of the decoder is {queries[0]!r}, a word.",
                "Expected a start token first: no row predicts the first token.",
                'Give target=… to analyze, or use target_row="input".',
            )
        rows = np.vstack([rows[1:], np.zeros_like(rows[:1])])
    return WordGrouping(
        content_words(keys),
        content_words(queries),
        _membership(keys, with_others=True),
        rows.T / rows.sum(axis=0)[:, None],
    )


def _membership(tokens: Tokens, *, with_others: bool) -> Float[np.ndarray, "token word"]:
    """Mark which token belongs to which word; optionally give each other token its own column."""
    indices, words = word_indices(tokens), len(content_words(tokens))
    if not words:
        raise BadInput(
            f"There is no word in {' '.join(tokens)!r}.",
            "Expected at least one word in the source and in the target.",
            "Give a text and a target that are not empty.",
        )
    others = [token for token, word in enumerate(indices) if word is None] if with_others else []
    member = np.zeros((len(tokens), words + len(others)))
    for token, word in enumerate(indices):
        if word is not None:
            member[token, word] = 1
    member[others, words + np.arange(len(others))] = 1
    return member


def _layer_values(
    stream: Stream, measure: str, layer: int, heads: int | Collection[int] | None
) -> Float[np.ndarray, "query key"]:
    """Return a measure between queries and keys in one layer, combined over heads."""
    require_known(measure, stream.measures, "measure")
    if "query" not in MEASURES[measure].axes:
        raise UnknownName(
            f"{measure!r} has no values for pairs of tokens.",
            "Expected a measure between queries and keys.",
            'Use "weight", "weighted-norm" or "attention".',
        )
    if measure == "weighted-norm" and heads is None:
        if "attention" not in stream:
            raise UnknownName(
                "The flow does not hold ‖Σ αf(x)‖ ('attention').",
                "Expected it, because all heads together are measured by it.",
                'Add "attention" to measures=… of analyze, or name heads=….',
            )
        measure = "attention"
    values = stream.at(measure, layer)
    if "head" not in MEASURES[measure].axes:
        return values
    numbers = stream.heads if heads is None else stream.require_heads(heads)
    indices = [stream.heads.index(head) for head in numbers]
    return combine_heads(values[indices], measure)
