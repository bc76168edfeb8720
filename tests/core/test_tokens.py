"""Tokens: columns that fit together, words, categories."""

import pytest

from normviz.core.tokens import Tokens, categorize, is_punctuation
from normviz.errors import BadArrays


def test_taking_some_tokens_keeps_their_words():
    tokens = Tokens(
        ("a", "b", "c", "d"), (1, 2, 3, 4), (False,) * 4, (0, 1, 1, 2), ("other",) * 4,
        ("a", "bc", "d"),
    )  # fmt: skip
    taken = tokens.take([1, 2, 3])
    assert (taken.pieces, taken.words, taken.word_texts) == (
        ("b", "c", "d"),
        (0, 0, 1),
        ("bc", "d"),
    )
    assert tokens.merge_words().pieces == ("a", "bc", "d")
    assert tokens.merge_words().ids == (1, -1, 4)
    assert tokens[1:3] == ("b", "c")


def test_columns_that_do_not_fit_together_are_refused():
    with pytest.raises(BadArrays, match="'ids': 1"):
        Tokens(("a", "b"), (1,), (False, False), (0, 1), ("other", "other"), ("a", "b"))
    with pytest.raises(BadArrays, match=r"words \[0, 2\]"):
        Tokens(("a", "b"), (1, 2), (False, False), (0, 2), ("other", "other"), ("a", "b"))


def test_punctuation_is_punctuation_in_any_script():
    assert all(is_punctuation(p) for p in [".", ",", "…", "。", "«", "'", "—", "!?"])
    assert not any(is_punctuation(p) for p in ["a", "", "a.", "1", " ", "🙂"])
    assert categorize(".", special=True) == "special"
