"""Counterparts: the tokens of two texts, matched by the characters they share."""

from dataclasses import replace

from flows import random_flow, wordy_flow
from hypothesis import given
from hypothesis import strategies as st

from normviz.core.token_matching import counterparts, match_tokens
from normviz.core.tokens import Tokens


def plain(*pieces):
    return Tokens.plain(pieces)


def test_the_same_text_is_its_own_counterpart():
    flow = wordy_flow()
    found = counterparts(flow, flow)["encoder"]
    assert found["keys"]["there"] == found["queries"]["back"] == list(range(7))


def test_pieces_of_one_tokenizer_find_the_word_of_another():
    found = match_tokens(
        plain("un", "##believ", "##able", "cats"), plain("unbelievable", "▁cat", "s")
    )
    assert found["there"] == [0, 0, 0, 1]
    assert found["back"] == [1, 3, 3]


def test_a_token_that_is_not_in_the_other_text_has_none():
    found = match_tokens(plain("the", "old", "cat"), plain("the", "cat"))
    assert found["there"] == [0, None, 1]
    assert found["back"] == [0, 2]


def test_case_and_marks_of_tokenizers_do_not_matter():
    assert match_tokens(plain("The", "Cat"), plain("the", "Ġcat"))["there"] == [0, 1]


def test_special_tokens_match_by_their_kind():
    bert = replace(wordy_flow().tokens)
    roberta = replace(bert, pieces=("<s>", *bert.pieces[1:-1], "</s>"))
    assert match_tokens(bert, roberta)["there"] == list(range(7))


def test_only_streams_that_both_have_are_matched():
    from flows import two_streams

    assert set(counterparts(two_streams(), random_flow())) == {"encoder"}


words = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=8)


@given(one=words, other=words)
def test_counterparts_are_indices_in_the_other_text_or_none(one, other):
    found = match_tokens(plain(*one), plain(*other))
    assert len(found["there"]) == len(one)
    assert len(found["back"]) == len(other)
    assert all(match is None or 0 <= match < len(other) for match in found["there"])


@given(pieces=words)
def test_cutting_a_text_elsewhere_loses_nothing(pieces):
    letters = list("".join(pieces))
    found = match_tokens(plain(*pieces), plain(*letters))
    assert None not in found["back"]
    owner = [index for index, piece in enumerate(pieces) for _ in piece]
    assert found["back"] == owner


def test_the_letters_of_an_unknown_token_are_not_the_texts():
    assert match_tokens(plain("a", "[UNK]"), plain("a", "trunk"))["there"] == [0, None]
    assert match_tokens(plain("a", "[UNK]"), plain("[UNK]", "trunk"))["there"] == [None, 0]
