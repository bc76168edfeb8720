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
    gain: float = 1.0
    """How far the weights are spread."""


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


ENTRIES: dict[str, Entry] = {
    # --- texts
    "bamba": Entry({"attn_layer_indices": [1]}),
    "granitemoehybrid": Entry(HYBRID),
    "jamba": Entry({"attn_layer_period": 2, "attn_layer_offset": 1}),
    "lfm2_moe": Entry({"layer_types": ["conv", "full_attention"], "num_dense_layers": 1}),
    "zamba": Entry(
        {"num_hidden_layers": 4, "layers_block_type": ["linear_attention", "hybrid"] * 2}
    ),
    "dbrx": Entry(
        {
            "attn_config": {"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 1e4},
            "ffn_config": {"ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2},
        }
    ),
    "esm": Entry({"vocab_size": 128, "mask_token_id": 4}),
    "gpt_neo": Entry(
        {"num_layers": 2, "attention_types": [[["global", "local"], 1]], "window_size": 4}
    ),
    "hunyuan_vl": Entry({"text_config": {"head_dim": 8}}),
    "hunyuan_vl_text": Entry({"head_dim": 8}),
    "hunyuan_v1_dense": Entry({"head_dim": 8}),
    "hunyuan_v1_moe": Entry({"head_dim": 8, "moe_topk": 2, "num_experts": 4}),
    "ministral": Entry({"head_dim": 8, "num_key_value_heads": 2, **WINDOWED}),
    "nemotron": Entry({"head_dim": 8, "num_key_value_heads": 2}),
    "deepseek_v2": Entry({"num_experts_per_tok": 2}),
    "dots1": Entry({"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2}),
    "cohere_compass_text": Entry({"layer_types": ["sliding_attention", "full_attention"]}),
    "longcat_flash": Entry({"head_dim": 4}),
    "bros": Entry({"dim_bbox_sinusoid_emb_2d": 16}),
    "lilt": Entry({"hidden_size": 48}),
    "layoutlmv3": Entry(
        {"coordinate_size": 6, "shape_size": 4, "input_size": 32}, image_of(1, 3, 32, 32)
    ),
    "mamba2": Entry({"num_heads": 8, "head_dim": 8}),
    "xlstm": Entry({"num_heads": 2}),
    "xmod": Entry({"languages": ["en_XX"], "default_language": "en_XX"}),
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
    "step3p5": Entry({"sliding_window": 4}),
    "lxmert": Entry(
        {"l_layers": 2, "x_layers": 2, "r_layers": 2, "visual_feat_dim": 16},
        inputs_of(visual_feats=(1, 5, 16), visual_pos=(1, 5, 4)),
    ),
    "visual_bert": Entry({"visual_embedding_dim": 16}, inputs_of(visual_embeds=(1, 5, 16))),
    "luke": Entry(
        {}, inputs_of(entity_ids=make_ids(2), entity_position_ids=torch.tensor([[[1, 2], [4, 5]]]))
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
    # --- time series
    "autoformer": Entry(SERIES, series_inputs, only=True),
    "informer": Entry(SERIES, series_inputs, only=True),
    "time_series_transformer": Entry(SERIES, series_inputs, only=True),
    "patchtst": Entry(
        {"context_length": 32, "patch_length": 4, "patch_stride": 4},
        inputs_of(past_values=(1, 32, 1)),
        only=True,
    ),
    "patchtsmixer": Entry(
        {"context_length": 32, "patch_length": 4, "patch_stride": 4, "self_attn": True},
        inputs_of(past_values=(1, 32, 1)),
        only=True,
    ),
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
    "evolla": Entry(EVOLLA, evolla_inputs),
    # --- images
    "bit": Entry({"num_groups": 8}),
    "donut-swin": Entry({"image_size": 64, "window_size": 2}),
    "swin": Entry({"image_size": 64, "window_size": 2}),
    "pvt": Entry(
        {"patch_sizes": [4, 2, 2, 2], "image_size": 64, "sequence_reduction_ratios": [8, 4, 2, 1]}
    ),
    "levit": Entry(
        {
            "image_size": 64,
            "hidden_sizes": [32, 48, 64],
            "num_attention_heads": [2, 3, 4],
            "depths": [1, 1, 1],
            "key_dim": [8, 8, 8],
        }
    ),
    "mobilevitv2": Entry({"image_size": 64}),
    "mobilevit": Entry({"image_size": 64}),
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
    "pp_ocrv5_mobile_rec": Entry({}, image_of(1, 3, 48, 96)),
    "pp_ocrv5_server_rec": Entry({}, image_of(1, 3, 48, 96)),
    "pp_ocrv6_small_rec": Entry({}, image_of(1, 3, 48, 96)),
    "pp_ocrv6_tiny_rec": Entry({}, image_of(1, 3, 48, 96)),
    "deformable_detr": Entry({}, image_of(1, 3, 96, 96)),
    "mask2former": Entry({}, image_of(1, 3, 96, 96)),
    "maskformer": Entry({}, image_of(1, 3, 96, 96)),
    "grounding-dino": Entry({}, image_of(1, 3, 96, 96)),
    "mm-grounding-dino": Entry({}, image_of(1, 3, 96, 96)),
    "lightglue": Entry({}, image_of(1, 2, 3, 32, 32)),
    "superglue": Entry({}, image_of(1, 2, 3, 32, 32)),
    "seggpt": Entry(
        {"image_size": [32, 16], "merge_index": 0, "intermediate_hidden_state_indices": [0, 1]},
        image_of(1, 3, 16, 16, prompt_pixel_values=(1, 3, 16, 16), prompt_masks=(1, 3, 16, 16)),
    ),
    "oneformer": Entry({}, image_of(1, 3, 96, 96, task_inputs=make_ids(7))),
    "omdet-turbo": Entry(
        {},
        image_of(
            1,
            3,
            64,
            64,
            classes_input_ids=make_ids(4).expand(2, 4),
            classes_attention_mask=torch.ones(2, 4, dtype=torch.long),
            tasks_input_ids=make_ids(5),
            tasks_attention_mask=torch.ones(1, 5, dtype=torch.long),
            classes_structure=torch.tensor([2]),
        ),
    ),
    "timesformer": Entry({}, image_of(1, 2, 3, 32, 32)),
    "vjepa2": Entry(
        {"crop_size": 32, "frames_per_clip": 4, "patch_size": 8},
        inputs_of(pixel_values_videos=(1, 4, 3, 32, 32)),
    ),
    "xclip": Entry({}, image_of(1, 2, 3, 32, 32)),
    "xclip_vision_model": Entry({}, image_of(2, 3, 32, 32)),
    "tvp": Entry({"max_img_size": 64, "visual_prompt_size": 8}, image_of(1, 2, 3, 64, 64)),
    "depth_pro": Entry({"patch_size": 32}, image_of(1, 3, 128, 128)),
    # --- images and texts
    "chameleon": Entry({"vocabulary_map": {"<image>": 96}}),
    "emu3": Entry({"vocabulary_map": {"<image>": 96, "<|extra_200|>": 97}}),
    "llava": Entry({}, inputs_of(image_sizes=None)),
    "vipllava": Entry({"vision_feature_layers": [-1, 0]}),
    "idefics2": Entry({}, ONE_OF_SEVERAL),
    "idefics3": Entry({"scale_factor": 2}, ONE_OF_SEVERAL),
    "smolvlm": Entry({"scale_factor": 2}, ONE_OF_SEVERAL),
    "modernvbert": Entry({"pixel_shuffle_factor": 2}, ONE_OF_SEVERAL),
    "ultravbert": Entry({"pixel_shuffle_factor": 2}, ONE_OF_SEVERAL),
    "colmodernvbert": Entry({"vlm_config": {"pixel_shuffle_factor": 2}}, ONE_OF_SEVERAL),
    "idefics": Entry({}, image_of(1, 1, 3, 32, 32, image_attention_mask=torch.ones(1, 9, 1))),
    "mllama": Entry({}, mllama_inputs),
    "siglip2": Entry({}, image_and_patches),
    "siglip2_vision_model": Entry({}, image_and_patches),
    "lfm2_vl": Entry({}, image_and_patches),
    "instructblip": Entry({}, inputs_of(qformer_input_ids=make_ids(5))),
    "instructblipvideo": Entry({}, image_of(1, 2, 3, 32, 32, qformer_input_ids=make_ids(5))),
    "kosmos-2": Entry(
        {}, lambda m: {"image_embeds_position_mask": torch.tensor([[0, 1, 1, 1, 1, 0, 0, 0, 0]])}
    ),
    "deepseek_vl_hybrid": Entry({}, inputs_of(high_res_pixel_values=(1, 3, 64, 64))),
    "shieldgemma2": Entry({"yes_token_index": 20, "no_token_index": 21}),
    "qwen2_5_vl": Entry({"vision_config": WINDOWS}),
    "qwen2_5_vl_vision": Entry(WINDOWS),
    "exaone4_5": Entry({"vision_config": WINDOWS}),
    "exaone4_5_vision": Entry(WINDOWS),
    "hyperclovax_vision_v2": Entry({"vision_config": WINDOWS}),
    "qwen2_5_omni_thinker": Entry({"vision_config": WINDOWS}),
    "qwen2_5_omni_vision_encoder": Entry(WINDOWS),
    "clip-equal-lengths": Entry(
        {"vision_config": {"image_size": 16, "patch_size": 8}},
        lambda m: {"input_ids": make_ids(5)},
        kind="clip",
    ),
    "pix2struct": Entry({}, inputs_of(flattened_patches=(1, 6, 770))),
    "pix2struct_vision_model": Entry({}, inputs_of(flattened_patches=(1, 6, 770))),
    # --- sounds
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
    "encodec": Entry({}, inputs_of(input_values=(1, 1, 640))),
    "dac": Entry({}, inputs_of(input_values=(1, 1, 640))),
    "xcodec": Entry({}, inputs_of(input_values=(1, 1, 640))),
    "sew": Entry({}, inputs_of(input_values=(1, 3200))),
    "sew-d": Entry({}, inputs_of(input_values=(1, 3200))),
    "moonshine": Entry({}, inputs_of(input_values=(1, 3200))),
    "seamless_m4t": Entry({}, inputs_of(input_features=(1, 32, 32))),
    "wav2vec2-bert": Entry({}, inputs_of(input_features=(1, 32, 32))),
    "glmasr": Entry(
        {},
        inputs_of(
            input_features=(1, 16, 32), input_features_mask=torch.ones(1, 32, dtype=torch.long)
        ),
    ),
    "glmasr_encoder": Entry({}, inputs_of(input_features=(1, 16, 32))),
    "clap": Entry({}, inputs_of(input_features=(1, 1, 64, 64))),
    "clap_audio_model": Entry({}, inputs_of(input_features=(1, 1, 64, 64))),
    "speecht5": Entry({}, inputs_of(input_values=(1, 32, 32), decoder_input_values=(1, 6, 32))),
    "speech-encoder-decoder": Entry(
        {}, inputs_of(input_values=(1, 3200), decoder_input_ids=make_ids(6, 20)), only=True
    ),
    "pop2piano": Entry({}, inputs_of(input_features=(1, 16, 32))),
    "voxtral_realtime_encoder": Entry({}, inputs_of(input_features=(1, 16, 32))),
    "musicgen_decoder": Entry({}, inputs_of(input_ids=torch.arange(5, 29).reshape(4, 6))),
    "musicgen_melody_decoder": Entry({}, inputs_of(input_ids=torch.arange(5, 29).reshape(4, 6))),
    "kyutai_speech_to_text": Entry(
        {}, lambda m: {"input_ids": torch.arange(5, 5 + 33 * 3).reshape(1, 3, 33)}
    ),
    "gemma3n_audio": Entry(
        {},
        inputs_of(audio_mel=(1, 32, 128), audio_mel_mask=torch.zeros(1, 32, dtype=torch.bool)),
        only=True,
    ),
    "dia": Entry({}, lambda m: {"decoder_input_ids": torch.arange(5, 59).reshape(1, 6, 9)}),
}

NOT_BUILT_FOR: dict[str, str] = {
    "has no fitting sizes or inputs here yet": """
        align align_vision_model aria autoformer bit blip-2 blip_2_qformer blt
        blt_global_transformer blt_local_decoder blt_local_encoder bridgetower
        bridgetower_vision_model bros chameleon clap clap_audio_model clvp clvp_encoder
        cohere_compass cohere_compass_text colqwen2 cosmos3_edge cosmos3_edge_text csm cvt
        deepseek_ocr2 deepseek_ocr2_text deepseek_ocr2_vision deepseek_vl_hybrid deformable_detr
        depth_pro diffusion_gemma diffusion_gemma_text efficientloftr efficientnet
        embedding_gemma2 emu3 ernie4_5_vl_moe ernie4_5_vl_moe_text esm esmfold2
        fastspeech2_conformer_hifigan fastspeech2_conformer_with_hifigan flava_multimodal_model
        florence_vision fun_asr_nano fun_asr_nano_encoder fuyu gemma3n_audio gemma3n_text gemma4
        gemma4_assistant gemma4_audio gemma4_unified gemma4_unified_assistant gemma4_vision
        glm5_next glm5_next_text glm_image glmasr granite4_vision granite_speech
        granite_speech5_ctc granite_speech5_encoder granite_speech_encoder granite_speech_plus
        granite_speech_plus_encoder idefics2_perceiver inkling_audio instructblip
        instructblipvideo janus_vqgan kimi_k25 kimi_k25_vision kosmos-2 kosmos_2_5_vision_model
        levit lightglue llama4 llama4_vision_model llava_next llava_next_video llava_onevision
        lw_detr lw_detr_vit mimi mimi_decoder mimi_encoder minicpm_ocr_vision minicpmv4_6_vision
        minicpmv4_7_vision mllama mllama_vision_model molmo2 molmo2_adapter molmo2_vision
        moonshine_streaming moshi_depth moss_transcribe_diarize muse_glimmer
        muse_glimmer_assistant muse_spark muse_spark_audio musicflamingo musicgen
        musicgen_melody nemotron3_5_transcribe_word_timestamp nemotron_h_omni neomme neucodec
        nougat omdet-turbo oneformer paddleocr_vl paddleocr_vl_vision pe_audio pe_audio_encoder
        phi4_multimodal_audio pi0 pix2struct_text_model pocket_tts_audio_tokenizer
        pocket_tts_audio_tokenizer_decoder pocket_tts_audio_tokenizer_encoder pp_doclayout_v2
        pp_lcnet_v4 pp_ocrv5_mobile_rec pp_ocrv5_server_det pp_ocrv6_medium_det
        pp_ocrv6_small_det pvt qwen2_5_omni_audio_encoder qwen2_5_omni_bigvgan qwen2_5_omni_dit
        qwen2_5_omni_thinker qwen2_5_omni_token2wav qwen2_audio qwen3_asr qwen3_asr_encoder
        qwen3_omni_moe qwen3_omni_moe_audio_encoder qwen3_omni_moe_talker_code_predictor
        qwen3_omni_moe_talker_text qwen3_omni_moe_thinker qwen4_exp qwen4_exp_text rag rf_detr
        sam sam2 sam2_hiera_det_model sam2_vision_model sam3_tracker sam_hq speecht5_hifigan
        step3p7 superglue t5gemma2 t5gemma2_decoder t5gemma2_encoder t5gemma2_text univnet uvdoc
        vibevoice vibevoice_acoustic_tokenizer vibevoice_acoustic_tokenizer_decoder
        vibevoice_acoustic_tokenizer_encoder vibevoice_asr vitmatte voxtral voxtral_realtime
        voxtral_realtime_text xcodec2 xlstm zoedepth
    """,
    "has no forward of its own": """
        bark chameleon_vqgan emu3_vqgan glm_image_vqmodel qwen2_5_omni
    """,
    "is another name of a type": """
        EvollaModel
    """,
    "is a part without a model class of its own": """
        aimv2_text_model deepseek_ocr2_encoder dia_decoder dia_encoder edgetam_mask_decoder
        edgetam_prompt_encoder edgetam_video_mask_decoder edgetam_video_prompt_encoder
        gemma4_unified_audio gemma4_unified_vision got_ocr2_vision idefics_perciever
        idefics_vision layoutxlm pp_chart2table_vision pp_formulanet_text pp_formulanet_vision
        sam2_mask_decoder sam2_prompt_encoder sam2_video_mask_decoder sam2_video_prompt_encoder
        sam3_detr_decoder sam3_detr_encoder sam3_geometry_encoder sam3_lite_text_detr_decoder
        sam3_lite_text_detr_encoder sam3_lite_text_geometry_encoder sam3_lite_text_mask_decoder
        sam3_mask_decoder sam3_tracker_mask_decoder sam3_tracker_prompt_encoder
        sam3_tracker_video_mask_decoder sam3_tracker_video_prompt_encoder sam_hq_mask_decoder
        sam_hq_prompt_encoder sam_mask_decoder sam_prompt_encoder sapiens2_head slanext_vision
        t5_gemma_module unlimited_ocr_vision_encoder vibevoice_diffusion
    """,
    "needs a session of video frames": """
        edgetam_video sam2_video sam3_tracker_video sam3_video
    """,
    "needs detectron2": """
        layoutlmv2
    """,
    "needs natten": """
        dinat
    """,
    "needs scipy": """
        eomt eomt_dinov3 inkling_mm_model inkling_vision videomt
    """,
    "needs timm": """
        edgetam edgetam_vision_model fast_vlm gemma3n gemma3n_vision pe_audio_video
        pe_audio_video_encoder pe_video pe_video_encoder perception_lm timm_backbone
        timm_wrapper
    """,
    "needs torchaudio": """
        higgs_audio_v2_tokenizer
    """,
}
"""Types that cannot be built here, by the reason."""

NOT_BUILT = {name: reason for reason, names in NOT_BUILT_FOR.items() for name in names.split()}
