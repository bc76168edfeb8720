"""The marks of a figure: their positions, colors and emphasis."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from flows import SENTENCE, plain_state, random_flow, translation_flow, two_streams, wordy_flow
from saved_figures import draw_plain

from normviz.io.from_arrays import from_arrays
from normviz.view.figures import geometry
from normviz.view.figures.colors import NORM_HUE, PALETTES, heat_colors
from normviz.view.figures.drawing import BETWEEN
from normviz.view.figures.marks import Box, Curve, Heatmap, Line, Text
from normviz.view.figures.metrics import text_width
from normviz.view.figures.picture import make_picture
from normviz.view.figures.views.bars import BAR
from normviz.view.figures.views.flow import DIM, FAINT, STRONG
from normviz.view.figures.views.place import WIDTH
from normviz.view.state import resolve_state

KNOWN = from_arrays(
    np.float32([[[[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]]]), ["a", "b", "c"]
)


def marks(sheet, kind):
    return [mark for mark in sheet.marks if isinstance(mark, kind)]


def picture_of(flow, **state):
    return make_picture(flow, resolve_state(flow, plain_state(flow, state)))


def box_of(text):
    """Left, right, top and bottom of the letters of a line, in the widest of its fonts."""
    long, tall = text_width(text.text, text.size, bold=text.bold), 0.74 * text.size
    before = {"start": 0, "middle": long / 2, "end": long}[text.anchor]
    if text.rotated:
        return text.x - tall, text.x, text.y - long, text.y
    return text.x - before, text.x - before + long, text.y - tall, text.y


STATES = [
    {},
    {"measure": "value-norm"},
    {"compare": "weight"},
    {"token": 2},
    {"heads": [0, 2]},
    {"title": False},
    {"special": "hidden", "words": True},
    {"view": "matrix"},
    {"view": "matrix", "compare": "weight", "token": 1, "role": "key"},
    {"view": "grid"},
    {"view": "grid", "measure": "weight", "compare": "weighted-norm", "color_by": "rank"},
    {"view": "grid", "measure": "value-norm"},
    {"view": "stack"},
    {"view": "stack", "token": 1},
    {"view": "stack", "token": 1, "role": "key"},
    {"view": "profile"},
    {"view": "profile", "measure": "weight", "compare": "weighted-norm"},
    {"view": "text"},
    {"view": "text", "measure": "weight", "compare": "weighted-norm", "token": 1},
]
LONG = [*SENTENCE, *(f"t{n}" for n in range(40)), "a" * 40, "W" * 30, "漢字" * 9, "[SEP]"]
FLOWS = {
    "short": random_flow(),
    "tall": random_flow([f"t{n}" for n in range(60)], layers=2),
    "wide words": random_flow(LONG, layers=14, heads=12),
    "two texts": translation_flow(),
}


@pytest.mark.parametrize("name", FLOWS)
@pytest.mark.parametrize("state", STATES, ids=str)
def test_no_line_lies_on_another_and_nothing_is_cut(state, name):
    sheet = draw_plain(FLOWS[name], **state)
    texts = marks(sheet, Text)
    for one, other in combinations(texts, 2):
        a, b = box_of(one), box_of(other)
        apart = a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
        assert apart, (one, other)
    for mark in sheet.marks:
        if isinstance(mark, Curve):
            x, y, to_x, to_y = mark.points
            corners = [(x, y), (to_x, to_y)]
        elif isinstance(mark, Line):
            corners = mark.points
        elif isinstance(mark, Text):
            left, right, top, bottom = box_of(mark)
            corners = [(left, top), (right, bottom)]
        else:
            corners = [(mark.x, mark.y), (mark.x + mark.width, mark.y + mark.height)]
        for x, y in corners:
            assert -1e-6 <= x <= sheet.width + 1e-6, mark
            assert -1e-6 <= y <= sheet.height, mark


def test_the_two_texts_of_an_alignment_stay_on_the_sheet_however_long():
    for words in (3, 30, 300):
        tokens = [f"word{n}" for n in range(words)]
        weights = np.full((1, 1, words, words), 1 / words)
        flow = from_arrays(weights, tokens, target_tokens=tokens, stream="cross")
        sheet = draw_plain(flow, view="alignment")
        assert all(box_of(t)[0] >= 0 and box_of(t)[1] <= sheet.width for t in marks(sheet, Text))
        labels = [text for text in marks(sheet, Text) if text.text in tokens]
        assert len(labels) == 2 * words or words == 300
        for one, other in combinations(labels, 2):
            assert abs(one.y - other.y) >= 13 or abs(one.x - other.x) > 20


def test_the_title_says_text_model_measure_layer_and_heads_and_can_be_left_out():
    flow = random_flow()

    def found(**options):
        return [text.text for text in marks(draw_plain(flow, layer=1, **options), Text)]

    about = "numbers from elsewhere · ‖αf(x)‖ (what it moves) · layer 1 · mean of 4 heads"
    assert found()[:2] == [flow.title, about]
    assert found(title="Another")[:2] == ["Another", about]
    without = found(title=False)
    assert not {flow.title, about} & {*without}
    # Then the legend says it, or nothing does.
    assert any("layer 1 · mean of 4 heads" in text for text in without)
    assert not any("layer 1" in text for text in found(title=False, legend=False))


def test_a_long_title_takes_two_lines_and_is_then_cut():
    sheet = draw_plain(random_flow(), title="word " * 60)
    first, second, third = [text.text for text in marks(sheet, Text)][:3]
    assert first.startswith("word word")
    assert second.endswith("…")
    assert third.startswith("numbers from elsewhere")


def test_a_sheet_is_as_tall_as_its_tallest_pane():
    long, short = random_flow([f"t{n}" for n in range(20)]), random_flow(["one", "two"])
    for flow, other in ((long, short), (short, long)):
        sheet = draw_plain(flow, compare=other)
        assert sheet.height == draw_plain(long, compare=long, title=flow.title).height
        assert max(text.y for text in marks(sheet, Text)) < sheet.height


def test_two_panes_stand_apart():
    flow = random_flow()
    sheet = draw_plain(flow, measure="weight", compare="weighted-norm")
    titles = [text for text in marks(sheet, Text) if text.bold]
    assert [(text.text, text.x // WIDTH) for text in titles] == [("α", 0), ("‖αf(x)‖", 1)]
    swatches = [box for box in marks(sheet, Box) if box.width == box.height]
    hues = PALETTES["light"].hues
    assert [(box.color, box.x) for box in swatches] == [(hues[0], 0), (hues[1], WIDTH + BETWEEN)]
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
    tokens = [t for t in marks(draw_plain(KNOWN, **state), Text) if t.text in ("a", "b", "c")]
    for role, anchor in (("key", "end"), ("query", "start")):
        of_role = [text for text in tokens if text.anchor == anchor]
        assert [text.text for text in of_role if text.opacity == 1] == lit[role]
        assert {text.opacity for text in of_role} <= {1, DIM}


def test_ribbons_are_solid_when_a_token_is_pinned_and_else_fainter_the_weaker_they_are():
    assert {curve.opacity for curve in marks(draw_plain(KNOWN, token=1), Curve)} == {1.0}
    curves = marks(draw_plain(KNOWN), Curve)
    by_width = sorted(curves, key=lambda curve: curve.width)
    assert all(curve.opacity > FAINT for curve in curves)
    assert by_width[-1].opacity == pytest.approx(STRONG)
    assert all(one.opacity <= other.opacity for one, other in pairwise(by_width))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_ribbon_and_bar_has_the_color_of_its_head(theme):
    flow = random_flow()
    palette = PALETTES[theme]
    sheet = draw_plain(flow, theme=theme, heads=[1, 3])
    found = geometry.place_ribbons(picture_of(flow, heads=[1, 3]), 20)
    colors = [palette.head((1, 3)[plane]) for plane in found.plane]
    assert [curve.color for curve in marks(sheet, Curve)] == colors
    assert {box.color for box in marks(sheet, Box)} == {palette.head(1), palette.head(3)}
    texts = [text.text for text in marks(sheet, Text)]
    at = texts.index("heads")
    assert texts[at + 1 : at + 3] == ["1", "3"]
    assert "heads" not in [
        t.text for t in marks(draw_plain(flow, heads=[1, 3], legend=False), Text)
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_heads_together_have_the_one_hue_of_their_measure(theme):
    weight, norm = PALETTES[theme].hues
    for measure, hue in (("weight", weight), ("weighted-norm", norm), ("attention", norm)):
        sheet = draw_plain(two_streams(), theme=theme, measure=measure)
        colored = [*marks(sheet, Curve), *marks(sheet, Box)]
        assert {mark.color for mark in colored} == {hue}


def test_heads_that_lie_side_by_side_differ_in_lightness_too():
    def light(color):
        return sum(int(color[at : at + 2], 16) * part for at, part in ((1, 2), (3, 7), (5, 1)))

    for palette in PALETTES.values():
        heads = [light(palette.head(head)) for head in range(12)]
        assert all(abs(one - other) > 40 for one, other in pairwise(heads))


def bars_of(sheet):
    """The share bars of each row, from the line that they begin at."""
    bars = [box for box in marks(sheet, Box) if box.width != box.height]
    rows = sorted({box.y for box in bars})
    return [sorted((b for b in bars if b.y == y), key=lambda box: -box.x) for y in rows]


@pytest.mark.parametrize("heads", [None, [1, 2, 3]])
def test_the_bar_of_a_key_is_its_share_of_all_that_is_given(heads):
    flow = random_flow()
    sheet = draw_plain(flow, layer=1, heads=heads)
    given = flow["weighted-norm"][1][heads or slice(None)].sum(axis=(0, 1))
    base = next(text.x for text in marks(sheet, Text) if text.text == "share given")
    for row, boxes in enumerate(bars_of(sheet)):
        assert len(boxes) == (1 if heads is None else 3)
        ends = base
        for box in boxes:  # end to end
            assert box.x + box.width == pytest.approx(ends, abs=1e-4)
            ends = box.x
        assert base - ends == pytest.approx(given[row] / given.max() * BAR, rel=1e-4)


def test_a_share_of_five_percent_is_written_where_there_is_room():
    flow = random_flow([f"t{n}" for n in range(12)], layers=1)
    shares = flow["weighted-norm"][0].sum(axis=(0, 1))
    shares = shares / shares.sum()
    found = [text.text for text in marks(draw_plain(flow), Text) if text.text.endswith("%")]
    assert {f"{share:.0%}" for share in shares if share >= 0.05} >= {*found}
    assert f"{shares.max():.0%}" in found
    assert len(found) <= (shares >= 0.05).sum()


def test_two_measures_have_share_bars_on_one_scale():
    flow = random_flow()
    sheet = draw_plain(flow, measure="weight", compare="weighted-norm")
    drawn = {0: [], 1: []}
    for box in marks(sheet, Box):
        if box.width != box.height:
            drawn[int(box.x // WIDTH)].append(box.width)
    shares = []
    for measure in ("weight", "weighted-norm"):
        given = flow[measure][0].sum(axis=(0, 1))
        shares.append(given / given.sum())
    full = max(part.max() for part in shares)
    for pane, parts in enumerate(shares):
        assert drawn[pane] == pytest.approx(parts / full * BAR, rel=1e-4)


def test_what_is_read_stands_left_and_what_receives_right():
    sheet = draw_plain(random_flow())
    headings = {text.text: text.x for text in marks(sheet, Text)}
    starts = {curve.points[0] for curve in marks(sheet, Curve)}
    ends = {curve.points[2] for curve in marks(sheet, Curve)}
    assert headings["read from"] < min(starts)
    assert headings["receives"] > max(ends)


def test_a_measure_without_queries_has_one_column_of_tokens():
    found = [text.text for text in marks(draw_plain(random_flow(), measure="value-norm"), Text)]
    assert [text for text in found if text in SENTENCE] == SENTENCE
    assert "receives" not in found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", ["layer", "query"])
def test_a_cell_is_as_dark_as_its_number(theme, scale):
    flow = random_flow()
    sheet = draw_plain(flow, view="matrix", measure="weighted-norm", normalize=scale, theme=theme)
    field, legend = marks(sheet, Heatmap)
    assert legend.cells.shape[0] == 1
    values = flow["weighted-norm"][0].mean(axis=0, dtype=np.float64)
    parts = values / values.sum(axis=1, keepdims=True) if scale == "query" else values
    ramp = heat_colors(theme, NORM_HUE)
    for cell, part in zip(field.cells.reshape(-1, 3), (parts / parts.max()).ravel(), strict=True):
        assert "#{:02x}{:02x}{:02x}".format(*cell) == ramp[round(part * 255)]


def test_a_large_matrix_stays_in_its_pane_and_its_labels_apart():
    sheet = draw_plain(random_flow([f"t{n}" for n in range(90)], layers=1), view="matrix")
    field, _ = marks(sheet, Heatmap)
    assert field.x + field.width <= WIDTH + 1e-6
    rotated = [text for text in marks(sheet, Text) if text.rotated]
    gaps = np.diff([text.x for text in rotated])
    assert gaps.min() >= rotated[0].size
    assert len(rotated) > 20


@pytest.mark.parametrize("role", ["query", "key"])
def test_a_pinned_token_is_bold_beside_its_row_or_over_its_column(role):
    sheet = draw_plain(random_flow(), view="matrix", token=3, role=role)
    bold = [(text.text, text.rotated) for text in marks(sheet, Text) if text.bold]
    assert bold == [("was", role == "key")]


def test_a_pinned_piece_brings_out_its_word():
    sheet = draw_plain(wordy_flow(), words=True, token=5)
    assert [text.text for text in marks(sheet, Text) if text.bold] == ["cats"]
