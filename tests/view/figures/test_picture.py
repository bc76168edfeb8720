"""The numbers and words behind a figure: scales, thresholds, limits, hidden tokens, legends."""

from dataclasses import replace

import numpy as np
import pytest
from flows import (
    SENTENCE,
    ladder_flow,
    plain_state,
    random_flow,
    receipt,
    signed_flow,
    two_streams,
    wordy_flow,
)

from normviz.io.from_arrays import from_arrays
from normviz.view.figures.geometry import FILL, place_focused_ribbons, place_ribbons
from normviz.view.figures.metrics import label_width, shorten, text_width, wrap_phrases
from normviz.view.figures.panes import make_panes
from normviz.view.figures.picture import make_picture
from normviz.view.figures.words import legend_phrases
from normviz.view.state import resolve_state

KNOWN = from_arrays(
    np.float32([[[[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]]]), ["a", "b", "c"]
)


def picture_of(flow, **state):
    return make_picture(flow, resolve_state(flow, plain_state(flow, state)))


def legend_of(flow, view="flow", **state):
    return " · ".join(legend_phrases(picture_of(flow, **state), view))


def test_nothing_below_the_threshold_is_drawn():
    assert picture_of(KNOWN, threshold=0.5).smallest_drawn == pytest.approx(0.45)
    assert len(place_ribbons(picture_of(KNOWN, threshold=0.5), 20, share=1)) == 3
    assert len(place_focused_ribbons(picture_of(KNOWN, threshold=0.5, token=2), 20)) == 1
    assert len(place_focused_ribbons(picture_of(KNOWN, token=2), 20)) == 3
    assert "nothing below 0.450 is drawn" in legend_of(KNOWN, threshold=0.5)
    assert "nothing below" not in legend_of(KNOWN)


def test_no_more_ribbons_are_drawn_than_allowed_and_the_widest_are_kept():
    pinned = picture_of(random_flow(), token=1)
    every, few = place_focused_ribbons(pinned, 20), place_focused_ribbons(pinned, 20, limit=5)
    assert few.width.tolist() == every.width[-5:].tolist()
    assert len(place_ribbons(picture_of(random_flow()), 20, limit=5)) == 5
    alike = from_arrays(np.full((1, 1, 60, 60), 1 / 60), [f"t{n}" for n in range(60)])
    assert len(place_ribbons(picture_of(alike), 12, limit=100)) == 100


def test_ribbons_are_painted_weakest_first():
    for found in (
        place_ribbons(picture_of(random_flow()), 20),
        place_focused_ribbons(picture_of(random_flow(), token=1), 20),
    ):
        assert (np.diff(found.width) >= 0).all()


@pytest.mark.parametrize("role", ["query", "key"])
@pytest.mark.parametrize("row", [0, 59])
def test_a_widened_bundle_stays_on_the_sheet(role, row):
    flow = from_arrays(np.full((1, 1, 60, 60), 1 / 60), [f"t{n}" for n in range(60)])
    found = place_focused_ribbons(picture_of(flow, token=row, role=role), 12)
    near = found.end if role == "query" else found.start
    assert found.zoom == 12
    assert (near - found.width / 2).min() >= -1e-6
    assert (near + found.width / 2).max() <= 60 * 12 + 1e-6


def test_the_pinned_end_is_a_bundle_and_the_other_end_is_spread():
    for role in ("query", "key"):
        found = place_focused_ribbons(picture_of(random_flow(), token=2, role=role), 20)
        near, far = (found.end, found.start) if role == "query" else (found.start, found.end)
        assert np.ptp(near) <= 20 * found.zoom
        assert np.ptp(far) > 80
        assert {*(found.query if role == "query" else found.key).tolist()} == {2}


def test_a_text_of_special_tokens_only_is_shown_as_it_is():
    flow = random_flow(["[CLS]", "[SEP]"])
    assert picture_of(flow, special="hidden").keys.pieces == ("[CLS]", "[SEP]")
    assert picture_of(flow, special="hidden").hidden == 0


def test_a_full_row_is_the_layers_largest_the_models_largest_or_ones_own():
    flow = random_flow()
    rows = flow["weighted-norm"].sum(axis=-1)  # layer head query
    largest = rows[0].mean(axis=0).max()
    assert picture_of(flow, normalize="layer").units == pytest.approx(np.full(6, largest))
    ceiling = max(rows[layer].max(axis=-1).mean() for layer in range(3))
    assert picture_of(flow, normalize="absolute").units == pytest.approx(np.full(6, ceiling))
    one = max(rows[layer, 2].max() for layer in range(3))
    assert picture_of(flow, normalize="absolute", heads=[2]).units == pytest.approx(np.full(6, one))
    assert picture_of(flow, normalize="query").units == pytest.approx(rows[0].mean(axis=0))


def test_the_longest_bar_is_the_layers_or_the_models():
    flow = random_flow()
    norms = flow["value-norm"]
    own = norms[1].mean(axis=0).max()
    assert picture_of(flow, layer=1).norms.unit == pytest.approx(own)
    ceiling = max(norms[layer].max(axis=-1).mean() for layer in range(3))
    assert picture_of(flow, layer=1, normalize="absolute").norms.unit == pytest.approx(ceiling)


def test_rows_fill_no_more_than_their_part_of_the_pitch():
    found = place_ribbons(picture_of(random_flow(), normalize="query"), 20, share=1)
    for query in range(6):
        own = found.query == query
        top = (found.end - found.width / 2)[own].min()
        bottom = (found.end + found.width / 2)[own].max()
        assert bottom - top == pytest.approx(20 * FILL)
        assert (top + bottom) / 2 == pytest.approx(20 * (query + 0.5))


def test_two_flows_are_named_by_what_differs():
    one, other = replace(random_flow(), title="one"), replace(random_flow(), title="other")
    state = resolve_state(one, {"compare": "other"})
    assert [pane.title for pane in make_panes((one, other), state)] == ["one", "other"]
    another = replace(other, receipt=receipt([]))
    names = ["numbers from elsewhere", "tiny"]
    assert [pane.title for pane in make_panes((one, another), state)] == names


def heads_in_words(flow, **state):
    (pane,) = make_panes((flow,), resolve_state(flow, plain_state(flow, state)))
    return pane.heads


def test_the_heads_are_named():
    flow = random_flow(heads=6)
    assert heads_in_words(flow) == "mean of 6 heads"
    assert heads_in_words(flow, heads=[2], layer=1) == "head 2"
    assert heads_in_words(flow, heads=[0, 2]) == "mean of heads 0, 2"
    assert heads_in_words(flow, heads=range(5)) == "mean of 5 of 6 heads"
    assert heads_in_words(random_flow(heads=1)) == "head 0"
    assert heads_in_words(two_streams(), measure="attention") == "all heads together"


def test_all_heads_are_one_plane_their_mean_and_chosen_ones_add_up_to_theirs():
    flow = random_flow()
    values = flow["weight"][1]
    whole = picture_of(flow, measure="weight", layer=1)
    assert whole.heads == (None,)
    assert whole.values == pytest.approx(values.mean(axis=0, keepdims=True))
    chosen = picture_of(flow, measure="weight", layer=1, heads=[0, 2])
    assert chosen.heads == (0, 2)
    assert chosen.values == pytest.approx(values[[0, 2]] / 2)


@pytest.mark.parametrize("measure", ["weight", "weighted-norm", "attention", "effective-weight"])
@pytest.mark.parametrize("layer", [0, 1])
def test_shares_are_those_of_the_stream(measure, layer):
    flow = signed_flow() if measure == "effective-weight" else ladder_flow()
    shares = picture_of(flow, measure=measure, layer=layer).shares
    assert shares.totals.sum() == pytest.approx(1)
    categories = np.array(flow.tokens.categories)
    for category, by_layer in flow.encoder.shares(measure).items():
        assert shares.totals[categories == category].sum() == pytest.approx(by_layer[layer])


def test_hidden_tokens_keep_their_part_of_the_whole():
    hidden, shown = (picture_of(wordy_flow(), special=how) for how in ("hidden", "shown"))
    assert hidden.shares.totals.sum() + hidden.hidden == pytest.approx(1)
    assert shown.hidden == 0
    chosen = picture_of(random_flow(), heads=[1, 3]).shares
    assert chosen.heads == (1, 3)
    assert chosen.values.sum() == pytest.approx(1)
    assert picture_of(random_flow(), measure="value-norm").shares is None


def test_the_legend_tells_what_a_full_row_stands_for():
    flow = random_flow()
    assert "full row: 100% of its own" in legend_of(flow, normalize="query")
    assert f"full row: {picture_of(flow).units[0]:.3g}" in legend_of(flow)
    assert "each row divided by its own whole" in legend_of(flow, "matrix", normalize="query")
    assert "bars: share of all that is given" in legend_of(flow)
    assert "bars" not in legend_of(flow, "matrix")


def test_the_legend_says_how_much_is_drawn_and_how_much_wider():
    assert "95% of the sum drawn" in legend_of(random_flow())
    flow = from_arrays(np.full((1, 1, 60, 60), 1 / 60), [f"t{n}" for n in range(60)])
    assert "drawn 12 times wider" in legend_of(flow, token=5)
    assert "wider" not in legend_of(KNOWN, token=0)
    hidden = legend_of(wordy_flow(), special="hidden")
    assert "special tokens hidden, and with them " in hidden
    assert "hidden" not in legend_of(wordy_flow())


def test_phrases_share_a_line_as_long_as_there_is_room():
    assert wrap_phrases(["one", "two", "three"], 1000, 10) == ["one · two · three"]
    assert wrap_phrases(["one", "two", "three"], text_width("one · two", 10), 10) == [
        "one · two",
        "three",
    ]
    assert wrap_phrases(["a long phrase"], text_width("phrase", 10), 10) == ["a long", "phrase"]


def test_ideographs_take_more_room_than_letters():
    assert text_width("漢字", 10) == 20
    assert text_width("ab", 10) == pytest.approx(12.6)
    assert label_width(["漢字" * 4], 10) > label_width(["ab" * 4], 10)
    assert label_width(["ab"], 10) == pytest.approx(12.6 + 14)
    assert label_width(["ab"], 10, bold=0) > label_width(["ab"], 10)
    assert label_width([], 10, heading=22) == 36


@pytest.mark.parametrize("bold", [False, True])
def test_a_line_is_never_wider_than_reckoned_with(bold):
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")
    for text in ("share given", "‖αf(x)‖ (what it moves) · layer 0", *SENTENCE, "WMQ@%", "éüñ жд"):
        drawn = TextPath((0, 0), text, size=100, prop=font, usetex=False).get_extents().x1
        assert drawn <= text_width(text, 100, bold=bold)


@pytest.mark.parametrize(
    ("piece", "seen"),
    [("\n", "↵"), ("\t", "⇥"), (" ", "␣"), ("", "∅"), ("a\n b", "a b"), ("\n\n", "↵↵")],
)
def test_a_token_can_be_seen_even_if_it_is_blank(piece, seen):
    assert shorten(piece, 100, 10) == seen


def test_a_long_token_is_cut_to_its_room():
    cut = shorten("a" * 50, 60, 10)
    assert cut.endswith("…")
    assert 60 - 6.2 < text_width(cut, 10) <= 60
    assert shorten(SENTENCE[1], 60, 10) == "the"
