"""What the stack opens with: a measure that includes the residual connection, if one is held."""

from dataclasses import replace

import numpy as np
import pytest
from flows import carried_flow, flow_of, hybrid_flow, ladder_flow, random_flow, two_streams

from normviz.core.catalog import MEASURES
from normviz.view.opening import residual_measure, stack_defaults

PAIRS = np.full((2, 3, 3), 1 / 3)
HEADS = PAIRS[:, None]


def holding(*measures):
    """A stream that holds these measures."""
    arrays = {name: HEADS if "head" in MEASURES[name].axes else PAIRS for name in measures}
    return flow_of(arrays, ["a", "b", "c"]).encoder


@pytest.mark.parametrize(
    ("held", "chosen"),
    [
        (("weight", "attention", "attention-residual"), "attention-residual"),
        (("weight", "attention-residual", "attention-block"), "attention-block"),
        (("attention-block", "layer-output", "decomposition"), "layer-output"),
        (("weight", "globenc", "rollout:weight"), "globenc"),
        (("value-zeroing", "decomposition", "rollout:weight"), "decomposition"),
        (("weight", "rollout:weight"), "rollout:weight"),
        (("weight", "value-zeroing"), "value-zeroing"),
        (("weight", "attention"), None),
    ],
)
def test_the_measure_with_the_residual_is_the_one_nearest_to_the_whole_layer(held, chosen):
    assert residual_measure(holding(*held)) == chosen


def test_a_stack_opens_with_the_residual_and_from_the_last_layer():
    widget = ladder_flow().widget(view="stack")
    assert (widget.measure, widget.compare, widget.layer) == ("layer-output", None, 1)
    prenorm = ladder_flow(prenorm=True).widget(view="stack")
    assert prenorm.measure == "feed-forward-residual"


def test_a_stack_opens_with_what_moves_where_the_flow_cannot_tell():
    widget = random_flow().widget(view="stack")
    assert (widget.measure, widget.layer) == ("weighted-norm", 2)


def test_what_is_asked_for_comes_before_what_the_stack_would_choose():
    widget = ladder_flow().widget(view="stack", measure="weight", layer=0, compare="attention")
    assert (widget.measure, widget.layer, widget.compare) == ("weight", 0, "attention")


def test_other_views_open_as_ever():
    flow = ladder_flow()
    assert flow.widget(view="matrix").measure == flow.widget().measure


def test_what_cannot_be_chained_does_not_need_the_residual():
    assert stack_defaults(hybrid_flow().streams["decoder"])["measure"] == "weighted-norm"
    assert "measure" not in stack_defaults(two_streams().streams["cross"])
    chained = carried_flow().encoder
    broken = replace(chained, interruption="there is no attention of this stream in layer 1")
    assert stack_defaults(chained)["measure"] == "decomposition"
    assert stack_defaults(broken)["measure"] == "weighted-norm"


def test_another_flow_is_compared_by_a_measure_that_both_hold():
    widget = ladder_flow(layers=3).widget(view="stack", compare=random_flow(layers=3))
    assert widget.measure in random_flow().encoder
