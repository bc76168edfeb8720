"""What a type needs beyond the rules: other sizes, another class, other inputs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from .inputs import find_id, make_ids, make_real


@dataclass(frozen=True)
class Entry:
    """How one type differs from what the rules make."""

    sizes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the configuration, nested like it."""
    inputs: Callable[[Any], dict[str, Any]] | None = None
    """Makes inputs of the model, added to or replacing those of the rules; None drops one."""
    only: bool = False
    """Whether `inputs` makes all of them."""
    kind: str = ""
    """The type, where the name is that of a variant."""
    model: str = ""
    """The class of the model."""
    pretend: tuple[str, ...] = ()
    """Packages that are asked for, but that no pass needs."""


def text_with(model: Any, count: int, *names: str) -> Any:
    """Return a text with so many placeholders of one kind after its second token."""
    ids = make_ids()
    marks = torch.full((1, count), find_id(model.config, names))
    return torch.cat([ids[:, :2], marks, ids[:, 2:]], 1)


def inputs_of(**tensors: Any) -> Callable[[Any], dict[str, Any]]:
    """Return a function that makes these inputs: a shape is filled, anything else kept."""

    def make(model: Any) -> dict[str, Any]:
        del model
        return {k: make_real(*v) if isinstance(v, tuple) else v for k, v in tensors.items()}

    return make


def image_of(*shape: int, **others: Any) -> Callable[[Any], dict[str, Any]]:
    """Return a function that makes an image of this shape."""
    return inputs_of(pixel_values=shape, **others)


SQUARE = image_of(1, 3, 64, 64)
ONE_OF_SEVERAL = image_of(1, 1, 3, 32, 32)
HYBRID = {"layer_types": ["linear_attention", "full_attention"]}
WINDOWED = {"layer_types": ["sliding_attention", "full_attention"]}
SERIES = {
    "prediction_length": 4,
    "context_length": 8,
    "lags_sequence": [1, 2],
    "num_time_features": 2,
}
WINDOWS = {"window_size": 32}
ROTATED = {
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
}


def series_inputs(model: Any) -> dict[str, Any]:
    """Return a past and a future of a time series."""
    return {
        "past_values": make_real(1, 10),
        "past_time_features": make_real(1, 10, 2),
        "past_observed_mask": torch.ones(1, 10),
        "future_values": make_real(1, 4),
        "future_time_features": make_real(1, 4, 2),
    }


def mllama_inputs(model: Any) -> dict[str, Any]:
    """Return a text that reads one image of one tile."""
    del model
    return {
        "input_ids": make_ids(),
        "pixel_values": make_real(1, 1, 1, 3, 32, 32),
        "aspect_ratio_ids": torch.ones(1, 1, dtype=torch.long),
        "aspect_ratio_mask": torch.ones(1, 1, 1, dtype=torch.long),
        "cross_attention_mask": torch.ones(1, 9, 1, 1, dtype=torch.long),
    }


def image_and_patches(model: Any) -> dict[str, Any]:
    """Return the flattened patches of an image, and how they stand."""
    del model
    return {
        "pixel_values": make_real(1, 16, 192),
        "pixel_attention_mask": torch.ones(1, 16, dtype=torch.long),
        "spatial_shapes": torch.tensor([[4, 4]]),
    }


EVOLLA = {
    "protein_encoder_config": {
        "vocab_size": 128,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "max_position_embeddings": 64,
    },
    "aligner_num_add_layers": 1,
    "resampler_num_latents": 4,
    "resampler_dim_head": 8,
}


def evolla_inputs(model: Any) -> dict[str, Any]:
    """Return a protein and a text about it."""
    del model
    return {
        "protein_input_ids": make_ids(7),
        "protein_attention_mask": torch.ones(1, 7, dtype=torch.long),
    }


CONVOLVED = {
    "depth_coefficient": 0.3,
    "width_coefficient": 0.2,
    "hidden_dim": 256,
    "in_channels": [32, 16, 24, 40, 80, 112, 192],
    "out_channels": [16, 24, 40, 80, 112, 192, 320],
}
SPECTRAL = {
    "spec_size": 64,
    "num_mel_bins": 32,
    "window_size": 2,
    "patch_size": 4,
    "patch_stride": [4, 4],
    "patch_embeds_hidden_size": 16,
    "hidden_size": 128,
}
AXES = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
AXES_BY_LAYER = {"full_attention": AXES, "sliding_attention": AXES}
SPARSE = {"num_experts_per_tok": 2, "mlp_layer_types": ["dense", "sparse"], "num_hidden_layers": 2}
GEMMA_EXPERTS = {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 16}
KEYPOINTS = {
    "encoder_hidden_sizes": [16, 16, 32, 32],
    "decoder_hidden_size": 32,
    "keypoint_decoder_dim": 65,
    "descriptor_decoder_dim": 32,
    "keypoint_threshold": 0.0,
    "max_keypoints": 8,
}
SHUFFLED = {
    "intermediate_size": 128,
    "projector_input_dim": 32,
    "projector_output_dim": 32,
    "vision_output_dim": 32,
}
TILED = {
    "max_num_tiles": 1,
    "intermediate_layers_indices": [0],
    "supported_aspect_ratios": [[1, 1]],
    "vision_output_dim": 64,
    "num_global_layers": 1,
}
HIERARCHY = {
    "hidden_size": 8,
    "image_size": [64, 64],
    "blocks_per_stage": [1, 1, 2, 1],
    "embed_dim_per_stage": [8, 16, 32, 64],
    "num_attention_heads_per_stage": [1, 2, 2, 4],
    "window_size_per_stage": [8, 4, 2, 1],
    "window_positional_embedding_background_size": [4, 4],
    "global_attention_blocks": [3],
}
PYRAMID = {
    "backbone_channel_list": [64, 32, 16, 8],
    "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
    "fpn_hidden_size": 32,
}


def tile_inputs(model: Any) -> dict[str, Any]:
    """Return an image as a thumbnail and one tile."""
    del model
    return {"pixel_values": make_real(1, 2, 3, 32, 32), "image_sizes": torch.tensor([[32, 32]])}


def packed_inputs(model: Any) -> dict[str, Any]:
    """Return the patches of an image in one row."""
    del model
    return {"pixel_values": make_real(1, 3, 8, 128), "target_sizes": torch.tensor([[4, 4]])}


def gemma_patches(name: str, **others: Any) -> Callable[[Any], dict[str, Any]]:
    """Return a function that makes an image of 4 by 4 flattened patches with positions."""
    grid = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="xy"), -1)
    return inputs_of(pixel_values=(1, 16, 192), **{name: grid.reshape(1, 16, 2)}, **others)


def gemma_image_block(model: Any) -> dict[str, Any]:
    """Return a text whose image tokens see one another."""
    ids = text_with(model, 4, "image_token_index")
    return {
        "input_ids": ids,
        "token_type_ids": (ids == find_id(model.config, ("image_token_index",))).long(),
    }


QSA = {
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 8,
    "indexer_budget": 4,
    "indexer_compress_ratio": 2,
}


def omdet_inputs(model: Any) -> dict[str, Any]:
    """Return an image, two classes to find in it, and a task."""
    del model
    return {
        "pixel_values": make_real(1, 3, 128, 128),
        "classes_input_ids": make_ids(4).expand(2, 4),
        "classes_attention_mask": torch.ones(2, 4, dtype=torch.long),
        "tasks_input_ids": make_ids(5),
        "tasks_attention_mask": torch.ones(1, 5, dtype=torch.long),
        "classes_structure": torch.tensor([2]),
    }


LIGHT = {
    "stem_channels": [3, 8, 16],
    "block_configs": [
        [[3, 16, 16, 1, True]],
        [[3, 16, 16, 1, False]],
        [[3, 16, 32, [2, 1], False]],
        [[3, 32, 32, [2, 1], False]],
    ],
}
FEW_FILTERS = {"num_filters": 2}
PLAIN = {
    "vocab_size": 128,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
TRANSLATION = {
    "vocab_size": 128,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
}


ENTRIES: dict[str, Entry] = {
    "align": Entry(
        {"vision_config": CONVOLVED, "projection_dim": 64, "text_config": {"hidden_size": 64}},
        SQUARE,
    ),
    "align_vision_model": Entry(CONVOLVED, SQUARE),
    "aria": Entry({"projector_patch_to_query_dict": {16: 4}}),
    "audio-spectrogram-transformer": Entry(
        {
            "max_length": 32,
            "num_mel_bins": 16,
            "patch_size": 8,
            "frequency_stride": 8,
            "time_stride": 8,
        },
        inputs_of(input_values=(1, 32, 16)),
    ),
    "autoformer": Entry({**SERIES, "label_length": 4}, series_inputs, only=True),
    "bamba": Entry({"attn_layer_indices": [1]}),
    "bit": Entry({"num_groups": 8}, SQUARE),
    "blip-2": Entry(
        {"image_token_index": 96}, lambda m: {"input_ids": text_with(m, 4, "image_token_id")}
    ),
    "blip_2_qformer": Entry(
        {}, inputs_of(query_embeds=(1, 4, 32), encoder_hidden_states=(1, 7, 32)), only=True
    ),
    "blt": Entry(
        {
            "encoder_config": {"hidden_size_global": 32},
            "decoder_config": {"hidden_size_global": 32},
            "encoder_hash_byte_group_vocab": 128,
        },
        inputs_of(use_cache=False),
    ),
    "blt_global_transformer": Entry({}, inputs_of(inputs_embeds=(1, 9, 32)), only=True),
    "bridgetower": Entry(
        {
            "hidden_size": 64,
            "text_config": {"hidden_size": 64},
            "vision_config": {"hidden_size": 64},
        }
    ),
    "bridgetower_vision_model": Entry(
        {"hidden_size": 64}, inputs_of(image=(1, 3, 32, 32)), only=True
    ),
    "bros": Entry({"hidden_size": 64}),
    "chameleon": Entry(
        {"vocabulary_map": {"<image>": 96, "IMGIMGAZ": 97, "IMGIMGBZ": 98}},
        inputs_of(pixel_values=None),
    ),
    "clap": Entry({"audio_config": SPECTRAL}, inputs_of(input_features=(1, 1, 128, 32))),
    "clap_audio_model": Entry(SPECTRAL, inputs_of(input_features=(1, 1, 128, 32))),
    "clip-equal-lengths": Entry(
        {"vision_config": {"image_size": 16, "patch_size": 8}},
        lambda m: {"input_ids": make_ids(5)},
        kind="clip",
    ),
    "clvp": Entry(
        {
            "text_config": {"hidden_size": 64, "num_attention_heads": 2},
            "speech_config": {"hidden_size": 64, "num_attention_heads": 2},
            "decoder_config": {"hidden_size": 64, "feature_size": 16},
        },
        inputs_of(input_features=(1, 16, 32)),
    ),
    "clvp_encoder": Entry({"hidden_size": 64, "num_attention_heads": 2}),
    "cohere_compass": Entry({"text_config": {"rope_parameters": AXES_BY_LAYER}}),
    "cohere_compass_text": Entry({"rope_parameters": AXES_BY_LAYER}),
    "colmodernvbert": Entry({"vlm_config": {"pixel_shuffle_factor": 2}}, ONE_OF_SEVERAL),
    "colqwen2": Entry(
        {},
        lambda m: {
            "pixel_values": make_real(1, 16, 384),
            "image_grid_thw": torch.tensor([[1, 4, 4]]),
            "input_ids": text_with(m, 4, "image_token_id"),
        },
    ),
    "cosmos3_edge": Entry({"text_config": ROTATED}),
    "cosmos3_edge_text": Entry(ROTATED),
    "csm": Entry(
        {
            "codec_config": {
                "upsample_groups": 32,
                "codebook_dim": 32,
                "vector_quantization_hidden_dimension": 32,
            }
        },
        lambda m: {
            "input_values": None,
            "input_ids": torch.arange(5, 5 + 3 * m.config.num_codebooks).reshape(1, 3, -1) % 90,
        },
    ),
    "cvt": Entry({"depth": [1, 2, 3], "drop_path_rate": [0.0, 0.0, 0.0]}, SQUARE),
    "dac": Entry({}, inputs_of(input_values=(1, 1, 640))),
    "dbrx": Entry(
        {
            "attn_config": {"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 1e4},
            "ffn_config": {"ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2},
        }
    ),
    "decision_transformer": Entry(
        {"state_dim": 5, "act_dim": 4},
        inputs_of(
            states=(1, 4, 5),
            actions=(1, 4, 4),
            rewards=(1, 4, 1),
            returns_to_go=(1, 4, 1),
            timesteps=make_ids(4, 0),
        ),
        only=True,
    ),
    "deepseek_ocr2": Entry(
        {"text_config": SPARSE, "vision_config": {"sam_config": {"downsample_channels": [32, 32]}}}
    ),
    "deepseek_ocr2_text": Entry(SPARSE),
    "deepseek_ocr2_vision": Entry({"sam_config": {"downsample_channels": [32, 32]}}),
    "deepseek_v2": Entry({"num_experts_per_tok": 2}),
    "deepseek_vl_hybrid": Entry({}, inputs_of(high_res_pixel_values=(1, 3, 32, 32))),
    "deformable_detr": Entry({}, image_of(1, 3, 288, 288)),
    "depth_pro": Entry(
        {"patch_size": 32, "intermediate_hook_ids": [1, 0]}, image_of(1, 3, 128, 128)
    ),
    "dia": Entry({}, lambda m: {"decoder_input_ids": torch.arange(5, 59).reshape(1, 6, 9)}),
    "diffusion_gemma": Entry({"text_config": GEMMA_EXPERTS}),
    "diffusion_gemma_text": Entry(GEMMA_EXPERTS),
    "donut-swin": Entry({"image_size": 64, "window_size": 2}),
    "dots1": Entry({"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2}),
    "efficientloftr": Entry(
        {
            "stage_num_blocks": [1, 1, 1, 1],
            "out_features": [16, 16, 32, 32],
            "num_attention_layers": 2,
            "q_aggregation_kernel_size": 2,
            "q_aggregation_stride": 2,
            "kv_aggregation_kernel_size": 2,
            "kv_aggregation_stride": 2,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1e4,
                "partial_rotary_factor": 2.0,
            },
        },
        image_of(1, 2, 3, 64, 64),
    ),
    "efficientnet": Entry(CONVOLVED, SQUARE),
    "embedding_gemma2": Entry(
        {"vision_config": {"pooling_kernel_size": 2}},
        gemma_patches("image_position_ids", input_features=None, input_features_mask=None),
    ),
    "emu3": Entry(
        {"vocabulary_map": {"<image>": 96, "<|extra_200|>": 97}},
        inputs_of(pixel_values=None, image_sizes=None),
    ),
    "encodec": Entry({}, inputs_of(input_values=(1, 1, 640))),
    "eomt": Entry({}, pretend=("scipy",)),
    "eomt_dinov3": Entry({}, pretend=("scipy",)),
    "ernie4_5_vl_moe": Entry({"text_config": {"head_dim": 24}}),
    "ernie4_5_vl_moe_text": Entry({"head_dim": 24}),
    "esm": Entry({"vocab_size": 128, "mask_token_id": 4, "pad_token_id": 1}),
    "evolla": Entry(EVOLLA, evolla_inputs),
    "exaone4_5": Entry({"vision_config": WINDOWS}),
    "exaone4_5_vision": Entry(WINDOWS),
    "fastspeech2_conformer_hifigan": Entry(
        {"model_in_dim": 16}, inputs_of(spectrogram=(1, 6, 16)), only=True
    ),
    "fastspeech2_conformer_with_hifigan": Entry({"vocoder_config": {"model_in_dim": 16}}),
    "flava_multimodal_model": Entry({}, inputs_of(hidden_states=(1, 9, 32)), only=True),
    "fun_asr_nano": Entry(
        {"adaptor_config": {"intermediate_size": 8}},
        inputs_of(
            input_features=(1, 16, 112), input_features_mask=torch.ones(1, 16, dtype=torch.long)
        ),
    ),
    "fun_asr_nano_encoder": Entry(
        {},
        inputs_of(
            input_features=(1, 16, 112), input_features_mask=torch.ones(1, 16, dtype=torch.long)
        ),
    ),
    "fuyu": Entry(
        {"patch_size": 8},
        lambda m: {
            "input_ids": text_with(m, 16, "image_token_id"),
            "pixel_values": make_real(1, 16, 192),
        },
    ),
    "gemma3-image-block": Entry({}, gemma_image_block, kind="gemma3"),
    "gemma3n_audio": Entry(
        {},
        inputs_of(audio_mel=(1, 32, 32), audio_mel_mask=torch.zeros(1, 32, dtype=torch.bool)),
        only=True,
    ),
    "gemma3n_text": Entry(
        {
            "num_hidden_layers": 4,
            "layer_types": ["sliding_attention", "full_attention"] * 2,
            "num_kv_shared_layers": 2,
            "activation_sparsity_pattern": [0.0] * 4,
        }
    ),
    "gemma4": Entry(
        {"vision_config": {"pooling_kernel_size": 2}},
        gemma_patches("image_position_ids", input_features=None),
    ),
    "gemma4_assistant": Entry({"text_config": {"hidden_size_per_layer_input": 0}}),
    "gemma4_audio": Entry({}, inputs_of(input_features=(1, 32, 32))),
    "gemma4_unified": Entry(
        {}, inputs_of(pixel_values=None, input_features=None, input_features_mask=None)
    ),
    "gemma4_vision": Entry({"pooling_kernel_size": 2}, gemma_patches("pixel_position_ids")),
    "glm5_next": Entry({"text_config": {"index_kpool": 2}}),
    "glm5_next_text": Entry({"index_kpool": 2}),
    "glm_image": Entry(
        {},
        lambda m: {
            "image_grid_thw": torch.tensor([[1, 4, 4], [1, 4, 4]]),
            "images_per_sample": torch.tensor([2]),
            "input_ids": text_with(m, 16, "image_token_id"),
        },
    ),
    "glmasr": Entry(
        {"audio_config": {"intermediate_size": 128}},
        inputs_of(
            input_features=(1, 16, 32), input_features_mask=torch.ones(1, 32, dtype=torch.long)
        ),
    ),
    "glmasr_encoder": Entry({}, inputs_of(input_features=(1, 16, 32))),
    "gpt_neo": Entry(
        {"num_layers": 2, "attention_types": [[["global", "local"], 1]], "window_size": 4}
    ),
    "granite4_vision": Entry(
        {
            "deepstack_layer_map": [[0, 0], [1, 1]],
            "downsample_rate": "2/4",
            "image_grid_pinpoints": [[32, 32]],
            "vision_config": {"hidden_size": 64},
        },
        lambda m: {
            **tile_inputs(m),
            "input_ids": text_with(m, 10, "image_token_index", "image_token_id"),
        },
    ),
    "granite_speech": Entry(
        {"window_size": 5, "encoder_config": {"input_dim": 16}},
        inputs_of(input_features=(1, 32, 16), input_features_mask=None),
    ),
    "granite_speech5_ctc": Entry({}, inputs_of(input_features=(1, 32, 64))),
    "granite_speech5_encoder": Entry({}, inputs_of(input_features=(1, 32, 64))),
    "granite_speech_encoder": Entry(
        {"input_dim": 16}, inputs_of(hidden_states=(1, 32, 16)), only=True
    ),
    "granite_speech_plus": Entry(
        {"window_size": 5, "encoder_config": {"input_dim": 16}},
        inputs_of(input_features=(1, 32, 16), input_features_mask=None),
    ),
    "granite_speech_plus_encoder": Entry(
        {"input_dim": 16}, inputs_of(hidden_states=(1, 32, 16)), only=True
    ),
    "granitemoehybrid": Entry(HYBRID),
    "grounding-dino": Entry({}, image_of(1, 3, 96, 96)),
    "hunyuan_v1_dense": Entry({"head_dim": 8}),
    "hunyuan_v1_moe": Entry({"head_dim": 8, "moe_topk": 2, "num_experts": 4}),
    "hunyuan_vl": Entry({"text_config": {"head_dim": 8}}),
    "hunyuan_vl_text": Entry({"head_dim": 8}),
    "hyperclovax_vision_v2": Entry({"vision_config": WINDOWS}),
    "idefics": Entry({}, image_of(1, 1, 3, 32, 32, image_attention_mask=torch.ones(1, 9, 1))),
    "idefics2": Entry({}, ONE_OF_SEVERAL),
    "idefics3": Entry({"scale_factor": 2}, ONE_OF_SEVERAL),
    "informer": Entry(SERIES, series_inputs, only=True),
    "instructblip": Entry(
        {"image_token_index": 96},
        lambda m: {
            "input_ids": text_with(m, 4, "image_token_id"),
            "qformer_input_ids": make_ids(5),
        },
    ),
    "instructblipvideo": Entry(
        {"video_token_index": 97},
        lambda m: {
            "pixel_values": make_real(1, 2, 3, 32, 32),
            "input_ids": text_with(m, 8, "video_token_index"),
            "qformer_input_ids": make_ids(5),
        },
    ),
    "jamba": Entry({"attn_layer_period": 2, "attn_layer_offset": 1}),
    "janus_vqgan": Entry({"num_patches": 2}),
    "kimi_k25": Entry(
        {"vision_config": {"pos_emb_height": 8, "pos_emb_width": 8}},
        lambda m: {"pixel_values": make_real(16, 3, 8, 8)},
    ),
    "kimi_k25_vision": Entry(
        {"pos_emb_height": 8, "pos_emb_width": 8},
        lambda m: {"pixel_values": make_real(16, 3, 8, 8)},
    ),
    "kosmos-2": Entry(
        {"latent_query_num": 4},
        lambda m: {"image_embeds_position_mask": torch.tensor([[0, 1, 1, 1, 1, 0, 0, 0, 0]])},
    ),
    "kosmos_2_5_vision_model": Entry({}, inputs_of(flattened_patches=(1, 6, 770))),
    "kyutai_speech_to_text": Entry(
        {}, lambda m: {"input_ids": torch.arange(5, 5 + 33 * 3).reshape(1, 3, 33)}
    ),
    "layoutlmv3": Entry(
        {"coordinate_size": 6, "shape_size": 4, "input_size": 32}, image_of(1, 3, 32, 32)
    ),
    "levit": Entry(
        {
            "image_size": 64,
            "hidden_sizes": [32, 48, 64],
            "num_attention_heads": [2, 3, 4],
            "depths": [1, 1, 1],
            "key_dim": [8, 8, 8],
            "patch_size": 16,
        }
    ),
    "lfm2_moe": Entry({"layer_types": ["conv", "full_attention"], "num_dense_layers": 1}),
    "lfm2_vl": Entry({}, image_and_patches),
    "lightglue": Entry(
        {"keypoint_detector_config": KEYPOINTS, "descriptor_dim": 32}, image_of(1, 2, 3, 32, 32)
    ),
    "lilt": Entry({"hidden_size": 48}),
    "llama4": Entry(
        {"vision_config": SHUFFLED}, lambda m: {"input_ids": text_with(m, 4, "image_token_index")}
    ),
    "llama4_vision_model": Entry(SHUFFLED),
    "llava": Entry({}, inputs_of(image_sizes=None)),
    "llava_next": Entry({"image_grid_pinpoints": [[32, 32]]}, tile_inputs),
    "llava_next_video": Entry({"image_grid_pinpoints": [[32, 32]]}, tile_inputs),
    "llava_onevision": Entry({"image_grid_pinpoints": [[32, 32]]}, tile_inputs),
    "longcat_flash": Entry({"head_dim": 4}),
    "luke": Entry(
        {}, inputs_of(entity_ids=make_ids(2), entity_position_ids=torch.tensor([[[1, 2], [4, 5]]]))
    ),
    "lw_detr": Entry(
        {
            "projector_scale_factors": [1.0],
            "backbone_config": {"num_windows": 4, "image_size": 64, "out_indices": [1, 2]},
        },
        SQUARE,
    ),
    "lw_detr_vit": Entry({"num_windows": 4, "image_size": 64}),
    "lxmert": Entry(
        {"l_layers": 2, "x_layers": 2, "r_layers": 2, "visual_feat_dim": 16},
        inputs_of(visual_feats=(1, 5, 16), visual_pos=(1, 5, 4)),
    ),
    "mamba2": Entry({"num_heads": 8, "head_dim": 8}),
    "mask2former": Entry({}, image_of(1, 3, 96, 96)),
    "maskformer": Entry({}, image_of(1, 3, 96, 96)),
    "mimi": Entry(
        {"upsample_groups": 32, "codebook_dim": 32, "vector_quantization_hidden_dimension": 32},
        inputs_of(input_values=(1, 1, 3840)),
    ),
    "mimi_decoder": Entry({"upsample_groups": 32}, inputs_of(latents=(1, 32, 4)), only=True),
    "mimi_encoder": Entry({"upsample_groups": 32}, inputs_of(input_values=(1, 1, 3840))),
    "minicpm_ocr_vision": Entry({}, packed_inputs),
    "minicpmv4_6_vision": Entry({}, packed_inputs),
    "minicpmv4_7_vision": Entry({}, packed_inputs),
    "ministral": Entry({"head_dim": 8, "num_key_value_heads": 2, **WINDOWED}),
    "mllama": Entry(
        {
            "vision_config": TILED,
            "text_config": {"cross_attention_layers": [1], "num_hidden_layers": 3},
        },
        mllama_inputs,
    ),
    "mllama_vision_model": Entry(
        TILED,
        lambda m: {
            k: v for k, v in mllama_inputs(m).items() if k != "input_ids" and "cross" not in k
        },
        only=True,
    ),
    "mm-grounding-dino": Entry({}, image_of(1, 3, 96, 96)),
    "mobilevit": Entry({"image_size": 64}),
    "mobilevitv2": Entry({"image_size": 64}),
    "modernvbert": Entry({"pixel_shuffle_factor": 2}, ONE_OF_SEVERAL),
    "molmo2": Entry(
        {
            "image_token_id": 96,
            "vision_config": {"image_size": [32, 32]},
            "adapter_config": {"vision_feature_layer": [1, 0]},
        },
        lambda m: {
            "pixel_values": make_real(1, 16, 192),
            "image_token_pooling": torch.arange(16).reshape(4, 4),
            "image_grids": torch.tensor([[2, 2, 0, 0]]),
            "image_num_crops": torch.tensor([1]),
            "input_ids": text_with(m, 4, "image_token_id"),
        },
    ),
    "molmo2_vision": Entry({"image_size": [32, 32]}, image_of(1, 16, 192)),
    "moonshine": Entry({}, inputs_of(input_values=(1, 3200))),
    "moonshine_streaming": Entry({"num_key_value_heads": 4}),
    "moshi_depth": Entry({}, inputs_of(input_ids=make_ids(6))),
    "moss_transcribe_diarize": Entry(
        {}, lambda m: {"input_ids": text_with(m, 4, "audio_token_id")}
    ),
    "muse_glimmer": Entry({"vision_config": {"out_hidden_size": 128}, "out_hidden_size": 128}),
    "muse_spark": Entry(
        {"audio_config": {"num_hidden_layers": 4}, "out_hidden_size": 128},
        inputs_of(input_values=None),
    ),
    "muse_spark_audio": Entry({"num_hidden_layers": 4}, inputs_of(input_values=(1, 3840))),
    "musicflamingo": Entry({}, lambda m: {"input_ids": text_with(m, 8, "audio_token_id")}),
    "musicgen": Entry(
        {},
        lambda m: {"input_ids": make_ids(), "decoder_input_ids": torch.arange(5, 29).reshape(4, 6)},
        model="MusicgenForConditionalGeneration",
        only=True,
    ),
    "musicgen_decoder": Entry({}, inputs_of(input_ids=torch.arange(5, 29).reshape(4, 6))),
    "musicgen_melody": Entry(
        {},
        lambda m: {"input_ids": make_ids(), "decoder_input_ids": torch.arange(5, 29).reshape(4, 6)},
        model="MusicgenMelodyForConditionalGeneration",
        only=True,
    ),
    "musicgen_melody_decoder": Entry({}, inputs_of(input_ids=torch.arange(5, 29).reshape(4, 6))),
    "nemotron": Entry({"head_dim": 8, "num_key_value_heads": 2}),
    "nemotron3_5_transcribe_word_timestamp": Entry(
        {}, inputs_of(inputs_embeds=(1, 9, 32)), only=True
    ),
    "nemotron_h_omni": Entry(
        {"image_token_id": 96},
        lambda m: {
            "input_features": None,
            "input_features_mask": None,
            "pixel_values": make_real(16, 192),
            "image_grid_hw": torch.tensor([[4, 4]]),
        },
    ),
    "neomme": Entry({"head_dim": 16}, image_of(4, 192)),
    "neucodec": Entry(
        {"quantization_dim": 64},
        inputs_of(input_values=(1, 1, 3200), input_features=(1, 10, 32), input_features_mask=None),
    ),
    "omdet-turbo": Entry(
        {
            "backbone_config": {"out_indices": [2, 3, 4]},
            "encoder_in_channels": [64, 128, 256],
            "apply_layernorm_after_vision_backbone": False,
            "class_embed_dim": 64,
            "text_projection_in_dim": 64,
            "text_projection_out_dim": 64,
            "text_config": {"hidden_size": 64, "projection_dim": 64},
        },
        omdet_inputs,
    ),
    "oneformer": Entry(
        {"task_seq_len": 7}, image_of(1, 3, 96, 96, task_inputs=torch.arange(7.0)[None])
    ),
    "paddleocr_vl": Entry({}, lambda m: {"pixel_values": make_real(16, 3, 8, 8)}),
    "paddleocr_vl_vision": Entry({}, lambda m: {"pixel_values": make_real(1, 16, 3, 8, 8)}),
    "patchtsmixer": Entry(
        {"context_length": 32, "patch_length": 4, "patch_stride": 4, "self_attn": True},
        inputs_of(past_values=(1, 32, 1)),
        only=True,
    ),
    "patchtst": Entry(
        {"context_length": 32, "patch_length": 4, "patch_stride": 4},
        inputs_of(past_values=(1, 32, 1)),
        only=True,
    ),
    "pe_audio": Entry({}, inputs_of(input_values=(1, 1, 3840))),
    "pe_audio_encoder": Entry({}, inputs_of(input_values=(1, 1, 3840))),
    "perceiver": Entry(
        {
            "d_latents": 32,
            "d_model": 32,
            "num_latents": 6,
            "num_self_attends_per_block": 2,
            "num_self_attention_heads": 4,
            "num_cross_attention_heads": 4,
        },
        inputs_of(inputs=(1, 9, 32)),
        only=True,
    ),
    "pi0": Entry(
        {},
        lambda m: {
            "input_ids": text_with(m, 16, "image_token_index", "image_token_id"),
            "pixel_values": make_real(1, 1, 3, 32, 32),
            "pixel_attention_mask": torch.ones(1, 1, dtype=torch.bool),
            "action_embeds": make_real(1, 3, 32),
        },
    ),
    "pix2struct": Entry({}, inputs_of(flattened_patches=(1, 6, 770))),
    "pix2struct_text_model": Entry({"initializer_range": 0.02}),
    "pix2struct_vision_model": Entry({}, inputs_of(flattened_patches=(1, 6, 770))),
    "pocket_tts_audio_tokenizer": Entry(
        {"upsample_groups": 32}, inputs_of(input_values=(1, 1, 3840))
    ),
    "pocket_tts_audio_tokenizer_encoder": Entry(
        {"upsample_groups": 32}, inputs_of(input_values=(1, 1, 3840))
    ),
    "pop2piano": Entry({}, inputs_of(input_features=(1, 16, 32))),
    "pp_doclayout_v2": Entry({"class_thresholds": [0.0] * 25, "class_order": list(range(25))}),
    "pp_lcnet_v4": Entry(LIGHT),
    "pp_ocrv5_mobile_rec": Entry(
        {}, image_of(1, 3, 96, 96), model="PPOCRV5MobileRecForTextRecognition"
    ),
    "pp_ocrv5_server_rec": Entry(
        {}, image_of(1, 3, 48, 96), model="PPOCRV5ServerRecForTextRecognition"
    ),
    "pp_ocrv6_small_rec": Entry(
        {"backbone_config": {"model_type": "pp_lcnet_v4", **LIGHT}},
        image_of(1, 3, 48, 96),
        model="PPOCRV6SmallRecForTextRecognition",
    ),
    "pp_ocrv6_tiny_rec": Entry(
        {"backbone_config": {"model_type": "pp_lcnet_v4", **LIGHT}},
        image_of(1, 3, 48, 96),
        model="PPOCRV6TinyRecForTextRecognition",
    ),
    "pvt": Entry(
        {
            "patch_sizes": [4, 2, 2, 2],
            "image_size": 64,
            "patch_size": 4,
            "sequence_reduction_ratios": [8, 4, 2, 1],
            "num_encoder_blocks": 4,
        }
    ),
    "qwen2_5_omni_audio_encoder": Entry(
        {},
        lambda m: {
            "input_features": make_real(16, 32),
            "feature_lens": torch.tensor([32]),
            "aftercnn_lens": torch.tensor([16]),
        },
        only=True,
    ),
    "qwen2_5_omni_thinker": Entry({"vision_config": WINDOWS, "vision_start_token_id": 120}),
    "qwen2_5_omni_vision_encoder": Entry(WINDOWS),
    "qwen2_5_vl": Entry({"vision_config": WINDOWS}),
    "qwen2_5_vl_vision": Entry(WINDOWS),
    "qwen2_audio": Entry({}, lambda m: {"input_ids": text_with(m, 8, "audio_token_id")}),
    "qwen3_asr": Entry(
        {"audio_config": {"n_window": 50, "n_window_infer": 100}},
        inputs_of(
            input_features=(1, 16, 100), input_features_mask=torch.ones(1, 100, dtype=torch.long)
        ),
    ),
    "qwen3_asr_encoder": Entry(
        {"n_window": 50, "n_window_infer": 100},
        inputs_of(
            input_features=(1, 16, 100), input_features_mask=torch.ones(1, 100, dtype=torch.long)
        ),
    ),
    "qwen3_omni_moe_audio_encoder": Entry(
        {"n_window": 50, "n_window_infer": 100},
        lambda m: {"input_features": make_real(16, 100), "feature_lens": torch.tensor([100])},
        only=True,
    ),
    "qwen3_omni_moe_talker_code_predictor": Entry(
        {}, inputs_of(inputs_embeds=(1, 4, 32)), only=True
    ),
    "qwen3_omni_moe_talker_text": Entry(
        {"shared_expert_intermediate_size": 16}, inputs_of(inputs_embeds=(1, 9, 32)), only=True
    ),
    "qwen3_omni_moe_thinker": Entry(
        {"audio_config": {"n_window": 50, "n_window_infer": 100}, "vision_start_token_id": 120},
        inputs_of(
            input_features=(1, 16, 100), feature_attention_mask=torch.ones(1, 100, dtype=torch.long)
        ),
    ),
    "qwen4_exp": Entry({"text_config": QSA}),
    "qwen4_exp_text": Entry(QSA),
    "radio": Entry(
        {}, lambda m: {"pixel_values": make_real(16, 192), "image_grid_hw": torch.tensor([[4, 4]])}
    ),
    "rag": Entry(
        {
            "question_encoder": {"model_type": "dpr", **PLAIN},
            "generator": {"model_type": "bart", **TRANSLATION},
        },
        inputs_of(
            context_input_ids=make_ids(7).expand(2, 7),
            context_attention_mask=torch.ones(2, 7, dtype=torch.long),
            doc_scores=(1, 2),
            n_docs=2,
        ),
    ),
    "recurrent_gemma": Entry({"num_hidden_layers": 3}),
    "reformer": Entry(
        {
            "axial_pos_embds_dim": [16, 16],
            "axial_pos_shape": [4, 4],
            "attn_layers": ["local", "lsh"],
            "local_attn_chunk_length": 4,
            "lsh_attn_chunk_length": 4,
            "attention_head_size": 8,
            "num_buckets": 2,
        },
        inputs_of(input_ids=make_ids(16)),
    ),
    "rf_detr": Entry({"backbone_config": {"model_type": "rf_detr_dinov2"}}, SQUARE),
    "sam": Entry(
        {
            "prompt_encoder_config": {"image_size": 32, "patch_size": 8},
            "vision_config": {"num_pos_feats": 16},
        }
    ),
    "sam2": Entry(
        {
            "vision_config": {"backbone_config": HIERARCHY, **PYRAMID},
            "prompt_encoder_config": {"image_size": 64, "patch_size": 16},
        },
        SQUARE,
    ),
    "sam2_hiera_det_model": Entry(HIERARCHY, SQUARE),
    "sam2_vision_model": Entry({"backbone_config": HIERARCHY, **PYRAMID}, SQUARE),
    "sam3_lite_text": Entry({"text_config": {"num_hidden_layers": 3}}),
    "sam3_lite_text_text_model": Entry({"num_hidden_layers": 3}),
    "sam3_tracker": Entry(
        {"vision_config": {"backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]]}}
    ),
    "sam_hq": Entry(
        {
            "prompt_encoder_config": {"image_size": 32, "patch_size": 8},
            "vision_config": {"num_pos_feats": 16},
        }
    ),
    "seamless_m4t": Entry({}, inputs_of(input_features=(1, 32, 32))),
    "seggpt": Entry(
        {"image_size": [32, 16], "merge_index": 0, "intermediate_hidden_state_indices": [0, 1]},
        image_of(1, 3, 16, 16, prompt_pixel_values=(1, 3, 16, 16), prompt_masks=(1, 3, 16, 16)),
    ),
    "sew": Entry({}, inputs_of(input_values=(1, 3200))),
    "sew-d": Entry({}, inputs_of(input_values=(1, 3200))),
    "shieldgemma2": Entry({"yes_token_index": 20, "no_token_index": 21}),
    "siglip2": Entry({}, image_and_patches),
    "siglip2_vision_model": Entry({}, image_and_patches),
    "smolvlm": Entry({"scale_factor": 2}, ONE_OF_SEVERAL),
    "speech-encoder-decoder": Entry(
        {}, inputs_of(input_values=(1, 3200), decoder_input_ids=make_ids(6, 20)), only=True
    ),
    "speecht5": Entry({}, inputs_of(input_values=(1, 32, 32), decoder_input_values=(1, 6, 32))),
    "speecht5_hifigan": Entry({"model_in_dim": 16}, inputs_of(spectrogram=(1, 6, 16)), only=True),
    "step3p5": Entry({"sliding_window": 4}),
    "step3p7": Entry({"text_config": {"sliding_window": 4}}),
    "superglue": Entry(
        {
            "keypoint_detector_config": KEYPOINTS,
            "hidden_size": 32,
            "keypoint_encoder_sizes": [16, 32],
            "gnn_layers_types": ["self", "cross"],
        },
        image_of(1, 2, 3, 32, 32),
    ),
    "superpoint": Entry(
        {
            "encoder_hidden_sizes": [16, 16, 32, 32],
            "decoder_hidden_size": 32,
            "keypoint_decoder_dim": 65,
            "descriptor_decoder_dim": 32,
            "keypoint_threshold": 0.0,
            "max_keypoints": 8,
        }
    ),
    "swin": Entry({"image_size": 64, "window_size": 2}),
    "t5gemma2": Entry(
        {},
        lambda m: {
            "input_ids": text_with(m, 4, "image_token_index"),
            "decoder_input_ids": make_ids(6, 20),
        },
    ),
    "t5gemma2_decoder": Entry({"dropout_rate": 0.0}, inputs_of(encoder_hidden_states=(1, 7, 32))),
    "t5gemma2_encoder": Entry({"text_config": {"dropout_rate": 0.0}}),
    "t5gemma2_text": Entry({"dropout_rate": 0.0}),
    "time_series_transformer": Entry(SERIES, series_inputs, only=True),
    "timesfm": Entry(
        {"patch_length": 8, "context_length": 32, "horizon_length": 8},
        inputs_of(
            past_values=(1, 32),
            past_values_padding=torch.zeros(1, 32),
            freq=torch.zeros(1, 1, dtype=torch.long),
        ),
        only=True,
    ),
    "timesfm2_5": Entry(
        {"patch_length": 8, "context_length": 32}, inputs_of(past_values=(1, 32)), only=True
    ),
    "timesformer": Entry({}, image_of(1, 2, 3, 32, 32)),
    "tvp": Entry({"max_img_size": 64, "visual_prompt_size": 8}, image_of(1, 2, 3, 64, 64)),
    "ultravbert": Entry({"pixel_shuffle_factor": 2}, ONE_OF_SEVERAL),
    "univnet": Entry({}, inputs_of(input_features=(1, 32, 16))),
    "vibevoice_acoustic_tokenizer": Entry(FEW_FILTERS, inputs_of(input_values=(1, 1, 3200))),
    "vibevoice_asr": Entry(
        {
            "acoustic_tokenizer_encoder_config": FEW_FILTERS,
            "semantic_tokenizer_encoder_config": FEW_FILTERS,
        },
        inputs_of(input_values=(1, 1, 3200)),
    ),
    "videomt": Entry({}, pretend=("scipy",)),
    "vipllava": Entry({"vision_feature_layers": [-1, 0]}),
    "visual_bert": Entry({"visual_embedding_dim": 16}, inputs_of(visual_embeds=(1, 5, 16))),
    "vit_mae": Entry({}, inputs_of(noise=(1, 16))),
    "vitmatte": Entry(
        {
            "fusion_hidden_sizes": [16, 16, 16, 16],
            "convstream_hidden_sizes": [16, 16, 16],
            "backbone_config": {"num_channels": 4, "patch_size": 16, "pretrain_image_size": 32},
        },
        image_of(1, 4, 64, 64),
    ),
    "vjepa2": Entry(
        {"crop_size": 32, "frames_per_clip": 4, "patch_size": 8},
        inputs_of(pixel_values_videos=(1, 4, 3, 32, 32)),
    ),
    "voxtral": Entry({"audio_config": {"intermediate_size": 128}, "audio_token_id": 96}),
    "voxtral_realtime": Entry(
        {}, lambda m: {"input_features": make_real(1, 16, 64), "input_ids": make_ids(8)}
    ),
    "voxtral_realtime_encoder": Entry({}, inputs_of(input_features=(1, 16, 32))),
    "wav2vec2-bert": Entry({}, inputs_of(input_features=(1, 32, 32))),
    "xclip": Entry({}, image_of(1, 2, 3, 32, 32)),
    "xclip_vision_model": Entry({}, image_of(2, 3, 32, 32)),
    "xcodec": Entry({}, inputs_of(input_values=(1, 1, 640))),
    "xcodec2": Entry(
        {"quantization_dim": 64},
        inputs_of(input_values=(1, 1, 3200), input_features=(1, 10, 32), input_features_mask=None),
    ),
    "xlstm": Entry({"num_heads": 2, "qk_dim_factor": 1.0, "v_dim_factor": 1.0}),
    "xmod": Entry({"languages": ["en_XX"], "default_language": "en_XX"}),
    "zamba": Entry(
        {"num_hidden_layers": 4, "layers_block_type": ["linear_attention", "hybrid"] * 2}
    ),
    "zoedepth": Entry({"bottleneck_features": 32, "fusion_hidden_size": 32}),
}
"""Sorted by name."""
