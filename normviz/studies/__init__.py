"""Experiments of papers, over many texts: each is one function, and its result one table."""

from normviz.studies.identifiability.result import Identifiability
from normviz.studies.identifiability.study import identifiability
from normviz.studies.mixing_ratios import PAPER, Mixing, Ratio, mixing
from normviz.studies.word_alignment.result import Alignments
from normviz.studies.word_alignment.study import alignment

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
