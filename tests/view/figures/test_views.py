"""The numbers behind stack, grid, profile, alignment and text, and the marks that show them."""

from itertools import pairwise

import numpy as np
import pytest
from flows import carried_flow, ladder_flow, random_flow, translation_flow, wordy_flow
from hypothesis import given
from hypothesis import strategies as st
from saved_figures import draw_plain

import normviz
from normviz.core.gold import Gold
from normviz.view.figures.colors import PALETTES, blend
from normviz.view.figures.files import resolve_panes
from normviz.view.figures.marks import Box, Curve, Heatmap, Line, Text
from normviz.view.figures.trace import mode_of, trace_tokens
from normviz.view.figures.views.alignment import VERDICTS, find_links
from normviz.view.figures.views.bars import BAR
from normviz.view.figures.views.grid import make_thumbs
from normviz.view.figures.views.profile import HEIGHT, MARK, spread
from normviz.view.figures.views.text import DEEPEST, TALL
from normviz.view.tiles import total_variation


def marks(sheet, kind):
    return [mark for mark in sheet.marks if isinstance(mark, kind)]


def pane_of(flow, **options):
    (pane,), _ = resolve_panes(flow, options)
    return pane


def texts(sheet):
    return [text.text for text in marks(sheet, Text)]


def trace_of(flow, **options):
    pane = pane_of(flow, view="stack", **options)
    return trace_tokens(pane, mode_of(pane.stream, pane.measure))


def row_shares(values):
    return values / values.sum(axis=-1, keepdims=True)


def test_a_trace_divides_every_token_again_in_every_layer():
    flow = ladder_flow()
    divisions = row_shares(flow["layer-output"].astype(np.float64))
    whole = divisions[1] @ divisions[0]
    assert trace_of(flow, measure="layer-output").nodes[0] == pytest.approx(whole.mean(axis=0))
    pinned = trace_of(flow, measure="layer-output", token=2, layer=1)
    assert pinned.nodes[0] == pytest.approx(whole[2])
    lower = trace_of(flow, measure="layer-output", token=2, layer=0)
    assert lower.nodes[0] == pytest.approx(divisions[0, 2])
    ahead = trace_of(flow, measure="layer-output", token=2, role="key")
    assert ahead.nodes[-1] == pytest.approx(whole[:, 2])
    for trace in (pinned, lower):
        assert [node.sum() for node in trace.nodes] == pytest.approx([1] * len(trace.nodes))


def test_a_trace_takes_the_mean_of_the_heads_and_loses_what_is_hidden():
    flow = random_flow(layers=1)
    mean = row_shares(flow["weighted-norm"][0].mean(axis=0).astype(np.float64))
    assert trace_of(flow).nodes[0] == pytest.approx(mean.mean(axis=0))
    one = row_shares(flow["weighted-norm"][0, 3].astype(np.float64))
    assert trace_of(flow, heads=[3]).nodes[0] == pytest.approx(one.mean(axis=0))
    hidden = trace_of(flow, special="hidden").nodes[0]
    assert hidden == pytest.approx(mean[1:5, 1:5].mean(axis=0))
    legend = " ".join(texts(draw_plain(flow, view="stack", special="hidden")))
    assert f"{1 - hidden.sum():.0%} went to hidden special tokens" in legend


def test_a_measure_that_reaches_the_input_is_not_traced():
    flow = carried_flow()
    values = row_shares(flow["decomposition"][2].astype(np.float64))
    trace = trace_of(flow, measure="decomposition")
    assert len(trace.flows) == 1
    assert trace.nodes[0] == pytest.approx(values.mean(axis=0))
    sheet = draw_plain(flow, view="stack", measure="decomposition")
    assert "ribbons go straight to the input's tokens" in " ".join(texts(sheet))


def test_the_ribbons_of_a_stack_are_as_wide_as_their_mass():
    flow = ladder_flow()
    sheet = draw_plain(flow, view="stack", measure="layer-output", token=2, layer=1, legend=False)
    trace = trace_of(flow, measure="layer-output", token=2, layer=1)
    curves = marks(sheet, Curve)
    columns = sorted({curve.points[0] for curve in curves})
    assert len(columns) == 2
    for x, flow_of_layer in zip(columns, trace.flows, strict=True):
        widths = np.array([curve.width for curve in curves if curve.points[0] == x])
        strongest = np.sort(flow_of_layer.ravel())[-len(widths) :]
        assert widths / widths[-1] == pytest.approx(strongest / strongest[-1], rel=1e-6)


def test_the_bars_of_a_stack_are_what_tokens_are_made_of_on_one_scale():
    flow = ladder_flow()
    sheet = draw_plain(flow, view="stack", measure="layer-output", compare=0, layer=1)
    base = [text.x for text in marks(sheet, Text) if text.text == "share"]
    panes, _ = resolve_panes(
        flow, {"view": "stack", "measure": "layer-output", "compare": 0, "layer": 1}
    )
    nodes = [trace_tokens(pane, "traced").nodes[0] for pane in panes]
    full = max(node.max() for node in nodes)
    for x, node in zip(base, nodes, strict=True):
        bars = [b for b in marks(sheet, Box) if b.x + b.width == pytest.approx(x) and b.height > 5]
        assert [bar.width for bar in bars] == pytest.approx(node / full * BAR)


def test_layers_that_cannot_be_chained_are_shown_each_by_itself():
    flow = translation_flow()
    sheet = draw_plain(flow, view="stack", stream="cross", measure="weight", legend=False)
    assert not marks(sheet, Curve)
    shares = flow.cross["weight"].mean(axis=(1, 2))  # layer key
    widths = [box.width for box in marks(sheet, Box)]
    assert widths == pytest.approx((shares / shares.max()).ravel() * max(widths), rel=1e-4)


def test_a_grid_has_every_layer_and_head_and_compares_two_measures():
    flow = random_flow()
    thumbs = make_thumbs(pane_of(flow, view="grid", measure="weight"))
    assert thumbs.values.tolist() == flow["weight"].tolist()
    assert thumbs.agreement is None
    assert (thumbs.tops("absolute") == flow["weight"].max()).all()
    assert thumbs.tops("layer")[:, 0].tolist() == flow["weight"].max(axis=(1, 2, 3)).tolist()
    assert thumbs.tops("query").tolist() == flow["weight"].max(axis=(2, 3)).tolist()
    sheet = draw_plain(flow, view="grid", measure="weight", compare="weighted-norm", legend=False)
    assert len(marks(sheet, Heatmap)) == 3 * 4
    apart = [total_variation(flow["weight"][n], flow["weighted-norm"][n]) for n in range(3)]
    found = [text for text in texts(sheet) if text.startswith("0.")]
    assert found == [f"{value:.2f}" for value in np.ravel(apart)]
    chosen = draw_plain(flow, view="grid", heads=[1, 2], legend=False)
    assert len(marks(chosen, Heatmap)) == 3 * 2


def test_a_grid_is_colored_by_how_far_two_measures_agree():
    flow = random_flow()
    options = {"view": "grid", "measure": "weight", "compare": "weighted-norm", "legend": False}
    assert not marks(draw_plain(flow, **options), Box)
    sheet = draw_plain(flow, color_by="rank", **options)
    ranks = normviz.agreement(flow, "weight", "weighted-norm").rank
    found = [text.replace("−", "-") for text in texts(sheet) if "0." in text]
    assert found == [f"{rank:.2f}" for rank in ranks.ravel()]
    tiles = marks(sheet, Box)
    order = np.argsort(ranks.ravel())
    assert len(tiles) == 12

    def lightness(box):
        return sum(int(box.color[at : at + 2], 16) for at in (1, 3, 5))

    depths = [lightness(tiles[at]) for at in order]
    assert all(one <= other for one, other in pairwise(depths))


def test_a_profile_has_a_point_for_every_share():
    flow = random_flow()
    sheet = draw_plain(flow, view="profile", measure="weight", compare="weighted-norm")
    lines = [line for line in marks(sheet, Line) if line.fill is None and len(line.points) == 3]
    curves = [line for line in lines if line.width > 1]
    bottom = max(text.y for text in marks(sheet, Text) if text.text == "0%") - 4
    found = {
        tuple(round((bottom - y) / HEIGHT, 5) for _, y in curve.points): curve.dashed
        for curve in curves
    }
    for measure, dashed in (("weight", False), ("weighted-norm", True)):
        for shares in flow.encoder.shares(measure).values():
            assert found[tuple(round(float(share), 5) for share in shares)] is dashed
    areas = [line for line in marks(sheet, Line) if line.fill is not None]
    assert len(areas) == 2 * 2 * (3 + 1)  # marks on the curves, and beside their names
    for area in areas:
        xs, ys = zip(*area.points, strict=True)
        assert max(xs) - min(xs) <= 2 * MARK + 1e-6
        assert max(ys) - min(ys) <= 2 * MARK + 1e-6


def test_hidden_kinds_have_no_curve():
    found = texts(draw_plain(random_flow(), view="profile", special="hidden"))
    assert "words" in found
    assert not {"special", "[CLS]", "[SEP]"} & {*found}


@given(st.lists(st.floats(0, 200), min_size=1, max_size=12))
def test_labels_are_spread_by_a_pitch_within_their_bounds(heights):
    found = spread(heights, 14, 0, 200)
    order = np.argsort(heights, kind="stable")
    placed = np.array(found)[order]
    assert (np.diff(placed) >= 14 - 1e-6).all()
    assert placed[0] >= -1e-6
    assert placed[-1] <= 200 + 1e-6
    if len(heights) == 1:
        assert found == heights


def test_an_alignment_has_the_links_of_align_in_the_colors_of_their_verdicts():
    alignment = normviz.align(translation_flow(), "weight", layer=1)
    sure, possible, *_ = sorted(alignment.links)
    missed = next((s, t) for s in range(4) for t in range(5) if (s, t) not in alignment.links)
    gold = Gold({sure, missed}, {possible})
    flow = translation_flow().with_gold(gold)
    found = find_links(pane_of(flow, view="alignment", measure="weight", layer=1), alignment)
    assert {link.verdict for link in found} == {"right", "extra", "missed"}
    assert {(link.source, link.target) for link in found} == {*alignment.links, *gold.sure}
    for link in found:
        pair = (link.source, link.target)
        right = "right" if pair in gold.possible else "extra"
        assert link.verdict == (right if pair in alignment.links else "missed")
        assert link.share == pytest.approx(alignment.soft[link.target, link.source])
    sheet = draw_plain(flow, view="alignment", measure="weight", layer=1)
    for curve, link in zip(marks(sheet, Curve), found, strict=True):
        assert curve.color == VERDICTS["light"][link.verdict]
        assert curve.dashed == (link.verdict == "missed")
    plain = draw_plain(translation_flow(), view="alignment", measure="weight", layer=1)
    assert {curve.color for curve in marks(plain, Curve)} == {PALETTES["light"].hues[0]}
    assert len(marks(plain, Curve)) == len(alignment.links)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_token_of_a_text_is_as_deep_as_its_share(theme):
    flow = random_flow()
    palette = PALETTES[theme]
    sheet = draw_plain(flow, view="text", measure="weight", theme=theme, legend=False)
    given = flow["weight"][0].sum(axis=(0, 1))
    shades = [box.color for box in marks(sheet, Box)]
    depths = DEEPEST * given / given.max()
    expected = [blend(palette.hues[0], palette.paper, float(depth)) for depth in depths]
    assert shades == expected
    assert texts(sheet)[-6:] == list(flow.tokens)


def test_the_text_of_a_pinned_token_shows_what_it_reads_or_where_it_is_read():
    flow = random_flow()
    weights = flow["weight"][0].mean(axis=0)
    hue, paper = PALETTES["light"].hues[0], PALETTES["light"].paper
    for role, numbers in (("query", weights[2]), ("key", weights[:, 2])):
        sheet = draw_plain(flow, view="text", measure="weight", token=2, role=role, legend=False)
        depths = DEEPEST * numbers / numbers.max()
        expected = [blend(hue, paper, float(depth)) for depth in depths]
        assert [box.color for box in marks(sheet, Box)] == expected


def test_the_pieces_of_a_word_stand_together_and_a_text_is_wrapped():
    boxes = marks(draw_plain(wordy_flow(), view="text", legend=False, title=False), Box)
    gaps = [other.x - one.x - one.width for one, other in pairwise(boxes)]
    assert [gap < 2 for gap in gaps] == [False, True, True, False, True, False]
    flow = random_flow([f"token{n}" for n in range(40)], layers=1)
    lines = {box.y for box in marks(draw_plain(flow, view="text", legend=False), Box)}
    assert len(lines) > 3
    assert min(np.diff(sorted(lines))) > TALL


def test_two_texts_are_shaded_on_one_scale():
    flow = random_flow()
    sheet = draw_plain(flow, view="text", measure="weight", compare="weighted-norm")
    shares = [flow[measure][0].sum(axis=(0, 1)) for measure in ("weight", "weighted-norm")]
    full = max((given / given.sum()).max() for given in shares)
    assert [text for text in texts(sheet) if text.endswith("%")] == ["0%", f"{full:.0%}"] * 2
