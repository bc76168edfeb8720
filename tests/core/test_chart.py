"""Charts of a flow: checked when made, saved in files, sent to the view."""

import json
from dataclasses import replace

import pytest
from flows import chart, random_flow, rewrite_description, two_streams

import normviz
from normviz.core.chart import Chart, Series
from normviz.errors import BadArrays, BadFile
from normviz.view.payload import pack


def test_a_chart_survives_json():
    plain = json.loads(json.dumps(chart().to_dict()))
    assert Chart.from_dict(plain) == chart()


def test_a_flow_holds_charts_and_is_otherwise_unchanged():
    flow = random_flow()
    charted = flow.with_chart(chart())
    assert flow.charts == ()
    assert charted.charts == (chart(),)
    assert charted.words().charts == (chart(),)
    assert charted.nearest_layers(0, 1)[0].charts == (chart(),)
    assert normviz.rollout(charted, "weight").charts == (chart(),)
    assert "chart: token identifiability" in repr(charted)
    assert "chart" not in repr(flow)


def test_a_chart_replaces_one_of_the_same_title():
    other = replace(chart(), title="another")
    newer = replace(chart(), finding="")
    flow = random_flow().with_chart(chart()).with_chart(other).with_chart(newer)
    assert flow.charts == (other, newer)


def test_charts_are_saved_with_their_flow(tmp_path):
    path = two_streams().with_chart(chart()).save(tmp_path / "a.normviz")
    assert normviz.load(path).charts == (chart(),)


def test_files_from_before_there_were_charts_are_read(tmp_path):
    path = random_flow().save(tmp_path / "old.normviz")
    old = rewrite_description(path, lambda plain: plain.pop("charts"))
    assert normviz.load(old).charts == ()


def test_a_chart_that_contradicts_itself_is_refused(tmp_path):
    path = random_flow().with_chart(chart()).save(tmp_path / "a.normviz")
    with pytest.raises(BadFile, match=r"not a whole normviz file \(The curve .* has 3 values"):
        normviz.load(rewrite_description(path, _shorten_first_curve))
    with pytest.raises(BadFile, match="not a whole normviz file"):
        normviz.load(rewrite_description(path, lambda plain: plain["charts"][0].pop("label")))


def _shorten_first_curve(plain):
    for name in ("values", "low", "high"):
        plain["charts"][0]["series"][0][name].pop()


def test_charts_travel_to_the_view():
    flow = random_flow()
    about = pack(flow.with_chart(chart()), flow).header["flows"]
    assert [one["charts"] for one in about] == [[chart().to_dict()], []]


def high_band():
    """Return a curve of shares whose band reaches above 1."""
    return Series("a", (0.9,) * 4, low=(0.8,) * 4, high=(1.1,) * 4)


def test_with_a_unit_numbers_may_be_of_any_size(tmp_path):
    lengths = Chart("lengths", "how long", "mean", (0, 1), (Series("a", (3.5, 120.0)),), unit="m")
    assert Chart.from_dict(json.loads(json.dumps(lengths.to_dict()))) == lengths
    path = random_flow().with_chart(lengths).save(tmp_path / "a.normviz")
    assert normviz.load(path).charts == (lengths,)


@pytest.mark.parametrize(
    ("create", "message"),
    [
        (lambda: Series("a", (0.5,), low=(0.4,)), "'a' has rows of .1, 1.*low and high together"),
        (
            lambda: Series("a", (0.5,), low=(0.4,), high=()),
            "Expected as many low and high as values",
        ),
        (lambda: replace(chart(), series=(Series("a", (1.5,) * 4),)), "not a share.*from 0 to 1"),
        (lambda: replace(chart(), series=(high_band(),)), "not a share.*give the chart a unit"),
        (lambda: Series("a", (float("nan"),)), "negative or not finite.*from 0 on"),
        (lambda: Series("a", (float("inf"),)), "negative or not finite"),
        (lambda: Series("a", (-0.1,)), "negative or not finite"),
        (lambda: replace(chart(), layers=(0, 1, 3)), "4 values.*has 3 layers"),
        (lambda: replace(chart(), layers=(0, 2, 1, 3)), "Expected layers in ascending order"),
        (lambda: replace(chart(), layers=(), series=()), "Expected layers in ascending order"),
    ],
)
def test_what_cannot_be_drawn_is_refused(create, message):
    with pytest.raises(BadArrays, match=message):
        create()


def test_a_chart_is_drawn_on_axes_with_its_own_numbers():
    drawn = replace(
        chart(),
        layers=(0, 2),
        series=(
            Series("a", (0.1, 0.2), group="one", low=(0.0, 0.1), high=(0.2, 0.3)),
            Series("b", (0.3, 0.4), group="one", dashed=True),
            Series("c", (0.5, 0.6)),
            Series("chance", (0.05, 0.05), faint=True),
        ),
    )
    axes = drawn.plot(width_cm=17)
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert lines["a"].get_xydata().tolist() == [[0, 0.1], [2, 0.2]]
    assert lines["a"].get_color() == lines["b"].get_color() != lines["c"].get_color()
    assert (lines["a"].get_linestyle(), lines["b"].get_linestyle()) == ("-", "--")
    assert lines["chance"].get_marker() == "None"
    assert len(axes.collections) == 1
    assert axes.get_title(loc="left") == drawn.title
    assert axes.figure.get_figwidth() == pytest.approx(17 / 2.54)
    assert drawn.plot(axes) is axes
