"""Experiments of papers over many texts: each is one function, and its result one table.

In come a model and texts (or sentence pairs with gold links); out comes a result that prints as the
paper's table, and has `to_dataframe()` and charts.
"""

from normviz.studies.identifiability.result import Identifiability
from normviz.studies.identifiability.study import identifiability
from normviz.studies.mixing_ratios import PAPER_NAMES, Mixing, Ratio, mixing
from normviz.studies.word_alignment.result import Alignments
from normviz.studies.word_alignment.study import alignment

__all__ = [
    "PAPER_NAMES",
    "Alignments",
    "Identifiability",
    "Mixing",
    "Ratio",
    "alignment",
    "identifiability",
    "mixing",
]
