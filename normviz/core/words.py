"""The words that the options of public functions take, as types for editors and mypy.

A signature names them in quotes and imports them under `TYPE_CHECKING`. A run-time type checker
then leaves the argument alone, so that a wrong word reaches normviz's own error, which lists the
right ones; so do `MeasureId` in `normviz.core.catalog` and `StreamName` in `normviz.core.axes`.
"""

from typing import Literal, get_args

Comparison = Literal["rank", "overlap", "distance"]
"""How the agreement of two measures is judged: see `normviz.agreement`."""

RowScale = Literal["normalized", "raw"]
"""Whether rows are divided by their sums before layers are multiplied: see `normviz.rollout`."""
ROW_SCALES: tuple[RowScale, ...] = get_args(RowScale)

ShareUnit = Literal["query", "text", "corpus"]
"""Within what a share is taken before it is averaged: see `normviz.Profile.share`."""
SHARE_UNITS: tuple[ShareUnit, ...] = get_args(ShareUnit)

Punctuation = Literal["unicode", "paper"]
"""Which tokens count as punctuation: see `normviz.profile`."""
PUNCTUATIONS: tuple[Punctuation, ...] = get_args(Punctuation)

ContextTable = Literal["layer", "offset"]
"""The tables of `normviz.context`."""
CONTEXT_TABLES: tuple[ContextTable, ...] = get_args(ContextTable)

ZeroingSite = Literal["layer", "output"]
"""Whose output is watched while a token's values are zero: see `normviz.faithfulness`."""

MixingId = Literal[
    "weight",
    "weight-residual",
    "attention",
    "attention-residual",
    "attention-block",
    "feed-forward",
    "feed-forward-residual",
    "layer-output",
]
"""The rungs, and weights, that have a mixing ratio: see `Flow.mixing`."""

Text = str
"""One text to analyze; a list of texts reaches normviz's own error."""

Centimeters = float
"""A width; the figure itself checks that it can be drawn."""
