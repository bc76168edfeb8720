"""normviz: what attention really moves.

    import normviz

    flow = normviz.analyze("demo", "The cat sat on the mat.")
    flow                      # in a notebook: the picture
    flow["weighted-norm"]     # the numbers: layer, head, query, key
    flow.receipt              # the proof that they add up

Importing normviz, and opening what was saved, needs neither torch nor transformers.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from normviz.agreement import agreement
from normviz.alignment.aligning import Alignment, align
from normviz.alignment.links import Gold
from normviz.alignment.scores import aer
from normviz.alignment.symmetry import symmetrise
from normviz.arrays import from_arrays
from normviz.catalog import MEASURES
from normviz.context import context
from normviz.errors import NormvizError
from normviz.faithful import faithfulness
from normviz.flow import Flow
from normviz.opening import load
from normviz.patterns import patterns
from normviz.pipes import attention_flow
from normviz.rolling import rollout
from normviz.tokens import Tokens

if TYPE_CHECKING:
    from normviz import studies
    from normviz.analysis import analyze, analyze_many, check
    from normviz.corpus.profiling import profile
    from normviz.snapshot import to_html

__version__ = version("normviz")
__all__ = [
    "MEASURES",
    "Alignment",
    "Flow",
    "Gold",
    "NormvizError",
    "Tokens",
    "aer",
    "agreement",
    "align",
    "analyze",
    "analyze_many",
    "attention_flow",
    "check",
    "context",
    "faithfulness",
    "from_arrays",
    "load",
    "patterns",
    "profile",
    "rollout",
    "studies",
    "symmetrise",
    "to_html",
]

_MODEL_WING = {
    "analyze": "normviz.analysis",
    "analyze_many": "normviz.analysis",
    "check": "normviz.analysis",
    "profile": "normviz.corpus.profiling",
}


def __getattr__(name: str) -> Any:
    """Open the model wing, which imports torch, only when somebody asks for it."""
    if name == "to_html":
        return import_module("normviz.snapshot").to_html
    if name != "studies" and name not in _MODEL_WING:
        message = f"module 'normviz' has no attribute {name!r}"
        raise AttributeError(message)
    from normviz.packages import needed

    with needed("torch", "transformers", extra="models"):
        if name == "studies":
            return import_module("normviz.studies")
        return getattr(import_module(_MODEL_WING[name]), name)
