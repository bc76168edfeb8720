"""Observing the passes of one thread: its active observer, and hooks that fire only there."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class AttentionObserver(Protocol):
    """What the registered attention function reports to (see `registry`)."""

    def observe_attention(
        self, module: nn.Module, value: Tensor, mask: Tensor | None, output: Tensor, weight: Tensor
    ) -> None:
        """Observe one attention: its inputs and its results."""


active_observer: ContextVar[AttentionObserver | None] = ContextVar("active_observer", default=None)
"""The observer of this thread; it does not see what other threads do with the model."""


def hook(
    stack: ExitStack,
    register: Callable[..., Any],
    function: Callable[..., Any],
    *,
    observer: AttentionObserver | None = None,
    **options: bool,
) -> None:
    """Register a hook that fires only in this thread; it is removed when the stack closes.

    With `observer`, it fires only while that is the active observer, so that a pass nested inside
    another one is not observed by both.
    """
    thread = threading.get_ident()

    def call_in_thread(*args: Any) -> Any:
        if threading.get_ident() != thread:
            return None
        if observer is not None and active_observer.get() is not observer:
            return None
        return function(*args)

    stack.callback(register(call_in_thread, **options).remove)
