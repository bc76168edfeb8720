"""What a model can take: how many tokens and which ids; and where it was loaded from."""

from typing import Any, Literal

from torch import Tensor, nn

from normviz.errors import BadInput, TextTooLong, TokenizerMismatch

MaxTokens = int | Literal["model"]
"""Where texts are cut: after a number of tokens, or where the model's own limit is."""

UNLIMITED = 10**9
"""Tokenizers without a limit of their own state a number above this."""


def token_limit(model: nn.Module, tokenizer: Any = None) -> int | None:
    """Return how many tokens the model has positions for; None where nothing limits it."""
    config = getattr(model, "config", None)
    config = getattr(config, "text_config", None) or config
    stated = [
        getattr(config, name, None)
        for name in ("max_position_embeddings", "n_positions", "max_seq_len")
    ]
    limits = [limit for limit in stated if isinstance(limit, int) and limit > 0]
    for module in model.modules():
        padding = getattr(module, "padding_idx", None)  # RoBERTa counts positions from after it
        if (
            isinstance(module, nn.Embedding)
            and padding is not None
            and module.num_embeddings in limits
            and module is not _token_embeddings(model)
        ):
            limits.append(module.num_embeddings - padding - 1)
    own = getattr(tokenizer, "model_max_length", None)
    if isinstance(own, int) and own < UNLIMITED:
        limits.append(own)
    return min(limits, default=None)


def require_max_tokens(max_tokens: Any) -> None:
    """Refuse a `max_tokens` that is neither a positive whole number, `"model"` nor None."""
    whole = isinstance(max_tokens, int) and not isinstance(max_tokens, bool)
    if max_tokens not in (None, "model") and not (whole and max_tokens >= 1):
        raise BadInput(
            f"max_tokens is {max_tokens!r}.",
            'Expected a whole number of at least 1, "model" for what the model takes, or None.',
            'Write max_tokens=128 or max_tokens="model".',
        )


def check_length(length: int, limit: int | None) -> None:
    """Refuse a text that is longer than the model takes."""
    if limit is not None and length > limit:
        raise TextTooLong(
            f"The text has {length} tokens.",
            f"The model takes {limit} at most.",
            'Shorten the text, or cut it there with max_tokens="model".',
        )


def check_ids(model: nn.Module, ids: Tensor, tokenizer: Any = None) -> None:
    """Refuse ids that the model has no embedding for, and tokenizers that could produce them."""
    known = getattr(_token_embeddings(model), "num_embeddings", None)
    if not isinstance(known, int) or not ids.numel() or ids.is_meta:
        return
    largest = int(ids.max())
    words = len(tokenizer) if tokenizer is not None and hasattr(tokenizer, "__len__") else 0
    if largest >= known or words > known:
        raise TokenizerMismatch(
            f"The largest token id is {largest}, from a vocabulary of {words or 'unknown size'}.",
            f"The model has embeddings for {known} ids.",
            "Use the tokenizer that belongs to this model, or resize the model's embeddings.",
        )


def origin_of(model: nn.Module) -> str:
    """Return the folder or hub id that a model object was loaded from; empty if unknown."""
    config = getattr(model, "config", None)
    origin = getattr(model, "name_or_path", "") or getattr(config, "_name_or_path", "")
    return str(origin or "")


def _token_embeddings(model: nn.Module) -> nn.Module | None:
    """Return the model's table of token embeddings, where it has one."""
    try:
        return model.get_input_embeddings()  # type: ignore[operator, no-any-return]
    except (AttributeError, NotImplementedError):
        return None
