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
from normviz.model.audio import frame_times
from normviz.model.capture.towers import modality_of
from normviz.model.detokenize import label_ids, label_tokens
from normviz.model.limits import (
    MaxTokens,
    check_ids,
    check_length,
    origin_of,
    require_max_tokens,
    token_limit,
)
from normviz.model.patches import IMAGE_AXES, TokenOrder, locate_tokens
from normviz.model.types import TokenMask


@dataclass(frozen=True)
class ModelInputs:
    """Ready model inputs, with what is needed to label the result."""

    model: nn.Module
    tensors: dict[str, Any]
    """The keyword arguments of the model's forward pass."""
    tokenizer: Any = None
    title: str = ""
    notes: tuple[str, ...] = field(default=())
    orders: dict[str, TokenOrder] = field(default_factory=dict, compare=False)
    """Where the patches of an image lie in each tower, once that was looked for."""

    @property
    def batch(self) -> int:
        """How many texts, images or sounds there are, each with its own inputs.

        Patches of images that are given in one list, with the grids they belong to, are one.
        """
        for name in ("input_ids", "decoder_input_ids"):
            if isinstance(self.tensors.get(name), Tensor):
                return len(self.tensors[name])
        if any("grid" in name for name in self.tensors):
            return 1
        return next(len(value) for value in self.tensors.values() if isinstance(value, Tensor))

    def ids(self, component: str) -> Tensor | None:
        """Return the token ids of the encoder or decoder; a single stack has the same for both."""
        decoding = component == "decoder" and has_encoder(self.model)
        ids = self.tensors.get("decoder_input_ids" if decoding else "input_ids")
        # Several codes for each position, as of sounds, are no tokens.
        return ids if isinstance(ids, Tensor) and ids.ndim == 2 else None  # noqa: PLR2004

    def token_mask(
        self, component: str, length: int, modality: str | None = None
    ) -> TokenMask | None:
        """Return which positions hold tokens and not padding; None if all of them do.

        Beside a text, the mask is the text's, and an image or a sound has none.
        """
        if modality == "vision" or "input_ids" not in self.tensors:
            patches = self.tensors.get("pixel_attention_mask")
            if isinstance(patches, Tensor) and patches.shape[1:] == (length,):
                return None if bool(patches.bool().all()) else patches.bool()
        if modality in ("vision", "audio") and "input_ids" in self.tensors:
            return None
        decoding = component == "decoder" and has_encoder(self.model)
        mask = self.tensors.get("decoder_attention_mask" if decoding else "attention_mask")
        if not isinstance(mask, Tensor) or mask.ndim != 2:  # noqa: PLR2004
            return None
        frame_mask = getattr(self.model, "_get_feature_vector_attention_mask", None)
        if mask.shape[1] != length and frame_mask is not None:  # audio: the mask counts samples
            mask = frame_mask(length, mask)
        if mask.shape[1] != length or bool(mask.bool().all()):
            return None
        return mask.bool()

    def tokens(self, component: str, length: int, row: int, tower: str = "") -> Tokens:
        """Return the labels of one sequence: tokens, ids, image patches, times or numbers."""
        modality = modality_of(tower)
        ids = self.ids(component) if modality not in ("vision", "audio") else None
        if ids is not None and ids.shape[1] == length:
            return self._label_ids(ids[row].tolist())
        if "pixel_values" in self.tensors and modality != "text":
            return self._label_image(length, row, tower)
        if component == "encoder":
            times = frame_times(self.tensors, getattr(self.model, "config", None), length)
            if times:
                return times
        return Tokens.plain(str(n) for n in range(length))

    def _label_ids(self, ids: list[int]) -> Tokens:
        return label_ids(ids) if self.tokenizer is None else label_tokens(self.tokenizer, ids)

    def _label_image(self, length: int, row: int, tower: str) -> Tokens:
        """Return the labels of patches, and of a text beside them, where their order is known."""
        grid = patch_grid(self.tensors["pixel_values"], self.model)
        if tower not in self.orders:
            self.orders[tower] = locate_tokens(self.model, self.for_forward(), tower, grid)
        order = self.orders[tower]
        numbers = Tokens.plain(str(n) for n in range(length))
        if order.count != length:  # it sees parts of the image apart, or joined
            return numbers
        labels, special = list(numbers.pieces), [False] * length
        if grid is not None and order.patches is not None:
            labels, special = [f"[extra {n}]" for n in range(length)], [True] * length
            rows, columns = grid
            for number in range(rows * columns):
                place = order.patches + number
                labels[place], special[place] = f"{number // columns},{number % columns}", False
            if order.patches and order.text is None and _has_class_token(self.model):
                labels[0] = "[CLS]"
        ids = self.ids("encoder")
        if ids is not None and order.text is not None:
            text = self._label_ids(ids[row].tolist())
            end = order.text + len(text)
            labels[order.text : end], special[order.text : end] = text.pieces, text.special
        tokens = Tokens.plain(labels, special=special)
        categories = ("[CLS]" if label == "[CLS]" else "other" for label in labels)
        return replace(tokens, categories=tuple(categories))

    def fingerprint(self) -> str:
        """Return a hash of everything the model was given."""
        digest = hashlib.sha256()
        for name in sorted(self.tensors):
            value = self.tensors[name]
            if isinstance(value, Tensor):
                plain = value.detach().cpu().contiguous()
                digest.update(f"{name} {tuple(plain.shape)} {plain.dtype}".encode())
                digest.update(plain.view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()[:16]

    def for_forward(self) -> dict[str, Any]:
        """Return the inputs on the model's device, without cache and without needless logits."""
        device, dtype = _device_and_dtype(self.model)
        moved = {
            name: value.to(device, dtype if value.is_floating_point() else None)
            if isinstance(value, Tensor)
            else value
            for name, value in self.tensors.items()
        }
        parameters = inspect.signature(type(self.model).forward).parameters
        savings = {"use_cache": False, "logits_to_keep": 1}
        return moved | {name: value for name, value in savings.items() if name in parameters}


def has_encoder(model: nn.Module) -> bool:
    """Return whether the model is an encoder–decoder."""
    return bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))


def needs_decoder_input(prepared: ModelInputs) -> bool:
    """Return whether a decoder has nothing to read, and no queries of its own either."""
    parameters = inspect.signature(type(prepared.model).forward).parameters
    given = any(name.startswith("decoder_") for name in prepared.tensors)
    return has_encoder(prepared.model) and "decoder_input_ids" in parameters and not given


def _device_and_dtype(model: nn.Module) -> tuple[torch.device, torch.dtype]:
    """Return where the inputs go, and in which precision."""
    first = next(model.parameters(), None)
    if first is None:
        return torch.device("cpu"), torch.float32
    # Offloaded weights lie on the meta device; accelerate's hooks move the inputs themselves.
    device = first.device if not hasattr(model, "_hf_hook") else torch.device("cpu")
    dtype = first.dtype if first.dtype.is_floating_point else torch.float32
    return device, dtype


def _has_class_token(model: nn.Module) -> bool:
    """Whether a vision model has a learned token of its own, which is put before the patches."""
    names = ("cls_token", "class_embedding")
    return any(name.endswith(names) for name, _ in model.named_parameters())


def patch_grid(pixels: Tensor, model: nn.Module) -> tuple[int, int] | None:
    """Return how many rows and columns of patches an image has; None where that is not known."""
    config = getattr(model, "config", None)
    size = getattr(getattr(config, "vision_config", config), "patch_size", None)
    height, width = (size, size) if isinstance(size, int) else (size or (0, 0))
    if pixels.ndim != IMAGE_AXES or not (height and width):
        return None
    rows, columns = pixels.shape[-2] // height, pixels.shape[-1] // width
    return (rows, columns) if rows and columns else None


def from_inputs(model: nn.Module, tokenizer: Any, inputs: Mapping[str, Any]) -> ModelInputs:
    """Return inputs that are ready for the model, of any modality."""
    tensors = {
        name: torch.as_tensor(value) if _is_array(value) else value
        for name, value in dict(inputs).items()
    }
    if not any(isinstance(value, Tensor) and value.numel() for value in tensors.values()):
        raise BadInput(
            f"inputs holds {sorted(tensors) or 'nothing'}, and no tensor with numbers in it.",
            "Expected the model's own inputs, such as input_ids or pixel_values.",
            "Give what the tokenizer or processor returned: inputs=processor(…).",
        )
    if "labels" in tensors and has_encoder(model) and "decoder_input_ids" not in tensors:
        tensors["decoder_input_ids"] = shift_right(model, tensors["labels"])
    tensors.pop("labels", None)
    prepared = ModelInputs(model, tensors, tokenizer)
    for component in ("encoder", "decoder"):
        ids = prepared.ids(component)
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
    max_tokens: MaxTokens | None = None,
) -> ModelInputs:
    """Return one or more texts (or pairs) as a batch, padded on the right where lengths differ.

    With `max_tokens`, longer texts are cut there, or at the model's own limit if that is lower;
    without it, a text that the model cannot take is refused.
    """
    require_max_tokens(max_tokens)
    if tokenizer is None:
        origin = origin_of(model)
        raise BadInput(
            f"There is no tokenizer; none could be loaded from {origin!r}, where the model is from."
            if origin
            else "There is no tokenizer; the model does not say where it was loaded from.",
            "A text needs one to become tokens.",
            "Give tokenizer=…, or ready model inputs with inputs=….",
        )
    limits = [token_limit(model, tokenizer), max_tokens if max_tokens != "model" else None]
    limit = min((number for number in limits if number is not None), default=None)
    rows = []
    notes: list[str] = []
    for n, text in enumerate(texts):
        pair = pairs[n] if pairs is not None else None
        row, note = encode_text(tokenizer, text, pair, limit, truncate=max_tokens is not None)
        rows.append(row)
        notes += note
    tensors = pad_rows(rows, getattr(tokenizer, "pad_token_id", None) or 0)
    check_ids(model, tensors["input_ids"], tokenizer)
    title = " / ".join(part for part in (texts[0], pairs[0] if pairs else None) if part)
    return ModelInputs(model, tensors, tokenizer, title, tuple(notes))


def encode_text(
    tokenizer: Any, text: Any, pair: str | None, limit: int | None, *, truncate: bool
) -> tuple[dict[str, list[int]], list[str]]:
    """Return one text as ids with notes for the receipt, checked for emptiness and length."""
    if not isinstance(text, str) or not text.strip():
        raise BadInput(
            f"The text is {text!r}.",
            "Expected a text with at least one visible character.",
            "Give some text, or ready inputs with inputs=….",
        )
    options = {"text": text, "text_pair": pair, "verbose": False}
    row = {name: list(value) for name, value in tokenizer(**options).items()}
    length = len(row["input_ids"])
    notes = []
    if truncate and limit is not None and length > limit:
        short = tokenizer(**options, truncation=True, max_length=limit)
        row = {name: list(value) for name, value in short.items()}
        notes.append(f"the text was cut from {length} to {len(row['input_ids'])} tokens")
    check_length(len(row["input_ids"]), limit)
    if all(number in tokenizer.all_special_ids for number in row["input_ids"]):
        raise BadInput(
            f"The text {text!r} gives nothing but special and unknown tokens.",
            "Expected at least one token of text.",
            "Give some text that the tokenizer knows.",
        )
    return row, notes


def pad_rows(rows: Sequence[Mapping[str, list[int]]], pad: int) -> dict[str, Tensor]:
    """Return rows of ids as one batch, padded on the right."""
    width = max(len(row["input_ids"]) for row in rows)
    tensors = {}
    for name in rows[0]:
        fill = pad if name == "input_ids" else 0
        tensors[name] = torch.tensor([r[name] + [fill] * (width - len(r[name])) for r in rows])
    return tensors


def shift_right(model: nn.Module, labels: Tensor) -> Tensor:
    """Return the decoder's input for these labels: a start token, then all but the last."""
    own = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if own is not None:
        return own(labels)  # type: ignore[no-any-return]
    config: Any = model.config
    start = getattr(config, "decoder_start_token_id", None)
    start = config.bos_token_id if start is None else start
    return torch.cat([torch.full_like(labels[:, :1], start), labels[:, :-1]], dim=1)
