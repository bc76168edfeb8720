"""Rungs that coincide in a model: one of them is held, and both names open it everywhere."""

import json

import pytest
from flows import carried_flow, ladder_flow, random_flow

from normviz.cli.main import main
from normviz.core.catalog import MEASURES, parse_measures
from normviz.view.payload import pack
from normviz.view.state import BadChoice, resolve

PAIRS = {"attention-block": "attention-residual", "layer-output": "feed-forward-residual"}


@pytest.mark.parametrize(("second", "held"), PAIRS.items())
def test_a_second_name_is_a_choice_of_the_rung_that_is_held(second, held):
    flow = ladder_flow(prenorm=True)
    assert resolve(flow, {"measure": second})["measure"] == held
    assert resolve(flow, {"compare": second})["compare"] == held


def test_where_both_rungs_are_held_each_keeps_its_name():
    assert resolve(ladder_flow(), {"measure": "layer-output"})["measure"] == "layer-output"


def test_a_widget_takes_the_second_name_when_it_is_made_and_later():
    widget = ladder_flow(prenorm=True).widget(measure="layer-output")
    assert widget.measure == "feed-forward-residual"
    widget.measure = "attention-block"
    assert widget.measure == "attention-residual"
    widget.compare = "layer-output"
    assert widget.compare == "feed-forward-residual"


def test_tables_take_the_second_name():
    flow = ladder_flow(prenorm=True)
    first, second = flow.to_dataframe("feed-forward-residual"), flow.to_dataframe("layer-output")
    assert first.equals(second)
    assert flow.to_xarray("layer-output").equals(flow.to_xarray("feed-forward-residual"))


def test_the_shell_takes_the_second_name(tmp_path, capsys):
    saved, page = tmp_path / "a.normviz", tmp_path / "a.html"
    ladder_flow(prenorm=True).save(saved)
    assert main(["view", str(saved), "--measure", "layer-output", "-o", str(page)]) == 0
    assert '"measure":"feed-forward-residual"' in page.read_text().replace(" ", "")
    capsys.readouterr()


def test_the_view_is_told_what_the_second_names_are_called():
    about = json.loads(json.dumps(pack(ladder_flow(prenorm=True)).header))["flows"][0]
    labels = {measure["id"]: measure["label"] for measure in about["measures"]}
    assert [labels[name] for name in about["streams"][0]["aliases"]] == [
        "+ LayerNorm",
        "whole layer",
    ]
    assert "layer-output" not in about["streams"][0]["measures"]


def test_a_name_that_is_neither_held_nor_second_is_refused():
    with pytest.raises(BadChoice, match="There is no measure 'layer-output' here"):
        resolve(random_flow(), {"measure": "layer-output"})


def test_what_is_carried_through_the_layers_is_in_the_catalog_and_held():
    flow = carried_flow()
    carried = ("decomposition", "rollout:weight", "rollout:weighted-norm")
    assert flow.measures[-3:] == carried
    assert MEASURES["rollout:layer-output"].label == "rollout of whole layer"
    assert set(carried) <= set(parse_measures("all"))
