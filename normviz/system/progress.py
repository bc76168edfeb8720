"""Progress bars: in a terminal and in a notebook, silent anywhere else."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DELAY = 2.0
"""Seconds before a bar appears: quick work needs none."""


def is_interactive() -> bool:
    """Whether a person can see the bar: in a terminal, or in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return sys.stderr.isatty() or getattr(shell, "kernel", None) is not None


@contextmanager
def track_progress(label: str, total: int | None) -> Iterator[Callable[..., object]]:
    """Yield a function that advances the bar by one step, or by as many as it is passed."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:  # it comes with transformers; a saved flow needs no bar
        yield lambda _steps=1: None
        return
    with tqdm(
        total=total, desc=label, delay=DELAY, leave=False, disable=not is_interactive()
    ) as bar:
        yield bar.update
