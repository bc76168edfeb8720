"""What goes into the model, and what to call each position afterwards."""

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from normviz.core.tokens import Tokens
from normviz.errors import BadInput
from normviz.model import detokenize as spelling
from normviz.model.audio import times
from normviz.model.limits import check_ids, check_length, longest
from normviz.model.types import Real


@dataclass(frozen=True)
class ModelInputs:
    """Ready model inputs, with what is needed to label the result."""

    model: nn.Module
    given: dict[str, Any]
    tokenizer: Any = None
    title: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def batch(self) -> int:
        """How many sequences there are."""
        return next(len(value) for value in self.given.values() if isinstance(value, Tensor))

    def ids(self, side: str) -> Tensor | None:
        """The token ids of a side; a single stack has the same on both."""
        name = "decoder_input_ids" if side == "decoder" and has_encoder(self.model) else "input_ids"
        found = self.given.get(name)
        return found if isinstance(found, Tensor) else None

    def real(self, side: str, length: int) -> Real | None:
        """Which of the positions of a side hold tokens and not padding; None: all of them."""
        decoding = side == "decoder" and has_encoder(self.model)
        mask = self.given.get("decoder_attention_mask" if decoding else "attention_mask")
        if not isinstance(mask, Tensor) or mask.ndim != 2:  # noqa: PLR2004
            return None
        frames = getattr(self.model, "_get_feature_vector_attention_mask", None)
        if mask.shape[1] != length and frames is not None:  # sound: the mask counts samples
            mask = frames(length, mask)
        if mask.shape[1] != length or bool(mask.bool().all()):
            return None
        return mask.bool()

    def tokens(self, side: str, length: int, row: int) -> Tokens:
        """The labels of a side: pieces, ids, image patches, times, or plain numbers."""
        ids = self.ids(side)
        if ids is not None and ids.shape[1] == length:
            row_ids = ids[row].tolist()
            if self.tokenizer is not None:
                return spelling.read(self.tokenizer, row_ids)
            return spelling.unread(row_ids)
        if "pixel_values" in self.given:
            return patches(self.given["pixel_values"], self.model, length)
        heard = side == "encoder" and times(self.given, getattr(self.model, "config", None), length)
        if heard:
            return heard
        return Tokens.plain(str(n) for n in range(length))

    def fingerprint(self) -> str:
        """A hash of everything the model was given."""
        digest = hashlib.sha256()
        for name in sorted(self.given):
            value = self.given[name]
            if isinstance(value, Tensor):
                plain = value.detach().cpu().contiguous()
                digest.update(f"{name} {tuple(plain.shape)} {plain.dtype}".encode())
                digest.update(plain.view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()[:16]

    def for_forward(self) -> dict[str, Any]:
        """The inputs on the model's device, without cache and without needless logits."""
        device, dtype = _place(self.model)
        moved = {
            name: value.to(device, dtype if value.is_floating_point() else None)
            if isinstance(value, Tensor)
            else value
            for name, value in self.given.items()
        }
        takes = inspect.signature(type(self.model).forward).parameters
        spare = {"use_cache": False, "logits_to_keep": 1}
        return moved | {name: value for name, value in spare.items() if name in takes}


def has_encoder(model: nn.Module) -> bool:
    """Whether the model is an encoder–decoder."""
    return bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))


def _place(model: nn.Module) -> tuple[torch.device, torch.dtype]:
    """Where the inputs go, and in which precision."""
    first = next(model.parameters(), None)
    if first is None:
        return torch.device("cpu"), torch.float32
    # Offloaded weights lie on the meta device; accelerate's hooks move the inputs themselves.
    device = first.device if not hasattr(model, "_hf_hook") else torch.device("cpu")
    dtype = first.dtype if first.dtype.is_floating_point else torch.float32
    return device, dtype


def patches(pixels: Tensor, model: nn.Module, length: int) -> Tokens:
    """Image patches by row and column, after the special tokens that vision models put first."""
    config = getattr(model, "config", None)
    config = getattr(config, "vision_config", config)
    size = getattr(config, "patch_size", None)
    if not isinstance(size, int):
        return Tokens.plain(str(n) for n in range(length))
    rows, columns = pixels.shape[-2] // size, pixels.shape[-1] // size
    extra = length - rows * columns
    if extra < 0:
        return Tokens.plain(str(n) for n in range(length))
    special = ["[CLS]", *(f"[extra {n}]" for n in range(1, extra))][:extra]
    places = [f"{row},{column}" for row in range(rows) for column in range(columns)]
    labels = Tokens.plain(special + places, special=[True] * extra + [False] * len(places))
    kinds = ("[CLS]", *labels.categories[1:]) if extra else labels.categories
    return replace(
        labels,
        categories=tuple(
            "other" if not s else k for s, k in zip(labels.special, kinds, strict=True)
        ),
    )


def from_inputs(model: nn.Module, tokenizer: Any, inputs: Mapping[str, Any]) -> ModelInputs:
    """Inputs that are ready for the model, of any modality."""
    given = {
        name: torch.as_tensor(value) if _is_array(value) else value
        for name, value in dict(inputs).items()
    }
    if not any(isinstance(value, Tensor) and value.numel() for value in given.values()):
        raise BadInput(
            f"inputs holds {sorted(given) or 'nothing'}, and no tensor with numbers in it.",
            "The model's own inputs are wanted, such as input_ids or pixel_values.",
            "Give what the tokenizer or processor returned: inputs=processor(…).",
        )
    if "labels" in given and has_encoder(model) and "decoder_input_ids" not in given:
        given["decoder_input_ids"] = shifted(model, given["labels"])
    given.pop("labels", None)
    prepared = ModelInputs(model, given, tokenizer)
    for side in ("encoder", "decoder"):
        ids = prepared.ids(side)
        if ids is not None:
            check_ids(model, ids, tokenizer)
    return prepared


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__array__") or isinstance(value, list)


def from_texts(
    model: nn.Module,
    tokenizer: Any,
    texts: Sequence[str],
    pairs: Sequence[str] | None = None,
    *,
    truncate: bool = False,
    most: int | None = None,
) -> ModelInputs:
    """One or more texts (or pairs) as a batch, padded on the right where lengths differ.

    With `most`, a text may have no more tokens than that, whatever the model can take.
    """
    if tokenizer is None:
        raise BadInput(
            "There is no tokenizer.",
            "A text needs one to become tokens.",
            "Give the tokenizer after the model, or ready inputs with inputs=….",
        )
    rows = []
    notes: list[str] = []
    limits = [one for one in (longest(model, tokenizer), most) if one is not None]
    limit = min(limits, default=None)
    for n, text in enumerate(texts):
        pair = pairs[n] if pairs is not None else None
        row, note = encoded(tokenizer, text, pair, limit, truncate=truncate)
        rows.append(row)
        notes += note
    given = padded(rows, getattr(tokenizer, "pad_token_id", None) or 0)
    check_ids(model, given["input_ids"], tokenizer)
    title = " ‖ ".join(part for part in (texts[0], pairs[0] if pairs else None) if part)
    return ModelInputs(model, given, tokenizer, title, tuple(notes))


def encoded(
    tokenizer: Any, text: str, pair: str | None, limit: int | None, *, truncate: bool
) -> tuple[dict[str, list[int]], list[str]]:
    """One text as ids, checked for emptiness and length."""
    if not isinstance(text, str) or not text.strip():
        raise BadInput(
            f"The text is {text!r}.",
            "A text with at least one visible character is wanted.",
            "Give some text, or ready inputs with inputs=….",
        )
    encode = {"text": text, "text_pair": pair, "verbose": False}
    row = {name: list(value) for name, value in tokenizer(**encode).items()}
    length = len(row["input_ids"])
    notes = []
    if truncate and limit is not None and length > limit:
        short = tokenizer(**encode, truncation=True, max_length=limit)
        row = {name: list(value) for name, value in short.items()}
        notes.append(f"the text was cut from {length} to {len(row['input_ids'])} tokens")
    check_length(len(row["input_ids"]), limit)
    if all(number in tokenizer.all_special_ids for number in row["input_ids"]):
        raise BadInput(
            f"The text {text!r} gives nothing but special tokens.",
            "At least one token of text is wanted.",
            "Give some text that the tokenizer knows.",
        )
    return row, notes


def padded(rows: Sequence[Mapping[str, list[int]]], pad: int) -> dict[str, Tensor]:
    """Rows of ids as one batch, filled up on the right."""
    longest_row = max(len(row["input_ids"]) for row in rows)
    given = {}
    for name in rows[0]:
        fill = pad if name == "input_ids" else 0
        given[name] = torch.tensor([r[name] + [fill] * (longest_row - len(r[name])) for r in rows])
    return given


def shifted(model: nn.Module, labels: Tensor) -> Tensor:
    """The decoder's input when it is taught these labels: a start token, then all but the last."""
    own = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if own is not None:
        return own(labels)  # type: ignore[no-any-return]
    config: Any = model.config
    start = getattr(config, "decoder_start_token_id", None)
    start = config.bos_token_id if start is None else start
    return torch.cat([torch.full_like(labels[:, :1], start), labels[:, :-1]], dim=1)
