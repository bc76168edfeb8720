"""Turning a tokenizer's pieces into text as a person would write it.

Tokenizers mark spaces and continuations in four ways: WordPiece (`##ing`), byte-level BPE (`Ġcat`,
with every byte as a printable letter), SentencePiece (`▁cat`, `<0xE2>`), and an end mark
(`cat</w>`). For each there is one small function that returns a piece's bytes and whether a word
starts there; everything after that is the same for all.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from normviz.core.tokens import Tokens, categorize, is_punctuation


@dataclass(frozen=True)
class Piece:
    """One token while it is made readable."""

    text: str
    starts: bool
    ends: bool = False
    """Whether a word ends here, for tokenizers that mark the end and not the start."""
    special: bool = False
    raw: bytes | None = None
    """The token's bytes, where the tokenizer splits text by bytes."""
    part: int = 0
    """Which part of a split character this is, from 1; 0 if none is split."""


def _byte_letters() -> dict[str, int]:
    """Return the byte behind each letter of byte-level BPE: printable bytes are themselves."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(0x100 + n): byte for n, byte in enumerate(hidden)}


_BYTES = _byte_letters()
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _read_wordpiece(token: str) -> Piece:
    return Piece(token.removeprefix("##"), starts=not token.startswith("##"))


def _read_byte_level(token: str) -> Piece:
    if not all(letter in _BYTES for letter in token):
        return Piece(token, starts=True)  # an added token, stored as plain text
    raw = bytes(_BYTES[letter] for letter in token)
    return Piece(raw.decode(errors="replace"), starts=raw[:1].isspace(), raw=raw)


def _read_sentencepiece(token: str) -> Piece:
    if byte := _BYTE_TOKEN.fullmatch(token):
        raw = bytes.fromhex(byte[1])
        return Piece(raw.decode(errors="replace"), starts=False, raw=raw)
    text = token.replace("▁", " ")
    return Piece(text, starts=text.startswith(" "), raw=text.encode(errors="surrogatepass"))


def _read_end_marked(token: str) -> Piece:
    return replace(_read_byte_level(token.removesuffix("</w>")), ends=token.endswith("</w>"))


def _read_whole(token: str) -> Piece:
    return Piece(token, starts=True)


def _read_unknown(token: str, read_piece: Callable[[str], Piece]) -> Piece:
    """Return the unknown token: where spaces are pieces it is part of a word, elsewhere a word."""
    if read_piece is _read_sentencepiece:
        return read_piece(token)
    return Piece(token, starts=True, ends=True)


def special_ids(tokenizer: Any) -> set[int]:
    """Return the ids of the special tokens.

    The unknown token stands for text, so it is one only where it has another role too, such as
    the end of a text in GPT-2.
    """
    roles = ("bos", "eos", "cls", "sep", "pad", "mask")
    used = {getattr(tokenizer, f"{role}_token_id", None) for role in roles}
    unknown = getattr(tokenizer, "unk_token_id", None)
    return {int(i) for i in tokenizer.all_special_ids if int(i) != unknown or unknown in used}


def piece_reader(tokenizer: Any, raw: Sequence[str]) -> Callable[[str], Piece]:
    """Return how to read this tokenizer's pieces, by its decoder or else by the pieces."""
    decoder = str(getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", ""))
    if any(token.endswith("</w>") for token in raw):
        return _read_end_marked
    if "ByteLevel" in decoder or hasattr(tokenizer, "byte_decoder"):
        return _read_byte_level
    if "WordPiece" in decoder or any(token.startswith("##") for token in raw):
        return _read_wordpiece
    if "Metaspace" in decoder or "▁" in decoder or any(token.startswith("▁") for token in raw):
        return _read_sentencepiece
    return _read_whole


def _split_characters(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield the pieces; those with only some bytes of a character are named after the whole."""
    at = 0
    while at < len(pieces):
        run = [pieces[at]]
        while _breaks_off(run) and (after := pieces[at + len(run) : at + len(run) + 1]):
            if after[0].raw is None:
                break
            run += after
        at += len(run)
        raw = b"".join(piece.raw or b"" for piece in run)
        if len(run) > 1 and not _breaks_off(run):
            text = raw.decode(errors="replace")
            for n, piece in enumerate(run, start=1):
                yield replace(piece, text=text, starts=piece.starts and n == 1, part=n)
        elif "�" in run[0].text:  # these bytes are no text: show them
            yield from (replace(p, text="".join(f"<{b:02X}>" for b in p.raw or b"")) for p in run)
        else:
            yield from run


def _breaks_off(run: Sequence[Piece]) -> bool:
    """Return whether the bytes of these pieces end inside a character."""
    try:
        b"".join(piece.raw or b"" for piece in run).decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


def _is_ideographic(text: str) -> bool:
    """Return whether the piece begins with a script that is written without spaces."""
    name = unicodedata.name(text[0], "") if text else ""
    return name.startswith(("CJK", "HIRAGANA", "KATAKANA"))


def _boundaries(pieces: Iterable[Piece]) -> Iterator[bool]:
    """Yield whether each piece begins a new word."""
    before: Piece | None = None
    for piece in pieces:
        yield before is None or _begins_word(before, piece)
        before = piece


def _begins_word(before: Piece, piece: Piece) -> bool:
    if piece.special or before.special or piece.starts or before.ends:
        return True
    if piece.part > 1 or not before.text.strip(" "):
        return False  # the rest of a character, or what follows a space that stands alone
    text, last = piece.text.strip(), before.text.strip()
    apart = is_punctuation(text) or is_punctuation(last) or not last
    return _is_ideographic(text) or (apart and not piece.part)


def _word_text(pieces: Sequence[Piece]) -> str:
    """Return the text of the word made of these pieces."""
    text = "".join(piece.text for piece in pieces if piece.part <= 1)
    return text.strip() or text


def label_tokens(tokenizer: Any, ids: Iterable[int]) -> Tokens:
    """Return the tokens of these ids as readable text.

    A character that was split over several tokens (an emoji, a rare script) is shown whole in each
    of them, with its part: `🙂 1/3`, `🙂 2/3`, `🙂 3/3`.
    """
    numbers = [int(i) for i in ids]
    raw = [str(token) for token in tokenizer.convert_ids_to_tokens(numbers)]
    specials, unknown = special_ids(tokenizer), getattr(tokenizer, "unk_token_id", None)
    read_piece = piece_reader(tokenizer, raw)
    rough = [
        Piece(token, starts=True, special=True)
        if number in specials
        else _read_unknown(token, read_piece)
        if number == unknown
        else read_piece(token)
        for number, token in zip(numbers, raw, strict=True)
    ]
    pieces = list(_split_characters(rough))
    words = [count - 1 for count in accumulate(_boundaries(pieces))]
    labels = _labels(pieces)
    members: list[list[Piece]] = [[] for _ in set(words)]
    for word, piece in zip(words, pieces, strict=True):
        members[word].append(piece)
    cls, sep = (getattr(tokenizer, f"{role}_token_id", None) for role in ("cls", "sep"))
    return Tokens(
        pieces=labels,
        ids=tuple(numbers),
        special=tuple(piece.special for piece in pieces),
        words=tuple(words),
        categories=tuple(
            categorize(label, special=piece.special, cls=number == cls, sep=number == sep)
            for label, piece, number in zip(labels, pieces, numbers, strict=True)
        ),
        word_texts=tuple(_word_text(word) for word in members),
    )


def _labels(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return each piece without surrounding spaces; parts of a split character are numbered."""
    lengths = [0] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        follows = at + 1 < len(pieces) and pieces[at + 1].part == pieces[at].part + 1
        lengths[at] = lengths[at + 1] if follows and pieces[at].part else pieces[at].part
    return tuple(
        (piece.text.strip() or piece.text) + (f" {piece.part}/{length}" if length else "")
        for piece, length in zip(pieces, lengths, strict=True)
    )


def label_ids(ids: Iterable[int]) -> Tokens:
    """Return tokens labeled by their ids, where there is no tokenizer."""
    numbers = tuple(int(i) for i in ids)
    return replace(Tokens.plain(f"#{n}" for n in numbers), ids=numbers)
