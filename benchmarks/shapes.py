"""The models of the benchmarks, and their sizes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, LlamaConfig, LlamaModel

from normviz.model.loading import load_model


@dataclass(frozen=True)
class Shape:
    """A model to build, and the text lengths to measure."""

    title: str
    build: Callable[[], nn.Module]
    tokens: tuple[int, ...]
    ladder_tokens: int
    """The text length for the whole ladder."""


@dataclass(frozen=True)
class Sizes:
    """The sizes needed to count operations."""

    layers: int
    heads: int
    value_heads: int
    dim: int
    model: int
    inner: int
    gated: bool

    @classmethod
    def of(cls, model: Any) -> "Sizes":
        """Return the sizes in a model's configuration."""
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


def build_bert(**sizes: int) -> BertModel:
    """Return a random model with the shape of BERT-base, or with sizes sizes."""
    torch.manual_seed(0)
    config = BertConfig(attn_implementation="eager", **sizes)
    return BertModel(config, add_pooling_layer=False).eval()


def build_gpt2() -> GPT2Model:
    """Return a random model with the shape of GPT-2 (117M parameters)."""
    torch.manual_seed(0)
    return GPT2Model(GPT2Config(attn_implementation="eager")).eval()


def build_llama() -> LlamaModel:
    """Return two random layers as wide as those of Llama 3.2 1B: 32 heads share the values of 8."""
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=2048, intermediate_size=8192, num_hidden_layers=2, num_attention_heads=32,
        num_key_value_heads=8, vocab_size=30522, max_position_embeddings=2048,
        attn_implementation="eager",
    )  # fmt: skip
    return LlamaModel(config).eval()


def load_minilm() -> nn.Module:
    """Return the trained model behind `demo`, with eager attention like the others."""
    model = load_model("demo").model
    model.set_attn_implementation("eager")  # other implementations return no weights
    return model


def build_tiny() -> BertModel:
    """Return a tiny model, for a quick run."""
    return build_bert(
        hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96
    )


SHAPES = {
    "minilm": Shape("MiniLM, trained, 6 × 12 heads, 384 wide", load_minilm, (32, 128, 512), 128),
    "bert": Shape("BERT-base, 12 × 12 heads, 768 wide", build_bert, (32, 128, 512), 128),
    "gpt2": Shape("GPT-2, 12 × 12 heads, 768 wide", build_gpt2, (32, 128, 512, 1024), 32),
    "llama": Shape(
        "Llama 1B, 2 of its layers, 32 heads, 2,048 wide", build_llama, (32, 128, 512, 2048), 32
    ),
}


def random_ids(tokens: int) -> dict[str, torch.Tensor]:
    """Return random token ids of this length, always the same."""
    generator = torch.Generator().manual_seed(1)
    return {"input_ids": torch.randint(1000, 30000, (1, tokens), generator=generator)}
