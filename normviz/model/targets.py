"""Adding a target, given or generated, so that the model reads it as if it had written it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from normviz.errors import BadInput
from normviz.model.inputs import ModelInputs, has_encoder, pad_rows, shift_right
from normviz.model.limits import check_ids, check_length, token_limit


def with_target(prepared: ModelInputs, targets: Sequence[str]) -> ModelInputs:
    """Return the inputs of an encoder–decoder whose decoder reads a start token and a target."""
    tokenizer = _require_tokenizer(prepared)
    rows = [_encode_target(prepared, tokenizer, target) for target in targets]
    batch = pad_rows(rows, getattr(tokenizer, "pad_token_id", None) or 0)
    decoding = {"decoder_input_ids": batch["input_ids"]}
    if len(rows) > 1:
        decoding["decoder_attention_mask"] = batch["attention_mask"]
    title = " → ".join(part for part in (prepared.title, targets[0]) if part)
    return replace(prepared, tensors=prepared.tensors | decoding, title=title)


def _encode_target(prepared: ModelInputs, tokenizer: Any, target: str) -> dict[str, list[int]]:
    """Return one target as the decoder reads it, checked."""
    encoded = tokenizer(text_target=target, return_tensors="pt", verbose=False)
    if not target.strip() or not encoded["input_ids"].numel():
        raise BadInput(
            f"The target is {target!r}.",
            "Expected a target with at least one visible character.",
            "Give the translation, or let the model write it with generate=….",
        )
    ids = shift_right(prepared.model, encoded["input_ids"])
    check_ids(prepared.model, ids, tokenizer)
    check_length(ids.shape[1], token_limit(prepared.model))
    return {"input_ids": ids[0].tolist(), "attention_mask": [1] * ids.shape[1]}


def with_continuation(prepared: ModelInputs, target: str) -> ModelInputs:
    """Return the inputs of a language model with this target appended to the text."""
    if not _writes(prepared):
        raise BadInput(
            f"{type(prepared.model).__name__} does not write text.",
            "target and generate are for language models and encoder–decoders.",
            "Give the second text as pair=…, or load a model that writes.",
        )
    tokenizer = _require_tokenizer(prepared)
    more = tokenizer(target, add_special_tokens=False, return_tensors="pt")["input_ids"]
    ids = torch.cat([prepared.tensors["input_ids"], more.to(torch.long)], dim=1)
    return _with_ids(prepared, ids, prepared.title + target)


def with_generation(prepared: ModelInputs, count: int) -> ModelInputs:
    """Return the inputs with up to `count` tokens that the model itself writes, greedily."""
    model: Any = prepared.model
    if not _writes(prepared) or not hasattr(model, "generate"):
        raise BadInput(
            f"{type(model).__name__} cannot generate text.",
            "generate=… needs a model with a language-modeling head.",
            "Load it with AutoModelForCausalLM or AutoModelForSeq2SeqLM, or give target=….",
        )
    prompt = {k: v for k, v in prepared.for_forward().items() if k in prepared.tensors}
    prompt.pop("token_type_ids", None)
    try:
        ids = model.generate(**prompt, max_new_tokens=count, do_sample=False, num_beams=1)
    except (TypeError, AttributeError) as error:
        raise BadInput(
            f"{type(model).__name__} failed to generate text ({error}).",
            "generate=… needs a model with a language-modeling head.",
            "Load it with AutoModelForCausalLM or AutoModelForSeq2SeqLM, or give target=….",
        ) from error
    ids = ids.cpu()
    if has_encoder(model):
        decoding = {"decoder_input_ids": ids}
        title = _title_with(prepared, ids[0])
        return replace(prepared, tensors=prepared.tensors | decoding, title=title)
    generated = ids[0, prepared.tensors["input_ids"].shape[1] :]
    return _with_ids(prepared, ids, _title_with(prepared, generated))


def _title_with(prepared: ModelInputs, generated: torch.Tensor) -> str:
    """Return the text and what the model wrote, where a tokenizer can decode it."""
    decode = getattr(prepared.tokenizer, "decode", None)
    written = decode(generated.tolist(), skip_special_tokens=True).strip() if decode else ""
    return " → ".join(part for part in (prepared.title, written) if part)


def _writes(prepared: ModelInputs) -> bool:
    """Return whether the model writes text: an encoder–decoder, or a class that can generate."""
    can_generate = getattr(prepared.model, "can_generate", None)
    return has_encoder(prepared.model) or bool(can_generate is not None and can_generate())


def _with_ids(prepared: ModelInputs, ids: torch.Tensor, title: str) -> ModelInputs:
    """Return the inputs with more ids at the end, none of them padding."""
    check_length(ids.shape[1], token_limit(prepared.model))
    tensors = prepared.tensors | {"input_ids": ids}
    if "attention_mask" in tensors:
        mask = torch.ones_like(ids)
        mask[:, : prepared.tensors["attention_mask"].shape[1]] = prepared.tensors["attention_mask"]
        tensors["attention_mask"] = mask
    tensors.pop("token_type_ids", None)
    return replace(prepared, tensors=tensors, title=title)


def _require_tokenizer(prepared: ModelInputs) -> Any:
    if prepared.tokenizer is None:
        raise BadInput(
            "There is no tokenizer.",
            "A target needs one to become tokens.",
            "Give tokenizer=…, or decoder_input_ids in inputs=….",
        )
    return prepared.tokenizer
