"""normviz: what attention really moves.

    import normviz

    flow = normviz.analyze("demo", "The cat sat on the mat.")
    flow                      # in a notebook: the picture
    flow["weighted-norm"]     # the numbers: layer, head, query, key
    flow.receipt              # the proof that they add up

Importing normviz, and opening saved files, needs neither torch nor transformers. The tree:
`core` (the results), `io` (files and tables), `derived` and `alignment` (computed from a flow),
`model` (runs a model), `view` (draws a flow), `corpus` and `studies` (many texts), `cli`.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from normviz._load import load
from normviz.alignment.align import Alignment, align
from normviz.alignment.scores import aer
from normviz.alignment.symmetrize import symmetrize
from normviz.core.catalog import MEASURES, Measure
from normviz.core.chart import Chart
from normviz.core.flow import Flow
from normviz.core.gold import Gold
from normviz.core.gradients import Gradients
from normviz.core.receipt import Receipt
from normviz.core.stream import Stream
from normviz.core.tokens import Tokens
from normviz.corpus.profile import Profile
from normviz.derived.agreement import agreement
from normviz.derived.context import context
from normviz.derived.faithfulness import faithfulness
from normviz.derived.max_flow import attention_flow
from normviz.derived.patterns import patterns
from normviz.derived.rollout import rollout
from normviz.errors import NormvizError
from normviz.io.from_arrays import from_arrays
from normviz.system.optional import require_packages

if TYPE_CHECKING:
    from normviz import alignment, errors, studies
    from normviz.corpus.run import profile
    from normviz.model.analyze import analyze, analyze_many, check
    from normviz.view.page import to_html
    from normviz.view.widget import FlowWidget

__version__ = version("normviz")
__all__ = [
    "MEASURES",
    "Alignment",
    "Chart",
    "Flow",
    "FlowWidget",
    "Gold",
    "Gradients",
    "Measure",
    "NormvizError",
    "Profile",
    "Receipt",
    "Stream",
    "Tokens",
    "aer",
    "agreement",
    "align",
    "alignment",
    "analyze",
    "analyze_many",
    "attention_flow",
    "check",
    "context",
    "errors",
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

_NEEDS_WIDGETS = {"FlowWidget": "normviz.view.widget", "to_html": "normviz.view.page"}
_NEEDS_TORCH = {
    "analyze": "normviz.model.analyze",
    "analyze_many": "normviz.model.analyze",
    "check": "normviz.model.analyze",
    "profile": "normviz.corpus.run",
    "studies": "normviz",
}


def __getattr__(name: str) -> Any:
    """Import what needs torch or anywidget only when it is used."""
    if name in _NEEDS_WIDGETS:
        return getattr(import_module(_NEEDS_WIDGETS[name]), name)
    if name not in _NEEDS_TORCH:
        message = f"module 'normviz' has no attribute {name!r}"
        raise AttributeError(message)
    with require_packages("torch", "transformers", extra="models"):
        if name == "studies":
            return import_module("normviz.studies")
        return getattr(import_module(_NEEDS_TORCH[name]), name)


def __dir__() -> list[str]:
    """Return the public names, for completion."""
    return sorted([*__all__, "__version__"])
