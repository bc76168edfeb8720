"""Figures without a browser: vector text, sized for paper, true to the numbers."""

import re
import struct
from base64 import b64decode
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from flows import NASTY, plain_state, random_flow, translation_flow, two_streams, wordy_flow
from saved_figures import SVG

from normviz.errors import MissingPackage, UnknownName
from normviz.view.figures.drawing import draw_panes
from normviz.view.figures.geometry import place_focused_ribbons, place_ribbons
from normviz.view.figures.panes import make_panes
from normviz.view.figures.picture import make_picture
from normviz.view.figures.views import FIGURE_VIEWS
from normviz.view.figures.words import format_number
from normviz.view.state import VIEWS, BadChoice, resolve_state


@pytest.fixture
def figure(tmp_path):
    """Writes a figure and reads it back as a tree."""

    def write(flow, **options):
        path = flow.to_svg(tmp_path / "figure.svg", **plain_state(flow, options))
        return ET.parse(path).getroot()  # noqa: S314 - our own file

    return write


def texts(root):
    return [node.text for node in root.iter(f"{SVG}text")]


def test_the_tokens_are_text_in_named_fonts(figure):
    flow = random_flow()
    root = figure(flow)
    assert [text for text in texts(root) if text in flow.tokens.pieces] == [*flow.tokens.pieces] * 2
    assert root.get("font-family").endswith("sans-serif")


@pytest.mark.parametrize(
    ("options", "width"),
    [({}, 8.5), ({"compare": "weight"}, 17), ({"width_cm": 12}, 12), ({"view": "matrix"}, 8.5)],
)
def test_a_figure_is_as_wide_as_a_column_of_a_paper(figure, options, width):
    root = figure(random_flow(), **options)
    assert root.get("width") == f"{width:g}cm"
    _, _, across, down = map(float, root.get("viewBox").split())
    assert float(root.get("height").removesuffix("cm")) == pytest.approx(
        width * down / across, abs=0.01
    )


def test_every_ribbon_is_a_path_as_wide_as_it_weighs(figure):
    flow = random_flow()
    root = figure(flow, measure="weight", layer=1)
    shown = make_picture(
        flow, resolve_state(flow, plain_state(flow, {"measure": "weight", "layer": 1}))
    )
    expected = place_ribbons(shown, 20)
    assert shown.values.sum(axis=(0, 2)) == pytest.approx(1)  # the mean over heads: rows add to 1
    widths = [float(path.get("stroke-width")) for path in root.iter(f"{SVG}path")]
    assert widths == pytest.approx(expected.width.tolist(), rel=1e-2)
    values = shown.values[expected.plane, expected.query, expected.key]
    assert expected.width == pytest.approx(values / shown.units[0] * 20 * 0.84, rel=1e-5)


def test_a_pinned_token_is_drawn_alone_and_bold(figure):
    flow = random_flow()
    root = figure(flow, token=2, layer=1)
    shown = make_picture(flow, resolve_state(flow, plain_state(flow, {"token": 2, "layer": 1})))
    assert len(list(root.iter(f"{SVG}path"))) == len(place_focused_ribbons(shown, 20))
    bold = [node.text for node in root.iter(f"{SVG}text") if node.get("font-weight")]
    assert bold == ["animal"]


def test_a_figure_is_light_unless_its_theme_is_dark(figure):
    paper = [figure(random_flow(), theme=theme)[1].get("fill") for theme in ("auto", "dark")]
    assert paper == ["#ffffff", "#15181c"]


def test_two_measures_stand_side_by_side_under_their_names(figure):
    found = texts(figure(random_flow(), measure="weight", compare="weighted-norm"))
    assert found.index("α") < found.index("‖αf(x)‖")
    assert found.count("animal") == 4


def test_two_layers_and_two_flows_stand_side_by_side(figure):
    assert {"layer 0", "layer 2"} <= set(texts(figure(random_flow(), compare=2)))
    other = replace(random_flow(["one", "more"]), title="the other")
    found = texts(figure(random_flow(), compare=other))
    assert {"the other", "one", "animal"} <= set(found)
    with pytest.raises(BadChoice, match=r"flow.to_svg\(path, compare=other\)"):
        figure(random_flow(), compare="other")


def test_words_and_hidden_tokens_are_as_in_the_view(figure):
    flow = wordy_flow()
    found = texts(figure(flow, words=True, special="hidden", measure="weight"))
    assert found.count("unbelievable") == 2
    assert "[CLS]" not in found
    whole = flow.words()["weight"][0][:, 1:3]
    gone = whole[:, :, [0, 3]].sum() / whole.sum()
    assert any(f"with them {gone:.0%} of the sum" in text for text in found)


def test_a_matrix_has_one_vector_cell_for_each_pair(figure):
    root = figure(random_flow(), view="matrix", measure="weight", legend=False)
    assert not list(root.iter(f"{SVG}image"))
    (group,) = root.iter(f"{SVG}g")
    wide = [float(width) for path in group for width in re.findall(r"h([\d.]+)", path.get("d"))]
    assert sum(wide) == pytest.approx(6 * 6 * 20, abs=0.1)


def test_a_large_matrix_is_a_picture_with_several_pixels_for_each_cell(figure):
    flow = random_flow([f"t{n}" for n in range(150)], layers=1, heads=1)
    (image,) = figure(flow, view="matrix", legend=False).iter(f"{SVG}image")
    assert image.get("style") == "image-rendering:pixelated"
    data = b64decode(image.get("href").partition(",")[2])
    assert struct.unpack(">II", data[16:24]) == (150 * 8, 150 * 8)


def test_a_measure_without_queries_is_drawn_as_bars_only(figure):
    root = figure(random_flow(), measure="value-norm")
    assert not list(root.iter(f"{SVG}path"))
    assert len(list(root.iter(f"{SVG}rect"))) == 1 + 6
    split = figure(random_flow(), measure="value-norm", heads=[0, 2], legend=False)
    assert len(list(split.iter(f"{SVG}rect"))) == 1 + 2 * 6
    norms = random_flow()["value-norm"][0].mean(axis=0)
    assert {format_number(norm) for norm in norms.tolist()} <= {*texts(root)}
    with pytest.raises(UnknownName, match="has no query, so there is no matrix"):
        figure(random_flow(), measure="value-norm", view="matrix")


def test_nasty_tokens_stay_text_and_the_file_stays_xml(figure):
    found = texts(figure(random_flow(NASTY)))
    assert sum(text.startswith("<img src=x") for text in found) == 2
    assert any(text.startswith("</script>") for text in found)
    assert "\ufffd" in found
    assert any(text.endswith("…") for text in found)


def test_every_view_can_be_drawn_without_a_browser(figure):
    assert {*VIEWS, "text"} <= {*FIGURE_VIEWS}
    for view in FIGURE_VIEWS:
        assert len(list(figure(translation_flow(), view=view))) > 20
    with pytest.raises(BadChoice, match="There is no view 'globe' here"):
        figure(random_flow(), view="globe")
    flow = random_flow()
    panes = make_panes((flow,), resolve_state(flow, plain_state(flow, {})))
    with pytest.raises(UnknownName, match=r"Figures can be made of: flow, .*text\..*save SVG"):
        draw_panes(panes, "globe", "light")


def test_the_legend_can_be_left_out(figure):
    assert any("full row" in text for text in texts(figure(random_flow())))
    assert not any("full row" in text for text in texts(figure(random_flow(), legend=False)))


def test_streams_with_two_texts_have_two_columns(figure):
    found = texts(figure(two_streams(), stream="cross"))
    assert {"le", "chat", "the", "cat"} <= set(found)


def test_the_same_flow_gives_the_same_bytes(tmp_path):
    paths = [random_flow().to_svg(tmp_path / name) for name in ("one.svg", "two.svg")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_png_has_as_many_dots_as_its_size_says(tmp_path):
    path = random_flow().to_png(tmp_path / "figure.png", dpi=100, width_cm=10.16)
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert width == 400
    assert 100 < height < 400


def test_a_png_holds_the_ribbons(tmp_path):
    from matplotlib.image import imread

    pixels = imread(random_flow().to_png(tmp_path / "figure.png", dpi=120))[:, :, :3]
    colored = np.ptp(pixels, axis=2) > 0.2
    assert colored.mean() > 0.05


def test_a_flow_can_be_drawn_on_axes_that_are_there():
    from matplotlib.figure import Figure

    axes = Figure(figsize=(8, 4)).subplots(1, 2)
    flow = random_flow()
    assert flow.plot(axes[1], **plain_state(flow, {"layer": 1})) is axes[1]
    labels = [text.get_text() for text in axes[1].texts]
    assert labels.count("animal") == 2
    assert not axes[0].texts
    assert len(axes[1].patches) > 20


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, tmp_path, kind):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingPackage, match=r"normviz\[figures\]"):
        getattr(random_flow(), f"to_{kind}")(tmp_path / f"figure.{kind}")
    assert not list(tmp_path.iterdir())


def test_a_pdf_has_the_size_of_the_figure_vectors_and_text_and_the_same_bytes(tmp_path):
    paths = [random_flow().to_pdf(tmp_path / f"{n}.pdf", width_cm=10.16) for n in (1, 2)]
    data = paths[0].read_bytes()
    assert data.startswith(b"%PDF")
    assert data == paths[1].read_bytes()
    width = float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", data).group(1))
    assert width == pytest.approx(4 * 72)
    assert b"/Subtype /Image" not in data
    assert b"/FontFile2" in data  # TrueType, so that its text stays text
    matrix = random_flow().to_pdf(tmp_path / "matrix.pdf", view="matrix").read_bytes()
    assert b"/Subtype /Image" not in matrix


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (0.5, "0.500"),
        (12.345, "12.3"),
        (123.4, "123"),
        (1.23e-5, "1.2e-5"),
        (2e6, "2.0e6"),
    ],
)
def test_numbers_are_written_as_in_the_view(value, said):
    assert format_number(value) == said
