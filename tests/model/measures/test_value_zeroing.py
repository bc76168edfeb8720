"""Value zeroing is what the model itself does when a token's values are set to zero."""

from operator import attrgetter

import architectures
import numpy as np
import pytest
import torch
from transformers import LiltConfig, LiltModel

from normviz.core.catalog import ZEROINGS
from normviz.core.gradients import Gradients
from normviz.model.analyze import analyze
from normviz.model.measures.value_zeroing import map_over_first_axis

HERE, AT_THE_END = ZEROINGS

PLACES = {
    "bert": ("encoder", "encoder.layer", "attention.self.value"),
    "llama": ("decoder", "layers", "self_attn.v_proj"),
    "gptj": ("decoder", "h", "attn.v_proj"),
    "mixtral": ("decoder", "layers", "self_attn.v_proj"),
    "marian": ("cross", "decoder.layers", "encoder_attn.v_proj"),
}
"""Where values are computed: post-norm, grouped, off the registry, experts, and cross-attention."""


def outputs(model, layers, inputs, zero=None):
    """Return each layer's output, with `zero` (a module and a token) when its values are zero."""
    left = []
    hooks = [
        layer.register_forward_hook(
            lambda _, __, out: left.append(out[0] if isinstance(out, tuple) else out)
        )
        for layer in layers
    ]
    if zero is not None:
        module, token = zero

        def silence(_, __, value):
            value[:, token] = 0
            return value

        hooks.append(module.register_forward_hook(silence))
    with torch.no_grad():
        model(**inputs)
    for hook in hooks:
        hook.remove()
    return [one[0].numpy() for one in left]


def cosine_distance(before, after):
    """Return 1 - cos for every token."""
    lengths = np.linalg.norm(before, axis=-1) * np.linalg.norm(after, axis=-1)
    return 1 - (before * after).sum(axis=-1) / lengths


@pytest.mark.parametrize("name", PLACES)
def test_it_equals_silencing_the_value_projection_by_hand(name):
    stream, stack, value = PLACES[name]
    architecture = architectures.ALL[name]
    model, inputs = architecture.build().double(), architecture.inputs()
    model.set_attn_implementation("eager")
    if name == "mixtral":
        model.config._experts_implementation = "eager"
    layers = list(attrgetter(stack)(model))
    flow = analyze(model, inputs=inputs, measures=ZEROINGS, gradients=Gradients(rows="raw"))
    shares = analyze(model, inputs=inputs, measures=ZEROINGS)
    found, normalized = flow.stream(stream), shares.stream(stream)
    before = outputs(model, layers, inputs)
    for number, layer in enumerate(layers):
        without = [
            outputs(model, layers, inputs, (attrgetter(value)(layer), token))
            for token in range(len(found.keys))
        ]
        for measure, at in ((HERE, number), (AT_THE_END, len(layers) - 1)):
            wanted = np.stack(
                [cosine_distance(before[at], after[at]) for after in without], axis=-1
            )
            np.testing.assert_allclose(found.at(measure, number), wanted, rtol=1e-4, atol=1e-9)
            whole = np.maximum(wanted.sum(axis=-1, keepdims=True), 1e-30)
            rows = normalized.at(measure, number)
            np.testing.assert_allclose(rows, wanted / whole, rtol=1e-4, atol=1e-6)


def test_attentions_of_one_layer_that_leave_in_another_order_are_not_confused():
    """LiLT computes the attention of the layout first, and projects that of the text first."""
    torch.manual_seed(0)
    config = LiltConfig(
        vocab_size=50,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=32,
        channel_shrink_ratio=1,  # so that both attentions have the same shape
    )
    model = LiltModel(config).eval().double()
    boxes = torch.randint(0, 1000, (1, 6, 4)).sort(dim=-1).values
    inputs = {"input_ids": torch.randint(5, 40, (1, 6)), "bbox": boxes}
    raw = Gradients(rows="raw")
    flow = analyze(model, inputs=inputs, measures=[HERE], gradients=raw)
    layers = list(model.encoder.layer)
    before = outputs(model, layers, inputs)
    for number, layer in enumerate(layers):
        value = layer.attention.self.value
        without = [outputs(model, layers, inputs, (value, token)) for token in range(6)]
        wanted = [cosine_distance(before[number], after[number]) for after in without]
        found = flow.stream("encoder.1").at(HERE, number)
        np.testing.assert_allclose(found, np.stack(wanted, axis=-1), rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("name", architectures.ALL)
def test_every_architecture_has_rows_that_add_up_to_one(name):
    architecture = architectures.ALL[name]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures=ZEROINGS)
    for stream in flow.streams.values():
        for measure in ZEROINGS:
            np.testing.assert_allclose(stream[measure].sum(axis=-1), 1, rtol=1e-5)
    if architecture.streams == ("decoder",):
        for measure in ZEROINGS:  # nobody is touched by what comes later
            assert (np.triu(flow[measure], 1) == 0).all()


def test_in_the_last_layer_here_is_the_end(tiny):
    flow = analyze(tiny("bert"), inputs=architectures.text_inputs(), measures=ZEROINGS)
    np.testing.assert_array_equal(flow[HERE][-1], flow[AT_THE_END][-1])
    assert not np.allclose(flow[HERE][0], flow[AT_THE_END][0], rtol=1e-4)


def test_how_much_memory_there_is_changes_nothing(tiny):
    inputs = architectures.text_inputs()
    roomy, narrow = (
        analyze(tiny("bert"), inputs=inputs, measures=ZEROINGS, memory=memory)
        for memory in (None, 1000)
    )
    for measure in ZEROINGS:
        np.testing.assert_allclose(roomy[measure], narrow[measure], rtol=1e-3, atol=1e-7)


def test_code_that_looks_at_its_numbers_is_run_one_by_one():
    given = torch.arange(12.0).reshape(6, 2)
    seen = []

    def decides(one):
        double = bool(one.sum() > 9)
        seen.append(double)
        return one * (2 if double else 1)

    found = map_over_first_axis(decides, given, batch_size=4)
    assert seen == [False, False, False, True, True, True]
    factors = torch.tensor([1, 1, 1, 2, 2, 2])
    torch.testing.assert_close(found, given * factors[:, None])
