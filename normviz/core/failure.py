"""A text that could not be measured, kept beside the results of those that could."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """A text or a sentence pair that could not be measured, and the reason."""

    number: int
    """Its index in the corpus, from 0."""
    text: str
    """The beginning of the text."""
    reason: str
