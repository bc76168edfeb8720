"""Experiments of papers, over many texts: each is one function, and its result one table."""

from normviz.studies.accuracy import Identifiability
from normviz.studies.alignments import Alignments
from normviz.studies.identity import identifiability
from normviz.studies.ratios import PAPER, Mixing, Ratio, mixing
from normviz.studies.translation import alignment

__all__ = [
    "PAPER",
    "Alignments",
    "Identifiability",
    "Mixing",
    "Ratio",
    "alignment",
    "identifiability",
    "mixing",
]
