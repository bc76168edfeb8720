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

from normviz._load import load
from normviz.alignment.align import Alignment, align
from normviz.alignment.scores import aer
from normviz.alignment.symmetrize import symmetrize
from normviz.core.catalog import MEASURES
from normviz.core.flow import Flow
from normviz.core.gold import Gold
from normviz.core.tokens import Tokens
from normviz.derived.agreement import agreement
from normviz.derived.context import context
from normviz.derived.faithfulness import faithfulness
from normviz.derived.max_flow import attention_flow
from normviz.derived.patterns import patterns
from normviz.derived.rollout import rollout
from normviz.errors import NormvizError
from normviz.io.from_arrays import from_arrays

if TYPE_CHECKING:
    from normviz import studies
    from normviz.corpus.run import profile
    from normviz.model.analyze import analyze, analyze_many, check
    from normviz.view.page import to_html

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
    "symmetrize",
    "to_html",
]

_MODEL_WING = {
    "analyze": "normviz.model.analyze",
    "analyze_many": "normviz.model.analyze",
    "check": "normviz.model.analyze",
    "profile": "normviz.corpus.run",
}


def __getattr__(name: str) -> Any:
    """Open the model wing, which imports torch, only when somebody asks for it."""
    if name == "to_html":
        return import_module("normviz.view.page").to_html
    if name != "studies" and name not in _MODEL_WING:
        message = f"module 'normviz' has no attribute {name!r}"
        raise AttributeError(message)
    from normviz.system.optional import require_packages

    with require_packages("torch", "transformers", extra="models"):
        if name == "studies":
            return import_module("normviz.studies")
        return getattr(import_module(_MODEL_WING[name]), name)
