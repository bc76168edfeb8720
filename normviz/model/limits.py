"""What a model can take: how many tokens, and which ids."""

from typing import Any

from torch import Tensor, nn

from normviz.errors import TextTooLong, TokenizerMismatch

UNLIMITED = 10**9
"""Tokenizers without a limit of their own say a number beyond this."""


def longest(model: nn.Module, tokenizer: Any = None) -> int | None:
    """How many tokens the model has positions for; None where nothing limits it."""
    config = getattr(model, "config", None)
    config = getattr(config, "text_config", None) or config
    limits = [
        getattr(config, name, None)
        for name in ("max_position_embeddings", "n_positions", "max_seq_len")
    ]
    found = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    for module in model.modules():
        behind = getattr(module, "padding_idx", None)  # RoBERTa's kin count from behind the padding
        if (
            isinstance(module, nn.Embedding)
            and behind is not None
            and module.num_embeddings in found
            and module is not _embeddings(model)
        ):
            found.append(module.num_embeddings - behind - 1)
    own = getattr(tokenizer, "model_max_length", None)
    if isinstance(own, int) and own < UNLIMITED:
        found.append(own)
    return min(found, default=None)


def check_length(length: int, limit: int | None) -> None:
    """Refuse a text that is longer than the model takes."""
    if limit is not None and length > limit:
        raise TextTooLong(
            f"The text has {length} tokens.",
            f"The model takes {limit} at most.",
            "Shorten the text, or cut it there with truncate=True.",
        )


def _embeddings(model: nn.Module) -> nn.Module | None:
    """The table of token embeddings, where the model has one."""
    try:
        return model.get_input_embeddings()  # type: ignore[operator, no-any-return]
    except (AttributeError, NotImplementedError):
        return None


def check_ids(model: nn.Module, ids: Tensor, tokenizer: Any = None) -> None:
    """Refuse ids that the model has no embedding for, and tokenizers that could make them."""
    table = _embeddings(model)
    known = getattr(table, "num_embeddings", None)
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
