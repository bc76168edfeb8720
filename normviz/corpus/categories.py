"""Categories of tokens: the default ones, or a user's own."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.core.tokens import CATEGORIES, Tokens
from normviz.core.words import PUNCTUATIONS
from normviz.errors import BadInput

if TYPE_CHECKING:
    from normviz.core.words import Punctuation

PAPER_PUNCTUATION = (",", ".")
"""The tokens that count as punctuation in Kobayashi et al. 2020."""

CategoryRules = Mapping[str, str] | Callable[[Tokens], Iterable[str]]
"""Names with regular expressions, or a function that returns a name for each token."""


@dataclass(frozen=True)
class Categories:
    """A way to sort tokens into categories."""

    names: tuple[str, ...]
    """The categories known in advance, in order."""
    rules: tuple[tuple[str, str], ...] = ()
    """Names and regular expressions, tried on words in order; empty for the default categories."""
    function: Callable[[Tokens], Iterable[Any]] | None = None
    """A user's function: takes the tokens of a text, returns a name for each."""
    punctuation: "Punctuation" = "unicode"
    """Whether all of Unicode's punctuation and symbols count as such, or only the paper's."""

    @classmethod
    def from_user(cls, categories: Any, punctuation: "Punctuation" = "unicode") -> "Categories":
        """Return the default categories for None, or those of a mapping or a function."""
        require_known(punctuation, PUNCTUATIONS, "punctuation set")
        if isinstance(categories, Categories):
            return categories
        if categories is None:
            return cls(CATEGORIES, punctuation=punctuation)
        if callable(categories):
            return cls((), function=categories, punctuation=punctuation)
        if isinstance(categories, Mapping) and categories:
            rules = tuple((str(name), str(rule)) for name, rule in categories.items())
            for name, rule in rules:
                _compile(name, rule)
            return cls((*dict(rules), *CATEGORIES), rules, punctuation=punctuation)
        raise BadInput(
            f"categories is {categories!r}.",
            "Expected a mapping of names to regular expressions, or a function that takes the "
            "tokens of a text and returns a name for each.",
            'Write categories={"number": r"\\d+"}.',
        )

    def with_punctuation(self, flow: Flow) -> Flow:
        """Return the flow with only the chosen tokens in the category of punctuation."""
        if self.punctuation == "unicode":
            return flow
        streams = {
            name: replace(stream, queries=_paper_tokens(stream.queries),
                          keys=_paper_tokens(stream.keys))
            for name, stream in flow.streams.items()
        }  # fmt: skip
        return replace(flow, streams=streams)

    def of(self, tokens: Tokens) -> tuple[str, ...]:
        """Return the category of every token of a text; a subword has its word's category."""
        if self.function is not None:
            names = tuple(str(name) for name in self.function(tokens))
            if len(names) != len(tokens):
                raise BadInput(
                    f"The function returned {len(names)} categories for {len(tokens)} tokens.",
                    "Expected one for each token.",
                    "Return a list as long as the tokens it takes.",
                )
            return names
        return tuple(
            self._of_word(tokens.word_texts[word], default, special=special)
            for word, default, special in zip(
                tokens.words, tokens.categories, tokens.special, strict=True
            )
        )

    def _of_word(self, word: str, default: str, *, special: bool) -> str:
        if special:
            return default
        for name, rule in self.rules:
            if _compile(name, rule).fullmatch(word):
                return name
        return default


def _paper_tokens(tokens: Tokens) -> Tokens:
    """Return the tokens with no other punctuation than the paper's."""
    categories = (
        "other" if category == "punctuation" and piece not in PAPER_PUNCTUATION else category
        for piece, category in zip(tokens.pieces, tokens.categories, strict=True)
    )
    return replace(tokens, categories=tuple(categories))


def _compile(name: str, rule: str) -> re.Pattern[str]:
    try:
        return re.compile(rule)
    except re.error as error:
        raise BadInput(
            f"The category {name!r} has the regular expression {rule!r}: {error}.",
            "Expected a regular expression that Python's re can compile.",
            "Fix the pattern, or pass a function.",
        ) from None
