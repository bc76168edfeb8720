"""The same marks in every format: SVG and matplotlib say and show what the drawing says."""

import io
import re
from base64 import b64decode
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from flows import NASTY, random_flow
from matplotlib.image import imread
from matplotlib.patches import PathPatch, Polygon, Rectangle
from saved_figures import draw_plain

from normviz.view.figures.files import render_svg
from normviz.view.figures.marks import Box, Curve, Drawing, Heatmap, Line, Text
from normviz.view.figures.matplotlib import draw_on_axes, render_png
from normviz.view.figures.svg import encode_png as png_of_cells
from normviz.view.figures.svg import svg_text

SVG = "{http://www.w3.org/2000/svg}"
STATES = [{}, {"token": 2}, {"view": "matrix", "token": 2}, {"compare": "weight", "theme": "dark"}]


def marks(sheet, kind):
    return [mark for mark in sheet.marks if isinstance(mark, kind)]


@pytest.mark.parametrize("state", STATES, ids=str)
def test_svg_has_every_line_where_the_drawing_has_it(state):
    sheet = draw_plain(random_flow(), **state)
    root = ET.fromstring(svg_text(sheet, width_cm=8.5))  # noqa: S314 - our own file
    nodes = list(root.iter(f"{SVG}text"))
    for node, text in zip(nodes, marks(sheet, Text), strict=True):
        x, y = float(node.get("x")), float(node.get("y"))
        assert (x, y) == pytest.approx((text.x, text.y), abs=0.01)
        assert node.text == text.text
        assert float(node.get("opacity", "1")) == pytest.approx(text.opacity)
        assert (node.get("font-weight") == "bold") == text.bold
        assert node.get("text-anchor", "start") == text.anchor
        rotated = f"rotate(-90 {node.get('x')} {node.get('y')})"  # upwards, to be read from below
        assert node.get("transform") == (rotated if text.rotated else None)
        assert node.get("fill") == text.color


def test_svg_has_every_ribbon_bar_and_cell_where_the_drawing_has_it():
    sheet = draw_plain(random_flow(), token=1)
    root = ET.fromstring(svg_text(sheet, width_cm=8.5))  # noqa: S314 - our own file
    for node, curve in zip(root.iter(f"{SVG}path"), marks(sheet, Curve), strict=True):
        numbers = [float(n) for n in re.findall(r"[-\d.]+", node.get("d"))]
        x, y, to_x, to_y = curve.points
        bend = (x + to_x) / 2
        assert numbers == pytest.approx([x, y, bend, y, bend, to_y, to_x, to_y], abs=0.01)
        assert node.get("stroke") == curve.color
    _, *boxes = root.iter(f"{SVG}rect")
    for node, box in zip(boxes, marks(sheet, Box), strict=True):
        place = [float(node.get(name)) for name in ("x", "y", "width", "height")]
        assert place == pytest.approx([box.x, box.y, box.width, box.height], abs=0.01)
        assert float(node.get("opacity", "1")) == box.opacity


def test_a_heatmap_in_svg_has_a_rectangle_of_its_color_for_each_run_of_cells():
    sheet = draw_plain(random_flow(), view="matrix", legend=False)
    (field,) = marks(sheet, Heatmap)
    (group,) = ET.fromstring(svg_text(sheet, width_cm=8.5)).iter(f"{SVG}g")  # noqa: S314
    assert group.get("shape-rendering") == "crispEdges"
    wide, tall = field.width / 6, field.height / 6
    found = {}
    for path in group:
        for x, y, length in re.findall(r"M([-\d.]+) ([-\d.]+)h([\d.]+)", path.get("d")):
            row, column = (float(y) - field.y) / tall, (float(x) - field.x) / wide
            for cell in range(round(float(length) / wide)):
                found[round(row), round(column) + cell] = path.get("fill")
    for row, column in np.ndindex(6, 6):
        assert found[row, column] == "#{:02x}{:02x}{:02x}".format(*field.cells[row, column])


def test_a_large_heatmap_is_a_picture_of_these_very_cells():
    sheet = draw_plain(random_flow(), view="matrix", legend=False)
    (field,) = marks(sheet, Heatmap)
    large = replace(field, is_one_of=1000)
    (image,) = ET.fromstring(  # noqa: S314
        svg_text(replace(sheet, marks=[large]), width_cm=8.5)
    ).iter(f"{SVG}image")
    assert image.get("preserveAspectRatio") == "none"
    data = b64decode(image.get("href").removeprefix("data:image/png;base64,"))
    found = np.rint(imread(io.BytesIO(data))[..., :3] * 255).astype(int)
    assert found[4::8, 4::8].tolist() == field.cells.tolist()
    assert (found == found[4::8, 4::8].repeat(8, axis=0).repeat(8, axis=1)).all()
    assert data == png_of_cells(large.magnify())
    (on_axes,) = draw_on_axes(replace(sheet, marks=[large]), width_cm=8.5).images
    left, right, bottom, top = on_axes.get_extent()
    assert (left, top) == (field.x, field.y)
    assert (right, bottom) == (field.x + field.width, field.y + field.height)
    assert on_axes.get_array().tolist() == found.tolist()


def test_a_figure_has_the_name_of_its_text_or_of_its_model():
    flow = random_flow()
    titles = [
        ET.fromstring(render_svg(one))[0].text  # noqa: S314 - our own file
        for one in (flow, replace(flow, title=""), replace(flow, title="a < b & \x00"))
    ]
    assert titles == [flow.title, "numbers from elsewhere", "a < b & \ufffd"]


@pytest.mark.parametrize("state", STATES, ids=str)
def test_axes_have_every_line_where_the_drawing_has_it(state):
    sheet = draw_plain(random_flow(), **state)
    axes = draw_on_axes(sheet, width_cm=8.5)
    points = 8.5 / 2.54 / sheet.width * 72  # of paper, for a pixel of the drawing
    for found, text in zip(axes.texts, marks(sheet, Text), strict=True):
        assert found.get_position() == (text.x, text.y)
        assert found.get_text() == text.text
        assert found.get_fontsize() == pytest.approx(text.size * points)
        assert found.get_rotation() == (90 if text.rotated else 0)
        assert found.get_alpha() == text.opacity
        assert found.get_fontweight() == ("bold" if text.bold else "normal")
        assert found.get_parse_math() is False
    assert axes.get_xlim() == (0, sheet.width)
    assert axes.get_ylim() == (sheet.height, 0)  # downwards, as on a screen


def test_axes_have_every_ribbon_bar_and_cell():
    sheet = draw_plain(random_flow())
    axes = draw_on_axes(sheet, width_cm=8.5)
    points = 8.5 / 2.54 / sheet.width * 72
    ribbons = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
    for patch, curve in zip(ribbons, marks(sheet, Curve), strict=True):
        assert patch.get_linewidth() == pytest.approx(curve.width * points)
        assert patch.get_path().vertices[[0, -1]].ravel() == pytest.approx(curve.points)
        assert patch.get_alpha() == curve.opacity
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    for patch, box in zip(bars, marks(sheet, Box), strict=True):
        assert patch.get_xy() == (box.x, box.y)
        assert (patch.get_width(), patch.get_height()) == (box.width, box.height)
    heatmap = draw_plain(random_flow(), view="matrix", legend=False)
    (field,) = marks(heatmap, Heatmap)
    (mesh,) = draw_on_axes(heatmap, width_cm=8.5).collections
    corners = mesh.get_coordinates()
    assert corners[0, 0].tolist() == pytest.approx([field.x, field.y])
    ends = [field.x + field.width, field.y + field.height]
    assert corners[-1, -1].tolist() == pytest.approx(ends)
    assert mesh.get_array().tolist() == field.cells.tolist()


def test_lines_and_areas_are_the_same_in_every_format():
    sheet = draw_plain(
        random_flow(), view="profile", measure="weight", compare="weighted-norm", legend=False
    )
    lines = [line for line in marks(sheet, Line) if line.fill is None]
    areas = [line for line in marks(sheet, Line) if line.fill is not None]
    root = ET.fromstring(svg_text(sheet, width_cm=8.5))  # noqa: S314 - our own file
    for kind, drawn in (("polyline", lines), ("polygon", areas)):
        nodes = list(root.iter(f"{SVG}{kind}"))
        for node, line in zip(nodes, drawn, strict=True):
            numbers = [float(n) for n in re.findall(r"[-\d.]+", node.get("points"))]
            assert numbers == pytest.approx([n for point in line.points for n in point], abs=0.01)
            assert node.get("stroke") == line.color
            assert (node.get("stroke-dasharray") is not None) == line.dashed
            assert node.get("fill") == (line.fill or "none")
    axes = draw_on_axes(sheet, width_cm=8.5)
    strokes = [patch for patch in axes.patches if isinstance(patch, PathPatch)]
    for patch, line in zip(strokes, lines, strict=True):
        assert patch.get_path().vertices.ravel() == pytest.approx(np.ravel(line.points))
        assert (patch.get_linestyle() not in ("-", "solid")) == line.dashed
    assert len([patch for patch in axes.patches if isinstance(patch, Polygon)]) == len(areas)


def test_a_png_is_as_dark_as_its_theme():
    for theme, bright in (("light", True), ("dark", False)):
        sheet = draw_plain(random_flow(), theme=theme)
        picture = imread(io.BytesIO(render_png(sheet, width_cm=8.5, dpi=60)))[..., :3]
        assert (np.median(picture) > 0.5) == bright
        assert (picture[0, 0] > 0.5).all() == bright


def test_a_png_holds_nasty_tokens():
    sheet = draw_plain(random_flow([*NASTY[:6], "$x^$", "漢字"]))
    with pytest.warns(UserWarning, match="missing from font"):
        assert render_png(sheet, width_cm=8.5, dpi=60).startswith(b"\x89PNG")
    shown = [text.get_text() for text in draw_on_axes(sheet, width_cm=8.5).texts]
    assert "$x^$" in shown
    assert shown.count("\ufffd") == 2
    assert shown.count("?") == 2


def test_an_empty_sheet_can_be_written():
    sheet = replace(draw_plain(random_flow()), marks=[])
    assert isinstance(sheet, Drawing)
    assert svg_text(sheet, width_cm=3).count("<text") == 0
