"""The model comes back exactly as it was, whatever happened meanwhile."""

import threading

import architectures
import pytest
import torch
from architectures import ALL

from normviz.model.analyze import analyze
from normviz.model.capture import capture
from normviz.model.capture.listener import Listener
from normviz.model.capture.patching import patched, unpatched_value


def state(model):
    """Everything about a model that somebody could notice."""
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


def same(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return a == b


def assert_untouched(before, after):
    assert [name for name in before if not same(before[name], after[name])] == []


@pytest.mark.parametrize("name", ["bert", "llama", "t5", "gptj", "whisper", "vit"])
@pytest.mark.parametrize("attention", ["eager", None])
def test_a_model_comes_back_as_it_was(name, attention):
    model = ALL[name].build(attention=attention)
    next(iter(model.children())).train()  # a mixed state must come back mixed
    next(model.parameters()).requires_grad_(False)
    before = state(model)
    analyze(model, inputs=ALL[name].inputs())
    assert_untouched(before, state(model))


@pytest.mark.parametrize("name", ["bert", "gptj"])
def test_a_model_comes_back_after_an_error_inside_the_pass(name):
    model = ALL[name].build().train()
    last = list(model.modules())[-1]

    def fail(*_):
        raise RuntimeError("inside the pass")

    hook = last.register_forward_pre_hook(fail)
    before = state(model)
    with pytest.raises(RuntimeError, match="inside the pass"):
        analyze(model, inputs=ALL[name].inputs())
    assert_untouched(before, state(model))
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
    before = state(model)
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
    assert_untouched(before, state(model))


def test_two_models_at_once_do_not_hear_each_other(tiny):
    outer, inner = tiny("bert", seed=1), tiny("gpt2", seed=2)
    alone = analyze(inner, inputs=architectures.text_inputs())["weight"]
    nested = []

    def meanwhile(*_):
        nested.append(analyze(inner, inputs=architectures.text_inputs())["weight"])

    handle = outer.encoder.layer[0].attention.register_forward_hook(meanwhile)
    flow = analyze(outer, inputs=architectures.text_inputs())
    handle.remove()
    assert (nested[0] == alone).all()
    assert flow["weight"].shape == (2, 4, 9, 9)
    assert flow.receipt.ok


def test_a_model_used_by_another_thread_meanwhile_is_not_overheard(tiny):
    model = tiny("bert")
    inputs = architectures.text_inputs()
    with torch.no_grad():
        wanted = model(**inputs).last_hidden_state
    seen = []

    def meanwhile(heard):
        if not seen:
            with torch.no_grad():
                thread = threading.Thread(target=lambda: seen.append(model(**inputs)))
                thread.start()
                thread.join()

    assert len(capture(model, inputs, meanwhile)) == 2
    assert torch.allclose(seen[0].last_hidden_state, wanted, atol=1e-5)


def test_a_model_on_tape_runs_plainly_in_another_thread(tiny):
    model = tiny("bert")
    inputs = architectures.text_inputs()
    seen, told = [], []

    def meanwhile(_):
        if not seen:
            thread = threading.Thread(target=lambda: seen.append(model(**inputs)[0]))
            thread.start()
            thread.join()

    capture(model, inputs, meanwhile, told.append)
    assert len(told) == 2
    assert type(seen[0]) is torch.Tensor


def test_hooks_hear_only_their_own_thread(tiny, monkeypatch):
    model = tiny("bart")
    inputs = architectures.pair_inputs()
    heard = []
    for name in ("entering", "projected"):
        own = getattr(Listener, name)

        def noting(self, *args, own=own):
            heard.append(threading.get_ident())
            return own(self, *args)

        monkeypatch.setattr(Listener, name, noting)

    def meanwhile(_):
        thread = threading.Thread(target=lambda: model(**inputs))
        thread.start()
        thread.join()

    assert len(capture(model, inputs, meanwhile)) == 6
    assert set(heard) == {threading.get_ident()}


def test_the_last_borrower_puts_back_what_the_first_found():
    class Owner:
        mode = "found"

    owner = Owner()
    first, second = patched([owner], "mode", "a"), patched([owner], "mode", "a")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert (owner.mode, unpatched_value(owner, "mode")) == ("a", "found")
    second.__exit__(None, None, None)
    assert owner.mode == "found"


def test_a_model_spread_by_accelerate_is_heard(tiny):
    from accelerate import cpu_offload, dispatch_model

    wanted = analyze(tiny("llama"), inputs=architectures.text_inputs())
    offloaded = cpu_offload(tiny("llama"), execution_device=torch.device("cpu"))
    spread = dispatch_model(tiny("llama"), {"": "cpu"}, force_hooks=True)
    for model in (offloaded, spread):
        before = [m.forward for m in model.modules()]
        flow = analyze(model, inputs=architectures.text_inputs())
        assert flow.receipt.ok, flow.receipt
        assert abs(flow["weighted-norm"] - wanted["weighted-norm"]).max() < 1e-6
        assert before == [m.forward for m in model.modules()]
    assert next(offloaded.parameters()).is_meta


def test_a_compiled_model_is_heard_through_its_wrapper(tiny):
    model = tiny("bert")
    flow = analyze(torch.compile(model), inputs=architectures.text_inputs())
    wanted = analyze(model, inputs=architectures.text_inputs())
    assert (flow["weight"] == wanted["weight"]).all()
