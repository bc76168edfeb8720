"""A model and a tokenizer whose behavior a test decides, for studies over many texts."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

MODEL = 16
WORDS = 600


class NoAttention(nn.Module):
    """Makes a module a layer by its name; it computes nothing."""


class Layer(nn.Module):
    """A layer that applies a function to its input and the token ids."""

    def __init__(self, act: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.attention = NoAttention()
        self.act = act

    def forward(self, hidden: Tensor, ids: Tensor) -> Tensor:
        return self.act(hidden, ids)


class Toy(nn.Module):
    """A model with a random input vector for each id, layers given as functions, no positions."""

    def __init__(self, *acts: Callable[[Tensor, Tensor], Tensor], seed: int = 0) -> None:
        super().__init__()
        self.table = table(seed)
        self.layers = nn.ModuleList(Layer(act) for act in acts)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        hidden = self.table[input_ids]
        for layer in self.layers:
            hidden = layer(hidden, input_ids)
        return hidden


def table(seed: int) -> Tensor:
    """Return a random vector for each id."""
    chance = torch.Generator().manual_seed(seed)
    return torch.randn(WORDS, MODEL, generator=chance, dtype=torch.float64)


def same(hidden: Tensor, ids: Tensor) -> Tensor:
    """Return the hidden states unchanged."""
    return hidden


class Numbers:
    """A tokenizer for texts that consist of ids: `"5 17 3"`; 0 is padding."""

    pad_token_id = 0
    all_special_ids = (0,)

    def __call__(
        self, text: str, text_pair: str | None = None, max_length: int | None = None, **_: Any
    ) -> dict[str, list[int]]:
        both = f"{text} {text_pair or ''}"
        return {"input_ids": [int(word) for word in both.split()][:max_length]}


def texts(documents: int = 12, tokens: int = 20) -> list[str]:
    """Return documents that share no id, and have no id twice."""
    every = range(1, documents * tokens + 1)
    return [" ".join(map(str, every[at::documents])) for at in range(documents)]


def mixed_texts(documents: int = 9, words: int = 90) -> list[str]:
    """Return documents of different lengths that share their words, some repeated in one."""
    chance = torch.Generator().manual_seed(3)
    return [
        " ".join(map(str, torch.randint(3, words, (5 + at,), generator=chance).tolist()))
        for at in range(documents)
    ]
