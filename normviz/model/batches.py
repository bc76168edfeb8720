"""Batches of texts: grouped by similar length, and run so that one bad text fails alone."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

WINDOW = 32
"""How many batches are sorted by length at a time, so that memory does not grow."""


def batched(
    items: Iterable[T], size: int, key: Callable[[T], int] | None = None
) -> Iterator[list[T]]:
    """Yield lists of at most `size` items.

    Without `key` they keep their order. With `key`, such as the length of a text, items are sorted
    within windows of `WINDOW` batches, so that similar ones are padded together.
    """
    remaining = iter(items)
    while window := list(islice(remaining, size if key is None else WINDOW * size)):
        if key is not None:
            window.sort(key=key)
        for start in range(0, len(window), size):
            yield window[start : start + size]


def each_or_all(
    run: Callable[[Sequence[T]], Iterable[R]],
    items: Sequence[T],
    catch: type[Exception] = Exception,
) -> tuple[list[R], list[tuple[T, Exception]]]:
    """Return the results of all items that ran, and each item that failed with its error.

    All items run in one call. If that call fails, they run one by one, so that a bad item does not
    take the others with it.
    """
    try:
        return list(run(items)), []
    except catch as error:
        if len(items) == 1:
            return [], [(items[0], error)]
    results: list[R] = []
    failures: list[tuple[T, Exception]] = []
    for item in items:
        try:
            results += list(run([item]))
        except catch as error:
            failures.append((item, error))
    return results, failures
