"""Attribution by gradients is the model's own derivative, whichever way it is computed."""

import threading
from operator import attrgetter

import architectures
import numpy as np
import pytest
import torch
from architectures import quantized_llama

from normviz.core.catalog import ATTRIBUTIONS
from normviz.core.gradients import Gradients
from normviz.errors import BadInput, UnknownName, UnsupportedModel
from normviz.model.analyze import analyze
from normviz.model.measures.gradients import chain
from normviz.model.measures.gradients import check as jvp_check
from normviz.model.measures.gradients.jacobian_norms import (
    Directions,
    NormAccumulator,
    normalize_rows,
)

HIDDEN, GLOBAL, LOCAL = ATTRIBUTIONS

PLACES = {
    "bert": ("encoder.layer", "attention.output.dense", "embeddings.LayerNorm"),
    "gpt2": ("h", "attn.c_proj", None),
    "llama": ("layers", "self_attn.o_proj", None),
    "qwen3": ("layers", "self_attn.o_proj", None),
    "modernbert": ("layers", "attn.Wo", "embeddings.norm"),
    "falcon": ("h", "self_attention.dense", None),
    "bloom": ("h", "self_attention.dense", "word_embeddings_layernorm"),
}
"""Post-norm, pre-norm and parallel layers, with and without grouped heads."""


def refused(kind, found, do, run):
    with pytest.raises(kind) as caught:
        run()
    assert found in caught.value.found, caught.value.found
    assert do in caught.value.do, caught.value.do


def built(name):
    return architectures.ALL[name].build().double()


class Watched:
    """Every layer's output and every W_O's input, as functions of some vectors, by autograd."""

    def __init__(self, model, name, inputs, *, before_norm=False):
        layers, projection, norm = PLACES[name]
        self.model, self.inputs = model, inputs
        self.layers = list(attrgetter(layers)(model))
        self.projections = [attrgetter(projection)(layer) for layer in self.layers]
        self.norm = attrgetter(norm)(model) if before_norm else None

    def run(self, vectors=None, at=0):
        """Run with other vectors entering layer `at`; return inputs, contexts and outputs."""
        entered, contexts, left = [], [], []

        def enter(number, args, kwargs):
            if vectors is not None and number == at and self.norm is None:
                args = (vectors, *args[1:])
            entered.append(args[0])
            return args, kwargs

        hooks = [
            layer.register_forward_pre_hook(
                lambda _, args, kwargs, number=number: enter(number, args, kwargs), with_kwargs=True
            )
            for number, layer in enumerate(self.layers)
        ]
        hooks += [
            layer.register_forward_hook(
                lambda _, __, out: left.append(out[0] if isinstance(out, tuple) else out)
            )
            for layer in self.layers
        ]
        hooks += [
            one.register_forward_pre_hook(lambda _, args: contexts.append(args[0]))
            for one in self.projections
        ]
        if self.norm is not None:
            hooks.append(self.norm.register_forward_pre_hook(self._normed(vectors, entered)))
        try:
            self.model(**self.inputs, use_cache=False)
        finally:
            for hook in hooks:
                hook.remove()
        return entered, contexts, left

    @staticmethod
    def _normed(vectors, entered):
        def hook(_, args):
            entered.append(args[0])
            return None if vectors is None else (vectors, *args[1:])

        return hook


def jacobian(end, vectors):
    """∂end/∂vectors, one backward pass for each coordinate: [query, out, key, in]."""
    flat = end.reshape(-1, end.shape[-1])
    rows = [
        torch.autograd.grad(one, vectors, retain_graph=True, allow_unused=True)[0][0]
        for one in flat.reshape(-1)
    ]
    return torch.stack(rows).reshape(*flat.shape, *vectors.shape[1:])


def by_hand(model, name, inputs, *, before_norm=False):
    """The three measures in float64, a row of the Jacobian at a time; and the Jacobians."""
    model.set_attn_implementation("eager")
    watched = Watched(model, name, inputs, before_norm=before_norm)
    heads = model.config.num_attention_heads
    vectors = watched.run()[0][0].detach().requires_grad_()
    _, contexts, left = watched.run(vectors)
    whole = [jacobian(end, vectors) for end in left]
    found = {HIDDEN: [one.square().sum(dim=(1, 3)).sqrt() for one in whole], GLOBAL: [], LOCAL: []}
    found[GLOBAL] = [by_head(jacobian(end, vectors), heads) for end in contexts]
    watched.norm = None
    for number in range(len(watched.layers)):
        mine = watched.run()[0][number].detach().requires_grad_()
        context = watched.run(mine, at=number)[1][number]
        found[LOCAL].append(by_head(jacobian(context, mine), heads))
    return {measure: torch.stack(maps).detach().numpy() for measure, maps in found.items()}, whole


def by_head(full, heads):
    query, out, key, width = full.shape
    cut = full.reshape(query, heads, out // heads, key, width)
    return cut.square().sum(dim=(2, 4)).sqrt().movedim(1, 0)


@pytest.mark.parametrize("name", PLACES)
def test_every_jacobian_equals_autograd_row_by_row(name):
    model, inputs = built(name), architectures.text_inputs()
    wanted, _ = by_hand(built(name), name, inputs)
    flow = analyze(model, inputs=inputs, measures=ATTRIBUTIONS, gradients=Gradients(rows="raw"))
    for measure in ATTRIBUTIONS:
        np.testing.assert_allclose(flow[measure], wanted[measure], rtol=2e-6, atol=1e-7)
    shares = analyze(model, inputs=inputs, measures=ATTRIBUTIONS)
    for measure in ATTRIBUTIONS:
        whole = wanted[measure].sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(shares[measure], wanted[measure] / whole, rtol=2e-6, atol=1e-7)


def test_a_decoder_is_differentiated_by_the_encoders_input_through_the_encoder():
    architecture = architectures.ALL["mbart"]  # an encoder with a norm of its own at the end
    model, inputs = architecture.build(attention="eager").double(), architecture.inputs()
    flow = analyze(model, inputs=inputs, measures=ATTRIBUTIONS, gradients=Gradients(rows="raw"))
    heads = model.config.decoder_attention_heads
    seen = {"vectors": [], "cross": [], "left": []}
    first, layers = model.encoder.layers[0], model.decoder.layers
    note = lambda name: lambda _, args: seen[name].append(args[0])  # noqa: E731
    hooks = [
        layer.encoder_attn.out_proj.register_forward_pre_hook(note("cross")) for layer in layers
    ]
    hooks += [
        layer.register_forward_hook(
            lambda _, __, out: seen["left"].append(out[0] if isinstance(out, tuple) else out)
        )
        for layer in layers
    ]

    def enter(_, args, kwargs):
        vectors = args[0].detach().requires_grad_()
        seen["vectors"].append(vectors)
        return (vectors, *args[1:]), kwargs

    hooks.append(first.register_forward_pre_hook(enter, with_kwargs=True))
    model(**inputs, use_cache=False)
    for hook in hooks:
        hook.remove()
    (vectors,) = seen["vectors"]
    for number in range(len(layers)):
        whole = jacobian(seen["left"][number], vectors).square().sum(dim=(1, 3)).sqrt()
        np.testing.assert_allclose(flow.cross[HIDDEN][number], whole.detach(), rtol=2e-6, atol=1e-7)
        each = by_head(jacobian(seen["cross"][number], vectors), heads).detach()
        np.testing.assert_allclose(flow.cross[GLOBAL][number], each, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["bert", "modernbert", "bloom"])
def test_the_input_may_be_taken_before_the_norm_of_the_embeddings(name):
    model, inputs = built(name), architectures.text_inputs()
    wanted, _ = by_hand(built(name), name, inputs, before_norm=True)
    flow = analyze(
        model,
        inputs=inputs,
        measures=[HIDDEN, GLOBAL],
        gradients=Gradients(rows="raw", origin="before-norm"),
    )
    after = analyze(
        model, inputs=inputs, measures=[HIDDEN, GLOBAL], gradients=Gradients(rows="raw")
    )
    for measure in (HIDDEN, GLOBAL):
        np.testing.assert_allclose(flow[measure], wanted[measure], rtol=2e-6, atol=1e-7)
        assert not np.allclose(flow[measure], after[measure], rtol=1e-2)
    assert any("what enters the norm of the embeddings" in note for note in flow.receipt.notes)


def test_without_a_norm_before_the_first_layer_there_is_one_input_and_the_receipt_says_so(tiny):
    inputs = architectures.text_inputs()
    flow, other = (
        analyze(tiny("llama"), inputs=inputs, measures=[HIDDEN], gradients=Gradients(origin=origin))
        for origin in ("before-norm", "after-norm")
    )
    np.testing.assert_array_equal(flow[HIDDEN], other[HIDDEN])
    assert any("there is no norm before it" in note for note in flow.receipt.notes)


def test_the_spectral_norm_is_the_largest_singular_value():
    model, inputs = built("bert"), architectures.text_inputs()
    _, whole = by_hand(built("bert"), "bert", inputs)
    flow = analyze(
        model,
        inputs=inputs,
        measures=ATTRIBUTIONS,
        gradients=Gradients(rows="raw", norm="spectral"),
    )
    wanted = [torch.linalg.matrix_norm(one.movedim(1, 2), ord=2) for one in whole]
    np.testing.assert_allclose(flow[HIDDEN], torch.stack(wanted).detach(), rtol=1e-6)
    larger = analyze(model, inputs=inputs, measures=ATTRIBUTIONS, gradients=Gradients(rows="raw"))
    for measure in ATTRIBUTIONS:
        assert (flow[measure] <= larger[measure] * (1 + 1e-6)).all()
        assert (flow[measure] < 0.99 * larger[measure]).any()
    assert any("Spectral norm" in note for note in flow.receipt.notes)


@pytest.mark.parametrize("name", architectures.ALL)
def test_every_architecture_is_pushed_as_its_own_backward_pass_says(name):
    architecture = architectures.ALL[name]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures=ATTRIBUTIONS)
    assert flow.receipt.ok, flow.receipt
    errors = [check.error for check in flow.receipt.gradients if check.error is not None]
    assert len(errors) == 2 * 2 * len(architecture.streams)
    assert 0 < max(errors) < 1e-3
    for stream in flow.streams.values():
        for measure in ATTRIBUTIONS:
            np.testing.assert_allclose(stream[measure].sum(axis=-1), 1, rtol=1e-5)


@pytest.mark.parametrize("name", ["bert", "mixtral", "t5", "nllb-moe", "deberta-v2"])
def test_a_chain_of_folded_layers_is_the_model_as_a_whole(name, monkeypatch):
    architecture = architectures.ALL[name]
    model, inputs = architecture.build(), architecture.inputs()
    chained = analyze(model, inputs=inputs, measures=ATTRIBUTIONS, gradients=Gradients(rows="raw"))
    monkeypatch.setattr(jvp_check, "LAYERWISE_TOLERANCE", {torch.float32: -1.0})
    whole = analyze(model, inputs=inputs, measures=ATTRIBUTIONS, gradients=Gradients(rows="raw"))
    for stream in chained.streams.values():
        for measure in ATTRIBUTIONS:
            wanted = whole.stream(stream.name)[measure]
            np.testing.assert_allclose(stream[measure], wanted, rtol=1e-3, atol=1e-5)


def test_layers_are_folded_only_where_it_pays_off_and_up_to_the_last_one_asked_for(
    tiny, monkeypatch
):
    seen, real = [], chain.fold_layer

    def count_calls(call, batch_size):
        seen.append(call)
        return real(call, batch_size)

    monkeypatch.setattr(chain, "fold_layer", count_calls)
    sampled = {"gradients": Gradients(samples=3)}
    for options, count in ((sampled, 0), ({"layers": [0]}, 1), ({}, 2)):
        seen.clear()
        analyze(tiny("bert"), inputs=architectures.text_inputs(), measures=[HIDDEN], **options)
        assert len(seen) == count


def test_layers_that_exchange_something_on_the_side_are_pushed_as_a_whole():
    model = architectures.ALL["bert"].build().double()
    held = []
    first, second = model.encoder.layer
    first.register_forward_hook(lambda _, __, out: held.append(out))
    second.register_forward_hook(lambda _, __, out: out + 3 * held[-1].roll(1, dims=-2))
    inputs = architectures.text_inputs()
    flow = analyze(model, inputs=inputs, measures=[HIDDEN], gradients=Gradients(rows="raw"))
    assert flow.receipt.ok, flow.receipt
    watched = Watched(model, "bert", inputs)
    model.set_attn_implementation("eager")
    vectors = watched.run()[0][0].detach().requires_grad_()
    watched.layers = list(model.encoder.layer)
    wanted = jacobian(model.encoder(vectors).last_hidden_state, vectors).square().sum(dim=(1, 3))
    np.testing.assert_allclose(flow[HIDDEN][1], wanted.sqrt().detach(), rtol=1e-6)


def test_how_much_memory_there_is_changes_nothing(tiny):
    inputs = architectures.text_inputs()
    for gradients in (Gradients(), Gradients(samples=7)):
        roomy, narrow = (
            analyze(
                tiny("bert"),
                inputs=inputs,
                measures=ATTRIBUTIONS,
                memory=memory,
                gradients=gradients,
            )
            for memory in (None, 100_000)
        )
        for measure in ATTRIBUTIONS:
            np.testing.assert_allclose(roomy[measure], narrow[measure], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral"])
def test_no_token_depends_on_a_later_one(name, tiny):
    flow = analyze(tiny(name), inputs=architectures.text_inputs(), measures=ATTRIBUTIONS)
    for measure in ATTRIBUTIONS:
        assert (np.triu(flow[measure], 1) == 0).all()


def test_in_the_first_layer_local_is_global(tiny):
    flow = analyze(tiny("bert"), inputs=architectures.text_inputs(), measures=ATTRIBUTIONS)
    np.testing.assert_allclose(flow[GLOBAL][0], flow[LOCAL][0], rtol=1e-4)
    assert not np.allclose(flow[GLOBAL][1], flow[LOCAL][1], rtol=1e-2)


def test_layers_and_heads_can_be_chosen(tiny):
    inputs = architectures.text_inputs()
    whole = analyze(tiny("bert"), inputs=inputs, measures=ATTRIBUTIONS)
    some = analyze(tiny("bert"), inputs=inputs, measures=ATTRIBUTIONS, layers=[0], heads=[1, 3])
    np.testing.assert_array_equal(some[GLOBAL], whole[GLOBAL][:1, [1, 3]])
    np.testing.assert_array_equal(some[LOCAL], whole[LOCAL][:1, [1, 3]])
    np.testing.assert_array_equal(some[HIDDEN], whole[HIDDEN][:1])


class TestSampling:
    def squares(self, seed, samples=8):
        model, inputs = built("bert"), architectures.text_inputs()
        flow = analyze(
            model,
            inputs=inputs,
            measures=[HIDDEN],
            gradients=Gradients(rows="raw", samples=samples, seed=seed),
        )
        return (
            flow[HIDDEN].astype(np.float64),
            flow.stream().statistic("error", HIDDEN),
            flow.receipt,
        )

    def test_the_estimate_has_no_bias_and_its_stated_error_is_the_true_one(self):
        draw = torch.Generator().manual_seed(0)
        slopes = torch.randn(3, 4, 12, generator=draw, dtype=torch.float64)  # query out in
        slopes *= torch.linspace(0.5, 2, 12)  # some directions matter more than others
        wanted = slopes.square().sum(dim=(1, 2))
        drawn = []
        for seed in range(500):
            directions = Directions(12, 5, seed)
            lengths = NormAccumulator(directions, "frobenius")
            for source in range(2):  # two sources that matter alike
                moved = torch.einsum("qoi,di->dqo", slopes, directions.of(source, slopes))
                lengths.add(range(source, source + 1), moved)
            numbers, error = lengths.norms(), lengths.standard_errors()
            square = numbers.square(), 2 * numbers * error
            drawn.append((square, (numbers, error), normalize_rows(numbers, error)))
        found = torch.stack([torch.stack([torch.stack(one) for one in all_]) for all_ in drawn])
        values, errors = found[:, :, 0], found[:, :, 1]
        true = values.std(dim=0)
        off = (values[:, 0].mean(dim=0) - wanted[:, None]) / (true[0] / len(drawn) ** 0.5)
        assert off.abs().max() < 4
        ratio = errors.square().mean(dim=0).sqrt() / true
        np.testing.assert_allclose(ratio[0], 1, atol=0.1)  # of squares, exactly
        np.testing.assert_allclose(ratio[1:], 1, atol=0.15)  # of norms and shares, to first order

    def test_a_model_is_estimated_within_a_few_standard_errors(self):
        numbers, error, _ = self.squares(0, 16)
        exact = analyze(
            built("bert"),
            inputs=architectures.text_inputs(),
            measures=[HIDDEN],
            gradients=Gradients(rows="raw"),
        )
        off = (numbers - exact[HIDDEN]) / error
        assert 0.7 < np.sqrt((off**2).mean()) < 1.4

    def test_the_receipt_states_the_error_which_falls_with_more_directions(self):
        stated = {}
        for samples in (4, 16, 28):
            _, _, receipt = self.squares(0, samples)
            check = receipt.gradients[-1]
            assert (check.directions, check.width) == (samples, 32)
            stated[samples] = check.standard_error
            assert f"{check.standard_error:.2%}" in str(receipt)
        assert stated[4] > 1.5 * stated[16] > 1.5 * stated[28] > 0

    def test_all_directions_are_no_estimate(self):
        model, inputs = built("bert"), architectures.text_inputs()
        exact = analyze(model, inputs=inputs, measures=[HIDDEN])
        every = analyze(model, inputs=inputs, measures=[HIDDEN], gradients=Gradients(samples=32))
        np.testing.assert_array_equal(exact[HIDDEN], every[HIDDEN])
        assert every.receipt.gradients[0].standard_error is None
        assert not every.stream().statistics

    def test_a_seed_is_repeatable_and_another_differs(self):
        one, again, other = (self.squares(seed)[0] for seed in (3, 3, 4))
        np.testing.assert_array_equal(one, again)
        assert not np.allclose(one, other, rtol=1e-3)

    def test_the_errors_are_saved_with_the_flow(self, tmp_path):
        import normviz

        flow = analyze(
            built("bert"),
            inputs=architectures.text_inputs(),
            measures=[GLOBAL],
            gradients=Gradients(samples=4),
        )
        loaded = normviz.load(flow.save(tmp_path / "x.normviz"))
        wanted = flow.stream().statistic("error", GLOBAL)
        np.testing.assert_array_equal(loaded.stream().statistic("error", GLOBAL), wanted)
        assert loaded.receipt == flow.receipt


class TestRefusals:
    @pytest.mark.parametrize("bits", [4, 8])
    def test_a_quantized_model_has_no_gradients(self, bits):
        model = quantized_llama(bits)
        run = lambda: analyze(model, inputs=architectures.text_inputs(), measures=[HIDDEN])  # noqa: E731
        refused(UnsupportedModel, "is quantized", "without quantization", run)

    def test_an_operation_without_a_derivative_is_named(self, tiny, monkeypatch):
        model = tiny("bert")

        class Odd(torch.autograd.Function):
            @staticmethod
            def forward(vectors):
                return vectors * 2

            @staticmethod
            def setup_context(ctx, inputs, output):
                pass

        layer = model.encoder.layer[0].intermediate
        monkeypatch.setattr(layer, "forward", lambda vectors: Odd.apply(layer.dense(vectors)))
        run = lambda: analyze(model, inputs=architectures.text_inputs(), measures=[HIDDEN])  # noqa: E731
        refused(UnsupportedModel, "could not be differentiated", "plain kernels", run)

    @pytest.mark.parametrize("samples", [0, 1, -3, 2.5, True, "many"])
    def test_a_number_of_samples_that_makes_no_sense(self, samples):
        run = lambda: Gradients(samples=samples)  # noqa: E731
        refused(BadInput, f"samples is {samples!r}", "samples=64", run)

    def test_samples_of_a_spectral_norm(self):
        run = lambda: Gradients(samples=8, norm="spectral")  # noqa: E731
        refused(BadInput, "spectral", "Leave out one", run)

    @pytest.mark.parametrize("wrong", [{"norm": "l1"}, {"origin": "x"}, {"rows": "columns"}])
    def test_values_that_are_not_known(self, wrong):
        (given,) = wrong.values()
        run = lambda: Gradients(**wrong)  # noqa: E731
        refused(UnknownName, repr(given), "Use one of", run)

    def test_options_that_are_not_gradients(self):
        run = lambda: analyze("demo", "A cat.", measures=[HIDDEN], gradients={"samples": 8})  # noqa: E731
        refused(BadInput, "gradients is {'samples': 8}", "normviz.Gradients(", run)

    def test_a_seed_that_is_no_number(self):
        run = lambda: Gradients(seed="x")  # noqa: E731
        refused(BadInput, "seed is 'x'", "seed=0", run)


def test_the_model_comes_back_as_it_was(tiny):
    model = tiny("bert")
    before = {name: dict(vars(module)) for name, module in model.named_modules()}
    analyze(model, inputs=architectures.text_inputs(), measures=ATTRIBUTIONS)
    for name, module in model.named_modules():
        assert vars(module).keys() == before[name].keys()
        assert not module._forward_hooks
        assert not module._forward_pre_hooks
    assert all(parameter.grad is None for parameter in model.parameters())


def test_another_thread_may_use_the_model_meanwhile(tiny):
    model, inputs = tiny("llama", attention="eager"), architectures.text_inputs()
    with torch.no_grad():
        wanted = model(**inputs).last_hidden_state
    wrong, done = [], threading.Event()

    def use():
        while not done.is_set():
            with torch.no_grad():
                found = model(**inputs).last_hidden_state
            if not torch.allclose(found, wanted, atol=1e-5):
                wrong.append(found)

    thread = threading.Thread(target=use)
    thread.start()
    try:
        analyze(model, inputs=inputs, measures=ATTRIBUTIONS)
    finally:
        done.set()
        thread.join()
    assert not wrong
