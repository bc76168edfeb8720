"""The page of all measures in the catalog: formula, paper, shape, cost and caveats."""

import html
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from making.figures import figures
from making.links import ROOT
from normviz.core.catalog import MEASURES, Family, Measure

TEXTS = ROOT / "docs" / "measures.toml"


@dataclass(frozen=True)
class Group:
    """A section of the page: its heading, a sentence below it, and the families it has."""

    title: str
    about: str
    families: tuple[Family, ...]


GROUPS = (
    Group(
        "Attention",
        "Attention alone, in closed form. Together with `attention`, the first rung of the ladder, "
        "these are the default measures. They cost almost nothing.",
        ("attention",),
    ),
    Group(
        "The ladder",
        "Each rung includes one more component of the layer.",
        ("ladder",),
    ),
    Group(
        "Other methods",
        "Null spaces, derivatives, and what happens without a token.",
        ("effective", "contribution", "attribution", "value-zeroing", "decomposition"),
    ),
    Group(
        "Through the layers",
        "A measure propagated from the input up to a layer: `normviz.rollout`, or by name.",
        ("rollout", "max-flow"),
    ),
)

INTRODUCTION = """# The measures

Every measure that `normviz.analyze(…, measures=…)` accepts, by its id. In the formulas, i is the
token that receives (`query`), j the token that is read from (`key`), and h a head. x<sub>j</sub> is
the layer's input for token j; fʰ(x) = (x W<sub>V</sub>ʰ + b<sub>V</sub>ʰ) W<sub>O</sub>ʰ is its
transformed value vector in head h. ‖·‖ is the Euclidean norm. Layers and heads are numbered from 0.
No measure is renormalized silently: where rows are shares, the formula says so.

Costs are ratios to the model's own eager pass with attentions, from the
[benchmarks](benchmarks/README.md). An entry says so if a cost was not measured. `"all"` means every
measure here except {on_request}. All numbers come with a receipt:
[how they are checked](checked.md).

"""


def entries() -> dict[str, dict[str, Any]]:
    """Return the texts of each measure, with the fields that an entry takes from another."""
    texts = _read_texts()
    del texts["papers"]
    return {name: _complete(texts, name) for name in texts}


def _read_texts() -> dict[str, Any]:
    return tomllib.loads(TEXTS.read_text(encoding="utf-8"))


def _complete(texts: dict[str, Any], name: str) -> dict[str, Any]:
    own = texts[name]
    return {**_complete(texts, own["like"]), **own} if "like" in own else own


def page() -> str:
    """Return the page of measures as Markdown, in groups."""
    texts, papers, measured = entries(), _read_texts()["papers"], figures()
    on_request = ", ".join(f"`{name}`" for name, measure in MEASURES.items() if measure.on_request)
    text = INTRODUCTION.format(on_request=on_request) + "\n".join(_overview()) + "\n"
    for group in GROUPS:
        text += f"\n## {group.title}\n\n{group.about}\n\n"
        text += "\n".join(
            _section(measure, texts[measure.id], papers, measured)
            for measure in MEASURES.values()
            if measure.family in group.families
        )
    return text + "\n## Papers\n\n" + "\n".join(map(_list_item, papers.values())) + "\n"


def _overview() -> Iterator[str]:
    yield "| id | | axes | |"
    yield "|---|---|---|---|"
    for name, measure in MEASURES.items():
        axes = " ".join(measure.axes)
        yield f"| [`{name}`](#{name}) | {measure.label} | {axes} | {measure.meaning} |"


def _section(
    measure: Measure,
    texts: dict[str, Any],
    papers: dict[str, list[str]],
    measured: dict[str, str],
) -> str:
    axes = " × ".join(f"`{axis}`" for axis in measure.axes)
    signed = "; may be negative" if measure.signed else ""
    cited = "; ".join(_citation(*papers[key]) for key in texts["papers"])
    rows = {
        "Shape": axes + signed,
        "From": f"{measure.source[0].upper()}{measure.source[1:]}: {cited}",
        "Cost": _line(texts["cost"].format_map(measured)),
        "Beware": _line(texts["beware"]),
    }
    table = "\n".join(f"{name}\n:   {text}\n" for name, text in rows.items())
    return (
        f"### `{measure.id}` <small>{measure.label}</small> "
        f'{{ #{measure.id} data-toc-label="{measure.id}" }}\n\n'
        f"{measure.meaning[0].upper()}{measure.meaning[1:]}.\n\n"
        f'<div class="nv-formula">{_formula(texts["formula"])}</div>\n\n{table}'
    )


def _formula(text: str) -> str:
    """Return a formula as HTML: underscores make subscripts, definitions get their own lines."""
    formula = re.sub(r"_(?:\((.+?)\)|([A-Za-z0-9]+))", r"<sub>\1\2</sub>", html.escape(text))
    first, *definitions = formula.split(",   ")
    return "".join([f"<p>{first}</p>", *(f"<p><small>{line}</small></p>" for line in definitions)])


def _citation(reference: str, address: str = "") -> str:
    """Return a paper's title and venue without its authors, linked if there is an address."""
    title = reference.partition(": ")[2]
    return f"[{title}]({address})" if address else title


def _list_item(paper: list[str]) -> str:
    reference, *address = paper
    return f"- {reference}" + "".join(f", <{url}>" for url in address)


def _line(text: str) -> str:
    return " ".join(text.split())
