"""The models of the benchmarks, and their sizes as numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, LlamaConfig, LlamaModel

from normviz.model.loading import load_model


@dataclass(frozen=True)
class Shape:
    """A model that can be built, and for how many tokens it is to be measured."""

    title: str
    build: Callable[[], nn.Module]
    tokens: tuple[int, ...]
    climbed: int
    """For how many tokens the whole ladder is climbed."""


@dataclass(frozen=True)
class Sizes:
    """What counting operations takes."""

    layers: int
    heads: int
    value_heads: int
    dim: int
    model: int
    inner: int
    gated: bool

    @classmethod
    def of(cls, model: Any) -> "Sizes":
        """Read off a model's configuration."""
        config = model.config
        heads, width = config.num_attention_heads, config.hidden_size
        inner = getattr(config, "intermediate_size", None) or getattr(config, "n_inner", None)
        return cls(
            layers=config.num_hidden_layers,
            heads=heads,
            value_heads=getattr(config, "num_key_value_heads", None) or heads,
            dim=getattr(config, "head_dim", None) or width // heads,
            model=width,
            inner=inner or 4 * width,
            gated=config.model_type == "llama",
        )


def bert(**other: int) -> BertModel:
    """The shape of BERT-base, with random weights; or of something beside it."""
    torch.manual_seed(0)
    config = BertConfig(attn_implementation="eager", **other)
    return BertModel(config, add_pooling_layer=False).eval()


def gpt2() -> GPT2Model:
    """The shape of GPT-2 with 117M parameters, with random weights."""
    torch.manual_seed(0)
    return GPT2Model(GPT2Config(attn_implementation="eager")).eval()


def llama() -> LlamaModel:
    """Two layers as wide as those of Llama 3.2 1B: 32 heads that share the values of 8."""
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=2048, intermediate_size=8192, num_hidden_layers=2, num_attention_heads=32,
        num_key_value_heads=8, vocab_size=30522, max_position_embeddings=2048,
        attn_implementation="eager",
    )  # fmt: skip
    return LlamaModel(config).eval()


def minilm() -> nn.Module:
    """The trained model behind `demo`, attending as the others do."""
    model = load_model("demo").model
    model.set_attn_implementation("eager")  # others keep no weights, and would be another pass
    return model


def tiny() -> BertModel:
    """Something that runs in no time, for a quick look."""
    return bert(hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96)


SHAPES = {
    "minilm": Shape("MiniLM, trained, 6 × 12 heads, 384 wide", minilm, (32, 128, 512), 128),
    "bert": Shape("BERT-base, 12 × 12 heads, 768 wide", bert, (32, 128, 512), 128),
    "gpt2": Shape("GPT-2, 12 × 12 heads, 768 wide", gpt2, (32, 128, 512, 1024), 32),
    "llama": Shape(
        "Llama 1B, 2 of its layers, 32 heads, 2,048 wide", llama, (32, 128, 512, 2048), 32
    ),
}


def ids(tokens: int) -> dict[str, torch.Tensor]:
    """A text of so many random tokens, always the same."""
    chance = torch.Generator().manual_seed(1)
    return {"input_ids": torch.randint(1000, 30000, (1, tokens), generator=chance)}
