"""Rungs that coincide in a model: one of them is held, and both ids lead to it everywhere."""

import json

import pytest
from flows import carried_flow, ladder_flow, random_flow

from normviz.cli.main import main
from normviz.core.catalog import MEASURES, parse_measures
from normviz.view.payload import pack
from normviz.view.state import BadChoice, resolve_state

PAIRS = {"attention-block": "attention-residual", "layer-output": "feed-forward-residual"}


@pytest.mark.parametrize(("alias", "held"), PAIRS.items())
def test_an_alias_in_a_state_becomes_the_id_that_is_held(alias, held):
    flow = ladder_flow(prenorm=True)
    assert resolve_state(flow, {"measure": alias}).measure == held
    assert resolve_state(flow, {"compare": alias}).compare == held


def test_where_both_rungs_are_held_each_keeps_its_id():
    assert resolve_state(ladder_flow(), {"measure": "layer-output"}).measure == "layer-output"


def test_a_widget_takes_an_alias_when_it_is_created_and_later():
    widget = ladder_flow(prenorm=True).widget(measure="layer-output")
    assert widget.measure == "feed-forward-residual"
    widget.measure = "attention-block"
    assert widget.measure == "attention-residual"
    widget.compare = "layer-output"
    assert widget.compare == "feed-forward-residual"


def test_tables_take_an_alias():
    flow = ladder_flow(prenorm=True)
    first, second = flow.to_dataframe("feed-forward-residual"), flow.to_dataframe("layer-output")
    assert first.equals(second)
    assert flow.to_xarray("layer-output").equals(flow.to_xarray("feed-forward-residual"))


def test_the_command_line_takes_an_alias(tmp_path, capsys):
    saved, page = tmp_path / "a.normviz", tmp_path / "a.html"
    ladder_flow(prenorm=True).save(saved)
    assert main(["view", str(saved), "--measure", "layer-output", "-o", str(page)]) == 0
    assert '"measure":"feed-forward-residual"' in page.read_text().replace(" ", "")
    capsys.readouterr()


def test_the_view_gets_the_labels_of_aliases():
    about = json.loads(json.dumps(pack(ladder_flow(prenorm=True)).header))["flows"][0]
    labels = {measure["id"]: measure["label"] for measure in about["measures"]}
    assert [labels[name] for name in about["streams"][0]["aliases"]] == [
        "+ LayerNorm",
        "whole layer",
    ]
    assert "layer-output" not in about["streams"][0]["measures"]


def test_an_id_that_is_neither_held_nor_an_alias_is_refused():
    with pytest.raises(BadChoice, match="There is no measure 'layer-output' here"):
        resolve_state(random_flow(), {"measure": "layer-output"})


def test_measures_that_reach_the_input_are_in_the_catalog_and_held():
    flow = carried_flow()
    reaching = ("decomposition", "rollout:weight", "rollout:weighted-norm")
    assert flow.measures[-3:] == reaching
    assert MEASURES["rollout:layer-output"].label == "rollout of whole layer"
    assert set(reaching) <= set(parse_measures("all"))
