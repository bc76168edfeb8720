"""Which token of one text stands for which of another: matched by the characters they share.

Two tokenizers cut the same text in different places, and two texts may differ in a word. Tokens
are spelled out, equal runs of characters are found, and each token is given the one on the other
side with which it shares most.
"""

from collections import Counter
from difflib import SequenceMatcher
from typing import Any

from normviz.core.flow import Flow
from normviz.core.tokens import Tokens

MARKS = "#▁Ġ \n\t"
"""What tokenizers put around pieces, and spaces: no part of a text's characters."""


def counterparts(flow: Flow, other: Flow) -> dict[str, dict[str, Any]]:
    """For each stream that both have, and each side, the token across or None, both ways."""
    shared = [name for name in flow.streams if name in other.streams]
    return {
        name: {
            "queries": both_ways(flow.streams[name].queries, other.streams[name].queries),
            "keys": both_ways(flow.streams[name].keys, other.streams[name].keys),
        }
        for name in shared
    }


def both_ways(one: Tokens, other: Tokens) -> dict[str, list[int | None]]:
    """`there` leads from each token of one text to its counterpart in the other, `back` returns."""
    pairs = _overlaps(one, other)
    flipped = Counter({(b, a): count for (a, b), count in pairs.items()})
    return {"there": _best(pairs, len(one)), "back": _best(flipped, len(other))}


def _overlaps(one: Tokens, other: Tokens) -> Counter[tuple[int, int]]:
    """How many characters each pair of tokens shares."""
    mine, theirs = _spelled(one), _spelled(other)
    matcher = SequenceMatcher(
        None, [character for character, _ in mine], [c for c, _ in theirs], autojunk=False
    )
    pairs: Counter[tuple[int, int]] = Counter()
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            pairs[mine[block.a + step][1], theirs[block.b + step][1]] += 1
    return pairs


def _spelled(tokens: Tokens) -> list[tuple[str, int]]:
    """Every character of a text with the token it belongs to; of a special token, its category."""
    spelled: list[tuple[str, int]] = []
    for index, piece in enumerate(tokens.pieces):
        if tokens.special[index]:
            spelled.append((tokens.categories[index], index))
        else:
            spelled += [(character, index) for character in piece.strip(MARKS).casefold()]
    return spelled


def _best(pairs: Counter[tuple[int, int]], count: int) -> list[int | None]:
    best: list[int | None] = [None] * count
    for (own, across), _ in sorted(pairs.items(), key=lambda item: (item[1], -item[0][1])):
        best[own] = across
    return best
