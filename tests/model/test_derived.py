"""What is derived from the flows of real models: rollouts, maximum flows, mixing, faithfulness."""

import architectures
import numpy as np
import pytest
from flows import two_streams

import normviz
from normviz import analyze, rollout
from normviz.core.catalog import LADDER, MEASURES, ROLLOUT_OF
from normviz.errors import BadInput, UnknownName


def analyze_text(demo, text, **options):
    model, tokenizer = demo
    return analyze(model, tokenizer=tokenizer, text=text, **options)


def test_analyze_rolls_out_what_is_requested_and_keeps_nothing_else(demo):
    text = "The cat sat on a mat."
    flow = analyze_text(demo, text, measures=["rollout:layer-output", "rollout:weighted-norm"])
    assert flow.measures == ("rollout:weighted-norm", "rollout:layer-output")
    assert not flow.stream().statistics
    assert {check.rung for check in flow.receipt.rungs} == {"layer-output"}
    whole = analyze_text(demo, text, measures=["layer-output", "weighted-norm"])
    for measure in ("layer-output", "weighted-norm"):
        expected = rollout(whole, measure)[f"rollout:{measure}"]
        np.testing.assert_allclose(flow[f"rollout:{measure}"], expected, rtol=1e-4, atol=1e-7)


def test_analyze_keeps_a_base_that_is_requested(demo):
    flow = analyze_text(
        demo,
        "A cat.",
        measures=["weight", "layer-output", "rollout:layer-output", "rollout:weight"],
    )
    assert flow.measures == ("weight", "layer-output", "rollout:weight", "rollout:layer-output")
    assert flow.mixing("layer-output").shape == (6, 5)
    both = analyze_text(demo, "A cat.", measures=["weighted-norm", "rollout:weight"])
    assert both.measures == ("weight", "value-norm", "weighted-norm", "rollout:weight")


def test_some_layers_of_a_rollout_are_those_of_the_whole(demo):
    some = analyze_text(demo, "A cat sat.", measures=["weight", "rollout:weight"], layers=[1, 3])
    whole = analyze_text(demo, "A cat sat.", measures=["weight", "rollout:weight"])
    assert some.stream().layers == (1, 3)
    for name in ("weight", "rollout:weight"):
        np.testing.assert_allclose(some[name], whole[name][[1, 3]], rtol=1e-5, atol=1e-7)
    with pytest.raises(UnknownName, match="no layer 9"):
        analyze_text(demo, "A cat sat.", measures=["rollout:weight"], layers=[9])


def test_all_means_every_rollout_whose_base_is_held():
    architecture = architectures.ALL["bert"]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures="all")
    held = [name for name in MEASURES if name in flow]
    rolled = {base for base, name in ROLLOUT_OF.items() if name in held}
    assert rolled == set(ROLLOUT_OF) & set(held)
    assert rolled >= {"weight", "weighted-norm", "attention-block", "layer-output"}
    assert "attention-flow" not in flow
    some = analyze(architecture.build(), inputs=architecture.inputs(), measures="all", layers=[1])
    assert some.stream().layers == (1,)
    assert not any(name.startswith("rollout:") for name in some.measures)


def test_where_there_are_several_streams_those_that_can_be_are_rolled_out():
    architecture = architectures.ALL["marian"]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures="all")
    for stream in (flow.encoder, flow.decoder):
        np.testing.assert_allclose(stream["rollout:layer-output"].sum(axis=-1), 1, rtol=1e-5)
    assert not any(name.startswith("rollout:") for name in flow.cross)
    (note,) = [n for n in flow.receipt.notes if n.startswith("decoder: rollout:layer-output:")]
    assert note.endswith("what the decoder reads from the encoder is left out")
    alone = analyze(
        architecture.build(), inputs=architecture.inputs(), measures=["rollout:layer-output"]
    )
    assert set(alone.streams) == {"encoder", "decoder"}


def test_a_pre_norm_model_is_rolled_out_under_both_ids():
    architecture = architectures.ALL["llama"]
    flow = analyze(
        architecture.build(), inputs=architecture.inputs(), measures=["rollout:layer-output"]
    )
    assert flow.measures == ("rollout:feed-forward-residual",)
    assert "layer-output" not in flow
    rolled = flow["rollout:layer-output"]
    np.testing.assert_allclose(rolled.sum(axis=-1), 1, rtol=1e-5)
    assert (np.triu(rolled, 1) == 0).all()


def test_naming_a_rollout_without_its_base_is_refused(tiny, monkeypatch):
    from normviz.model import options

    monkeypatch.setattr(options, "required_measures", lambda measures: ("weight",))
    with pytest.raises(UnknownName, match="no measure 'layer-output' here"):
        analyze(tiny(), inputs=architectures.text_inputs(), measures=["rollout:layer-output"])


def test_nothing_flows_from_a_later_token_and_a_file_keeps_it(tmp_path):
    architecture = architectures.ALL["llama"]
    measures = ["attention-flow", "rollout:weight"]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures=measures)
    assert flow.measures == ("rollout:weight", "attention-flow")
    assert (np.triu(flow["attention-flow"], 1) == 0).all()
    again = normviz.load(flow.save(tmp_path / "x.normviz"))
    np.testing.assert_array_equal(again["attention-flow"], flow["attention-flow"])


def test_analyze_computes_only_the_requested_layers(demo):
    measures = ["attention-flow", "rollout:weight"]
    flow = analyze_text(demo, "A cat.", measures=measures, layers=[2])
    whole = analyze_text(demo, "A cat.", measures=measures)
    assert flow.stream().layers == (2,)
    for name in measures:
        np.testing.assert_allclose(flow[name][0], whole[name][2], rtol=1e-5)


def test_in_a_trained_model_norms_are_more_faithful_than_weights(demo):
    measures = ["weight", "attention", "value-zeroing"]
    text = "The cat sat on the mat, and the dog looked on from its chair by the door."
    flow = analyze_text(demo, text, measures=measures)
    by_weight, by_norm = (normviz.faithfulness(flow, name).mean for name in measures[:2])
    assert by_norm > by_weight


def test_the_mixing_of_a_rung_is_its_statistic_under_either_id():
    architecture = architectures.ALL["llama"]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures="all")
    for rung in LADDER:
        ratio = flow.mixing(rung)
        assert ratio.shape == (2, 9)
        assert ((ratio >= 0) & (ratio <= 1)).all()
    np.testing.assert_array_equal(flow.mixing("layer-output"), flow.mixing("feed-forward-residual"))


def test_a_mixing_ratio_that_is_not_held_is_refused(demo):
    flow = analyze_text(demo, "A cat.")
    with pytest.raises(UnknownName, match=r"'attention' is not held.*weight, weight-residual"):
        flow.mixing("attention")
    with pytest.raises(UnknownName, match="measures="):
        flow.mixing("nothing")
    with pytest.raises(BadInput, match="tokens of different texts"):
        two_streams().mixing("weight", stream="cross")
    with pytest.raises(UnknownName, match="2 streams"):
        two_streams().mixing("weight")
    assert two_streams().mixing("weight", stream="encoder").shape == (2, 3)


def test_a_trained_model_is_changed_by_its_components(demo):
    flow = analyze_text(demo, "The quick brown fox slept until noon.", measures=LADDER)
    change = flow.contextualization_change("attention", "attention-residual")
    assert change.shape == (6,)
    assert ((change > 0) & (change < 1)).all()


def test_mixing_survives_a_file(demo, tmp_path):
    flow = analyze_text(demo, "A cat.", measures=["attention", "layer-output"])
    again = normviz.load(flow.save(tmp_path / "x.normviz"))
    np.testing.assert_array_equal(again.mixing("layer-output"), flow.mixing("layer-output"))


def test_value_zeroing_is_rolled_out_as_the_product_of_its_layers(tiny):
    flow = analyze(
        tiny("bert"),
        inputs=architectures.text_inputs(),
        measures=["value-zeroing", "rollout:value-zeroing"],
    )
    first, second = flow["value-zeroing"].astype(np.float64)
    expected = (second / second.sum(-1, keepdims=True)) @ (first / first.sum(-1, keepdims=True))
    np.testing.assert_allclose(flow["rollout:value-zeroing"][1], expected, rtol=1e-5)
