"""Observing the passes of one thread: its active observer, and hooks that fire only there."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class AttentionObserver(Protocol):
    """What the registered attention function reports to (see `registry`)."""

    def attending(self) -> AbstractContextManager[None]:
        """Return a context in which an attention function runs that is observed as a whole."""

    def observe_attention(
        self, module: nn.Module, value: Tensor, mask: Tensor | None, output: Tensor, weight: Tensor
    ) -> Tensor:
        """Observe one attention, its inputs and results; return what takes its output's place."""


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
