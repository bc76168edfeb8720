"""Tiny configurations: every size of a configuration made small, by the name of its field."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

WIDTH = 32
HEADS = 4
LAYERS = 2
VOCABULARY = 128
POSITIONS = 256
FIRST_SPECIAL = 96
"""Ids from here on stand for images, sounds and other markers; text uses smaller ones."""

EXACT: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "num_key_value_heads": 2,
    "num_kv_heads": 2,
    "n_kv_heads": 2,
    "head_dim": 8,
    "d_kv": 8,
    "kv_channels": 8,
    "global_head_dim": 8,
    "sliding_window": 4,
    "attention_window": 4,
    "local_attention": 4,
    "attention_chunk_size": 8,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 4,
    "v_head_dim": 8,
    "qk_head_dim": 8,
    "index_head_dim": 8,
    "index_n_heads": 2,
    "index_topk": 4,
    "n_group": 1,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "moe_k": 2,
    "moe_topk": 2,
    "n_shared_experts": 1,
    "num_shared_experts": 1,
    "moe_num_shared_experts": 1,
    "first_k_dense_replace": 1,
    "image_size": 32,
    "patch_size": 8,
    "num_position_embeddings": 64,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "mamba_n_heads": 8,
    "mamba_num_heads": 8,
    "mamba_d_head": 8,
    "mamba_head_dim": 8,
    "mamba_d_ssm": 64,
    "mamba_d_state": 8,
    "mamba_chunk_size": 8,
    "mamba_dt_rank": 4,
    "n_mamba_heads": 2,
    "ssm_state_size": 8,
    "state_size": 8,
    "time_step_rank": 4,
    "num_mel_bins": 16,
    "num_frames": 2,
    "num_queries": 6,
    "mrope_section": [2, 1, 1],
    "query_pre_attn_scalar": 8,
    "fullatt_block_indexes": [1],
    "deepstack_visual_indexes": [0, 1],
    "global_attn_indexes": [1],
    "max_window_layers": 1,
    "mlp_dim": 48,
    "vision_feature_layer": -1,
    "apply_spec_augment": False,
    "num_query_tokens": 4,
    "use_mamba_kernels": False,
    "sr_ratios": [4, 2, 1, 1],
    "hidden_size_per_layer_input": 8,
    "vocab_size_per_layer_input": VOCABULARY,
    "num_codevectors_per_group": 8,
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
    "conv_depthwise_kernel_size": 5,
    "num_denoising": 4,
    "num_register_tokens": 2,
    "spatial_merge_size": 2,
    "layer_scale_init_value": 1.0,
    "layerscale_value": 1.0,
    "layer_scale_initial_scale": 1.0,
    "rotary_dim": 4,
    "layerdrop": 0.0,
    "encoder_layerdrop": 0.0,
    "decoder_layerdrop": 0.0,
    "router_jitter_noise": 0.0,
    "train_num_points": 16,
    "mm_tokens_per_image": 4,
    "num_patches": 16,
    "max_2d_position_embeddings": 1024,
    "window_size": 4,
    "n_window": 4,
    "n_window_infer": 8,
    "chunk_size": 8,
    "classifier_dropout": 0.0,
    "insert_layer_id": 1,
    "max_source_positions": 16,
}
"""Sizes that must fit one another, by the name of their field."""

SMALL: tuple[tuple[str, int], ...] = (
    (r"key_value_heads", 2),
    (r"(experts_per_tok|top_k|topk)", 2),
    (r"experts($|_)|_experts", 4),
    (r"(?<!max_)(?<!index_)(n|num)_heads$|heads$|n_head$", HEADS),
    (r"(^|_)(n_|num_)?(layers|layer|depth|blocks|hidden_layers)$", LAYERS),
    (r"position|max_seq|max_length|context_length|n_ctx|seq_len", POSITIONS),
    (r"vocab|num_embeddings|codebook_size|num_codevectors|num_centroids", VOCABULARY),
    (r"(intermediate|inner|ffn|feed_?forward|d_ff).*", 48),
    (r"(dim|dims|size|width|channels|d_model|rank|units|n_embd|n_inner|d_head|filters|d_\w+)$", 32),
)
"""What a number with such a name is at most; the first that fits counts."""

LEFT_ALONE = re.compile(
    r"kernel|stride|padding|patch|merge|scale|factor|group|window|rate|ratio|shift|dilation|_token"
    r"|bins|bits|num_labels|problem|pretraining_tp|model_parallel|type_vocab|^num_channels$|input_size|batch"
    r"|^in_channels$|in_chans|image_channels|temporal|audio_channels|num_input_channels|crop|query_dim"
)
"""Numbers that are no sizes, or that others are computed from."""

LISTS: tuple[tuple[str, int], ...] = (
    (r"heads$", 2),
    (r"depths?$|num_block|blocks|stage_num", 1),
    (r"(dim|dims|sizes?|channels?|widths?)$", 32),
)


def shrink(cls: type, changes: Mapping[str, Any], ids: dict[str, int] | None = None) -> Any:
    """Return a tiny configuration; `changes` overrides fields, nested like the configuration."""
    ids = {} if ids is None else ids
    nested = getattr(cls, "sub_configs_defaults", None) or {}
    sizes: dict[str, Any] = {}
    for field in fields(cls):
        if field.name in changes or field.name in nested or field.name in _inherited():
            continue
        default = field.default
        if default is MISSING and field.default_factory is not MISSING:
            default = field.default_factory()
        small = shrink_value(field.name, default, ids)
        if field.name == "num_key_value_heads" and default == getattr(
            cls, "num_attention_heads", 0
        ):
            small = HEADS
        if small is not None and (small != default or type(small) is not type(default)):
            sizes[field.name] = small
    for name, spec in nested.items():
        change = changes.get(name, {})
        if change is None or (spec.optional and name not in changes):
            continue
        sizes[name] = change if not isinstance(change, Mapping) else _shrink_part(spec, change, ids)
    own = {k: v for k, v in changes.items() if k not in nested}
    sizes |= own
    sizes |= {k: v for k, v in _shrink_layer_types(cls, sizes).items() if k not in own}
    config = cls(**sizes)
    _fit_rotation(config)
    return config


SEVERAL_AXES = re.compile(
    r"glm4v|glm46v|glm_ocr|glm_image|glmga|qwen2_vl|qwen2_5_vl|qwen2_5_omni|qwen3_vl|paddleocr|ernie4_5_vl|hunyuan_vl"
)
"""Types whose rotary embedding has an axis for time, height and width."""


def _fit_rotation(config: Any) -> None:
    """Divide the pairs of a head among the axes of a rotary embedding in several dimensions."""
    rope = getattr(config, "rope_parameters", None)
    if not isinstance(rope, dict):
        return
    if SEVERAL_AXES.search(config.model_type) and "rope_type" in rope:
        rope.setdefault("mrope_section", [2, 1, 1])
    for part in [rope, *rope.values()]:
        if isinstance(part, dict) and (sections := part.get("mrope_section")):
            head = getattr(config, "head_dim", None)
            head = head or config.hidden_size // config.num_attention_heads
            half = int(head * part.get("partial_rotary_factor", 1.0)) // 2
            others = [half // len(sections)] * (len(sections) - 1)
            part["mrope_section"] = [half - sum(others), *others]


def _shrink_part(spec: Any, change: Mapping[str, Any], ids: dict[str, int]) -> Any:
    """Return a tiny configuration of a part of a model, with the part's own defaults."""
    from transformers import PreTrainedConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    change = dict(change)
    kind = change.pop("model_type", None)
    if kind is not None or not issubclass(spec.config_class, PreTrainedConfig):
        cls = CONFIG_MAPPING[kind or spec.model_type]
    else:
        cls = spec.config_class
    given = {} if kind not in (None, spec.model_type) else dict(spec.init_kwargs)
    sub = getattr(cls, "sub_configs_defaults", None) or {}
    start = {
        name: small if (small := shrink_value(name, value, ids)) is not None else value
        for name, value in given.items()
        if name not in sub
    }
    if "out_indices" in given or "out_features" in given:
        start |= _output_stages(cls, given)
    return shrink(cls, {**start, **change}, ids)


def _output_stages(cls: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return as many layers as a backbone has outputs, where its stages are layers."""
    names = {field.name for field in fields(cls)}
    count = len(given.get("out_indices") or given["out_features"])
    if "num_hidden_layers" not in names or "depths" in names:
        return {}
    layers = max(LAYERS, count)
    stages = list(range(layers - count + 1, layers + 1))
    sizes: dict[str, Any] = {"num_hidden_layers": layers}
    if "out_indices" in given:
        return sizes | {"out_indices": stages}
    return sizes | {"out_features": [f"stage{n}" for n in stages]}


def shrink_value(name: str, default: Any, ids: dict[str, int]) -> Any:  # noqa: C901, PLR0911
    """Return what a field becomes, or None where it stays as it is."""
    if name.startswith("_") or isinstance(default, bool | str):
        return EXACT.get(name) if isinstance(default, bool) else None
    if name == "rope_parameters" or default is None:
        return None
    if re.search(r"token_(id|index)$|_token$", name):
        return _special_id(name, default, ids)
    if name == "drop_path_rate":
        return type(default)(0) if isinstance(default, int | float) else None
    if name in EXACT and not (isinstance(default, list | tuple) and isinstance(EXACT[name], int)):
        return EXACT[name] if not _is_smaller(default, EXACT[name]) else None
    if LEFT_ALONE.search(name):
        return None
    if isinstance(default, int):
        for pattern, most in SMALL:
            if re.search(pattern, name):
                return min(default, most) if default > 0 else None
    if isinstance(default, list | tuple) and default and all(type(n) is int for n in default):
        for pattern, most in LISTS:
            if re.search(pattern, name):
                return type(default)(min(n, most) for n in default)
    return None


def _is_smaller(default: Any, small: Any) -> bool:
    return type(default) is int and type(small) is int and 0 <= default < small


def _special_id(name: str, default: Any, ids: dict[str, int]) -> Any:
    """Return a small id for a special token, the same wherever its name occurs."""
    placeholder = re.search(r"image|video|audio|vision|img", name)
    if not isinstance(default, int) or (default < FIRST_SPECIAL and not placeholder):
        return None
    plain = name.replace("_index", "_id")
    return ids.setdefault(plain, FIRST_SPECIAL + len(ids))


LAYER_TYPES = ("layer_types", "layers_block_type", "mlp_layer_types", "indexer_types")
COUNTS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")


def _shrink_layer_types(cls: type, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """Return lists of layer types that have each type of the full model once."""
    names = {field.name for field in fields(cls)}
    kinds = [name for name in LAYER_TYPES if name in names]
    count = next((name for name in COUNTS if name in names), None)
    if not kinds or count is None:
        return {}
    try:
        full = cls()
    except Exception:  # noqa: BLE001 (some have no default)
        return {}
    found = {k: list(dict.fromkeys(getattr(full, k) or ())) for k in kinds}
    found = {k: v for k, v in found.items() if v and all(isinstance(t, str) for t in v)}
    if not found:
        return {}
    length = max(LAYERS, *(len(v) for v in found.values()))
    stretched = {k: (v + [v[-1]] * length)[:length] for k, v in found.items()}
    return {count: length, **{k: v for k, v in stretched.items() if len(set(v)) > 1}}


_BASE: set[str] = set()


def _inherited() -> set[str]:
    """Return the fields that every configuration has."""
    if not _BASE:
        from transformers import PreTrainedConfig

        _BASE.update(field.name for field in fields(PreTrainedConfig))
    return _BASE
