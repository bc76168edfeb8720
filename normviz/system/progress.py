"""How far long work has come: on a terminal and in a notebook, silent anywhere else."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 2.0
"""Seconds before a bar appears: quick work needs none."""


def seen() -> bool:
    """Whether somebody is looking: a terminal, or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextmanager
def track_progress(what: str, total: int | None) -> Iterator[Any]:
    """Count steps of some work; gives a function to be called after each."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:  # it comes with transformers; work on a saved flow goes on without a bar
        yield lambda: None
        return
    with tqdm(total=total, desc=what, delay=PATIENCE, leave=False, disable=not seen()) as bar:
        yield bar.update
