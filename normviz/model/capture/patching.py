"""Changing a model for the length of a `with`, and putting it back, also across threads."""

import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.autograd import Function

ATTENTION = "_attn_implementation_internal"
"""The attribute of a configuration that says which attention implementation is used."""
EXPERTS = "_experts_implementation_internal"
"""The attribute of a configuration that says how a mixture of experts is run."""

_LOCK = threading.Lock()
_PATCHES: dict[tuple[int, str], "_Patch"] = {}


class _Patch:
    """The original value of a patched attribute, and how many users the patch has."""

    def __init__(self, owner: object, original: object) -> None:
        self.owner = owner  # kept alive, so that its id is not reused
        self.original = original
        self.users = 0


@contextmanager
def patched(owners: Iterable[object], attribute: str, value: object) -> Iterator[None]:
    """Set an attribute of some objects for the length of a `with`.

    Several threads may patch the same model: the last one to leave restores the original value. An
    attribute that already has this very value, and that nobody patched, is left alone.
    """
    entered = []
    with _LOCK:
        for owner in owners:
            key = (id(owner), attribute)
            if key not in _PATCHES:
                original = getattr(owner, attribute)
                if original is value:
                    continue
                _PATCHES[key] = _Patch(owner, original)
                setattr(owner, attribute, value)
            _PATCHES[key].users += 1
            entered.append(key)
    try:
        yield
    finally:
        with _LOCK:
            for key in entered:
                patch = _PATCHES[key]
                patch.users -= 1
                if not patch.users:
                    setattr(patch.owner, attribute, patch.original)
                    del _PATCHES[key]


def unpatched_value(owner: object, attribute: str) -> Any:
    """Return the attribute's value before it was patched."""
    with _LOCK:
        patch = _PATCHES.get((id(owner), attribute))
        return getattr(owner, attribute) if patch is None else patch.original


def attention_configs(modules: Iterable[nn.Module]) -> list[Any]:
    """Return the configurations that the modules read their attention implementation from."""
    seen: dict[int, Any] = {}
    queue = [module.config for module in modules if hasattr(module, "config")]
    while queue:
        config = queue.pop()
        if id(config) not in seen and hasattr(config, ATTENTION):
            seen[id(config)] = config
            nested = (getattr(config, name, None) for name in getattr(config, "sub_configs", ()))
            queue += [inner for inner in nested if inner is not None]
    return list(seen.values())


def attention_implementation(
    modules: Iterable[nn.Module], implementation: str
) -> AbstractContextManager[None]:
    """Switch the modules to an attention implementation for the length of a `with`."""
    return patched(attention_configs(modules), ATTENTION, implementation)


def eager_experts(model: nn.Module) -> AbstractContextManager[None]:
    """Run experts one by one, as the model's file writes them, for the length of a `with`."""
    configs = [config for config in attention_configs(model.modules()) if hasattr(config, EXPERTS)]
    return patched(configs, EXPERTS, "eager")


def without_cache(modules: Iterable[nn.Module]) -> AbstractContextManager[None]:
    """Let a model keep no keys and values for later passes, for the length of a `with`.

    Not every model has a keyword for it; all read it from their configurations.
    """
    configs = [config for config in attention_configs(modules) if hasattr(config, "use_cache")]
    return patched(configs, "use_cache", value=False)


@contextmanager
def eval_mode(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Put modules in evaluation mode, without gradients; keep the state of random generators."""
    evaluating = patched(modules, "training", value=False)
    with _preserved_rng(modules[0]), torch.no_grad(), evaluating:
        yield


@contextmanager
def _preserved_rng(model: nn.Module) -> Iterator[None]:
    parameters = model.parameters() if torch.cuda.is_available() else ()
    devices = {p.device for p in parameters if p.device.type == "cuda"}
    with torch.random.fork_rng(devices=list(devices)):
        yield


@contextmanager
def frozen_modules(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Make `module.to(...)` do nothing for the length of a `with`.

    Some models cast a module during their forward pass. The first pass has done so already; under
    `torch.func`, a second cast would put dual numbers into the model's own weights.
    """
    frozen = list(modules)
    for module in frozen:
        module.__dict__["to"] = lambda *_, module=module, **__: module
    try:
        yield
    finally:
        for module in frozen:
            module.__dict__.pop("to", None)  # another thread may have removed it


@contextmanager
def autograd_functions_inlined(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Run custom autograd functions as plain calls of their forward, for the length of a `with`.

    Their backward is of no use in forward mode; the operations of their forward have derivatives.
    """
    files = {type(module).__module__ for module in modules} & sys.modules.keys()
    functions = {
        value
        for file in files
        for value in vars(sys.modules[file]).values()
        if isinstance(value, type) and issubclass(value, Function) and value is not Function
    }
    inlined = [f for f in functions if f.setup_context is Function.setup_context]
    for function in inlined:
        function.apply = partial(function.forward, _Context())  # type: ignore[method-assign]
    try:
        yield
    finally:
        for function in inlined:
            if "apply" in vars(function):
                del function.apply


class _Context:
    """The context of an autograd function whose backward is never called."""

    def save_for_backward(self, *_: object) -> None:
        """Save nothing."""


@contextmanager
def ready_for_jvp(model: nn.Module, implementation: str) -> Iterator[None]:
    """Let a model run on dual numbers: eager attention, experts one by one, no casts of modules."""
    modules = list(model.modules())
    with (
        eval_mode(modules),
        attention_implementation(modules, implementation),
        without_cache(modules),
        eager_experts(model),
        frozen_modules(modules),
        autograd_functions_inlined(modules),
    ):
        yield


def implementation_name(model: nn.Module) -> str:
    """Return the model's attention implementation, or several where its parts differ."""
    names = [unpatched_value(config, ATTENTION) for config in attention_configs([model])]
    return ", ".join(dict.fromkeys(str(name) for name in names)) or "unknown"
