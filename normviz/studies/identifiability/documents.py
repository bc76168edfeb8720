"""Many texts as documents: tokens, folds that share no document, padded batches, hidden states."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from normviz.errors import BadInput, NotFinite
from normviz.model.capture.hidden_states import hidden_states
from normviz.model.inputs import ModelInputs, encoded, padded
from normviz.model.limits import check_ids
from normviz.model.limits import longest as most_tokens

Text = str | tuple[str, str]


@dataclass(frozen=True)
class Document:
    """One text as the tokenizer reads it, and the fold it is held out in."""

    row: Mapping[str, list[int]]
    fold: int

    def __len__(self) -> int:
        """How many tokens it has, special ones included."""
        return len(self.row["input_ids"])


@dataclass(frozen=True)
class States:
    """The hidden states of one document, in float64, without padding."""

    inputs: Float[Tensor, "key model"]
    """What enters the first layer."""
    layers: Mapping[int, Float[Tensor, "query model"]]
    """What leaves each layer, by its number."""


def listed(texts: Iterable[Text], study: str) -> list[Text]:
    """The texts of a study as a list, if there are any."""
    if isinstance(texts, str):
        raise BadInput(
            "The texts are one string.",
            "A list of texts is wanted.",
            f"Write {study}(model, [text]).",
        )
    found = list(texts)
    if not found:
        raise BadInput("There are no texts.", "At least one is wanted.", "Give a list of texts.")
    return found


def documents(
    model: nn.Module, tokenizer: Any, texts: Sequence[Text], *, longest: int, folds: int, seed: int
) -> list[Document]:
    """Texts as documents, the shortest first, each in one fold.

    The order in which texts are given makes no difference: they are dealt out to the folds by a
    hash of their tokens and the seed. Texts with the same tokens are in the same fold.
    """
    if tokenizer is None:
        raise BadInput(
            "There is no tokenizer.", "A text needs one to become tokens.", "Give tokenizer=…."
        )
    limit = min(longest, most_tokens(model, tokenizer) or longest)
    rows = []
    for text in texts:
        one, pair = (text, None) if isinstance(text, str) else text
        row, _ = encoded(tokenizer, one, pair, limit, truncate=True)
        check_ids(model, torch.tensor(row["input_ids"]), tokenizer)
        rows.append({"attention_mask": [1] * len(row["input_ids"])} | row)
    names = [_hashed(row, seed) for row in rows]
    dealt = {name: place % folds for place, name in enumerate(sorted(set(names)))}
    if len(dealt) < folds:
        raise BadInput(
            f"There are {len(dealt)} different texts, and {folds} folds.",
            "A probe learns from some texts and is tested on others: no fold may be empty.",
            'Give more texts, fewer folds=…, or probes="naive", which learns nothing.',
        )
    order = sorted(range(len(rows)), key=lambda at: (len(rows[at]["input_ids"]), names[at]))
    return [Document(rows[at], dealt[names[at]]) for at in order]


def _hashed(row: Mapping[str, list[int]], seed: int) -> str:
    return hashlib.sha256(f"{seed} {row['input_ids']}".encode()).hexdigest()


def states_of(
    model: nn.Module, tokenizer: Any, batch: Sequence[Document], layers: Sequence[int] | None
) -> Iterator[States]:
    """The hidden states of each document of a batch, in order; of some layers, or of all."""
    pad = getattr(tokenizer, "pad_token_id", None) or 0
    given = ModelInputs(model, padded([document.row for document in batch], pad), tokenizer)
    inputs, *outputs = hidden_states(model, given.for_forward())
    kept = range(len(outputs)) if layers is None else layers
    if unknown := [layer for layer in kept if layer not in range(len(outputs))]:
        raise BadInput(
            f"layers holds {unknown[0]!r}.",
            f"The model has {len(outputs)} layers, numbered from 0.",
            "Give the numbers of some of them, or leave layers out.",
        )
    for row, document in enumerate(batch):
        here = slice(len(document))
        left = {layer: _exact(outputs[layer][row, here]) for layer in kept}
        yield States(_exact(inputs[row, here]), left)


def _exact(vectors: Tensor) -> Tensor:
    """The vectors in float64, where they are if the device has it."""
    if not vectors.isfinite().all():
        raise NotFinite(
            "A hidden state holds NaN or an infinite number.",
            "Numbers are wanted, to say which vectors are near.",
            'Run the model in a wider type: dtype="float32".',
        )
    return vectors.cpu().double() if vectors.device.type == "mps" else vectors.double()
