"""Mixing ratios over many texts, as in Table 2 of Kobayashi et al. 2021."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from normviz.core.catalog import MEASURES
from normviz.core.keywords import refuse_unknown_keywords
from normviz.corpus.arguments import require_model_and_texts, require_text_list
from normviz.corpus.sources import Text
from normviz.errors import BadInput
from normviz.io.tables import dataframe_of
from normviz.model.analyze import analyze
from normviz.model.limits import MaxTokens, check_length, require_max_tokens, token_limit
from normviz.model.loading import LoadedModel, load_model
from normviz.system.progress import track_progress

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import torch

    from normviz.core.words import MixingId
    from normviz.model.types import Model, Tokenizer

PAPER_NAMES: "dict[str, MixingId]" = {
    "ATTN-W": "weight",
    "ATTN-N": "attention",
    "ATTNRES-W": "weight-residual",
    "ATTNRES-N": "attention-residual",
    "ATTNRESLN-N": "attention-block",
}
"""The names of the mixing ratios in Kobayashi et al. 2021, and in `Flow.mixing`."""


@dataclass(frozen=True)
class Ratio:
    """A mixing ratio over all tokens and layers of many texts."""

    mean: float
    max: float
    min: float


@dataclass(frozen=True)
class Mixing:
    """How much of a token comes from other tokens, as in Table 2 of Kobayashi et al. 2021."""

    model: str
    texts: int
    tokens: int
    """The number of tokens in all texts, including special ones."""
    masked: int
    """The number of tokens that were replaced by the mask."""
    ratios: Mapping[str, Ratio]
    """By the paper's names."""

    def __post_init__(self) -> None:
        """Make the ratios read-only."""
        object.__setattr__(self, "ratios", MappingProxyType(dict(self.ratios)))

    def __str__(self) -> str:
        """Return the table in percent, as the paper prints it."""
        counts = f"{self.texts} texts, {self.tokens:,} tokens, {self.masked:,} of them masked"
        rows = [f"{'mixing ratio, %':<16} {'mean':>6} {'max':>6} {'min':>6}"]
        for name, ratio in self.ratios.items():
            percent = " ".join(f"{100 * value:>6.1f}" for value in asdict(ratio).values())
            rows.append(f"{name:<16} {percent}")
        return "\n".join([f"{self.model}: {counts}", *rows])

    __repr__ = __str__

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row for each ratio, between 0 and 1."""
        values = self.ratios.values()
        columns = {f.name: [getattr(ratio, f.name) for ratio in values] for f in fields(Ratio)}
        return dataframe_of({"ratio": list(self.ratios), **columns})


@refuse_unknown_keywords
def mixing(
    model: "Model",
    texts: "Iterable[Text]",
    *,
    tokenizer: "Tokenizer | str | Path | None" = None,
    masked: float = 0.12,
    max_tokens: "MaxTokens | None" = 128,
    seed: int = 0,
    dtype: "str | torch.dtype | None" = None,
) -> Mixing:
    """Measure mixing ratios over many texts, by the protocol of Kobayashi et al. 2021 (Table 2).

    In every text 12% of the tokens that are not special, rounded down but at least one, are
    replaced by the mask (15% × 80%, as in BERT's training); then each token of each layer counts
    once. Published for BERT-base: 85.2 (ATTN-N), 22.3 (ATTNRES-N) and 18.8 (ATTNRESLN-N) percent,
    over 992 sequences from Wikipedia. For the two ratios by weight the paper prints 97.1 and 48.6,
    and the authors' released notebook 96.4 and 48.2.

    Parameters
    ----------
    model, tokenizer
        As for `analyze`.
    texts
        Texts, or pairs of texts that are read together.
    masked
        The share of the tokens to mask; 0 for models without a mask.
    max_tokens
        Where longer texts are truncated: a number of tokens, or `"model"` for the model's limit.
        None refuses a text that the model cannot take.
    seed
        The seed of the random choice of masked tokens.
    dtype
        The precision to run in.

    Returns
    -------
    Mixing
        Mean, maximum and minimum of each ratio.
    """
    require_model_and_texts("mixing", model, texts, tokenizer)
    text_list = require_text_list("mixing", texts)
    require_max_tokens(max_tokens)
    if not (isinstance(masked, int | float) and 0 <= masked <= 1):
        raise BadInput(
            f"masked is {masked!r}.",
            "Expected the share of tokens to mask, from 0 to 1.",
            "Write masked=0.12, as in the paper.",
        )
    loaded = load_model(model, tokenizer, dtype=dtype)
    generator = random.Random(seed)  # noqa: S311 (the paper's own choice, and not a secret)
    ratios: dict[str, list[np.ndarray]] = {name: [] for name in PAPER_NAMES}
    masked_count = 0
    measures = [name for name in PAPER_NAMES.values() if name in MEASURES]
    with track_progress("texts", len(text_list)) as step:
        for text in text_list:
            inputs, count = _mask_tokens(loaded, text, float(masked), max_tokens, generator)
            flow = analyze(
                loaded.model, tokenizer=loaded.tokenizer, inputs=inputs, measures=measures
            )
            masked_count += count
            for name, measure in PAPER_NAMES.items():
                ratios[name].append(flow.mixing(measure))
            step()
    return _pool(loaded.name, ratios, masked_count)


def _pool(model: str, ratios: Mapping[str, list[np.ndarray]], masked: int) -> Mixing:
    """Return mean, maximum and minimum over all texts, layers and tokens."""
    counts = [by_token.shape[1] for by_token in ratios["ATTN-W"]]
    pooled = {
        name: np.concatenate([by_token.ravel() for by_token in of_texts]).astype(np.float64)
        for name, of_texts in ratios.items()
    }
    results = {
        name: Ratio(float(values.mean()), float(values.max()), float(values.min()))
        for name, values in pooled.items()
    }
    return Mixing(model, len(counts), sum(counts), masked, results)


def _mask_tokens(
    loaded: LoadedModel,
    text: Text,
    share: float,
    max_tokens: MaxTokens | None,
    generator: random.Random,
) -> tuple[dict[str, Any], int]:
    """Return the model's inputs with some tokens replaced by the mask, and their number."""
    tokenizer = loaded.tokenizer
    if tokenizer is None or (share and getattr(tokenizer, "mask_token_id", None) is None):
        raise BadInput(
            "There is no tokenizer." if tokenizer is None else "This tokenizer has no mask.",
            "The paper's protocol masks 12% of the tokens.",
            "Give tokenizer=…." if tokenizer is None else "Write masked=0 to mask nothing.",
        )
    limit = token_limit(loaded.model, tokenizer)
    if isinstance(max_tokens, int):
        limit = max_tokens if limit is None else min(max_tokens, limit)
    truncate = {} if max_tokens is None or limit is None else {"max_length": limit}
    inputs = tokenizer(
        *((text,) if isinstance(text, str) else text),
        truncation=bool(truncate),
        **truncate,
        return_special_tokens_mask=True,
        return_tensors="pt",
    )
    special = inputs.pop("special_tokens_mask")[0].tolist()
    check_length(len(special), limit)
    positions = [position for position, flag in enumerate(special) if not flag]
    count = min(len(positions), max(1, int(len(positions) * share))) if share else 0
    for position in generator.sample(positions, count):
        inputs["input_ids"][0, position] = tokenizer.mask_token_id
    return dict(inputs), count
