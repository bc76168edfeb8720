"""The zoo is complete, and the judge of its outcomes notices what it should."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
import zoo
from paths import ROOT
from zoo import outcomes, sweep
from zoo.cases import check_outcome
from zoo.results import FAMILY_NAMES, read_table
from zoo.witness import watch

import normviz
from normviz.errors import UnsupportedModel

TABLE = read_table()
SAMPLE = [
    *("bert", "llama", "gpt2", "t5", "bart", "whisper", "vit", "clip_vision_model", "wav2vec2"),
    *("qwen3_next", "mixtral", "clip-equal-lengths", "gemma3-image-block", "llava", "resnet"),
]


def test_every_type_that_can_be_built_is_in_the_table():
    assert {*TABLE} == {*zoo.TYPES}
    assert all({*row} == {"attentions", *FAMILY_NAMES} for row in TABLE.values())


def test_no_type_fails_in_a_way_that_is_always_a_mistake():
    kinds = {(n, f): TABLE[n][f].partition(":")[0] for n in TABLE for f in FAMILY_NAMES}
    assert {case: kind for case, kind in kinds.items() if kind in outcomes.NEVER} == {}


def test_no_type_is_both_built_and_not_built():
    assert not {*zoo.TYPES} & {*zoo.NOT_BUILT}
    assert all(reason for reason in zoo.NOT_BUILT.values())


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("family", ["all", "gradients"])
def test_further_measures_have_the_outcome_in_the_table(name, family):
    check_outcome(name, family)


def test_building_one_type_imports_no_other():
    code = (
        "import sys, zoo; zoo.build('bert');"
        "print([m for m in sys.modules if '.modeling_' in m and 'transformers.models' in m])"
    )
    path = f"{ROOT}:{ROOT / 'tests' / 'support'}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={"PYTHONPATH": path, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    modules = {name.split(".")[2] for name in done.stdout.split("'") if "modeling_" in name}
    assert modules <= {"bert", "auto"}


def test_a_model_and_its_inputs_are_always_the_same():
    one, other = zoo.build("llava"), zoo.build("llava")
    for name, tensor in one.model.state_dict().items():
        assert torch.equal(tensor, other.model.state_dict()[name])
    assert all(torch.equal(one.inputs[name], other.inputs[name]) for name in one.inputs)


def test_an_image_has_as_many_placeholders_as_features():
    specimen = zoo.build("llava")
    ids = specimen.inputs["input_ids"]
    patches = (specimen.model.config.vision_config.image_size // 8) ** 2
    assert (ids == specimen.model.config.image_token_id).sum() == patches


def test_attention_is_not_uniform():
    specimen = zoo.build("bert", attention="eager")
    weights = specimen.model(**specimen.inputs, output_attentions=True).attentions
    assert all(layer.max() > 3 * layer.mean() for layer in weights)


def test_the_witness_counts_every_attention_and_no_router():
    for name, attentions in (("bert", 2), ("t5", 6), ("mixtral", 2), ("resnet", 0)):
        specimen = zoo.build(name, attention="eager")
        assert watch(specimen.model, specimen.inputs).count == attentions, name


def test_the_witness_sees_fused_attention_too():
    specimen = zoo.build("bert", attention="sdpa")
    assert watch(specimen.model, specimen.inputs).weights == 2 * 4 * 9 * 9


# --- what the judge must notice ------------------------------------------------------------------


def analyzed(**changes):
    """Return a stand-in for `normviz.analyze` that changes what comes back."""
    analyze = normviz.analyze

    def stand_in(model, **options):
        for function in changes.get("before", ()):
            function(model)
        flow = analyze(model, **options)
        return changes["after"](flow) if "after" in changes else flow

    return stand_in


def outcome(monkeypatch, **changes):
    """Return the outcome of a BERT when `normviz.analyze` is replaced."""
    monkeypatch.setattr(normviz, "analyze", analyzed(**changes))
    return outcomes.find_outcome("bert", "attention").kind


def fail(error):
    raise error


def test_a_model_that_passes_passes(monkeypatch):
    assert outcome(monkeypatch) == "pass"


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.train(),
        lambda model: model.register_forward_hook(print),
        lambda model: model.encoder.layer[0].register_forward_pre_hook(print),
        lambda model: model.pooler.dense.weight.data.mul_(2),
        lambda model: setattr(model.config, "hidden_act", "relu"),
        lambda model: model.set_attn_implementation("eager"),
        lambda model: model.requires_grad_(False),
    ],
)
def test_a_model_that_is_left_changed_is_noticed(monkeypatch, change):
    stand_in = analyzed()

    def changing(model, **options):
        flow = stand_in(model, **options)
        change(model)
        return flow

    monkeypatch.setattr(normviz, "analyze", changing)
    assert outcomes.find_outcome("bert", "attention").kind == "changed"


def test_errors_are_told_apart(monkeypatch):
    refusal = UnsupportedModel("No.", "Yes.", "Else.")
    assert outcome(monkeypatch, before=[lambda _: fail(refusal)]) == "refused"
    assert outcome(monkeypatch, before=[lambda _: fail(KeyError("x"))]) == "foreign"


def test_a_layer_that_is_left_out_silently_is_noticed(monkeypatch):
    def forget(flow):
        return replace(flow, streams={"encoder": flow.streams["encoder"].select_layers((0,))})

    assert outcome(monkeypatch, after=forget) == "missing"


def test_weights_that_are_not_the_models_are_noticed(monkeypatch):
    own = outcomes.own_attentions
    monkeypatch.setattr(outcomes, "own_attentions", lambda *a: [w.flip(-1) for w in own(*a)])
    assert outcomes.find_outcome("bert", "attention").kind == "wrong"


def test_a_red_receipt_is_red(monkeypatch):
    def spoil(flow):
        checks = (replace(flow.receipt.checks[0], error=1.0), *flow.receipt.checks[1:])
        return replace(flow, receipt=replace(flow.receipt, checks=checks))

    assert outcome(monkeypatch, after=spoil) == "red"


def test_a_measurement_that_takes_too_long_is_stopped(monkeypatch):
    def wait(_):
        while True:
            pass

    monkeypatch.setattr(normviz, "analyze", analyzed(before=[wait]))
    assert outcomes.find_outcome("bert", "attention", limit=0.1).kind == "slow"


def test_one_type_that_fails_does_not_stop_the_sweep():
    results = sweep.run(["no-such-type", "bert"], ["attention"], processes=1, limit=60)
    assert results["no-such-type"]["attention"].startswith("not built: KeyError")
    assert results["bert"]["attention"] == "pass"


def test_messages_are_generalized():
    said = "In BertModel, layers.1.self_attn reads 17 and 9 tokens."
    assert outcomes.generalize(said) == "In <Class>, <name> reads N and N tokens."
