"""Numbers with their nouns."""


def pluralize(count: int, word: str) -> str:
    """Return a count with its noun, such as `3 texts`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
