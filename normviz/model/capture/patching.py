"""Borrowing a model: what normviz changes for the length of a `with`, and how it is put back."""

import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.autograd import Function

_LOCK = threading.Lock()
_ON_LOAN: dict[tuple[int, str], "_Entry"] = {}


class _Entry:
    """An attribute as it was found, and how many borrowers have changed it."""

    def __init__(self, owner: object, found: object) -> None:
        self.owner = owner  # kept alive, so that its id stays its own
        self.found = found
        self.borrowers = 0


@contextmanager
def patched(owners: Iterable[object], attribute: str, value: object) -> Iterator[None]:
    """Set an attribute of some objects for the length of a `with`.

    Two threads may borrow the same model: the last one to leave puts back what the first found.
    What is already as wanted, and on loan to nobody, is left alone.
    """
    taken = []
    with _LOCK:
        for owner in owners:
            place = (id(owner), attribute)
            if place not in _ON_LOAN:
                before = getattr(owner, attribute)
                if before == value:
                    continue
                _ON_LOAN[place] = _Entry(owner, before)
                setattr(owner, attribute, value)
            _ON_LOAN[place].borrowers += 1
            taken.append(place)
    try:
        yield
    finally:
        with _LOCK:
            for place in taken:
                entry = _ON_LOAN[place]
                entry.borrowers -= 1
                if not entry.borrowers:
                    setattr(entry.owner, attribute, entry.found)
                    del _ON_LOAN[place]


def unpatched_value(owner: object, attribute: str) -> Any:
    """An attribute as it was before anyone borrowed its owner."""
    with _LOCK:
        entry = _ON_LOAN.get((id(owner), attribute))
        return getattr(owner, attribute) if entry is None else entry.found


def configs(modules: Iterable[nn.Module]) -> list[Any]:
    """Every configuration that one of the modules reads its attention implementation from."""
    seen: dict[int, Any] = {}
    waiting = [module.config for module in modules if hasattr(module, "config")]
    while waiting:
        config = waiting.pop()
        if id(config) not in seen and hasattr(config, "_attn_implementation_internal"):
            seen[id(config)] = config
            parts = (getattr(config, name, None) for name in getattr(config, "sub_configs", ()))
            waiting += [part for part in parts if part is not None]
    return list(seen.values())


@contextmanager
def eval_mode(modules: Sequence[nn.Module]) -> Iterator[None]:
    """A model's modules in evaluation mode, no gradients, and the random numbers untouched."""
    still = patched(modules, "training", value=False)
    with _random_untouched(modules[0]), torch.no_grad(), still:
        yield


def attention_implementation(
    modules: Iterable[nn.Module], implementation: str
) -> AbstractContextManager[None]:
    """The modules with another attention implementation, for the length of a `with`."""
    return patched(configs(modules), "_attn_implementation_internal", implementation)


@contextmanager
def _random_untouched(model: nn.Module) -> Iterator[None]:
    parameters = model.parameters() if torch.cuda.is_available() else ()
    devices = {p.device for p in parameters if p.device.type == "cuda"}
    with torch.random.fork_rng(devices=list(devices)):
        yield


@contextmanager
def unmoved(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Modules that stay as they are, for the length of a `with`.

    Some models cast a module within their pass. The first pass has done so; a second cast would put
    dual numbers into the model's own weights.
    """
    held = list(modules)
    for module in held:
        module.__dict__["to"] = lambda *_, module=module, **__: module
    try:
        yield
    finally:
        for module in held:
            module.__dict__.pop("to", None)  # another thread may have been here


@contextmanager
def differentiated_as_written(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Functions with a backward of their own, run as their forward is written.

    Such a backward is of no use in forward mode; what the forward is made of has derivatives.
    """
    files = {type(module).__module__ for module in modules} & sys.modules.keys()
    functions = {
        one
        for file in files
        for one in vars(sys.modules[file]).values()
        if isinstance(one, type) and issubclass(one, Function) and one is not Function
    }
    alone = [one for one in functions if one.setup_context is Function.setup_context]
    for one in alone:
        one.apply = partial(one.forward, _Context())  # type: ignore[method-assign]
    try:
        yield
    finally:
        for one in alone:
            if "apply" in vars(one):
                del one.apply


class _Context:
    """What a function keeps for a backward that is not taken."""

    def save_for_backward(self, *_: object) -> None:
        """Keep nothing."""


def implementation_name(model: nn.Module) -> str:
    """The attention implementation the model is set to, or several where its parts differ."""
    names = [
        unpatched_value(config, "_attn_implementation_internal") for config in configs([model])
    ]
    return ", ".join(dict.fromkeys(str(name) for name in names)) or "unknown"
