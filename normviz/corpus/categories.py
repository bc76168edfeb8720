"""Categories of tokens: the default ones, or a user's own."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from normviz.core.tokens import CATEGORIES, Tokens
from normviz.errors import BadInput

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

    @classmethod
    def from_user(cls, categories: Any) -> "Categories":
        """Return the default categories for None, or those of a mapping or a function."""
        if isinstance(categories, Categories):
            return categories
        if categories is None:
            return cls(CATEGORIES)
        if callable(categories):
            return cls((), function=categories)
        if isinstance(categories, Mapping) and categories:
            rules = tuple((str(name), str(rule)) for name, rule in categories.items())
            for name, rule in rules:
                _compile(name, rule)
            return cls((*dict(rules), *CATEGORIES), rules)
        raise BadInput(
            f"categories is {categories!r}.",
            "Expected a mapping of names to regular expressions, or a function that takes the "
            "tokens of a text and returns a name for each.",
            'Write categories={"number": r"\\d+"}.',
        )

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


def _compile(name: str, rule: str) -> re.Pattern[str]:
    try:
        return re.compile(rule)
    except re.error as error:
        raise BadInput(
            f"The category {name!r} has the regular expression {rule!r}: {error}.",
            "Expected a regular expression that Python's re can compile.",
            "Fix the pattern, or pass a function.",
        ) from None
