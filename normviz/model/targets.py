"""What the model is to have written: given, or generated, then read in one pass."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from normviz.errors import BadInput
from normviz.model.inputs import ModelInputs, has_encoder, padded, shifted
from normviz.model.limits import check_ids, check_length, longest


def with_target(prepared: ModelInputs, targets: Sequence[str]) -> ModelInputs:
    """An encoder–decoder taught these targets: its decoder reads the start token, then a target."""
    tokenizer = _tokenizer(prepared)
    rows = [_taught(prepared, tokenizer, target) for target in targets]
    given = padded(rows, getattr(tokenizer, "pad_token_id", None) or 0)
    decoding = {"decoder_input_ids": given["input_ids"]}
    if len(rows) > 1:
        decoding["decoder_attention_mask"] = given["attention_mask"]
    title = " → ".join(part for part in (prepared.title, targets[0]) if part)
    return replace(prepared, given=prepared.given | decoding, title=title)


def _taught(prepared: ModelInputs, tokenizer: Any, target: str) -> dict[str, list[int]]:
    """One target as the decoder reads it, checked."""
    encoded = tokenizer(text_target=target, return_tensors="pt", verbose=False)
    if not target.strip() or not encoded["input_ids"].numel():
        raise BadInput(
            f"The target is {target!r}.",
            "A target with at least one visible character is wanted.",
            "Give the translation, or let the model write it with generate=….",
        )
    ids = shifted(prepared.model, encoded["input_ids"])
    check_ids(prepared.model, ids, tokenizer)
    check_length(ids.shape[1], longest(prepared.model))
    return {"input_ids": ids[0].tolist(), "attention_mask": [1] * ids.shape[1]}


def with_continuation(prepared: ModelInputs, target: str) -> ModelInputs:
    """A language model that has written this target behind the text."""
    if not _writes(prepared):
        raise BadInput(
            f"{type(prepared.model).__name__} does not write text.",
            "target and generate are for language models and encoder–decoders.",
            "Give the second text as pair=…, or load a model that writes.",
        )
    tokenizer = _tokenizer(prepared)
    more = tokenizer(target, add_special_tokens=False, return_tensors="pt")["input_ids"]
    ids = torch.cat([prepared.given["input_ids"], more.to(torch.long)], dim=1)
    return _longer(prepared, ids, prepared.title + target)


def with_generation(prepared: ModelInputs, count: int) -> ModelInputs:
    """The text as the model itself goes on, always with its likeliest token."""
    model: Any = prepared.model
    if not _writes(prepared) or not hasattr(model, "generate"):
        raise BadInput(
            f"{type(model).__name__} cannot generate text.",
            "generate=… needs a model with a language-modeling head.",
            "Load it with AutoModelForCausalLM or AutoModelForSeq2SeqLM, or give target=….",
        )
    given = {k: v for k, v in prepared.for_forward().items() if k in prepared.given}
    given.pop("token_type_ids", None)
    try:
        ids = model.generate(**given, max_new_tokens=count, do_sample=False, num_beams=1)
    except (TypeError, AttributeError) as error:
        raise BadInput(
            f"{type(model).__name__} failed to generate text ({error}).",
            "generate=… needs a model with a language-modeling head.",
            "Load it with AutoModelForCausalLM or AutoModelForSeq2SeqLM, or give target=….",
        ) from error
    ids = ids.cpu()
    if has_encoder(model):
        title = _titled(prepared, ids[0])
        return replace(prepared, given=prepared.given | {"decoder_input_ids": ids}, title=title)
    return _longer(prepared, ids, _titled(prepared, ids[0, prepared.given["input_ids"].shape[1] :]))


def _titled(prepared: ModelInputs, written: torch.Tensor) -> str:
    """What was said, and what the model wrote, where a tokenizer can spell it."""
    spell = getattr(prepared.tokenizer, "decode", None)
    told = spell(written.tolist(), skip_special_tokens=True).strip() if spell else ""
    return " → ".join(part for part in (prepared.title, told) if part)


def _writes(prepared: ModelInputs) -> bool:
    """Whether the model writes text: an encoder–decoder, or a class that can generate."""
    can = getattr(prepared.model, "can_generate", None)
    return has_encoder(prepared.model) or bool(can is not None and can())


def _longer(prepared: ModelInputs, ids: torch.Tensor, title: str) -> ModelInputs:
    check_length(ids.shape[1], longest(prepared.model))
    given = prepared.given | {"input_ids": ids}
    if "attention_mask" in given:
        grown = torch.ones_like(ids)
        grown[:, : prepared.given["attention_mask"].shape[1]] = prepared.given["attention_mask"]
        given["attention_mask"] = grown
    given.pop("token_type_ids", None)
    return replace(prepared, given=given, title=title)


def _tokenizer(prepared: ModelInputs) -> Any:
    if prepared.tokenizer is None:
        raise BadInput(
            "There is no tokenizer.",
            "A target needs one to become tokens.",
            "Give the tokenizer after the model, or decoder_input_ids in inputs=….",
        )
    return prepared.tokenizer
