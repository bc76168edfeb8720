"""Match the tokens of two texts by the characters they share.

Two tokenizers cut the same text in different places, and two texts may differ in a word. Both
texts are compared character by character, and each token gets the token of the other text with
which it shares most characters.
"""

from collections import Counter
from difflib import SequenceMatcher

from normviz.core.flow import Flow
from normviz.core.tokens import Tokens, is_unknown

MARKS = "#▁Ġ \n\t"
"""What tokenizers put around pieces, and spaces: not characters of the text."""

Matches = dict[str, list[int | None]]
"""`there`: for each token of the first text, its counterpart in the second; `back`: the reverse."""


def counterparts(flow: Flow, other: Flow) -> dict[str, dict[str, Matches]]:
    """Return, for each stream that both flows have, the matches of its queries and of its keys."""
    shared = [name for name in flow.streams if name in other.streams]
    return {
        name: {
            "queries": match_tokens(flow.streams[name].queries, other.streams[name].queries),
            "keys": match_tokens(flow.streams[name].keys, other.streams[name].keys),
        }
        for name in shared
    }


def match_tokens(first: Tokens, second: Tokens) -> Matches:
    """Return each token's counterpart in the other text, or None, in both directions."""
    overlaps = _count_shared(first, second)
    reverse = Counter({(b, a): count for (a, b), count in overlaps.items()})
    return {
        "there": _best_matches(overlaps, len(first)),
        "back": _best_matches(reverse, len(second)),
    }


def _count_shared(first: Tokens, second: Tokens) -> Counter[tuple[int, int]]:
    """Count the characters that each pair of tokens shares."""
    left, right = _characters(first), _characters(second)
    matcher = SequenceMatcher(
        None, [character for character, _ in left], [c for c, _ in right], autojunk=False
    )
    overlaps: Counter[tuple[int, int]] = Counter()
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            overlaps[left[block.a + step][1], right[block.b + step][1]] += 1
    return overlaps


def _characters(tokens: Tokens) -> list[tuple[str, int]]:
    """Return every character with the index of its token.

    A special token is one character, and so is an unknown one: its letters are not the text's.
    """
    characters: list[tuple[str, int]] = []
    for index, piece in enumerate(tokens.pieces):
        if tokens.special[index]:
            characters.append((tokens.categories[index], index))
        elif is_unknown(piece):
            characters.append((piece.casefold(), index))
        else:
            characters += [(character, index) for character in piece.strip(MARKS).casefold()]
    return characters


def _best_matches(overlaps: Counter[tuple[int, int]], count: int) -> list[int | None]:
    best: list[int | None] = [None] * count
    for (token, match), _ in sorted(overlaps.items(), key=lambda item: (item[1], -item[0][1])):
        best[token] = match
    return best
