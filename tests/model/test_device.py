"""Everything is computed on the model's device: tested on meta, where any other tensor shows."""

import architectures
import pytest
import torch
from architectures import ALL
from torch.utils._python_dispatch import TorchDispatchMode

from normviz.core.catalog import DEFAULT
from normviz.model.capture import capture
from normviz.model.measures.reducer import AttentionReducer


class Elsewhere(TorchDispatchMode):
    """Records every tensor that is created on another device than meta."""

    def __init__(self):
        super().__init__()
        self.made = []
        self.operations = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.operations += 1
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, torch.Tensor) and tensor.device.type != "meta":
                self.made.append((func, tensor.device))
        return result


CAUSAL = ("llama", "gpt2", "gptj", "gemma3_text")


def on_meta(name):
    architecture = ALL[name]
    with torch.device("meta"):
        model = architecture.build()
    inputs = architecture.inputs()
    if name in CAUSAL:  # without a mask, these look at the numbers of positions
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    return model, {key: value.to("meta") for key, value in inputs.items()}


@pytest.mark.parametrize("name", ["bert", "llama", "gpt2", "bart", "vit", "gptj", "gemma3_text"])
def test_capture_and_measures_make_no_tensor_elsewhere(name):
    model, inputs = on_meta(name)
    reducer = AttentionReducer(DEFAULT)
    watch = Elsewhere()

    def reduce(captured):
        with watch:
            return reducer(captured)

    results = capture(model, inputs, reduce)
    assert watch.made == []
    assert watch.operations > 20 * len(results) > 0
    for result in results:
        assert set(result.numbers) == {"weight", "value-norm", "attention"}
        assert {tensor.device.type for tensor in result.numbers.values()} == {"meta"}


def test_padding_is_handled_there_too():
    model, inputs = on_meta("bert")
    # the mask comes from the host, as a tokenizer gives it; the model is elsewhere
    real = torch.ones(1, architectures.TOKENS, dtype=torch.bool)
    reducer = AttentionReducer(
        DEFAULT, heads=[1, 3], padding={"encoder": lambda length, modality: real}
    )
    watch = Elsewhere()

    def reduce(captured):
        with watch:
            return reducer(captured)

    results = capture(model, inputs, reduce)
    assert watch.made == []
    assert results[0].numbers["weight"].shape == (1, 2, 9, 9)
