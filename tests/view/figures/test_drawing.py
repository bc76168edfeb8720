"""The marks of a figure: their positions, colors and emphasis."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from flows import SENTENCE, random_flow, two_streams, wordy_flow

from normviz.io.from_arrays import from_arrays
from normviz.view.figures import geometry
from normviz.view.figures.colors import PALETTES, heat_colors
from normviz.view.figures.drawing import BAR, BETWEEN, DIM, WIDTH
from normviz.view.figures.files import draw_figure
from normviz.view.figures.marks import Box, Curve, Heatmap, Text
from normviz.view.figures.picture import make_picture
from normviz.view.figures.words import GAP, text_width
from normviz.view.state import resolve_state

KNOWN = from_arrays(
    np.float32([[[[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]]]), ["a", "b", "c"]
)


def marks(sheet, kind):
    return [mark for mark in sheet.marks if isinstance(mark, kind)]


def picture_of(flow, **state):
    return make_picture(flow, resolve_state(flow, state))


def box_of(text):
    """Left, right, top and bottom of a line that is not rotated."""
    long = (
        text_width(text.text, text.size) * 0.9
    )  # letters are a little narrower than is reckoned with
    left = text.x - long if text.anchor == "end" else text.x
    return left, left + long, text.y - 0.7 * text.size, text.y


STATES = [{}, {"measure": "value-norm"}, {"compare": "weight"}, {"token": 2}, {"view": "matrix"}]


@pytest.mark.parametrize("state", STATES, ids=str)
def test_no_line_lies_on_another(state):
    level = [text for text in marks(draw_figure(random_flow(), **state), Text) if not text.rotated]
    for one, other in combinations(level, 2):
        a, b = box_of(one), box_of(other)
        apart = a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
        assert apart, (one, other)


@pytest.mark.parametrize("state", STATES, ids=str)
def test_everything_lies_on_the_sheet(state):
    sheet = draw_figure(random_flow([f"t{n}" for n in range(60)], layers=1), **state)
    for mark in sheet.marks:
        if isinstance(mark, Curve):
            x, y, to_x, to_y = mark.points
            corners = [(x, y), (to_x, to_y)]
        elif isinstance(mark, Text):
            corners = [(mark.x, mark.y)]
        else:
            corners = [(mark.x, mark.y), (mark.x + mark.width, mark.y + mark.height)]
        for x, y in corners:
            assert 0 <= x <= sheet.width + 1e-6
            assert 0 <= y <= sheet.height


def test_a_sheet_is_as_tall_as_its_tallest_pane():
    long, short = random_flow([f"t{n}" for n in range(20)]), random_flow(["one", "two"])
    for flow, other in ((long, short), (short, long)):
        sheet = draw_figure(flow, compare=other)
        assert sheet.height == draw_figure(long, compare=long).height
        assert max(text.y for text in marks(sheet, Text)) < sheet.height


def test_two_panes_stand_apart():
    flow = random_flow()
    sheet = draw_figure(flow, measure="weight", compare="weighted-norm")
    titles = [text for text in marks(sheet, Text) if text.bold]
    assert [(text.text, text.x) for text in titles] == [("α", 0), ("‖αf(x)‖", WIDTH + BETWEEN)]
    assert sheet.width == 2 * WIDTH + BETWEEN
    on_right = [curve.points[0] > WIDTH for curve in marks(sheet, Curve)]
    counts = [len(geometry.place_ribbons(picture_of(flow, measure=name), 20))
              for name in ("weight", "weighted-norm")]  # fmt: skip
    assert [on_right.count(False), on_right.count(True)] == counts
    for curve in marks(sheet, Curve):
        x, _, to_x, _ = curve.points
        assert x < to_x <= (WIDTH if x < WIDTH else sheet.width)


@pytest.mark.parametrize(
    ("state", "lit"),
    [
        ({"token": 0}, {"key": ["a"], "query": ["a"]}),
        ({"token": 2}, {"key": ["a", "b", "c"], "query": ["c"]}),
        ({"token": 1, "role": "key"}, {"key": ["b"], "query": ["b", "c"]}),
    ],
)
def test_who_has_a_tenth_of_what_the_strongest_has_stays_lit(state, lit):
    tokens = [t for t in marks(draw_figure(KNOWN, **state), Text) if t.text in ("a", "b", "c")]
    for role, anchor in (("key", "end"), ("query", "start")):
        of_role = [text for text in tokens if text.anchor == anchor]
        assert [text.text for text in of_role if text.opacity == 1] == lit[role]
        assert {text.opacity for text in of_role} <= {1, DIM}


def test_ribbons_are_solid_only_when_a_token_is_pinned():
    for state, solid in (({}, 0.75), ({"token": 1}, 1.0)):
        assert {curve.opacity for curve in marks(draw_figure(KNOWN, **state), Curve)} == {solid}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_ribbon_and_bar_has_the_color_of_its_head(theme):
    flow = random_flow()
    palette = PALETTES[theme]
    sheet = draw_figure(flow, theme=theme, heads=[1, 3])
    found = geometry.place_ribbons(picture_of(flow, heads=[1, 3]), 20)
    colors = [palette.head((1, 3)[plane]) for plane in found.plane]
    assert [curve.color for curve in marks(sheet, Curve)] == colors
    assert {box.color for box in marks(sheet, Box)} == {palette.head(1), palette.head(3)}
    plain = draw_figure(two_streams(), theme=theme, measure="attention")
    assert {curve.color for curve in marks(plain, Curve)} == {palette.plain}


def test_heads_that_lie_side_by_side_differ_in_lightness_too():
    def light(color):
        return sum(int(color[at : at + 2], 16) * part for at, part in ((1, 2), (3, 7), (5, 1)))

    for palette in PALETTES.values():
        heads = [light(palette.head(head)) for head in range(12)]
        assert all(abs(one - other) > 40 for one, other in pairwise(heads))


def test_the_bar_of_a_key_is_its_heads_end_to_end_and_the_longest_is_whole():
    flow = random_flow()
    sheet = draw_figure(flow, layer=1)
    norms = flow["value-norm"][1]
    rows = sorted({box.y for box in marks(sheet, Box)})
    base = next(text.x for text in marks(sheet, Text) if text.text == "‖f(x)‖")
    for row, y in enumerate(rows):
        boxes = sorted((b for b in marks(sheet, Box) if b.y == y), key=lambda box: -box.x)
        ends = base
        for box in boxes:
            assert box.x + box.width == pytest.approx(ends, abs=1e-4)
            ends = box.x
        whole = norms[:, row].sum() / norms.sum(axis=0).max() * (BAR - GAP)
        assert base - ends == pytest.approx(whole, rel=1e-4)


def test_what_is_read_stands_left_and_what_receives_right():
    sheet = draw_figure(random_flow())
    headings = {text.text: text.x for text in marks(sheet, Text)}
    starts = {curve.points[0] for curve in marks(sheet, Curve)}
    ends = {curve.points[2] for curve in marks(sheet, Curve)}
    assert headings["read from"] < min(starts)
    assert headings["receives"] > max(ends)


def test_a_measure_without_queries_has_one_column_of_tokens():
    found = [text.text for text in marks(draw_figure(random_flow(), measure="value-norm"), Text)]
    assert [text for text in found if text in SENTENCE] == SENTENCE
    assert "receives" not in found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", ["layer", "query"])
def test_a_cell_is_as_dark_as_its_number(theme, scale):
    flow = random_flow()
    sheet = draw_figure(flow, view="matrix", measure="weighted-norm", normalize=scale, theme=theme)
    (field,) = marks(sheet, Heatmap)
    values = flow["weighted-norm"][0].sum(axis=0, dtype=np.float64)
    parts = values / values.sum(axis=1, keepdims=True) if scale == "query" else values
    ramp = heat_colors(theme)
    for cell, part in zip(field.cells.reshape(-1, 3), (parts / parts.max()).ravel(), strict=True):
        assert "#{:02x}{:02x}{:02x}".format(*cell) == ramp[round(part * 255)]


def test_a_large_matrix_stays_in_its_pane_and_its_labels_apart():
    sheet = draw_figure(random_flow([f"t{n}" for n in range(90)], layers=1), view="matrix")
    (field,) = marks(sheet, Heatmap)
    assert field.x + field.width <= WIDTH + 1e-6
    rotated = [text for text in marks(sheet, Text) if text.rotated]
    gaps = np.diff([text.x for text in rotated])
    assert gaps.min() >= rotated[0].size
    assert len(rotated) > 20


@pytest.mark.parametrize("role", ["query", "key"])
def test_a_pinned_token_is_bold_beside_its_row_or_over_its_column(role):
    sheet = draw_figure(random_flow(), view="matrix", token=3, role=role)
    bold = [(text.text, text.rotated) for text in marks(sheet, Text) if text.bold]
    assert bold == [("was", role == "key")]


def test_a_pinned_piece_brings_out_its_word():
    sheet = draw_figure(wordy_flow(), words=True, token=5)
    assert [text.text for text in marks(sheet, Text) if text.bold] == ["cats"]
