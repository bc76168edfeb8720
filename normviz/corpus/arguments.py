"""Arguments of functions over many texts: swapped or missing ones are refused by name."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch import nn

from normviz.errors import BadInput
from normviz.model.types import Tokenizer


def require_model_and_texts(
    caller: str, model: Any, texts: Any, tokenizer: Any, *, name: str = "texts"
) -> None:
    """Refuse a model, texts or a tokenizer in each other's place.

    Parameters
    ----------
    caller
        The function, for the error message.
    model, texts, tokenizer
        Its arguments.
    name
        How the function calls its texts.
    """
    call = f"Write {caller}(model, {name}, tokenizer=tokenizer)."
    if isinstance(model, Tokenizer) or not isinstance(model, str | Path | nn.Module):
        raise BadInput(
            f"The model is a {type(model).__name__}.",
            f"Expected a model, its name or a folder first, then the {name}.",
            call,
        )
    if isinstance(texts, nn.Module | Tokenizer):
        raise BadInput(
            f"The {name} are a {type(texts).__name__}.",
            f"Expected the model first, then the {name}; the tokenizer is a keyword.",
            call,
        )
    if isinstance(tokenizer, nn.Module) or not (
        tokenizer is None or isinstance(tokenizer, str | Path) or callable(tokenizer)
    ):
        raise BadInput(
            f"tokenizer is a {type(tokenizer).__name__}.",
            "Expected a tokenizer, its name or a folder.",
            call,
        )


def require_text_list(caller: str, texts: Any) -> list[Any]:
    """Return the texts of a study as a list; refuse a single text, and no text at all."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        found = "one string" if isinstance(texts, str) else f"a {type(texts).__name__}"
        raise BadInput(
            f"The texts are {found}.",
            "Expected a list of texts.",
            f"Write {caller}(model, [text]).",
        )
    found_texts = list(texts)
    if not found_texts:
        raise BadInput("There are no texts.", "Expected at least one.", "Give a list of texts.")
    return found_texts


def require_at_least(minimum: int, **numbers: Any) -> None:
    """Refuse a number that is not whole, or is below the minimum, by its name."""
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
            raise BadInput(
                f"{name} is {value!r}.",
                f"Expected a whole number, {minimum} or more.",
                f"Write {name}={minimum}, or more.",
            )
