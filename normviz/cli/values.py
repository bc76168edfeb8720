"""Values of options that several commands have, refused before a model is loaded."""

import argparse


def positive_int(text: str) -> int:
    """Parse a whole number of at least 1."""
    if not text.isdigit() or int(text) < 1:
        message = f"expected a whole number of at least 1, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def max_tokens(text: str) -> int | str:
    """Parse a number of tokens, or the word `model`."""
    if text == "model":
        return text
    if not text.isdigit() or int(text) < 1:
        message = f"expected a whole number of at least 1, or model, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return int(text)
