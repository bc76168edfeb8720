"""Experiments of papers, over many texts: each is one function, and its result one table."""

from normviz.studies.accuracy import Identifiability
from normviz.studies.identity import identifiability
from normviz.studies.ratios import PAPER, Mixing, Ratio, mixing

__all__ = ["PAPER", "Identifiability", "Mixing", "Ratio", "identifiability", "mixing"]
