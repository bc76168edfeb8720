"""The public signatures: what may stand where, which options apply, and what is refused."""

import inspect

import architectures
import numpy as np
import pytest
import torch

from normviz.core.gradients import Gradients
from normviz.errors import BadInput, TextTooLong, UnknownKeyword, UnknownName
from normviz.model.analyze import analyze, analyze_many, check

TEXT = "The cat sat."


def refused(found, do, action, kind=BadInput):
    with pytest.raises(kind) as caught:
        action()
    error = caught.value
    assert found in error.found, error.found
    assert error.expected.endswith(".")
    assert do in error.do, error.do
    return error


class TestTokenizer:
    def test_a_model_object_that_knows_where_it_came_from_needs_none(self, demo):
        model, tokenizer = demo
        wanted = analyze(model, TEXT, tokenizer=tokenizer)
        flow = analyze(model, TEXT)
        assert flow.tokens == wanted.tokens
        np.testing.assert_array_equal(flow["weight"], wanted["weight"])
        (many,) = analyze_many(model, [TEXT])
        assert many.tokens == wanted.tokens
        assert check(model).receipt.ok

    def test_another_object_needs_one_and_says_so(self, tiny):
        refused("does not say where", "tokenizer=", lambda: analyze(tiny(), TEXT))
        model = tiny()
        model.config._name_or_path = model.name_or_path = "no-such/model"
        refused("'no-such/model'", "tokenizer=", lambda: analyze(model, TEXT))
        refused("'no-such/model'", "tokenizer=", lambda: list(analyze_many(model, [TEXT])))

    def test_ready_inputs_need_none(self, demo, tiny):
        assert analyze(tiny(), inputs=architectures.text_inputs()).receipt.ok
        model, tokenizer = demo
        inputs = tokenizer(TEXT, return_tensors="pt")
        assert analyze(model, inputs=inputs).tokens.pieces[0] == f"#{tokenizer.cls_token_id}"
        assert analyze(model, inputs=inputs, tokenizer=tokenizer).tokens.pieces[0] == "[CLS]"

    def test_it_may_be_a_name_or_a_folder(self, demo, tmp_path):
        model, tokenizer = demo
        folder = tmp_path / "a folder with spaces"
        tokenizer.save_pretrained(folder)
        for given in (folder, str(folder)):
            assert analyze(model, TEXT, tokenizer=given).tokens.pieces[1] == "the"

    def test_in_the_place_of_the_text_it_is_refused(self, demo):
        do = "analyze(model, text, tokenizer=tokenizer)"
        refused("is a tokenizer", do, lambda: analyze(*demo))
        refused("is a tokenizer", do, lambda: analyze(*demo, inputs={}))
        do = "analyze_many(model, texts, tokenizer=tokenizer)"
        refused("is a tokenizer", do, lambda: analyze_many(*demo))

    @pytest.mark.parametrize("wrong", [TEXT, ["a", "b"], 3])
    def test_a_text_in_its_place_is_refused(self, wrong):
        do = "Give the text as the second argument"
        for run in (
            lambda: analyze("demo", TEXT, tokenizer=wrong),
            lambda: analyze_many("demo", [TEXT], tokenizer=wrong),
            lambda: check("demo", tokenizer=wrong),
        ):
            refused("The tokenizer is", do, run)


class TestTexts:
    @pytest.mark.parametrize("texts", [["A.", "B."], ("A.", "B."), 3, iter(["A."])])
    def test_a_list_is_no_text(self, texts):
        for name in ("text", "pair", "target"):
            options = {"text": TEXT, name: texts}
            refused(f"The {name} is a", "analyze_many", lambda o=options: analyze("demo", **o))

    def test_inputs_are_no_text(self):
        inputs = architectures.text_inputs()
        refused("The text is a dict", "inputs=", lambda: analyze("demo", inputs))
        refused("inputs is a Tensor", "processor", lambda: analyze("demo", inputs=torch.ones(1, 3)))

    def test_a_string_is_no_list_of_texts(self):
        refused("texts is one string", "[text]", lambda: analyze_many("demo", "abc"))
        both = lambda: analyze_many("demo-translator", ["a"], targets="b")  # noqa: E731
        refused("targets is one string", "[target]", both)
        refused("texts is a int", "texts=[…]", lambda: analyze_many("demo", 3))

    def test_each_of_many_must_be_a_string(self, demo):
        refused("The text is a list", "", lambda: list(analyze_many(demo[0], [["a"]])))

    def test_many_texts_by_name_give_as_many_flows(self):
        flows = list(analyze_many("demo", ["A cat.", "A dog."]))
        assert [flow.title for flow in flows] == ["A cat.", "A dog."]

    @pytest.mark.parametrize("size", [0, -1, "x"])
    def test_a_batch_has_at_least_one(self, size):
        run = lambda: analyze_many("demo", ["a"], batch_size=size)  # noqa: E731
        refused(f"batch_size is {size!r}", "batch_size=8", run)

    def test_what_is_for_a_text_is_refused_beside_inputs(self, tiny):
        for options in ({"pair": "B."}, {"max_tokens": 3}):
            (name,) = options
            inputs = architectures.text_inputs()
            refused(
                f"{name} is given beside inputs",
                f"Leave {name} out",
                lambda i=inputs, o=options: analyze(tiny(), inputs=i, **o),
            )


class TestMaxTokens:
    def test_a_number_cuts_there_and_model_at_the_models_limit(self, demo):
        long = "word " * 600
        for given, length in ((7, 7), ("model", 512), (9999, 512)):
            flow = analyze(demo[0], long, max_tokens=given, measures=["value-norm"])
            assert len(flow.tokens) == length
            assert any(f"from 602 to {length} tokens" in note for note in flow.receipt.notes)
        (flow,) = analyze_many(demo[0], [long], max_tokens=5, measures=["value-norm"])
        assert len(flow.tokens) == 5
        refused("602", "max_tokens", lambda: analyze(demo[0], long), TextTooLong)

    @pytest.mark.parametrize("wrong", [0, -1, True, 2.5, "all"])
    def test_nothing_else_is_taken(self, wrong):
        for run in (
            lambda: analyze("demo", TEXT, max_tokens=wrong),
            lambda: analyze_many("demo", [TEXT], max_tokens=wrong),
        ):
            refused(f"max_tokens is {wrong!r}", "max_tokens=128", run)


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "name"),
        [
            ({"gradients": Gradients()}, "gradients"),
            ({"gradients": Gradients(rows="raw"), "measures": "layer-output"}, "gradients"),
            ({"gradients": Gradients(samples=8), "measures": "value-zeroing"}, "gradients.samples"),
            ({"gradients": Gradients(seed=1), "measures": "value-zeroing"}, "gradients.seed"),
            (
                {"gradients": Gradients(norm="spectral"), "measures": "value-zeroing"},
                "gradients.norm",
            ),
            ({"gradients": Gradients(origin="before-norm"), "measures": "all"}, "gradients.origin"),
            ({"effective_form": "paper"}, "effective_form"),
            ({"bias_handling": "constant"}, "bias_handling"),
            ({"bias_handling": "constant", "measures": "rollout:weight"}, "bias_handling"),
            ({"memory": 2**20}, "memory"),
        ],
    )
    def test_without_effect_they_are_refused_by_name(self, options, name):
        for run in (
            lambda: analyze("demo", TEXT, **options),
            lambda: analyze_many("demo", [TEXT], **options),
        ):
            error = refused(f"{name} is given", f"Leave {name} out", run)
            assert error.expected.startswith("It applies to: ")

    @pytest.mark.parametrize(
        "options",
        [
            {"gradients": Gradients(rows="raw"), "measures": "value-zeroing"},
            {"gradients": Gradients(rows="raw"), "measures": "all"},
            {"gradients": Gradients(samples=2), "measures": ["hidden-attribution"]},
            {"effective_form": "stochastic", "measures": "rank:effective-weight"},
            {"bias_handling": "constant", "measures": "decomposition"},
            {"bias_handling": "constant", "measures": "rollout:layer-output"},
            {"bias_handling": "constant", "effective_form": "paper", "measures": "all"},
            {"memory": 2**20, "measures": "layer-output"},
        ],
    )
    def test_with_effect_they_are_taken(self, tiny, options):
        assert analyze(tiny(), inputs=architectures.text_inputs(), **options).receipt.ok

    @pytest.mark.parametrize(
        ("wrong", "right"),
        [("measure", "measures"), ("max_token", "max_tokens"), ("effective", "effective_form")],
    )
    def test_an_unknown_keyword_is_answered_with_the_nearest(self, wrong, right):
        for function, second in ((analyze, TEXT), (analyze_many, [TEXT])):
            with pytest.raises(UnknownKeyword, match=f"Write {right}=") as caught:
                function("demo", second, **{wrong: 1})
            assert isinstance(caught.value, TypeError)

    def test_unknown_words_are_refused_by_our_own_errors(self):
        for options in ({"bias_handling": "none"}, {"effective_form": 3}, {"measures": "norm"}):
            refused(
                "", "Use one of these", lambda o=options: analyze("demo", TEXT, **o), UnknownName
            )


@pytest.mark.parametrize("function", [analyze, analyze_many, check])
def test_every_parameter_is_documented_and_typed(function):
    signature = inspect.signature(function)
    documented = inspect.getdoc(function).partition("Parameters\n")[2].partition("Returns\n")[0]
    names = {
        name.strip()
        for line in documented.splitlines()
        if line and not line.startswith((" ", "-"))
        for name in line.split(",")
    }
    assert names == set(signature.parameters)
    for name, parameter in signature.parameters.items():
        assert parameter.annotation is not inspect.Parameter.empty
        positional = parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert positional == (name in ("model", "text", "texts"))
