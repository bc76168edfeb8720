"""Reading a tokenizer's pieces the way a person would write them.

Tokenizers mark spaces and continuations in four ways: WordPiece (`##ing`), byte-level BPE (`Ġcat`,
with every byte as a printable letter), SentencePiece (`▁cat`, `<0xE2>`), and an end mark
(`cat</w>`). Each way is one small function that gives a piece's bytes and says whether a word
starts there; everything after that is the same for all.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from normviz.core.tokens import Tokens, category, is_punctuation


@dataclass(frozen=True)
class Piece:
    """One token on its way to being readable."""

    text: str
    starts: bool
    ends: bool = False
    """Whether a word ends here, where tokenizers mark the end and not the start."""
    special: bool = False
    raw: bytes | None = None
    """The token's bytes, where the tokenizer splits text by bytes."""
    part: int = 0
    """0, or which part of a split character this is, from 1."""


def _byte_letters() -> dict[str, int]:
    """The byte behind each letter of byte-level BPE: printable bytes stand for themselves."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(0x100 + n): byte for n, byte in enumerate(hidden)}


_BYTES = _byte_letters()
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _wordpiece(token: str) -> Piece:
    return Piece(token.removeprefix("##"), starts=not token.startswith("##"))


def _bytelevel(token: str) -> Piece:
    if not all(letter in _BYTES for letter in token):
        return Piece(token, starts=True)  # an added token, stored as plain text
    raw = bytes(_BYTES[letter] for letter in token)
    return Piece(raw.decode(errors="replace"), starts=raw[:1].isspace(), raw=raw)


def _sentencepiece(token: str) -> Piece:
    if byte := _BYTE_TOKEN.fullmatch(token):
        raw = bytes.fromhex(byte[1])
        return Piece(raw.decode(errors="replace"), starts=False, raw=raw)
    text = token.replace("▁", " ")
    return Piece(text, starts=text.startswith(" "), raw=text.encode(errors="surrogatepass"))


def _endmarked(token: str) -> Piece:
    return replace(_bytelevel(token.removesuffix("</w>")), ends=token.endswith("</w>"))


def _whole(token: str) -> Piece:
    return Piece(token, starts=True)


def style(tokenizer: Any, raw: Sequence[str]) -> Callable[[str], Piece]:
    """How this tokenizer marks its pieces, from its decoder or else from the pieces themselves."""
    decoder = str(getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", ""))
    if any(token.endswith("</w>") for token in raw):
        return _endmarked
    if "ByteLevel" in decoder or hasattr(tokenizer, "byte_decoder"):
        return _bytelevel
    if "WordPiece" in decoder or any(token.startswith("##") for token in raw):
        return _wordpiece
    if "Metaspace" in decoder or "▁" in decoder or any(token.startswith("▁") for token in raw):
        return _sentencepiece
    return _whole


def _split_characters(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Name the pieces that hold only some bytes of a character after the whole character."""
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
        elif "�" in run[0].text:  # these bytes are no text: say them
            yield from (replace(p, text="".join(f"<{b:02X}>" for b in p.raw or b"")) for p in run)
        else:
            yield from run


def _breaks_off(run: Sequence[Piece]) -> bool:
    """Whether the bytes of these pieces end inside a character."""
    try:
        b"".join(piece.raw or b"" for piece in run).decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


def _ideographic(text: str) -> bool:
    """Whether the piece begins with a script that is written without spaces."""
    name = unicodedata.name(text[0], "") if text else ""
    return name.startswith(("CJK", "HIRAGANA", "KATAKANA"))


def _boundaries(pieces: Iterable[Piece]) -> Iterator[bool]:
    """Whether each piece begins a new word."""
    before: Piece | None = None
    for piece in pieces:
        yield before is None or _begins(before, piece)
        before = piece


def _begins(before: Piece, piece: Piece) -> bool:
    if piece.special or before.special or piece.starts or before.ends:
        return True
    if piece.part > 1 or not before.text.strip(" "):
        return False  # the rest of a character, or what follows a space that stands alone
    text, last = piece.text.strip(), before.text.strip()
    apart = is_punctuation(text) or is_punctuation(last) or not last
    return _ideographic(text) or (apart and not piece.part)


def _spelled(pieces: Sequence[Piece]) -> str:
    """How the word made of these pieces is written."""
    written = "".join(piece.text for piece in pieces if piece.part <= 1)
    return written.strip() or written


def read(tokenizer: Any, ids: Iterable[int]) -> Tokens:
    """The tokens behind these ids, readable.

    A character that was split over several tokens (an emoji, a rare script) is shown whole in each
    of them, with its part: `🙂 1/3`, `🙂 2/3`, `🙂 3/3`.
    """
    numbers = [int(i) for i in ids]
    raw = [str(token) for token in tokenizer.convert_ids_to_tokens(numbers)]
    specials = {int(i) for i in tokenizer.all_special_ids}
    spell = style(tokenizer, raw)
    rough = [
        Piece(token, starts=True, special=True) if number in specials else spell(token)
        for number, token in zip(numbers, raw, strict=True)
    ]
    pieces = list(_split_characters(rough))
    words = [count - 1 for count in accumulate(_boundaries(pieces))]
    shown = _shown(pieces)
    members: list[list[Piece]] = [[] for _ in set(words)]
    for word, piece in zip(words, pieces, strict=True):
        members[word].append(piece)
    cls, sep = (getattr(tokenizer, f"{role}_token_id", None) for role in ("cls", "sep"))
    return Tokens(
        pieces=shown,
        ids=tuple(numbers),
        special=tuple(piece.special for piece in pieces),
        words=tuple(words),
        categories=tuple(
            category(piece, special=p.special, cls=number == cls, sep=number == sep)
            for piece, p, number in zip(shown, pieces, numbers, strict=True)
        ),
        word_texts=tuple(_spelled(word) for word in members),
    )


def _shown(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Each piece without the spaces around it; parts of a split character are numbered."""
    lengths = [0] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        follows = at + 1 < len(pieces) and pieces[at + 1].part == pieces[at].part + 1
        lengths[at] = lengths[at + 1] if follows and pieces[at].part else pieces[at].part
    return tuple(
        (piece.text.strip() or piece.text) + (f" {piece.part}/{length}" if length else "")
        for piece, length in zip(pieces, lengths, strict=True)
    )


def unread(ids: Iterable[int]) -> Tokens:
    """Tokens for which there is no tokenizer: the ids themselves."""
    numbers = tuple(int(i) for i in ids)
    return replace(Tokens.plain(f"#{n}" for n in numbers), ids=numbers)
