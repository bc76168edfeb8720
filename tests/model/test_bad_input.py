"""Every mistake gets a normviz error: what was found, what was expected, what to do."""

import architectures
import numpy as np
import pytest
import torch
from architectures import quantized_llama
from transformers import AutoModelForCausalLM

from normviz import analyze, from_arrays
from normviz.errors import (
    BadArrays,
    BadInput,
    ModelNotFound,
    NormvizError,
    NotFinite,
    TextTooLong,
    TokenizerMismatch,
    UnknownName,
)


@pytest.fixture
def refused(demo):
    """Runs something that must be refused, and checks that the model was left as it was."""
    model, _ = demo

    def run(kind, found, do, action):
        before = [p._version for p in model.parameters()], model.config._attn_implementation
        with pytest.raises(kind) as caught:
            action()
        error = caught.value
        assert isinstance(error, NormvizError)
        assert found in error.found, error.found
        assert error.expected.endswith(".")
        assert do in error.do, error.do
        assert str(error) == f"{error.found} {error.expected} {error.do}"
        assert before == (
            [p._version for p in model.parameters()],
            model.config._attn_implementation,
        )
        return error

    return run


@pytest.mark.parametrize("text", ["", "  \n"])
def test_empty_text(demo, refused, text):
    refused(
        BadInput, repr(text), "Give some text", lambda: analyze(demo[0], text, tokenizer=demo[1])
    )


def test_nothing_but_special_tokens(demo, refused):
    refused(
        BadInput,
        "special and unknown tokens",
        "Give some text",
        lambda: analyze(demo[0], "[SEP] [SEP]", tokenizer=demo[1]),
    )


def test_no_text_at_all(demo, refused):
    refused(
        BadInput, "There is no text", "analyze(model", lambda: analyze(demo[0], tokenizer=demo[1])
    )
    both = {"text": "A.", "inputs": architectures.text_inputs()}
    refused(BadInput, "both", "analyze(model", lambda: analyze(demo[0], tokenizer=demo[1], **both))


def test_a_list_of_texts(demo, refused):
    refused(
        BadInput, "list", "analyze_many", lambda: analyze(demo[0], ["A.", "B."], tokenizer=demo[1])
    )


def test_a_text_that_is_too_long_names_both_numbers(demo, refused):
    text = "word " * 600
    error = refused(
        TextTooLong, "602", 'max_tokens="model"', lambda: analyze(demo[0], text, tokenizer=demo[1])
    )
    assert "512" in error.expected


def test_a_long_text_is_cut_on_demand_and_the_receipt_says_so(demo):
    flow = analyze(
        demo[0], "word " * 600, tokenizer=demo[1], max_tokens="model", measures=["value-norm"]
    )
    assert len(flow.tokens) == 512
    assert any("from 602 to 512" in note for note in flow.receipt.notes)


def test_positions_before_the_end_of_padding_are_not_counted(tiny, refused):
    from normviz.model.limits import token_limit

    assert token_limit(tiny("roberta")) == 63
    assert token_limit(tiny("bert")) == 64
    assert token_limit(tiny("t5")) is None


def test_a_tokenizer_of_another_model(demo, refused, tiny):
    _, tokenizer = demo
    error = refused(
        TokenizerMismatch,
        "30522",
        "belongs to",
        lambda: analyze(tiny("gpt2"), "A cat.", tokenizer=tokenizer),
    )
    assert "99" in error.expected


def test_ids_beyond_the_vocabulary(tiny, refused):
    ids = {"input_ids": torch.tensor([[5, 99]])}
    refused(TokenizerMismatch, "99", "belongs to", lambda: analyze(tiny("bert"), inputs=ids))


@pytest.mark.parametrize("where", ["self.query", "self.value", "output.dense"])
def test_not_a_number_in_the_weights(tiny, refused, where):
    model = tiny("bert")
    broken = model.get_submodule(f"encoder.layer.1.attention.{where}")
    with torch.no_grad():
        broken.weight[1, 0] = float("nan")
    run = lambda: analyze(model, inputs=architectures.text_inputs())  # noqa: E731
    refused(NotFinite, "layer 1", "NaN", run)


def test_an_unknown_measure_lists_the_known_ones(demo, refused):
    error = refused(
        UnknownName,
        "'norm'",
        "Use one",
        lambda: analyze(demo[0], "A.", tokenizer=demo[1], measures=["norm"]),
    )
    assert "weighted-norm" in error.expected
    flow = analyze(demo[0], "A cat.", tokenizer=demo[1], measures="weight")
    error = refused(UnknownName, "'attention'", 'measures=["attention"]', lambda: flow["attention"])
    assert error.expected == "The measures are: weight."


@pytest.mark.parametrize("name", ["layer", "head"])
def test_an_unknown_layer_or_head_lists_the_known_ones(demo, refused, name):
    error = refused(
        UnknownName,
        f"{name} 12",
        "Use one",
        lambda: analyze(demo[0], "A.", tokenizer=demo[1], **{f"{name}s": [12]}),
    )
    assert "0, 1, 2, 3, 4, 5" in error.expected


def test_a_missing_model_offline(refused):
    refused(ModelNotFound, "no-such/model", "spelling", lambda: analyze("no-such/model", "A."))


def test_a_folder_without_a_model(refused, tmp_path):
    refused(ModelNotFound, str(tmp_path), "spelling", lambda: analyze(str(tmp_path), "A."))


def test_not_a_model(refused):
    refused(BadInput, "dict", "model object", lambda: analyze({}, "A."))


def test_no_tokenizer(tiny, refused):
    refused(BadInput, "no tokenizer", "inputs=", lambda: analyze(tiny(), "A."))


def test_an_unknown_precision(demo, refused):
    refused(
        BadInput,
        "'float7'",
        "float64",
        lambda: analyze(demo[0], "A.", tokenizer=demo[1], dtype="float7"),
    )


def test_inputs_without_numbers(tiny, refused):
    refused(BadInput, "nothing", "processor", lambda: analyze(tiny(), inputs={}))


def test_a_decoder_with_nothing_to_read(tiny, refused):
    run = lambda: analyze(tiny("bart"), inputs=architectures.text_inputs())  # noqa: E731
    refused(BadInput, "encoder–decoder", "target=", run)


def test_a_target_for_a_model_that_does_not_write(demo, refused):
    refused(
        BadInput,
        "BertModel",
        "pair=",
        lambda: analyze(demo[0], "A.", tokenizer=demo[1], target="B."),
    )
    refused(
        BadInput,
        "BertModel",
        "AutoModelForCausalLM",
        lambda: analyze(demo[0], "A.", tokenizer=demo[1], generate=2),
    )
    both = {"target": "B.", "generate": 3}
    refused(
        BadInput,
        "Both",
        "one of the two",
        lambda: analyze(demo[0], "A.", tokenizer=demo[1], **both),
    )


def rows(*shape):
    array = np.random.default_rng(0).random(shape)
    return array / array.sum(-1, keepdims=True)


ARRAYS = {
    "rows that do not add up": (rows(1, 1, 2, 2) * 2, ["a", "b"], {}, "add up to 2", "softmax"),
    "a missing axis": (rows(1, 2, 2), ["a", "b"], {}, "(1, 2, 2)", "missing axes"),
    "an empty axis": (np.ones((0, 1, 2, 2)), ["a", "b"], {}, "(0, 1, 2, 2)", "missing axes"),
    "too few tokens": (rows(1, 1, 2, 2), ["a"], {}, "2 × 2", "one label"),
    "one string": (rows(1, 1, 2, 2), "ab", {}, "one string", "list of strings"),
    "nan": (np.full((1, 1, 2, 2), np.nan), ["a", "b"], {}, "NaN", "layer"),
    "negative": (rows(1, 1, 2, 2) - 1, ["a", "b"], {}, "negative", "softmax"),
    "words": ([["x"]], ["a", "b"], {}, "cannot be read", "Stack"),
    "norms of another shape": (
        rows(1, 1, 2, 2), ["a", "b"], {"value_norms": np.ones((1, 1, 3))}, "1 × 1 × 3", "label",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", ARRAYS)
def test_bad_arrays(mistake, refused):
    weights, tokens, more, found, do = ARRAYS[mistake]
    refused(BadArrays, found, do, lambda: from_arrays(weights, tokens, **more))


def test_an_unknown_stream(refused):
    weights = rows(1, 1, 2, 2)
    run = lambda: from_arrays(weights, ["a", "b"], stream="self")  # noqa: E731
    refused(UnknownName, "'self'", "Use one", run)


class TestQuantized:
    """4 and 8 bits: the matrix is found by probing the module, or the refusal says so."""

    @pytest.mark.parametrize("bits", [4, 8])
    def test_a_quantized_projection_is_probed_for_its_matrix(self, bits):
        model = quantized_llama(bits)
        flow = analyze(model, inputs=architectures.text_inputs())
        assert flow.receipt.ok, flow.receipt
        assert any("unit vectors" in note for note in flow.receipt.notes)
        # four bits are exact, unless the CPU has a faster way that goes through bfloat16
        packed = model.layers[0].self_attn.o_proj.weight
        faster = getattr(getattr(packed, "quant_state", None), "packing_format_for_cpu", False)
        rounds = "int8" if bits == 8 else "bfloat16" if faster else None
        assert {check.dtype for check in flow.receipt.checks} == {rounds or "float32"}
        assert flow.receipt.error <= (5e-2 if rounds else 1e-6)
        notes = [note for note in flow.receipt.notes if "round their input" in note]
        assert notes == (
            [f"its projections round their input to {rounds}: 5e-02 is allowed there"]
            if rounds
            else []
        )

    @pytest.mark.parametrize("bits", [4, 8])
    def test_the_ladder_names_the_kernel_it_cannot_follow(self, bits, refused):
        run = lambda: analyze(  # noqa: E731
            quantized_llama(bits), inputs=architectures.text_inputs(), measures=["layer-output"]
        )
        refused(NormvizError, "o_proj (Linear", "attention measures only", run)

    def test_torchs_own_eight_bits_are_measured_too(self, tiny):
        plain = analyze(tiny("bert"), inputs=architectures.text_inputs())
        eight = torch.ao.quantization.quantize_dynamic(tiny("bert"), dtype=torch.qint8)
        flow = analyze(eight, inputs=architectures.text_inputs())
        assert flow.receipt.ok, flow.receipt
        np.testing.assert_allclose(flow["value-norm"], plain["value-norm"], rtol=0.1)

    def test_a_projection_that_cannot_be_probed_is_refused(self, tiny, refused):
        class Packed(torch.nn.Linear):
            def forward(self, hidden):
                if hidden.shape[1] != architectures.TOKENS:
                    raise RuntimeError("the kernel takes nine tokens")
                return torch.from_numpy(super().forward(hidden).detach().numpy())

        model = tiny("bert")
        dense = model.encoder.layer[0].attention.output
        dense.dense = Packed(32, 32)
        run = lambda: analyze(model, inputs=architectures.text_inputs())  # noqa: E731
        refused(NormvizError, "Packed", "without quantization", run)


def test_a_causal_model_with_a_head_is_not_confused(tiny):
    config = tiny("llama").config
    model = AutoModelForCausalLM.from_config(config).eval()
    flow = analyze(model, inputs=architectures.text_inputs())
    assert flow.receipt.ok
    assert flow.stream().name == "decoder"
