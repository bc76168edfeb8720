"""Inputs that fit a model: what its `forward` asks for, made from its configuration."""

import inspect
from typing import Any

import torch
from torch import nn

from .shrink import FIRST_SPECIAL

TOKENS = 9
FIRST = 5
FRAMES = 32


def make_real(*shape: int) -> torch.Tensor:
    """Return numbers between -1 and 1 that repeat late."""
    size = torch.Size(shape).numel()
    return torch.linspace(0, 7 + size / 3, size).sin().reshape(shape)


def make_ids(count: int = TOKENS, first: int = FIRST) -> torch.Tensor:
    """Return one sequence of ids, none of them special."""
    return torch.arange(first, first + count)[None]


def make_inputs(model: nn.Module, given: dict[str, Any]) -> dict[str, Any]:
    """Return inputs of every modality that the model reads; `given` replaces, None drops."""
    accepted = list(inspect.signature(model.forward).parameters)
    config = model.config
    inputs: dict[str, Any] = {}
    inputs |= _images(config, accepted)
    inputs |= _sounds(config, accepted)
    inputs = {name: value for name, value in (inputs | given).items() if value is not None}
    texts = {k: v for k, v in _texts(model, accepted, inputs).items() if k not in given}
    first = {k: inputs.pop(k) for k in ("input_ids",) if k in inputs}
    return {**first, **texts, **inputs}  # in the order of a processor


def part_of(config: Any, *names: str) -> Any:
    """Return the first of these parts of a configuration that there is, or all of it."""
    for name in names:
        if (part := getattr(config, name, None)) is not None and hasattr(part, "to_dict"):
            return part
    return config


def number_of(config: Any, *names: str, default: int) -> int:
    """Return the first of these sizes that a configuration has."""
    for name in names:
        value = getattr(config, name, None)
        if isinstance(value, list | tuple) and value:
            value = value[0]
        if isinstance(value, int) and value > 0:
            return value
    return default


# --- images and videos ---------------------------------------------------------------------------


def vision_part(config: Any) -> Any:
    names = ("vision_config", "vlm_config", "vision_encoder_config", "image_config", "encoder")
    part = part_of(config, *names, "backbone_config", "encoder_config")
    return part_of(part, "vision_config") if part is not config else part


def image_size(config: Any) -> int:
    """Return the height of an image that a model takes."""
    part = vision_part(config)
    names = ("image_size", "input_size", "img_size", "crop_size", "eval_size")
    own = number_of(config, *names, default=0)
    return number_of(part, *names, default=0) or own or 32


def _images(config: Any, accepted: list[str]) -> dict[str, Any]:
    part = vision_part(config)
    channels = number_of(part, "num_channels", "in_channels", "in_chans", default=3)
    if "grid_thw" in accepted or "image_grid_thw" in accepted:
        return _patches(part, accepted, channels)
    size = image_size(config)
    inputs = {}
    if "pixel_values" in accepted:
        frames = getattr(config, "num_frames", None)
        shape = (1, frames, channels, size, size) if frames else (1, channels, size, size)
        inputs["pixel_values"] = make_real(*shape)
        if "image_sizes" in accepted:
            inputs["image_sizes"] = torch.tensor([[size, size]])
    elif "pixel_values_videos" in accepted:
        frames = number_of(part, "num_frames", "frames_per_clip", default=2)
        inputs["pixel_values_videos"] = make_real(1, frames, channels, size, size)
    return inputs


def _patches(part: Any, accepted: list[str], channels: int) -> dict[str, Any]:
    """Return an image of 4 by 4 patches, flattened."""
    temporal = number_of(part, "temporal_patch_size", "patch_temporal", default=1)
    patch = number_of(part, "patch_size", "spatial_patch_size", default=8)
    values = make_real(16, channels * temporal * patch * patch)
    grid = torch.tensor([[1, 4, 4]])
    name = next((n for n in ("pixel_values", "hidden_states") if n in accepted), "pixel_values")
    where = "image_grid_thw" if "image_grid_thw" in accepted else "grid_thw"
    inputs: dict[str, Any] = {name: values, where: grid}
    if "image_merge_sizes" in accepted:
        inputs["image_merge_sizes"] = torch.tensor([1])
    if "merge_sizes" in accepted:
        inputs["merge_sizes"] = torch.tensor([1])
    return inputs


# --- sounds --------------------------------------------------------------------------------------


def _sounds(config: Any, accepted: list[str]) -> dict[str, Any]:
    part = part_of(config, "audio_config", "audio_encoder_config", "encoder_config", "encoder")
    inputs: dict[str, Any] = {}
    if "input_features" in accepted:
        bands = number_of(
            part, "num_mel_bins", "input_feat_per_channel", "feature_projection_input_dim",
            "input_dim", "n_mels", "feature_size", "input_feat_size", default=16,
        )  # fmt: skip
        frames = 2 * number_of(part, "max_source_positions", default=FRAMES // 2)
        whisper_like = hasattr(part, "max_source_positions") and not hasattr(
            part, "input_feat_per_channel"
        )
        shape = (1, bands, frames) if whisper_like else (1, FRAMES, bands)
        inputs["input_features"] = make_real(*shape)
        for mask in ("input_features_mask", "feature_attention_mask"):
            if mask in accepted:
                inputs[mask] = torch.ones(
                    1, shape[2] if whisper_like else shape[1], dtype=torch.long
                )
    elif "input_values" in accepted:
        inputs["input_values"] = make_real(1, 400)
    return inputs


# --- texts ---------------------------------------------------------------------------------------

PLACEHOLDERS = {
    "get_image_features": ("image_token_id", "image_token_index", "im_patch_id"),
    "get_audio_features": ("audio_token_id", "audio_token_index"),
    "get_video_features": ("video_token_id", "video_token_index"),
}
"""What makes the features of an image, a sound or a video, and which id stands for them."""


def _texts(model: nn.Module, accepted: list[str], others: dict[str, Any]) -> dict[str, Any]:
    """Return the text with its masks; the text itself only where none is given."""
    inputs: dict[str, Any] = {}
    both = "decoder_input_ids" in accepted and getattr(model.config, "is_encoder_decoder", True)
    has_source = any(name in others for name in ("input_features", "input_values"))
    ids = others.get("input_ids")
    if ids is None and "input_ids" in accepted and not (both and has_source):
        ids = inputs["input_ids"] = with_placeholders(model, make_ids(), others)
    if ids is not None:
        extras = {
            "attention_mask": torch.ones(ids.shape[:2], dtype=torch.long),
            "mm_token_type_ids": (ids >= FIRST_SPECIAL).long(),
            "bbox": make_boxes(ids.shape[1]),
        }
        inputs |= {name: value for name, value in extras.items() if name in accepted}
    if both:
        inputs["decoder_input_ids"] = make_ids(6, 20)
    return inputs


def make_boxes(count: int) -> torch.Tensor:
    """Return a box on a page for each token."""
    corners = torch.arange(count)[:, None] * 10 + torch.tensor([0, 5, 40, 60])
    return corners[None]


def with_placeholders(model: nn.Module, ids: torch.Tensor, others: dict[str, Any]) -> torch.Tensor:
    """Return a text with as many placeholders as an image or a sound has features."""
    parts = [ids[:, :2]]
    for method, names in PLACEHOLDERS.items():
        marker = find_id(model.config, names)
        if marker is not None and (count := count_features(model, method, others)):
            parts.append(torch.full((1, count), marker))
    return torch.cat([*parts, ids[:, 2:]], 1)


def find_id(config: Any, names: tuple[str, ...]) -> int | None:
    """Return the id of a placeholder, from the configuration or its text part."""
    for part in (config, getattr(config, "text_config", None), getattr(config, "vlm_config", None)):
        for name in names:
            if isinstance(value := getattr(part, name, None), int):
                return value
    return None


def count_features(model: nn.Module, method: str, others: dict[str, Any]) -> int:
    """Return how many rows the model makes of an image or a sound; 0 where there is none."""
    owner = next(
        (
            m
            for m in (model, getattr(model, "model", None), getattr(model, "vlm", None))
            if hasattr(m, method)
        ),
        None,
    )
    if owner is None:
        return 0
    accepted = inspect.signature(getattr(owner, method)).parameters
    required = [n for n, p in accepted.items() if p.default is p.empty and p.kind not in (2, 4)]
    given = {name: value for name, value in others.items() if name in accepted}
    if not given or any(name not in given for name in required):
        return 0
    with torch.no_grad():
        features = getattr(owner, method)(**given)
    features = (
        getattr(features, "pooler_output", None) if hasattr(features, "pooler_output") else features
    )
    return count_rows(features)


def count_rows(features: Any) -> int:
    """Return how many vectors a tensor, or a list of them, has."""
    if isinstance(features, list | tuple):
        return sum(count_rows(part) for part in features)
    return features.numel() // features.shape[-1] if features is not None else 0
