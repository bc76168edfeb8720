"""Negative numbers in files, shares, tables and figures."""

import numpy as np
import pytest
from flows import random_flow, signed_flow

from normviz import load
from normviz.derived.summary import summarize_flow
from normviz.view.figures.colors import PALETTES
from normviz.view.figures.files import draw_figure
from normviz.view.figures.geometry import place_ribbons
from normviz.view.figures.marks import Box, Curve, Heatmap, Text
from normviz.view.figures.picture import make_picture
from normviz.view.payload import pack, unpack
from normviz.view.state import resolve_state
from normviz.view.tiles import THUMB_CELLS, TileKey, make_tile, pool_cells, total_variation

MEASURE = "effective-weight"


def marks(kind, **choice):
    sheet = draw_figure(signed_flow(), measure=MEASURE, **choice)
    return [mark for mark in sheet.marks if isinstance(mark, kind)]


def test_a_file_and_a_payload_keep_every_bit_of_negative_numbers(tmp_path):
    flow = signed_flow()
    assert flow[MEASURE].min() < -0.2
    again = load(flow.save(tmp_path / "signed.normviz"))
    np.testing.assert_array_equal(again[MEASURE], flow[MEASURE])
    for precision in ("log16", "uint8"):
        found = unpack(pack(flow, precision=precision), f"0/encoder/{MEASURE}/1/all")
        np.testing.assert_array_equal(found, flow[MEASURE][1].ravel())


def test_shares_are_of_absolute_values_and_add_up_to_one():
    shares = signed_flow().encoder.shares(MEASURE)
    assert all((share >= 0).all() for share in shares.values())
    np.testing.assert_allclose(sum(shares.values()), 1, rtol=1e-5)
    sizes = np.abs(signed_flow()[MEASURE])
    words = sizes[:, :, :, 1:5].sum(axis=(1, 2, 3)) / sizes.sum(axis=(1, 2, 3))
    np.testing.assert_allclose(shares["other"], words, rtol=1e-5)


def test_the_summary_is_still_about_weights():
    assert "of the attention weight" in summarize_flow(signed_flow())


def test_tables_hold_negative_numbers_as_they_are():
    table = signed_flow().to_dataframe(MEASURE, layer=0)
    np.testing.assert_array_equal(table["value"], signed_flow()[MEASURE][0].ravel())


def test_a_small_picture_keeps_of_each_run_what_is_furthest_from_zero():
    draw = np.random.default_rng(0)
    values = draw.normal(0, 1, (1, 3 * THUMB_CELLS, 2)).astype(np.float32)
    found = pool_cells(values, axis=1)
    for cell in range(THUMB_CELLS):
        run = values[:, 3 * cell : 3 * cell + 3]
        np.testing.assert_array_equal(np.abs(found[:, cell]), np.abs(run).max(axis=1))
        assert np.isin(found[:, cell], run).all()
    np.testing.assert_array_equal(pool_cells(np.abs(values), axis=1), np.abs(found))


def test_peaks_are_the_largest_row_sums_of_absolute_values():
    flow = signed_flow()
    peaks = make_tile([flow], TileKey.parse(f"0/encoder/{MEASURE}/overview"), "float32").about[
        "peaks"
    ]
    np.testing.assert_allclose(peaks, np.abs(flow[MEASURE]).sum(axis=-1).max(axis=-1), rtol=1e-5)


def test_a_row_and_its_negative_disagree_completely():
    values = signed_flow()[MEASURE][0]
    np.testing.assert_allclose(total_variation(values, values), 0)
    np.testing.assert_allclose(total_variation(values, -values), 1, rtol=1e-5)


@pytest.mark.parametrize("scale", ["layer", "query", "absolute"])
def test_ribbons_are_as_wide_as_absolute_values_and_none_is_wider_than_a_full_row(scale):
    flow = signed_flow()
    shown = make_picture(flow, resolve_state(flow, {"measure": MEASURE, "normalize": scale}))
    found = place_ribbons(shown, 20, share=1.0)
    above, below = (np.maximum(sign * shown.values, 0).sum(axis=0) for sign in (1, -1))
    sizes = np.stack([above, below])[found.plane, found.query, found.key]
    np.testing.assert_allclose(found.width, sizes * 20 * 0.84 / shown.units[found.query], rtol=1e-4)
    rows = np.bincount(found.query, weights=found.width)
    assert (rows <= 20 * 0.84 + 1e-4).all()
    assert found.shown == pytest.approx(1)


def test_what_is_hidden_with_special_tokens_is_a_share_of_sizes():
    flow = signed_flow()
    shown = make_picture(
        flow, resolve_state(flow, {"measure": MEASURE, "layer": 0, "special": "hidden"})
    )
    sizes = np.abs(flow[MEASURE][0][:, 1:5])
    assert shown.hidden == pytest.approx(1 - sizes[..., 1:5].sum() / sizes.sum(), rel=1e-5)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("choice", [{}, {"token": 2}, {"heads": [1]}], ids=str)
def test_a_figure_has_two_hues_of_ribbons_and_bars_of_none(theme, choice):
    curves = marks(Curve, theme=theme, **choice)
    palette = PALETTES[theme]
    assert {curve.color for curve in curves} == set(palette.signs)
    assert {bar.color for bar in marks(Box, theme=theme, **choice)} == {palette.soft}


def test_a_figure_says_what_its_hues_are():
    text = " · ".join(line.text for line in marks(Text))
    assert "blue: above zero, orange: below; widths and sums go by size" in text
    assert "of the sizes drawn" in text
    low, high = (
        line.text
        for line in marks(Text, view="matrix", normalize="layer")
        if line.text.endswith("0.238")
    )
    assert (low, high) == ("−0.238", "0.238")
    plain = draw_figure(random_flow(), measure="weight").marks
    assert not any(isinstance(mark, Text) and "orange" in mark.text for mark in plain)


@pytest.mark.parametrize("scale", ["layer", "query"])
def test_a_matrix_is_bluer_above_zero_and_redder_below(scale):
    (field,) = marks(Heatmap, view="matrix", heads=[0], normalize=scale, legend=False)
    values = signed_flow()[MEASURE][0, 0]
    blueness = field.cells[..., 2].astype(int) - field.cells[..., 0]
    strong = np.abs(values) > 0.2 * np.abs(values).max()
    assert (blueness[strong & (values > 0)] > 20).all()
    assert (blueness[strong & (values < 0)] < -20).all()
    furthest = np.unravel_index(np.abs(values).argmax(), values.shape)
    if scale == "layer":
        assert values[furthest] < 0
        assert field.cells[furthest].sum() == field.cells.sum(axis=-1).min()
