"""A page with every measure of the catalog: formula, paper, shape, cost, and what to beware of."""

import html
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from making.figures import figures
from making.links import ROOT
from normviz.core.catalog import DEFAULT, LADDER, MEASURES, ON_REQUEST, Measure

WORDS = ROOT / "docs" / "measures.toml"
GROUPS = {
    "Attention": (
        "One attention, in closed form. These four come by default and cost next to nothing.",
        DEFAULT,
    ),
    "The ladder": (
        "Each rung takes in one more component of the layer. `attention` is the first of them.",
        LADDER[1:],
    ),
    "Other ways": ("Null spaces, derivatives, and what happens without a token.", ()),
    "Through the layers": (
        "What a measure carries from the input up to a layer: `normviz.rollout`, or by name.",
        (*(name for name in MEASURES if name.startswith("rollout:")), "attention-flow"),
    ),
}
"""Headings, a sentence below each, and the measures; what is in no other group is another way."""

BEGINNING = """# The measures

Every measure that `normviz.analyze(…, measures=…)` knows, by its id. In the formulas i is the token
that receives (`query`), j the token that is read from (`key`), h a head; x<sub>j</sub> is what the
layer was given for token j, and fʰ(x) = (x W<sub>V</sub>ʰ + b<sub>V</sub>ʰ) W<sub>O</sub>ʰ what
head h has to give from it. ‖·‖ is the Euclidean norm. Layers and heads are numbered from 0. None of
these is renormalized silently: where rows are shares, the formula says so.

Costs are ratios to the model's own eager pass with attentions, from the
[benchmarks](benchmarks/README.md), where something was measured; what was not says so. `"all"`
means every measure here but {on_request}. All numbers come with a receipt:
[how they are checked](checked.md).

"""


def entries() -> dict[str, dict[str, Any]]:
    """What is said of each measure, with what an entry borrows from another."""
    said = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    del said["papers"]
    return {name: _whole(said, name) for name in said}


def _whole(said: dict[str, Any], name: str) -> dict[str, Any]:
    own = said[name]
    return {**_whole(said, own["like"]), **own} if "like" in own else own


def page() -> str:
    """The measures as Markdown, in groups."""
    said, papers = entries(), tomllib.loads(WORDS.read_text(encoding="utf-8"))["papers"]
    grouped = [name for _, names in GROUPS.values() for name in names]
    rest = tuple(name for name in MEASURES if name not in grouped)
    measured = figures()
    on_request = ", ".join(f"`{name}`" for name in ON_REQUEST)
    text = BEGINNING.format(on_request=on_request) + "\n".join(_overview()) + "\n"
    for title, (about, names) in GROUPS.items():
        text += f"\n## {title}\n\n{about}\n\n"
        text += "\n".join(_section(MEASURES[n], said[n], papers, measured) for n in names or rest)
    return text + "\n## Papers\n\n" + "\n".join(map(_listed, papers.values())) + "\n"


def _overview() -> Iterator[str]:
    yield "| id | | axes | |"
    yield "|---|---|---|---|"
    for name, measure in MEASURES.items():
        axes = " ".join(measure.axes)
        yield f"| [`{name}`](#{name}) | {measure.label} | {axes} | {measure.meaning} |"


def _section(
    measure: Measure,
    said: dict[str, Any],
    papers: dict[str, list[str]],
    measured: dict[str, str],
) -> str:
    axes = " × ".join(f"`{axis}`" for axis in measure.axes)
    signed = "; may be negative" if measure.signed else ""
    cited = "; ".join(_cited(*papers[key]) for key in said["papers"])
    rows = {
        "Shape": axes + signed,
        "From": f"{measure.source[0].upper()}{measure.source[1:]}: {cited}",
        "Cost": _line(said["cost"].format_map(measured)),
        "Beware": _line(said["beware"]),
    }
    table = "\n".join(f"{name}\n:   {text}\n" for name, text in rows.items())
    return (
        f"### `{measure.id}` <small>{measure.label}</small> "
        f'{{ #{measure.id} data-toc-label="{measure.id}" }}\n\n'
        f"{measure.meaning[0].upper()}{measure.meaning[1:]}.\n\n"
        f'<div class="nv-formula">{_formula(said["formula"])}</div>\n\n{table}'
    )


def _formula(text: str) -> str:
    """A formula as HTML: what follows a low line is set lower, and definitions get lines."""
    lower = re.sub(r"_(?:\((.+?)\)|([A-Za-z0-9]+))", r"<sub>\1\2</sub>", html.escape(text))
    first, *defined = lower.split(",   ")
    return "".join([f"<p>{first}</p>", *(f"<p><small>{one}</small></p>" for one in defined)])


def _cited(reference: str, address: str = "") -> str:
    """A paper's title and place, without its authors; a link where there is an address."""
    title = reference.partition(": ")[2]
    return f"[{title}]({address})" if address else title


def _listed(paper: list[str]) -> str:
    reference, *address = paper
    return f"- {reference}" + "".join(f", <{one}>" for one in address)


def _line(text: str) -> str:
    return " ".join(text.split())
