"""Tiny random models of many architectures, built from their configurations alone."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, SiglipTextConfig, SiglipTextModel

TOKENS = 9
VOCABULARY = 99

# The same sizes, under the names that different configurations have for them.
TEXT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED = TEXT | {"num_key_value_heads": 2}
WINDOWED = GROUPED | {"head_dim": 8, "sliding_window": 4}
GPT2_LIKE = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
TRANSLATION = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
T5_LIKE = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "decoder_start_token_id": 0,
}
IMAGE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "image_size": 16,
    "patch_size": 4,
}
AUDIO = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "conv_dim": (16, 16),
    "conv_stride": (5, 4),
    "conv_kernel": (10, 8),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
}
EXPERTS = GROUPED | {"num_local_experts": 4, "num_experts_per_tok": 2}


def text_inputs() -> dict[str, torch.Tensor]:
    """Return one sequence of ids, none of them special."""
    return {"input_ids": torch.arange(5, 5 + TOKENS)[None]}


def pair_inputs() -> dict[str, torch.Tensor]:
    """Return a source and a shorter target."""
    return {**text_inputs(), "decoder_input_ids": torch.arange(20, 26)[None]}


def image_inputs() -> dict[str, torch.Tensor]:
    """Return one small image."""
    return {"pixel_values": torch.linspace(-1, 1, 3 * 16 * 16).reshape(1, 3, 16, 16)}


def audio_inputs() -> dict[str, torch.Tensor]:
    """Return a short waveform."""
    return {"input_values": torch.linspace(0, 40, 400).sin()[None]}


def whisper_inputs() -> dict[str, torch.Tensor]:
    """Return mel features and a target."""
    features = torch.linspace(-1, 1, 8 * 24).reshape(1, 8, 24)
    return {"input_features": features, "decoder_input_ids": torch.arange(20, 26)[None]}


@dataclass(frozen=True)
class Architecture:
    """A model type, and what is needed to build a tiny model of it."""

    name: str
    sizes: dict[str, Any]
    inputs: Callable[[], dict[str, torch.Tensor]] = text_inputs
    kind: str = ""
    streams: tuple[str, ...] = ("encoder",)
    extra: dict[str, Any] = field(default_factory=dict)
    make: Callable[..., nn.Module] | None = None
    configure: Callable[..., Any] | None = None
    """How to make the model and its configuration, if the Auto classes cannot."""

    def build(self, *, attention: str | None = None, seed: int = 0) -> nn.Module:
        """Return a tiny model with random weights, biases included."""
        torch.manual_seed(seed)
        sizes = self.sizes | self.extra
        if self.configure is None:
            config = AutoConfig.for_model(self.kind or self.name, **sizes)
        else:
            config = self.configure(**sizes)
        make = self.make or AutoModel.from_config
        model = make(config, **({"attn_implementation": attention} if attention else {}))
        for name, parameter in model.named_parameters():
            if name.endswith("bias") or "sinks" in name:  # many start at zero, and hide mistakes
                nn.init.normal_(parameter, std=0.3)
        return model.eval()


def _encoders() -> list[Architecture]:
    names = "bert roberta electra xlm-roberta camembert ernie esm mobilebert modernbert albert"
    extra = {
        "mobilebert": {"intra_bottleneck_size": 16, "embedding_size": 16},
        "modernbert": {"global_attn_every_n_layers": 2, "local_attention": 4},
        "albert": {"embedding_size": 16, "num_hidden_groups": 1},
        "esm": {"mask_token_id": 4},
        "electra": {"embedding_size": 16},
    }
    plain = [Architecture(name, TEXT, extra=extra.get(name, {})) for name in names.split()]
    small = {"vocab_size": VOCABULARY, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}
    return [*plain, Architecture("distilbert", small | {"max_position_embeddings": 64})]


def _decoders() -> list[Architecture]:
    plain = "gpt_neox llama mistral qwen2 qwen3 gemma phi phi3 olmo olmo2 stablelm starcoder2 "
    plain += "cohere granite smollm3"
    windowed = "gemma2 gemma3_text"
    extra: dict[str, dict[str, Any]] = {
        "phi": {"partial_rotary_factor": 0.5},
        "qwen3": {"head_dim": 8},
        "gemma": {"head_dim": 8},
        "gemma2": {"query_pre_attn_scalar": 8},
        "mistral": {"sliding_window": 4},
        "gpt_neox": {"num_key_value_heads": None},
        "stablelm": {"use_qkv_bias": True},
    }

    def decoder(name: str, sizes: dict[str, Any]) -> Architecture:
        sizes = {k: v for k, v in (sizes | extra.get(name, {})).items() if v is not None}
        return Architecture(name, sizes, streams=("decoder",))

    opt = TEXT | {"ffn_dim": 48, "word_embed_proj_dim": 32}
    oss = EXPERTS | {"head_dim": 8, "sliding_window": 4}
    moe = GROUPED | {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
    moe |= {"shared_expert_intermediate_size": 16}
    return [
        *(decoder(name, GROUPED) for name in plain.split()),
        *(decoder(name, WINDOWED) for name in windowed.split()),
        decoder("gpt2", GPT2_LIKE),
        decoder("opt", opt),
        decoder("mixtral", EXPERTS),
        decoder("qwen2_moe", moe),
        decoder("gpt_oss", oss),
    ]


def _encoder_decoders() -> list[Architecture]:
    streams = ("encoder", "decoder", "cross")
    plain = "bart mbart marian pegasus m2m_100 blenderbot"
    t5_like = "t5 mt5 umt5"
    experts = TRANSLATION | {"num_experts": 4, "encoder_sparse_step": 2, "decoder_sparse_step": 2}
    whisper = TRANSLATION | {"num_mel_bins": 8, "max_source_positions": 12}
    whisper |= {"max_target_positions": 64, "pad_token_id": 0}
    return [
        *(Architecture(n, TRANSLATION, pair_inputs, streams=streams) for n in plain.split()),
        *(Architecture(n, T5_LIKE, pair_inputs, streams=streams) for n in t5_like.split()),
        Architecture("nllb-moe", experts, pair_inputs, streams=streams),
        Architecture("whisper", whisper, whisper_inputs, streams=streams),
    ]


def _vision_and_audio() -> list[Architecture]:
    text = TEXT | {"bos_token_id": 1, "eos_token_id": 2, "projection_dim": 32}
    return [
        *(Architecture(name, IMAGE, image_inputs) for name in ("vit", "deit", "dinov2")),
        Architecture("clip_vision_model", IMAGE, image_inputs),
        Architecture("siglip_vision_model", IMAGE, image_inputs, extra={"vision_use_head": False}),
        Architecture("clip_text_model", text, streams=("decoder",)),
        Architecture(
            "siglip_text_model",
            text,
            make=SiglipTextModel._from_config,
            configure=SiglipTextConfig,
        ),
        *(Architecture(name, AUDIO, audio_inputs) for name in ("wav2vec2", "hubert")),
    ]


def _off_registry() -> list[Architecture]:
    bloom = {"vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": 2, "n_head": 4}
    falcon = TEXT | {"alibi": False, "new_decoder_architecture": False}
    causal = ("decoder",)
    return [
        Architecture(
            "deberta-v2", TEXT, extra={"relative_attention": True, "pos_att_type": "p2c|c2p"}
        ),
        Architecture("mpnet", TEXT),
        Architecture("gptj", GPT2_LIKE | {"rotary_dim": 4}, streams=causal),
        Architecture("bloom", bloom, streams=causal),
        Architecture("falcon", falcon, streams=causal),
        Architecture("falcon-alibi", TEXT | {"alibi": True}, kind="falcon", streams=causal),
        Architecture(
            "falcon-grouped",
            TEXT | {"new_decoder_architecture": True, "num_kv_heads": 2},
            kind="falcon",
            streams=causal,
        ),
    ]


ON_REGISTRY = [*_encoders(), *_decoders(), *_encoder_decoders(), *_vision_and_audio()]
OFF_REGISTRY = _off_registry()
ALL = {architecture.name: architecture for architecture in [*ON_REGISTRY, *OFF_REGISTRY]}


def quantized_llama(bits, projections=("o_proj",)):
    """Return a Llama with its output projections, or others too, in four or eight bits.

    Its hidden size is 64, because four bits are packed in blocks of 64.
    """
    import bitsandbytes as bnb

    model = replace(ALL["llama"], extra={"hidden_size": 64}).build()
    for layer, name in itertools.product(model.layers, projections):
        weight = getattr(layer.self_attn, name).weight.data.clone()
        out, width = weight.shape
        if bits == 4:
            projection = bnb.nn.Linear4bit(width, out, bias=False, compute_dtype=torch.float32)
            projection.weight = bnb.nn.Params4bit(weight, requires_grad=False)
        else:
            projection = bnb.nn.Linear8bitLt(width, out, bias=False, has_fp16_weights=False)
            projection.weight = bnb.nn.Int8Params(
                weight, has_fp16_weights=False, requires_grad=False
            )
        setattr(layer.self_attn, name, projection.to("cpu"))
    return model
