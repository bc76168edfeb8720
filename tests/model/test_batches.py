"""Batches: every item once, similar ones together, and bad ones alone."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.model.batches import WINDOW, batched, each_or_all


@given(st.lists(st.integers()), st.integers(1, 9))
def test_batches_without_a_key_keep_the_order(items, size):
    batches = list(batched(items, size))
    assert list(itertools.chain(*batches)) == items
    assert all(len(batch) == size for batch in batches[:-1])


@given(st.lists(st.text(max_size=9)), st.integers(1, 3))
def test_batches_with_a_key_hold_every_item_once_and_are_sorted_in_windows(texts, size):
    batches = list(batched(texts, size, len))
    assert sorted(itertools.chain(*batches)) == sorted(texts)
    windows = [texts[at : at + WINDOW * size] for at in range(0, len(texts), WINDOW * size)]
    assert list(itertools.chain(*batches)) == [t for w in windows for t in sorted(w, key=len)]


def test_items_are_read_as_they_are_needed():
    counter = itertools.count()
    assert next(batched(counter, 3)) == [0, 1, 2]
    assert next(counter) == 3
    next(batched(counter, 2, lambda number: -number))
    assert next(counter) == 4 + 2 * WINDOW


class Runner:
    """Doubles numbers, refuses some, and remembers every call."""

    def __init__(self, *bad):
        self.bad = bad
        self.calls = []

    def __call__(self, numbers):
        self.calls.append(list(numbers))
        for number in numbers:
            if number in self.bad:
                raise ValueError(number)
            yield 2 * number


def test_a_batch_without_a_bad_item_runs_once():
    run = Runner()
    assert each_or_all(run, [1, 2, 3]) == ([2, 4, 6], [])
    assert run.calls == [[1, 2, 3]]


def test_a_bad_item_does_not_take_the_others_with_it():
    run = Runner(2)
    results, failures = each_or_all(run, [1, 2, 3])
    assert results == [2, 6]
    assert [(item, str(error)) for item, error in failures] == [(2, "2")]
    assert run.calls == [[1, 2, 3], [1], [2], [3]]


def test_a_bad_item_alone_is_not_run_twice():
    run = Runner(5)
    assert each_or_all(run, [5])[1][0][0] == 5
    assert run.calls == [[5]]


def test_other_errors_are_not_caught():
    with pytest.raises(ValueError, match="2"):
        each_or_all(Runner(2), [1, 2], catch=KeyError)
