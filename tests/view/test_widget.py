"""The widget: its state is checked, travels both ways, and errors say what was expected."""

import json
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
import traitlets
from flows import VIEWS_OF_A_TEXT, random_flow, two_streams, wordy_flow

from normviz.alignment.align import TARGET_ROWS
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.errors import MissingPackage, UnknownName
from normviz.view.encoding import PRECISIONS, Precision
from normviz.view.state import (
    ALLOWED,
    COLORINGS,
    SCALES,
    SPECIALS,
    STATE_NAMES,
    THEMES,
    BadChoice,
    ViewOptions,
    ViewState,
)


def test_a_widget_opens_with_what_suits_the_flow():
    flow = random_flow()
    widget = flow.widget()
    assert (widget.stream, widget.measure, widget.compare) == ("encoder", "weight", "weighted-norm")
    assert f"In layer {widget.layer}," in flow.headline
    assert (widget.heads, widget.token, widget.normalize) == (None, None, "query")


def test_a_measure_that_is_asked_for_is_shown_alone():
    assert random_flow().widget(measure="weight").compare is None
    both = random_flow().widget(measure="value-norm", compare="weight")
    assert (both.measure, both.compare) == ("value-norm", "weight")


def test_a_translation_opens_on_its_alignment():
    widget = two_streams().widget()
    assert (widget.view, widget.stream) == ("alignment", "cross")
    assert two_streams().widget(stream="encoder").view == "flow"


def test_every_name_of_the_state_is_a_synchronized_trait():
    synchronized = random_flow().widget().traits(sync=True)
    assert set(STATE_NAMES) <= set(synchronized)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("measure", "weight"),
        ("layer", 2),
        ("layer", np.int64(2)),
        ("heads", [1, 3]),
        ("token", 0),
        ("role", "key"),
        ("compare", "weight"),
        ("compare", 1),
        ("words", True),
        ("threshold", 0.25),
        *(("view", view) for view in VIEWS_OF_A_TEXT),
        *(("special", special) for special in SPECIALS),
        *(("normalize", scale) for scale in SCALES),
        *(("color_by", word) for word in COLORINGS),
        *(("target_row", word) for word in TARGET_ROWS),
        *(("theme", theme) for theme in THEMES),
    ],
)
def test_what_the_flow_has_can_be_chosen(name, value):
    for widget in (random_flow().widget(**{name: value}), random_flow().widget()):
        setattr(widget, name, value)
        assert getattr(widget, name) == value
        json.dumps(widget.get_state(name))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "view",
            "cube",
            "The views are: flow, text, stack, grid, matrix, profile, alignment.",
        ),
        ("view", "alignment", "the stream is 'encoder'. It shows how the words of two texts"),
        ("stream", "cross", "There is no stream 'cross' here. The streams are: encoder."),
        ("measure", "wieght", "The measures are: weight, value-norm, weighted-norm."),
        ("layer", 3, "There is no layer 3 here. The layers are: 0, 1, 2."),
        ("layer", "two", "There is no layer 'two' here."),
        ("layer", 0.5, "There is no layer 0.5 here."),
        ("heads", [0, 9], "There is no head 9 here. The heads are: 0, 1, 2, 3."),
        ("heads", [], "No head is named."),
        ("token", 6, "There is no token 6 here."),
        ("token", -1, "There is no token -1 here."),
        ("role", "left", "The roles are: query, key."),
        ("normalize", "row", "absolute, layer, query"),
        ("compare", "wieght", "There is no measure 'wieght' here."),
        ("compare", 7, "There is no measure or layer 7 here."),
        ("compare", "other", "Pass the second flow: flow.widget(compare=other)."),
        ("words", "yes", "There is no value for words 'yes' here."),
        ("special", "gone", "shown, dimmed, hidden"),
        ("threshold", 1.5, "Expected a share of the largest number, from 0 to 1."),
        ("threshold", "low", "The threshold is 'low'."),
        ("threshold", float("nan"), "The threshold is nan."),
        ("color_by", "red", "The colorings are: none, rank, overlap, distance."),
        ("target_row", "inside", "The target rows are: input, output."),
        ("theme", "pink", "The themes are: auto, light, dark."),
    ],
)
def test_what_the_flow_lacks_is_refused_and_nothing_changes(name, value, sentence):
    with pytest.raises(BadChoice) as at_first:
        random_flow().widget(**{name: value})
    widget = random_flow().widget()
    before = widget.get_state()
    with pytest.raises(traitlets.TraitError) as later:
        setattr(widget, name, value)
    for refusal in (at_first, later):
        assert isinstance(refusal.value, UnknownName)
        assert sentence in str(refusal.value)
    assert widget.get_state() == before


@pytest.mark.parametrize(
    ("method", "options", "keyword", "nearest"),
    [
        ("widget", {"layr": 2}, "layr", "layer"),
        ("widget", {"color": "rank"}, "color", "color_by"),
        ("frame", {"hight": 300}, "hight", "height"),
        ("to_html", {"precison": "uint8"}, "precison", "precision"),
        ("to_svg", {"width": 12}, "width", "width_cm"),
    ],
)
def test_a_misspelled_keyword_is_refused_as_python_would_with_the_nearest_one(
    tmp_path, method, options, keyword, nearest
):
    path = [tmp_path / "file"] if method.startswith("to_") else []
    expected = rf"^{method} has no keyword '{keyword}'.*compare, layer, heads.*Write {nearest}=…"
    with pytest.raises(TypeError, match=expected) as refusal:
        getattr(random_flow(), method)(*path, **options)
    assert isinstance(refusal.value, BadChoice)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["to_svg", "to_pdf", "plot"])
def test_a_figure_without_dots_has_no_dpi(tmp_path, method):
    target = [tmp_path / "figure.svg"] if method != "plot" else []
    with pytest.raises(BadChoice, match=f"^{method} has no keyword 'dpi'"):
        getattr(random_flow(), method)(*target, dpi=100)


def test_types_and_checks_allow_the_same_values():
    hints = get_type_hints(ViewState)
    for name, allowed in ALLOWED.items():
        assert get_args(hints[name]) == allowed
    assert get_args(Precision) == tuple(PRECISIONS)
    assert tuple(ViewOptions.__annotations__) == STATE_NAMES


def test_a_stream_without_numbers_cannot_be_shown():
    flow = two_streams()
    cross = flow.cross
    empty = Stream("cross", cross.queries, cross.keys, (), cross.heads, {})
    with pytest.raises(BadChoice, match="The cross stream holds no numbers"):
        Flow({"cross": empty}, flow.receipt).widget()
    with pytest.raises(BadChoice, match="0 streams"):
        Flow({}, flow.receipt).widget()


def test_one_head_may_be_named_without_a_list():
    assert random_flow().widget(heads=2).heads == [2]


def test_heads_are_kept_in_the_order_of_the_model():
    assert random_flow().widget(heads=(3, 1, 3)).heads == [1, 3]


def test_layers_and_heads_have_the_numbers_of_the_model():
    widget = two_streams().widget(layer=2, heads=[3])
    assert (widget.layer, widget.heads) == (2, [3])
    with pytest.raises(BadChoice, match="The layers are: 0, 2"):
        widget.layer = 1


def test_another_stream_resets_what_it_does_not_have():
    widget = two_streams().widget(measure="attention", layer=2, heads=[3], token=2)
    widget.stream = "cross"
    assert (widget.measure, widget.layer, widget.heads, widget.token) == ("weight", 1, None, None)


def test_what_another_stream_does_have_is_kept():
    widget = two_streams().widget(measure="weight", token=1, theme="dark")
    widget.stream = "cross"
    assert (widget.measure, widget.token, widget.theme) == ("weight", 1, "dark")


def test_a_state_from_the_browser_may_change_stream_and_layer_at_once():
    widget = two_streams().widget()
    widget.set_state({"stream": "cross", "measure": "weight", "layer": 1})
    assert (widget.stream, widget.layer) == ("cross", 1)


def test_a_token_is_counted_among_those_of_its_role():
    widget = two_streams().widget(stream="cross", role="key", token=2)
    widget.role = "query"
    assert widget.token is None


def test_the_alignment_draws_the_cross_stream_along_and_leaves_with_it():
    assert two_streams().widget(view="alignment").stream == "cross"
    widget = two_streams().widget()
    widget.view = "alignment"
    assert (widget.view, widget.stream) == ("alignment", "cross")
    widget.stream = "encoder"
    assert (widget.view, widget.stream) == ("flow", "encoder")
    with pytest.raises(BadChoice, match="the stream is 'encoder'"):
        two_streams().widget(view="alignment", stream="encoder")


def test_the_state_can_be_observed():
    widget = random_flow().widget(layer=0)
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "layer")
    widget.layer = 1
    assert seen == [1]


def test_the_selection_is_a_table_of_what_is_pinned():
    flow = random_flow()
    widget = flow.widget(measure="weight", layer=1, heads=[0, 2], token=3)
    table = widget.selection
    assert list(table.columns) == [
        "layer", "head", "query", "key", "query_piece", "key_piece", "value",
    ]  # fmt: skip
    assert table["value"].tolist() == flow["weight"][1, [0, 2], 3].ravel().tolist()
    widget.role = "key"
    assert widget.selection["value"].tolist() == flow["weight"][1, [0, 2], :, 3].ravel().tolist()
    widget.token = None
    assert len(widget.selection) == 2 * 6 * 6
    widget.measure = "value-norm"
    assert widget.selection["value"].tolist() == flow["value-norm"][1, [0, 2]].ravel().tolist()


def test_the_selection_is_of_words_where_words_are_shown():
    flow = wordy_flow()
    table = flow.widget(measure="weighted-norm", words=True, token=3).selection
    expected = flow.words().encoder.at("weighted-norm", 0)[:, 1]
    assert table["value"].tolist() == expected.ravel().tolist()
    assert set(table["query_piece"]) == {"unbelievable"}


def test_numbers_travel_as_bytes_and_the_rest_as_json():
    state = random_flow().widget().get_state()
    assert isinstance(state["_data"], bytes)
    json.dumps({name: value for name, value in state.items() if name != "_data"})


def test_a_missing_asset_says_how_to_build_it(monkeypatch):
    monkeypatch.setattr("normviz.view.assets.STATIC", Path("nowhere"))
    from normviz.view.assets import asset_path

    with pytest.raises(MissingPackage, match=r"there is no widget.js .* npm run build"):
        asset_path("widget.js")


def test_showing_a_flow_never_imports_torch():
    code = (
        "import sys; from normviz.io.from_arrays import from_arrays; "
        "flow = from_arrays([[[[1.0]]]], ['a']); flow.widget(); flow._repr_mimebundle_(); "
        "from normviz.view.page import build_page; build_page(flow); "
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
