"""Tokens as a person would write them, for every way in which tokenizers mark them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from normviz.model.detokenize import label_ids, label_tokens

CORPUS = ["the cat sat on the mat, and the dog didn't.", "animals playing outside"] * 4


def train_tokenizer(kind):
    """Return a small tokenizer of a kind, trained here."""
    special = ["<s>", "</s>", "<unk>"]
    if kind == "wordpiece":
        backend = Tokenizer(models.WordPiece(unk_token="<unk>"))
        backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        backend.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=special)
    elif kind == "bytelevel":
        backend = Tokenizer(models.BPE())
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=300, special_tokens=special, initial_alphabet=alphabet
        )
    else:
        backend = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
        backend.pre_tokenizer = pre_tokenizers.Metaspace()
        fallback = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        backend.decoder = decoders.Sequence(fallback)
        names = special + [f"<0x{byte:02X}>" for byte in range(256)]
        trainer = trainers.BpeTrainer(vocab_size=380, special_tokens=names)
    backend.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, cls_token="<s>", sep_token="</s>", unk_token="<unk>"
    )


KINDS = ["wordpiece", "bytelevel", "sentencepiece"]


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_carry_no_marks_and_words_come_back(kind):
    tokenizer = train_tokenizer(kind)
    tokens = label_tokens(tokenizer, tokenizer("the cat, playing outside").input_ids)
    assert not any(mark in piece for piece in tokens for mark in ("##", "Ġ", "▁", " "))
    assert tokens.word_texts == ("the", "cat", ",", "playing", "outside")
    assert tokens.categories[tokens.pieces.index(",")] == "punctuation"


@pytest.mark.parametrize("kind", ["bytelevel", "sentencepiece"])
@pytest.mark.parametrize("rare", ["🙂", "好", "ß", "ก"])
def test_a_character_split_over_tokens_is_shown_whole_and_numbered(kind, rare):
    tokenizer = train_tokenizer(kind)
    ids = tokenizer(f"the cat {rare} sat").input_ids
    tokens = label_tokens(tokenizer, ids)
    parts = [piece for piece in tokens if rare in piece]
    length = len(rare.encode())
    numbered = [f"{rare} {n}/{len(parts)}" for n in range(1, len(parts) + 1)]
    assert parts == numbered
    assert len(parts) in (length, length + 1)  # the space may be a token of its own
    assert rare in tokens.word_texts
    assert len({tokens.words[tokens.pieces.index(part)] for part in parts}) == 1


def test_bytes_that_are_not_text_are_shown_as_hexadecimal():
    tokenizer = train_tokenizer("bytelevel")
    backend = tokenizer.backend_tokenizer
    broken = backend.token_to_id("ÿ")  # the byte 0xFF never occurs in a text
    assert label_tokens(tokenizer, [broken, backend.token_to_id("c")]).pieces == ("<FF>", "c")


def test_a_contraction_stays_one_word_where_the_tokenizer_keeps_it():
    tokenizer = train_tokenizer("bytelevel")
    tokens = label_tokens(tokenizer, tokenizer("the dog didn't.").input_ids)
    assert tokens.word_texts[-2:] == ("didn't", ".")


def test_special_tokens_are_marked_and_categorized(demo):
    _, tokenizer = demo
    tokens = label_tokens(tokenizer, tokenizer("A cat, [MASK].", "Yes!").input_ids)
    assert tokens.pieces == ("[CLS]", "a", "cat", ",", "[MASK]", ".", "[SEP]", "yes", "!", "[SEP]")
    assert [p for p, s in zip(tokens, tokens.special, strict=True) if s] == [
        "[CLS]", "[MASK]", "[SEP]", "[SEP]",
    ]  # fmt: skip
    assert tokens.categories == (
        "[CLS]", "other", "other", "punctuation", "special", "punctuation", "[SEP]", "other",
        "punctuation", "[SEP]",
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["wordpiece", "sentencepiece"])
def test_an_unknown_token_stands_for_a_word_and_is_not_special(kind):
    tokenizer = train_tokenizer(kind)
    known = tokenizer("the cat", add_special_tokens=False).input_ids
    space = tokenizer.convert_tokens_to_ids(["▁"]) if kind == "sentencepiece" else []
    ids = [tokenizer.cls_token_id, *known, *space, tokenizer.unk_token_id, *known]
    tokens = label_tokens(tokenizer, ids)
    at = ids.index(tokenizer.unk_token_id)
    assert (tokens.pieces[at], tokens.special[at], tokens.categories[at]) == (
        "<unk>", False, "other",
    )  # fmt: skip
    assert tokens.special[0]
    assert tokens.word_texts == ("<s>", "the", "cat", "<unk>", "the", "cat")


def test_an_unknown_token_that_also_ends_texts_is_special():
    tokenizer = train_tokenizer("bytelevel")
    tokenizer.unk_token = tokenizer.eos_token = tokenizer.sep_token
    tokens = label_tokens(tokenizer, [tokenizer.eos_token_id])
    assert tokens.special == (True,)


def test_a_trained_byte_level_tokenizer_reads_many_scripts(smollm2):
    _, tokenizer = smollm2
    text = "Hello, Weltanschauung! 你好 🙂 नमस्ते"
    tokens = label_tokens(tokenizer, tokenizer(text).input_ids)
    assert "".join(tokens.word_texts) == text.replace(" ", "")
    assert "Weltanschauung" in tokens.word_texts


@given(st.lists(st.integers(0, 299), max_size=30))
def test_any_ids_can_be_read(ids):
    tokens = label_tokens(BYTES, ids)
    assert tokens.ids == tuple(ids)
    assert list(tokens.words) == sorted(tokens.words)


BYTES = train_tokenizer("bytelevel")


def test_ids_without_a_tokenizer_are_shown_as_numbers():
    assert label_ids([7, 8]).pieces == ("#7", "#8")
    assert label_ids([7, 8]).ids == (7, 8)
    assert len(label_ids([])) == 0
