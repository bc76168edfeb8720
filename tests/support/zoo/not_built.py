"""The types that cannot be built here, and why; without torch, for the documentation."""

NOT_BUILT_FOR: dict[str, str] = {
    "has no fitting sizes or inputs here yet": """
        esmfold2 nougat pocket_tts_audio_tokenizer_decoder pp_ocrv5_server_det
        pp_ocrv6_medium_det pp_ocrv6_small_det univnet uvdoc vibevoice xlstm
    """,
    "has no forward of its own": """
        bark chameleon_vqgan emu3_vqgan glm_image_vqmodel qwen2_5_omni
        qwen3_omni_moe
    """,
    "is a part that reads what another part of its model makes": """
        blt_local_decoder blt_local_encoder florence_vision gemma4_assistant
        gemma4_unified_assistant idefics2_perceiver inkling_audio molmo2_adapter moshi_depth
        muse_glimmer_assistant phi4_multimodal_audio qwen2_5_omni_bigvgan qwen2_5_omni_dit
        qwen2_5_omni_token2wav vibevoice_acoustic_tokenizer_decoder
        vibevoice_acoustic_tokenizer_encoder voxtral_realtime_text
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
    "is another name of a type": """
        EvollaModel
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
        inkling_mm_model inkling_vision
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
