"""The numbers and words behind a figure: scales, thresholds, limits, hidden tokens, legends."""

from dataclasses import replace

import numpy as np
import pytest
from flows import SENTENCE, random_flow, receipt, two_streams, wordy_flow

from normviz.io.from_arrays import from_arrays
from normviz.view.figures.geometry import FILL, focused, ribbons
from normviz.view.figures.picture import panes, picture
from normviz.view.figures.words import legend, length, room, shortened, wrapped
from normviz.view.state import resolve

KNOWN = from_arrays(
    np.float32([[[[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]]]), ["a", "b", "c"]
)


def shown(flow, **choice):
    return picture(flow, resolve(flow, choice))


def told(flow, view="flow", **choice):
    return " · ".join(legend(shown(flow, **choice), view))


def test_nothing_below_the_threshold_is_drawn():
    assert shown(KNOWN, threshold=0.5).least == pytest.approx(0.45)
    assert len(ribbons(shown(KNOWN, threshold=0.5), 20, share=1)) == 3
    assert len(focused(shown(KNOWN, threshold=0.5, token=2), 20)) == 1
    assert len(focused(shown(KNOWN, token=2), 20)) == 3
    assert "nothing below 0.450 is drawn" in told(KNOWN, threshold=0.5)
    assert "nothing below" not in told(KNOWN)


def test_no_more_ribbons_are_drawn_than_allowed_and_the_widest_are_kept():
    pinned = shown(random_flow(), token=1)
    every, few = focused(pinned, 20), focused(pinned, 20, limit=5)
    assert few.width.tolist() == every.width[-5:].tolist()
    assert len(ribbons(shown(random_flow()), 20, limit=5)) == 5
    alike = from_arrays(np.full((1, 1, 60, 60), 1 / 60), [f"t{n}" for n in range(60)])
    assert len(ribbons(shown(alike), 12, limit=100)) == 100


def test_ribbons_are_painted_weakest_first():
    for found in (ribbons(shown(random_flow()), 20), focused(shown(random_flow(), token=1), 20)):
        assert (np.diff(found.width) >= 0).all()


@pytest.mark.parametrize("side", ["query", "key"])
@pytest.mark.parametrize("row", [0, 59])
def test_a_widened_bundle_stays_on_the_sheet(side, row):
    flow = from_arrays(np.full((1, 1, 60, 60), 1 / 60), [f"t{n}" for n in range(60)])
    found = focused(shown(flow, token=row, side=side), 12)
    near = found.end if side == "query" else found.start
    assert found.zoom == 12
    assert (near - found.width / 2).min() >= -1e-6
    assert (near + found.width / 2).max() <= 60 * 12 + 1e-6


def test_the_pinned_end_is_a_bundle_and_the_other_end_is_spread():
    for side in ("query", "key"):
        found = focused(shown(random_flow(), token=2, side=side), 20)
        near, far = (found.end, found.start) if side == "query" else (found.start, found.end)
        assert np.ptp(near) <= 20 * found.zoom
        assert np.ptp(far) > 80
        assert {*(found.query if side == "query" else found.key).tolist()} == {2}


def test_a_text_of_special_tokens_only_is_shown_as_it_is():
    flow = random_flow(["[CLS]", "[SEP]"])
    assert shown(flow, special="hidden").keys.pieces == ("[CLS]", "[SEP]")
    assert shown(flow, special="hidden").hidden == 0


def test_a_full_row_is_the_layers_largest_the_models_largest_or_ones_own():
    flow = random_flow()
    rows = flow["weighted-norm"].sum(axis=-1)  # layer head query
    largest = rows[0].sum(axis=0).max()
    assert shown(flow, normalize="layer").units == pytest.approx(np.full(6, largest))
    ceiling = max(rows[layer].max(axis=-1).sum() for layer in range(3))
    assert shown(flow, normalize="absolute").units == pytest.approx(np.full(6, ceiling))
    one = max(rows[layer, 2].max() for layer in range(3))
    assert shown(flow, normalize="absolute", heads=[2]).units == pytest.approx(np.full(6, one))
    assert shown(flow, normalize="query").units == pytest.approx(rows[0].sum(axis=0))


def test_the_longest_bar_is_the_layers_or_the_models():
    flow = random_flow()
    norms = flow["value-norm"]
    own = norms[1].sum(axis=0).max()
    assert shown(flow, layer=1).norms.unit == pytest.approx(own)
    ceiling = max(norms[layer].max(axis=-1).sum() for layer in range(3))
    assert shown(flow, layer=1, normalize="absolute").norms.unit == pytest.approx(ceiling)


def test_rows_fill_no_more_than_their_part_of_the_pitch():
    found = ribbons(shown(random_flow(), normalize="query"), 20, share=1)
    for query in range(6):
        own = found.query == query
        top = (found.end - found.width / 2)[own].min()
        bottom = (found.end + found.width / 2)[own].max()
        assert bottom - top == pytest.approx(20 * FILL)
        assert (top + bottom) / 2 == pytest.approx(20 * (query + 0.5))


def test_two_flows_are_named_by_what_differs():
    one, other = replace(random_flow(), title="one"), replace(random_flow(), title="other")
    chosen = resolve(one, {"compare": "other"})
    assert [title for title, _ in panes(one, chosen, other)] == ["one", "other"]
    another = replace(other, receipt=receipt([]))
    names = ["numbers from elsewhere", "tiny"]
    assert [title for title, _ in panes(one, chosen, another)] == names


def test_the_legend_names_the_heads():
    assert told(random_flow()).startswith("‖αf(x)‖, layer 0, 4 heads · ")
    assert told(random_flow(), heads=[2], layer=1).startswith("‖αf(x)‖, layer 1, head 2 · ")
    assert "all heads together" in told(two_streams(), measure="attention")


def test_the_legend_tells_what_a_full_row_and_a_dark_cell_stand_for():
    flow = random_flow()
    assert "full row: 100% of its own" in told(flow, normalize="query")
    assert f"full row: {shown(flow).units[0]:.3g}" in told(flow)
    darkest = flow["weighted-norm"][0].sum(axis=0).max()
    assert f"darkest cell: {darkest:#.3g}" in told(flow, "matrix")
    assert "each row divided by its own whole" in told(flow, "matrix", normalize="query")
    assert "longest bar" not in told(flow, "matrix")


def test_the_legend_says_how_much_is_drawn_and_how_much_wider():
    assert "95% of the sum drawn" in told(random_flow())
    flow = from_arrays(np.full((1, 1, 60, 60), 1 / 60), [f"t{n}" for n in range(60)])
    assert "drawn 12 times wider" in told(flow, token=5)
    assert "wider" not in told(KNOWN, token=0)
    hidden = told(wordy_flow(), special="hidden")
    assert "special tokens hidden, and with them " in hidden
    assert "hidden" not in told(wordy_flow())


def test_phrases_share_a_line_as_long_as_there_is_room():
    assert wrapped(["one", "two", "three"], 1000, 10) == ["one · two · three"]
    assert wrapped(["one", "two", "three"], length("one · two", 10), 10) == ["one · two", "three"]
    assert wrapped(["a long phrase"], 1, 10) == ["a long phrase"]


def test_ideographs_take_more_room_than_letters():
    assert length("漢字", 10) == 20
    assert length("ab", 10) == pytest.approx(11.2)
    assert room(["漢字" * 4], 10) > room(["ab" * 4], 10) == pytest.approx(8 * 5.6 + 14)
    assert room([], 10) == 36


@pytest.mark.parametrize(
    ("piece", "seen"),
    [("\n", "↵"), ("\t", "⇥"), (" ", "␣"), ("", "∅"), ("a\n b", "a b"), ("\n\n", "↵↵")],
)
def test_a_token_can_be_seen_even_if_it_is_blank(piece, seen):
    assert shortened(piece, 100, 10) == seen


def test_a_long_token_is_cut_to_its_room():
    cut = shortened("a" * 50, 60, 10)
    assert cut.endswith("…")
    assert 60 - 5.6 < length(cut, 10) <= 60
    assert shortened(SENTENCE[1], 60, 10) == "the"
