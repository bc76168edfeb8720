"""A figure with its caption, its LaTeX and its name."""

import re
from dataclasses import replace

import numpy as np
import pytest
from flows import plain_state, random_flow, translation_flow, two_streams

from normviz.core.catalog import MEASURES
from normviz.errors import UnknownName
from normviz.io.from_arrays import from_arrays
from normviz.view.figures.caption import LEADS, MARKS, escape_latex
from normviz.view.figures.views import FIGURE_VIEWS
from normviz.view.state import BadChoice

PLAIN = re.compile(r"^[ -~]*$")


def figure_of(flow, name=None, **options):
    """A figure of one measure in the first layer, unless the options say otherwise."""
    return flow.figure(name, **plain_state(flow, options))


def test_a_caption_says_model_text_layer_heads_measure_and_what_is_drawn():
    caption = figure_of(random_flow(), layer=1).caption
    assert caption.startswith(
        "What each token (right) reads from each token (left) in layer 1 of numbers from "
        "elsewhere (mean of 4 heads), for “[CLS] the animal was tired [SEP]”. "
    )
    measure = MEASURES["weighted-norm"]
    assert f"‖αf(x)‖, {measure.meaning} (Kobayashi et al. 2020)." in caption
    assert "A ribbon is as wide as its number." in caption
    assert "95% of the sum drawn; bars: share of all that is given." in caption


def test_a_caption_tells_two_panes_apart():
    caption = figure_of(random_flow(), measure="weight", compare="weighted-norm").caption
    assert f"Left: α, {MEASURES['weight'].meaning}. Right: ‖αf(x)‖, " in caption
    assert "On the left, full row: 1.00" in caption
    assert caption.endswith("The bars of both panes have one scale.")
    layers = figure_of(random_flow(), compare=2).caption
    assert "in layers 0 (left) and 2 (right) of" in layers
    assert layers.count(MEASURES["weighted-norm"].meaning) == 1
    other = replace(random_flow(), title="Another text?")
    assert "[SEP]” and “Another text?” " in figure_of(random_flow(), compare=other).caption


def test_a_caption_names_the_heads_that_colors_stand_for():
    assert "Colors: heads 1, 3; " in figure_of(random_flow(), heads=[1, 3]).caption
    assert "colors" not in figure_of(random_flow()).caption.lower()
    assert "Colors go from 0 to " in figure_of(random_flow(), view="matrix").caption


def test_an_alignment_names_the_measure_that_it_is_read_from():
    flow = translation_flow()
    assert "‖Σ αf(x)‖, " in flow.figure(view="alignment").caption
    assert "‖αf(x)‖, " in flow.figure(view="alignment", heads=[1]).caption


def test_every_view_has_words_for_its_caption_and_a_name_of_its_own():
    assert {*FIGURE_VIEWS} == {*LEADS} == {*MARKS}
    flow = translation_flow()
    figures = [figure_of(flow, view=view) for view in FIGURE_VIEWS]
    assert len({figure.name for figure in figures}) == len(FIGURE_VIEWS)
    for figure in figures:
        assert re.fullmatch(r"[\w-]+", figure.name)
        assert "Tengo tres gatos" in figure.caption


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "flow-weighted-norm-layer-0"),
        ({"measure": "weight", "compare": "weighted-norm"}, "flow-weight-weighted-norm-layer-0"),
        ({"compare": 2}, "flow-weighted-norm-layer-0-2"),
        ({"heads": [1, 3], "layer": 1}, "flow-weighted-norm-layer-1-head-1-3"),
        ({"token": 2, "view": "matrix"}, "matrix-weighted-norm-layer-0-token-2"),
        ({"view": "grid"}, "grid-weighted-norm"),
    ],
)
def test_a_name_says_what_is_shown(options, name):
    assert figure_of(random_flow(), **options).name == name


def test_latex_includes_the_file_under_the_name_that_save_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure = figure_of(random_flow(), "animal")
    path = figure.save()
    assert path.read_bytes().startswith(b"%PDF")
    lines = figure.latex.splitlines()
    assert lines[0] == r"\begin{figure}[t]"
    assert lines[2] == rf"  \includegraphics[width=\columnwidth]{{{path}}}"
    assert lines[3].startswith(r"  \caption{What each token")
    assert lines[4] == r"  \label{fig:animal}"
    assert lines[5] == r"\end{figure}"
    assert PLAIN.match(figure.latex.replace("\n", " "))


def test_two_panes_take_two_columns_of_the_paper():
    latex = figure_of(random_flow(), measure="weight", compare="weighted-norm").latex
    assert latex.startswith(r"\begin{figure*}")
    assert r"width=\textwidth" in latex
    assert "width=12cm" in figure_of(random_flow(), width_cm=12).latex


@pytest.mark.parametrize(
    ("plain", "latex"),
    [
        ("95% of a_b & {c} #1 $2", r"95\% of a\_b \& \{c\} \#1 \$2"),
        ("‖αf(x)‖, the norm", r"$\|\alpha f(x)\|$, the norm"),
        ("‖Σ αf(x)‖", r"$\|\sum \alpha f(x)\|$"),
        ("α and α⊥", r"$\alpha$ and $\alpha ^{\perp}$"),
        ("tired. ‖ It lay ‖ down", r"tired. $\|$ It lay $\|$ down"),
        ("“a\\b~c^d”", r"``a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d''"),
    ],
)
def test_latex_sets_every_sign(plain, latex):
    assert escape_latex(plain) == latex


def test_a_figure_is_saved_by_its_suffix_and_shown_as_svg(tmp_path):
    figure = figure_of(random_flow(), layer=1, dpi=50)
    starts = {"pdf": b"%PDF", "svg": b"<svg", "png": b"\x89PNG"}
    for suffix, start in starts.items():
        assert figure.save(tmp_path / f"x.{suffix}").read_bytes().startswith(start)
    assert figure.svg == figure._repr_svg_() == (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert figure.svg == random_flow().to_svg(
        tmp_path / "y.svg", **plain_state(random_flow(), {"layer": 1})
    ).read_text("utf-8")
    assert repr(figure).startswith("<figure flow-weighted-norm-layer-1: What each token")
    with pytest.raises(UnknownName, match=r"A file can be: \.pdf, \.svg, \.png\."):
        figure.save(tmp_path / "x.doc")


def test_a_figure_refuses_what_it_does_not_have():
    with pytest.raises(BadChoice, match="figure has no keyword 'hue'"):
        figure_of(random_flow(), hue="red")
    with pytest.raises(BadChoice, match="width_cm is -1"):
        figure_of(random_flow(), width_cm=-1)
    with pytest.raises(BadChoice, match="There is no value for title 3 here"):
        figure_of(random_flow(), title=3).svg  # noqa: B018
    with pytest.raises(UnknownName, match="has no query, so there is no stack of it"):
        figure_of(random_flow(), view="stack", measure="value-norm")


def test_a_flow_without_a_title_needs_none():
    flow = from_arrays(np.full((1, 1, 2, 2), 0.5), ["a", "b"])
    assert ", for “" not in figure_of(flow).caption
    assert "for “le chat”" in figure_of(two_streams()).caption
