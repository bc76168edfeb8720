"""Which kind of token each token is: the usual categories, or a reader's own."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from normviz.core.tokens import CATEGORIES, Tokens
from normviz.errors import BadInput

Named = Callable[[str], str]
"""What says which kind a token is, by its piece."""


@dataclass(frozen=True)
class Kinds:
    """A way of telling tokens apart, and the names of the kinds in order."""

    names: tuple[str, ...]
    rules: tuple[tuple[str, str], ...] = ()
    """Names and regular expressions that are tried in order on words; none for the usual ones."""
    function: Callable[[Tokens], Any] | None = None
    """A reader's own: gets the tokens of a text, gives one name for each."""

    @classmethod
    def asked(cls, categories: Any) -> "Kinds":
        """The usual kinds, or those of a mapping of names to regular expressions or a function."""
        if isinstance(categories, Kinds):
            return categories
        if categories is None:
            return cls(CATEGORIES)
        if callable(categories):
            return cls((), function=categories)
        if isinstance(categories, Mapping) and categories:
            rules = tuple((str(name), str(rule)) for name, rule in categories.items())
            for name, rule in rules:
                _compiled(name, rule)
            return cls((*dict(rules), *CATEGORIES), rules)
        raise BadInput(
            f"categories is {categories!r}.",
            "A mapping of names to regular expressions is wanted, or a function that gets the "
            "tokens of a text and gives a name for each.",
            'Write categories={"number": r"\\d+"}.',
        )

    def of(self, tokens: Tokens) -> tuple[str, ...]:
        """The kind of every token of a text; a piece of a word is of the word's kind."""
        if self.function is not None:
            found = tuple(str(name) for name in self.function(tokens))
            if len(found) != len(tokens):
                raise BadInput(
                    f"The function gave {len(found)} categories for {len(tokens)} tokens.",
                    "One for each token is wanted.",
                    "Return a list as long as the tokens it gets.",
                )
            return found
        return tuple(
            self._named(tokens.word_texts[word], usual, special=special)
            for word, usual, special in zip(
                tokens.words, tokens.categories, tokens.special, strict=True
            )
        )

    def _named(self, word: str, usual: str, *, special: bool) -> str:
        if special:
            return usual
        for name, rule in self.rules:
            if _compiled(name, rule).fullmatch(word):
                return name
        return usual


def _compiled(name: str, rule: str) -> re.Pattern[str]:
    try:
        return re.compile(rule)
    except re.error as error:
        raise BadInput(
            f"The category {name!r} has the regular expression {rule!r}: {error}.",
            "A regular expression that Python's re understands is wanted.",
            "Mend it, or give a function instead.",
        ) from None
