"""Texts as documents: their tokens, the fold each is in, and their hidden states."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from normviz.corpus.sources import Text
from normviz.errors import BadInput, NotFinite
from normviz.model.capture.hidden_states import hidden_states
from normviz.model.inputs import ModelInputs, encode_text, pad_rows
from normviz.model.limits import MaxTokens, check_ids, token_limit


@dataclass(frozen=True)
class Document:
    """One text as token ids, and the fold it is held out in."""

    row: Mapping[str, list[int]]
    fold: int

    def __len__(self) -> int:
        """Return the number of tokens, including special ones."""
        return len(self.row["input_ids"])


@dataclass(frozen=True)
class States:
    """The hidden states of one document, in float64, without padding."""

    inputs: Float[Tensor, "key model"]
    """The input of the first layer."""
    layers: Mapping[int, Float[Tensor, "query model"]]
    """The output of each layer, by its number."""


def read_documents(
    model: nn.Module,
    tokenizer: Any,
    texts: Sequence[Text],
    *,
    max_tokens: MaxTokens | None,
    folds: int,
    seed: int,
) -> list[Document]:
    """Return texts as documents, the shortest first, each in one fold.

    The order of the texts makes no difference: they are assigned to the folds by a hash of their
    tokens and the seed. Texts with the same tokens are in the same fold.
    """
    if tokenizer is None:
        raise BadInput(
            "There is no tokenizer.", "A text needs one to become tokens.", "Give tokenizer=…."
        )
    limit = token_limit(model, tokenizer)
    if isinstance(max_tokens, int):
        limit = min(max_tokens, limit or max_tokens)
    rows = []
    for text in texts:
        first, pair = (text, None) if isinstance(text, str) else text
        row, _ = encode_text(tokenizer, first, pair, limit, truncate=max_tokens is not None)
        check_ids(model, torch.tensor(row["input_ids"]), tokenizer)
        rows.append({"attention_mask": [1] * len(row["input_ids"])} | row)
    digests = [_digest(row, seed) for row in rows]
    fold_of = {digest: index % folds for index, digest in enumerate(sorted(set(digests)))}
    if len(fold_of) < folds:
        raise BadInput(
            f"There are {len(fold_of)} different texts, and {folds} folds.",
            "A probe is trained on some texts and tested on others: no fold may be empty.",
            'Give more texts, fewer folds=…, or probes="naive", which is not trained.',
        )
    order = sorted(range(len(rows)), key=lambda n: (len(rows[n]["input_ids"]), digests[n]))
    return [Document(rows[n], fold_of[digests[n]]) for n in order]


def _digest(row: Mapping[str, list[int]], seed: int) -> str:
    return hashlib.sha256(f"{seed} {row['input_ids']}".encode()).hexdigest()


def document_states(
    model: nn.Module, tokenizer: Any, batch: Sequence[Document], layers: Sequence[int] | None
) -> Iterator[States]:
    """Yield the hidden states of each document of a batch, of some layers or of all."""
    pad = getattr(tokenizer, "pad_token_id", None) or 0
    prepared = ModelInputs(model, pad_rows([document.row for document in batch], pad), tokenizer)
    inputs, *outputs = hidden_states(model, prepared.for_forward())
    numbers = range(len(outputs)) if layers is None else layers
    if unknown := [layer for layer in numbers if layer not in range(len(outputs))]:
        raise BadInput(
            f"layers holds {unknown[0]!r}.",
            f"The model has {len(outputs)} layers, numbered from 0.",
            "Give the numbers of some of them, or leave layers out.",
        )
    for row, document in enumerate(batch):
        tokens = slice(len(document))
        states = {layer: _as_float64(outputs[layer][row, tokens]) for layer in numbers}
        yield States(_as_float64(inputs[row, tokens]), states)


def _as_float64(vectors: Tensor) -> Tensor:
    """Return the vectors in float64, on their device if it has float64."""
    if not vectors.isfinite().all():
        raise NotFinite(
            "A hidden state holds NaN or an infinite number.",
            "Expected finite numbers, to compare distances.",
            'Run the model in a wider type: dtype="float32".',
        )
    return vectors.cpu().double() if vectors.device.type == "mps" else vectors.double()
