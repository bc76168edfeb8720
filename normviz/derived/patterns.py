"""Attention patterns of heads, and the layers in which they persist."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Int64

from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.core.keywords import refuse_unknown_keywords
from normviz.core.stream import Stream
from normviz.core.tokens import Tokens
from normviz.derived.shares import (
    Planes,
    absolute_shares,
    describe_size,
    heads_of,
    mean_known,
    planes,
    visible_pairs,
)
from normviz.io.tables import dataframe_of

if TYPE_CHECKING:
    import pandas as pd

    from normviz.core.axes import StreamName
    from normviz.core.catalog import MeasureId

PATTERNS = ("diagonal", "previous", "next", "special", "punctuation", "vertical", "block")

Cells = Bool[np.ndarray, "query key"]
ByHead = Float64[np.ndarray, "layer head"]


class Persistence(NamedTuple):
    """The layers in which a pattern occurs."""

    layers: tuple[int, ...]
    """The layers in which at least one head has it."""
    run: tuple[int, ...]
    """The longest run of consecutive layers in which it occurs."""


@dataclass(frozen=True, eq=False, repr=False)
class Patterns:
    """How much of each pattern every head has; see `normviz.patterns`."""

    measure: str
    layers: tuple[int, ...]
    heads: tuple[int | None, ...]
    """The heads, numbered as in the model; `(None,)` where the measure has none."""
    scores: Mapping[str, ByHead]
    """For each pattern, the mean share in its cells [layer head], from 0 to 1."""
    chance: Mapping[str, float]
    """For each pattern, the score of rows with equal shares for every key they see."""
    column: Int64[np.ndarray, "layer head"]
    """The key of the column that `vertical` scores."""
    stream: Stream = field(repr=False)

    def __post_init__(self) -> None:
        """Lock the tables."""
        for name in ("scores", "chance"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def excess(self, pattern: str) -> ByHead:
        """Return how far a pattern is above chance: 0 at chance, 1 if nothing lies outside it."""
        require_known(pattern, self.scores, "pattern")
        scores, chance = self.scores[pattern], self.chance[pattern]
        if not chance < 1:  # also where it is not known
            return np.full(scores.shape, math.nan)
        return (scores - chance) / (1 - chance)

    def best(self, layer: int, head: int | None = None) -> str | None:
        """Return the pattern in which a head is furthest above chance; None where it is in none."""
        require_known(layer, self.layers, "layer")
        require_known(head, self.heads, "head")
        index = self.layers.index(layer), self.heads.index(head)
        excess = {name: float(np.nan_to_num(self.excess(name)[index])) for name in self.scores}
        best = max(excess, key=lambda name: excess[name])
        return best if excess[best] > 0 else None

    def persistent(self, threshold: float = 0.5) -> dict[str, Persistence]:
        """Return, for each pattern, the layers in which a head has it, and their longest run.

        Parameters
        ----------
        threshold
            A head has a pattern where its excess over chance is at least this.
        """
        persistence = {}
        for name in self.scores:
            occurs = (np.nan_to_num(self.excess(name), nan=-1.0) >= threshold).any(axis=1)
            layers = tuple(n for n, is_in in zip(self.layers, occurs, strict=True) if is_in)
            persistence[name] = Persistence(layers, longest_run(layers))
        return persistence

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row for each layer, head and pattern, with its score, chance and excess."""
        every = [(n, h, p) for n in self.layers for h in self.heads for p in self.scores]
        columns: dict[str, Sequence[object] | np.ndarray] = {"layer": [n for n, _, _ in every]}
        if self.heads != (None,):
            columns["head"] = [head for _, head, _ in every]
        columns["pattern"] = [pattern for _, _, pattern in every]
        columns["score"] = np.stack(list(self.scores.values()), axis=-1).ravel()
        columns["chance"] = np.array([self.chance[pattern] for _, _, pattern in every])
        columns["excess"] = np.stack([self.excess(p) for p in self.scores], axis=-1).ravel()
        return dataframe_of(columns)

    def __str__(self) -> str:
        """Return, for each pattern, the head with the highest score, and where it persists."""
        persistent = self.persistent()
        lines = [
            f"{self.measure} ({describe_size(self.stream, self.heads)})",
            f"{'pattern':<12}{'most':>6}{'chance':>8}  {'in':<18}layers with a head beyond ½",
        ]
        for name, scores in self.scores.items():
            if np.isnan(scores).all():
                lines.append(f"{name:<12}{'none':>6}{'':>8}  there is none in this text")
                continue
            layer, head = np.unravel_index(int(np.nanargmax(scores)), scores.shape)
            number = self.heads[head]
            where = f"layer {self.layers[layer]}" + ("" if number is None else f", head {number}")
            listed = ", ".join(map(str, persistent[name].layers)) or "none"
            lines.append(
                f"{name:<12}{scores[layer, head]:>6.2f}{self.chance[name]:>8.2f}  "
                f"{where:<18}{listed}"
            )
        return "\n".join(lines)

    __repr__ = __str__


@refuse_unknown_keywords
def patterns(
    flow: Flow, measure: "MeasureId" = "weight", *, stream: "StreamName | None" = None
) -> Patterns:
    """Return how much of a measure lies in patterns that attention is known for, head by head.

    The classes follow Kovaleva et al. 2019 (vertical, diagonal, block), split by neighbor and
    category of token; how they are scored is our choice. A score is the mean, over the queries
    that see such a key, of the share of the row that lies in the pattern's cells; negative numbers
    count by their absolute value. `chance` is the score of equal shares. Patterns between
    neighbors, and blocks, are NaN in the cross stream.

    - `diagonal`, `previous`, `next`: the token itself, the one before it, the one after it;
    - `special`, `punctuation`: columns of special tokens ([CLS], [SEP] …) and of punctuation;
    - `vertical`: the one column with the largest mean share, over all queries;
    - `block`: the token's own segment, each of which ends with [SEP]; NaN where there is only one.

    Parameters
    ----------
    flow
        A flow that holds the measure.
    measure
        Any measure, such as `weight` or `head-attribution`: what persists in one need not in the
        other.
    stream
        Which attention, where there are several.
    """
    chosen = flow.stream(stream)
    held = chosen.require_held(measure)
    visible = visible_pairs(chosen, held)
    cells = {name: pairs & visible for name, pairs in cells_of(chosen).items()}
    shares = [
        absolute_shares(np.where(visible, planes(chosen, held, n), 0.0)) for n in chosen.layers
    ]
    even = absolute_shares(visible[None].astype(np.float64))
    columns = [mean_known(layer, axis=1) for layer in shares]
    scores = {
        name: np.array([_score(layer, cells[name]) for layer in shares])
        if name != "vertical"
        else np.array([_highest_mean(layer) for layer in columns])
        for name in PATTERNS
    }
    chance = {name: float(_score(even, cells[name])[0]) for name in cells}
    chance["vertical"] = float(_highest_mean(mean_known(even, axis=1))[0])
    return Patterns(
        measure=held,
        layers=chosen.layers,
        heads=heads_of(chosen, held),
        scores=scores,
        chance={name: chance[name] for name in PATTERNS},
        column=np.array([np.nan_to_num(layer).argmax(axis=-1) for layer in columns]),
        stream=chosen,
    )


def cells_of(stream: Stream) -> dict[str, Cells]:
    """Return, for each pattern except `vertical`, the pairs of tokens that lie in it."""
    queries, keys = stream.queries, stream.keys
    nowhere = np.zeros((len(queries), len(keys)), dtype=bool)
    offset = np.subtract.outer(np.arange(len(queries)), np.arange(len(keys)))
    near = {"diagonal": offset == 0, "previous": offset == 1, "next": offset == -1}
    segment = segments(queries)
    near["block"] = np.equal.outer(segment, segment) if max(segment, default=0) > 0 else nowhere
    punctuation = np.array([kind == "punctuation" for kind in keys.categories])
    return {
        **(dict.fromkeys(near, nowhere) if stream.kind == "cross" else near),
        "special": nowhere | np.array(keys.special, dtype=bool),
        "punctuation": nowhere | punctuation,
    }


def segments(tokens: Tokens) -> tuple[int, ...]:
    """Return the index of each token's segment; a segment ends with one [SEP], or several."""
    ends = [kind == "[SEP]" for kind in tokens.categories]
    starts = [before and not now for before, now in zip([False, *ends], ends, strict=False)]
    return tuple(int(number) for number in np.cumsum(starts))


def longest_run(layers: tuple[int, ...]) -> tuple[int, ...]:
    """Return the longest run of consecutive numbers; the first of equally long ones."""
    best: tuple[int, ...] = ()
    run: tuple[int, ...] = ()
    for layer in layers:
        run = (*run, layer) if run and layer == run[-1] + 1 else (layer,)
        best = max(best, run, key=len)
    return best


def _score(shares: Planes, cells: Cells) -> Float64[np.ndarray, " head"]:
    """Return the mean share in these cells, over the queries that have such a cell."""
    inside = np.where(cells, shares, 0.0).sum(axis=-1)
    # The shares of an empty row are NaN, so it is left out too.
    score: Float64[np.ndarray, " head"] = mean_known(np.where(cells.any(axis=-1), inside, math.nan))
    return score


def _highest_mean(columns: Float64[np.ndarray, "head key"]) -> Float64[np.ndarray, " head"]:
    """Return the largest mean share of a column; NaN where all rows are empty."""
    nothing = np.isnan(columns).all(axis=-1)
    return np.where(nothing, math.nan, np.nan_to_num(columns).max(axis=-1))
