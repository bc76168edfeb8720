"""A model is left exactly as it was, also after errors and with several threads."""

import threading

import architectures
import pytest
import torch
from architectures import ALL

from normviz.model.analyze import analyze
from normviz.model.capture import capture
from normviz.model.capture.listener import Listener
from normviz.model.capture.patching import patched, unpatched_value


def state_of(model):
    """Return everything about a model that a user could notice."""
    hooks = (
        "_forward_hooks",
        "_forward_pre_hooks",
        "_backward_hooks",
        "_forward_hooks_with_kwargs",
    )
    return {
        "attention": [c._attn_implementation for c in _configs(model)],
        "training": [m.training for m in model.modules()],
        "hooks": [len(getattr(m, name)) for m in model.modules() for name in hooks],
        "gradients": [(p.requires_grad, p.grad is None) for p in model.parameters()],
        "versions": [p._version for p in model.parameters()],
        "parameters": [p.detach().clone() for p in model.parameters()],
        "buffers": [b.detach().clone() for b in model.buffers()],
        "random": torch.get_rng_state(),
        "grad mode": torch.is_grad_enabled(),
    }


def _configs(model):
    return [m.config for m in model.modules() if hasattr(m, "config")]


def is_equal(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, list):
        return len(a) == len(b) and all(is_equal(x, y) for x, y in zip(a, b, strict=True))
    return a == b


def assert_untouched(before, after):
    assert [name for name in before if not is_equal(before[name], after[name])] == []


@pytest.mark.parametrize("name", ["bert", "llama", "t5", "gptj", "whisper", "vit"])
@pytest.mark.parametrize("attention", ["eager", None])
def test_a_model_comes_back_as_it_was(name, attention):
    model = ALL[name].build(attention=attention)
    next(iter(model.children())).train()  # a mixed state must come back mixed
    next(model.parameters()).requires_grad_(False)
    before = state_of(model)
    analyze(model, inputs=ALL[name].inputs())
    assert_untouched(before, state_of(model))


@pytest.mark.parametrize("name", ["bert", "gptj"])
def test_a_model_comes_back_after_an_error_inside_the_pass(name):
    model = ALL[name].build().train()
    last = list(model.modules())[-1]

    def fail(*_):
        raise RuntimeError("inside the pass")

    hook = last.register_forward_pre_hook(fail)
    before = state_of(model)
    with pytest.raises(RuntimeError, match="inside the pass"):
        analyze(model, inputs=ALL[name].inputs())
    assert_untouched(before, state_of(model))
    hook.remove()
    assert analyze(model, inputs=ALL[name].inputs()).receipt.ok


def test_a_model_that_draws_random_numbers_does_not_move_them(tiny):
    model = tiny("bert")
    drawn = []
    model.embeddings.register_forward_hook(lambda *_: drawn.append(torch.rand(3)))
    before = torch.get_rng_state()
    analyze(model, inputs=architectures.text_inputs())
    assert len(drawn) == 1
    assert torch.equal(before, torch.get_rng_state())


def test_two_threads_share_a_model_and_get_what_one_gets(tiny):
    model = tiny("llama").train()
    before = state_of(model)
    texts = [{"input_ids": torch.arange(5, 5 + n)[None]} for n in (4, 9, 17, 30)]
    alone = [analyze(model, inputs=text)["weighted-norm"] for text in texts]
    together = [None] * 16

    def work(n):
        together[n] = analyze(model, inputs=texts[n % 4])["weighted-norm"]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n, numbers in enumerate(together):
        assert numbers is not None, f"thread {n} failed"
        assert abs(numbers - alone[n % 4]).max() < 1e-6
    before["random"] = torch.get_rng_state()
    assert_untouched(before, state_of(model))


def test_nested_passes_of_two_models_are_kept_apart(tiny):
    outer, inner = tiny("bert", seed=1), tiny("gpt2", seed=2)
    alone = analyze(inner, inputs=architectures.text_inputs())["weight"]
    nested = []

    def analyze_inner(*_):
        nested.append(analyze(inner, inputs=architectures.text_inputs())["weight"])

    handle = outer.encoder.layer[0].attention.register_forward_hook(analyze_inner)
    flow = analyze(outer, inputs=architectures.text_inputs())
    handle.remove()
    assert (nested[0] == alone).all()
    assert flow["weight"].shape == (2, 4, 9, 9)
    assert flow.receipt.ok


def test_a_nested_pass_of_the_same_model_is_not_observed_by_the_outer_one(tiny):
    model = tiny("bert")
    inputs = architectures.text_inputs()
    alone = capture(model, inputs, lambda captured: captured.weight)
    nested, traces = [], []

    def capture_nested(*_):
        if not nested:
            nested.append(None)  # the nested pass fires this hook too
            nested[0] = capture(model, inputs, lambda captured: captured.weight)

    handle = model.encoder.layer[1].register_forward_pre_hook(capture_nested)
    outer = capture(model, inputs, lambda captured: captured.weight, traces.append)
    handle.remove()
    assert [trace.name for trace in traces] == ["encoder.layer.0", "encoder.layer.1"]
    assert is_equal(outer, alone)
    assert is_equal(nested[0], alone)


def test_a_model_used_by_another_thread_meanwhile_is_not_observed(tiny):
    model = tiny("bert")
    inputs = architectures.text_inputs()
    with torch.no_grad():
        expected = model(**inputs).last_hidden_state
    outputs = []

    def use_in_thread(_):
        if not outputs:
            with torch.no_grad():
                thread = threading.Thread(target=lambda: outputs.append(model(**inputs)))
                thread.start()
                thread.join()

    assert len(capture(model, inputs, use_in_thread)) == 2
    assert torch.allclose(outputs[0].last_hidden_state, expected, atol=1e-5)


def test_a_model_on_tape_runs_plainly_in_another_thread(tiny):
    model = tiny("bert")
    inputs = architectures.text_inputs()
    outputs, traces = [], []

    def use_in_thread(_):
        if not outputs:
            thread = threading.Thread(target=lambda: outputs.append(model(**inputs)[0]))
            thread.start()
            thread.join()

    capture(model, inputs, use_in_thread, traces.append)
    assert len(traces) == 2
    assert type(outputs[0]) is torch.Tensor


def test_hooks_fire_only_in_their_own_thread(tiny, monkeypatch):
    model = tiny("bart")
    inputs = architectures.pair_inputs()
    threads = []
    for name in ("before_module", "after_linear"):
        original = getattr(Listener, name)

        def record_thread(self, *args, original=original):
            threads.append(threading.get_ident())
            return original(self, *args)

        monkeypatch.setattr(Listener, name, record_thread)

    def use_in_thread(_):
        thread = threading.Thread(target=lambda: model(**inputs))
        thread.start()
        thread.join()

    assert len(capture(model, inputs, use_in_thread)) == 6
    assert set(threads) == {threading.get_ident()}


def test_the_last_patch_to_end_restores_the_original_value():
    class Owner:
        mode = "original"

    owner = Owner()
    first, second = patched([owner], "mode", "a"), patched([owner], "mode", "a")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert (owner.mode, unpatched_value(owner, "mode")) == ("a", "original")
    second.__exit__(None, None, None)
    assert owner.mode == "original"


def test_a_model_dispatched_by_accelerate_is_captured(tiny):
    from accelerate import cpu_offload, dispatch_model

    expected = analyze(tiny("llama"), inputs=architectures.text_inputs())
    offloaded = cpu_offload(tiny("llama"), execution_device=torch.device("cpu"))
    dispatched = dispatch_model(tiny("llama"), {"": "cpu"}, force_hooks=True)
    for model in (offloaded, dispatched):
        before = [m.forward for m in model.modules()]
        flow = analyze(model, inputs=architectures.text_inputs())
        assert flow.receipt.ok, flow.receipt
        assert abs(flow["weighted-norm"] - expected["weighted-norm"]).max() < 1e-6
        assert before == [m.forward for m in model.modules()]
    assert next(offloaded.parameters()).is_meta


def test_a_compiled_model_is_captured_through_its_wrapper(tiny):
    model = tiny("bert")
    flow = analyze(torch.compile(model), inputs=architectures.text_inputs())
    expected = analyze(model, inputs=architectures.text_inputs())
    assert (flow["weight"] == expected["weight"]).all()
