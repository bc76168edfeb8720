"""Borrowing a model: what normviz changes for the length of a `with`, and how it is put back."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

_LOCK = threading.Lock()
_ON_LOAN: dict[tuple[int, str], "_Entry"] = {}


class _Entry:
    """An attribute as it was found, and how many borrowers have changed it."""

    def __init__(self, owner: object, found: object) -> None:
        self.owner = owner  # kept alive, so that its id stays its own
        self.found = found
        self.borrowers = 0


@contextmanager
def changed(owner: object, attribute: str, value: object) -> Iterator[None]:
    """Set an attribute for the length of a `with`.

    Two threads may borrow the same model: the last one to leave puts back what the first found.
    """
    place = (id(owner), attribute)
    with _LOCK:
        entry = _ON_LOAN.setdefault(place, _Entry(owner, getattr(owner, attribute)))
        entry.borrowers += 1
        setattr(owner, attribute, value)
    try:
        yield
    finally:
        with _LOCK:
            entry.borrowers -= 1
            if not entry.borrowers:
                setattr(owner, attribute, entry.found)
                del _ON_LOAN[place]


def found(owner: object, attribute: str) -> Any:
    """An attribute as it was before anyone borrowed its owner."""
    with _LOCK:
        entry = _ON_LOAN.get((id(owner), attribute))
        return getattr(owner, attribute) if entry is None else entry.found


def configs(model: nn.Module) -> list[Any]:
    """Every configuration that a part of the model reads its attention implementation from."""
    seen: dict[int, Any] = {}
    waiting = [module.config for module in model.modules() if hasattr(module, "config")]
    while waiting:
        config = waiting.pop()
        if id(config) not in seen and hasattr(config, "_attn_implementation_internal"):
            seen[id(config)] = config
            parts = (getattr(config, name, None) for name in getattr(config, "sub_configs", ()))
            waiting += [part for part in parts if part is not None]
    return list(seen.values())


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """The model in evaluation mode, without gradients, and the random numbers untouched."""
    with ExitStack() as stack:
        stack.enter_context(_random_untouched(model))
        stack.enter_context(torch.no_grad())
        for module in model.modules():
            stack.enter_context(changed(module, "training", value=False))
        yield


@contextmanager
def attending(model: nn.Module, implementation: str) -> Iterator[None]:
    """The model with another attention implementation."""
    with ExitStack() as stack:
        for config in configs(model):
            stack.enter_context(changed(config, "_attn_implementation_internal", implementation))
        yield


@contextmanager
def _random_untouched(model: nn.Module) -> Iterator[None]:
    devices = {p.device for p in model.parameters() if p.device.type == "cuda"}
    with torch.random.fork_rng(devices=list(devices)):
        yield
