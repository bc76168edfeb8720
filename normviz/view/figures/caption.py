"""The caption of a figure in plain words, its name, and the LaTeX that includes it."""

import re
from collections.abc import Sequence

from normviz.core.catalog import MEASURES, Measure
from normviz.view.figures import Size
from normviz.view.figures.drawing import common_share
from normviz.view.figures.legend import Legend
from normviz.view.figures.panes import WITHIN, Pane
from normviz.view.figures.views import FIGURE_VIEWS
from normviz.view.figures.views.place import Place

LEADS = {
    "flow": "What each token (right) reads from each token (left)",
    "stack": "What tokens are made of, traced through the layers",
    "grid": "Every layer (down) and head (across)",
    "matrix": "What each token (rows) reads from each token (columns)",
    "profile": "The share of each kind of token in every layer",
    "alignment": "Words of a translation and of its source, linked by attention",
    "text": "Each token of a text, shaded by its share",
}
MARKS = {
    "flow": "A ribbon is as wide as its number",
    "stack": "A ribbon is as wide as the share that it carries",
    "grid": "The deeper the color of a cell, the greater its number",
    "matrix": "The deeper the color of a cell, the greater its number",
    "profile": "",
    "alignment": "The wider a link, the greater its share of what the target word takes",
    "text": "The deeper the color of a token, the greater its share",
}
LONGEST_TITLE = 160

LATEX_LETTERS = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "“": "``", "”": "''", "–": "--", "…": r"\ldots{}",
}  # fmt: skip
LATEX_MATH = {
    "‖": r"\|", "α": r"\alpha ", "Σ": r"\sum ", "∂": r"\partial ", "⊥": r"^{\perp}",
    "→": r"\rightarrow ", "←": r"\leftarrow ", "×": r"\times ", "±": r"\pm ", "−": "-",
}  # fmt: skip
FORMULA = re.compile(rf"‖\S[^‖.,“”]*(?<!\s)‖|[{''.join(LATEX_MATH)}]+")
"""A norm with all that is in it, or a run of single signs."""
CLOSED = tuple(f"{sign}”" for sign in ".?!…")
"""How a sentence ends that needs no period."""


def name_figure(panes: Sequence[Pane], view: str) -> str:
    """Return a file name without suffix that says what is shown."""
    state = panes[0].state
    parts = [view, state.measure]
    if isinstance(state.compare, str):
        parts.append(state.compare)
    if view not in ("stack", *WITHIN):
        parts.append(f"layer-{state.layer}")
    if isinstance(state.compare, int):
        parts.append(str(state.compare))
    if state.heads is not None:
        parts.append("-".join(["head", *map(str, state.heads)]))
    if state.token is not None:
        parts.append(f"token-{state.token}")
    return re.sub(r"[^\w-]+", "-", "-".join(parts))


def write_caption(panes: Sequence[Pane], view: str, max_ribbons: int) -> str:
    """Return what a figure shows, what its marks stand for, and where its measures are from."""
    sentences = [_lead(panes, view), *_measure_sentences(panes), MARKS[view]]
    place = Place(0, 0, "light", common_share(panes, view), max_ribbons)
    notes = [FIGURE_VIEWS[view].explain(pane, place) for pane in panes]
    said = ["; ".join([*_color_phrases(note), *note.phrases]) for note in notes]
    if len({*said}) == 1:
        sentences.append(said[0])
    else:
        sides = zip(("left", "right"), said, strict=True)
        sentences += [f"on the {side}, {text}" for side, text in sides]
    if view == "flow" and len(panes) > 1:
        sentences.append("The bars of both panes have one scale")
    ended = (text if text.endswith(CLOSED) else f"{text}." for text in sentences if text)
    return " ".join(f"{text[:1].upper()}{text[1:]}" for text in ended)


def _lead(panes: Sequence[Pane], view: str) -> str:
    """Return what is shown: view, layer, heads, model, text."""
    models = list(dict.fromkeys(pane.flow.receipt.model for pane in panes))
    layer = "" if view in ("stack", *WITHIN) else f" in {_layer_phrase(panes)}"
    heads = "" if view in WITHIN else f" ({panes[0].heads})"
    titles = dict.fromkeys(" ".join(pane.flow.title.split()) for pane in panes if pane.flow.title)
    quoted = [f"“{_cut(title)}”" for title in titles]
    about = f", for {' and '.join(quoted)}" if quoted else ""
    return f"{LEADS[view]}{layer} of {' and '.join(models)}{heads}{about}"


def _layer_phrase(panes: Sequence[Pane]) -> str:
    layers = list(dict.fromkeys(pane.state.layer for pane in panes))
    if len(layers) == 1:
        return f"layer {layers[0]}"
    return f"layers {layers[0]} (left) and {layers[1]} (right)"


def _cut(title: str) -> str:
    return title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE].rstrip()} …"


def _measure_sentences(panes: Sequence[Pane]) -> list[str]:
    compared = panes[0].state.compare
    within = len(panes) == 1 and isinstance(compared, str) and compared in MEASURES
    measures = [pane.measure for pane in panes] + ([MEASURES[str(compared)]] if within else [])
    if len({measure.id for measure in measures}) == 1:
        return [_define(measures[0])]
    if within:
        return [_define(measure) for measure in measures]
    return [
        f"{side}: {_define(measure)}"
        for side, measure in zip(("Left", "Right"), measures, strict=True)
    ]


def _define(measure: Measure) -> str:
    """Return a measure with its meaning and where it is from."""
    # The weights themselves come from the model, not from a paper.
    source = f" ({measure.source})" if re.search(r"\d{4}", measure.source) else ""
    return f"{measure.label}, {measure.meaning}{source}"


def _color_phrases(legend: Legend) -> list[str]:
    names = ", ".join(text for text, _ in legend.swatches)
    phrases = [f"colors: {legend.label} {names}".replace("  ", " ")] if names else []
    ramp = legend.ramp
    return phrases if ramp is None else [*phrases, f"colors go from {ramp.low} to {ramp.high}"]


def write_latex(name: str, caption: str, panes: int, width_cm: Size | None) -> str:
    """Return a figure environment that includes a PDF; two panes take both columns."""
    kind = "figure*" if panes > 1 else "figure"
    full = r"\textwidth" if panes > 1 else r"\columnwidth"
    width = full if width_cm is None else f"{width_cm:g}cm"
    return "\n".join(
        [
            rf"\begin{{{kind}}}[t]",
            r"  \centering",
            rf"  \includegraphics[width={width}]{{{name}.pdf}}",
            rf"  \caption{{{escape_latex(caption)}}}",
            rf"  \label{{fig:{name}}}",
            rf"\end{{{kind}}}",
            "",
        ]
    )


def escape_latex(text: str) -> str:
    """Return plain text as LaTeX sets it, with formulas in math mode."""
    parts, end = [], 0
    for found in FORMULA.finditer(text):
        parts += [_escape(text[end : found.start()]), _as_math(found.group())]
        end = found.end()
    return "".join([*parts, _escape(text[end:])])


def _as_math(text: str) -> str:
    inside = "".join(LATEX_MATH.get(letter, letter) for letter in text)
    return f"${re.sub(r' +', ' ', inside).strip()}$"


def _escape(text: str) -> str:
    return "".join(LATEX_LETTERS.get(letter, letter) for letter in text)
