"""Mixing ratios over many texts, as in Table 2 of Kobayashi et al. 2021."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from normviz.errors import BadInput
from normviz.model.analyze import analyze
from normviz.model.loading import load_model
from normviz.studies.identifiability.documents import Text, listed
from normviz.system.optional import require_packages
from normviz.system.progress import track_progress

if TYPE_CHECKING:
    import pandas as pd
    import torch

PAPER = {
    "ATTN-W": "weight",
    "ATTN-N": "attention",
    "ATTNRES-W": "weight-residual",
    "ATTNRES-N": "attention-residual",
    "ATTNRESLN-N": "attention-block",
}
"""What Kobayashi et al. 2021 call the mixing ratios, and what `Flow.mixing` calls them."""


@dataclass(frozen=True)
class Ratio:
    """A mixing ratio over all tokens and layers of many texts."""

    mean: float
    max: float
    min: float


@dataclass(frozen=True)
class Mixing:
    """How much of a token comes from others, as in Table 2 of Kobayashi et al. 2021."""

    model: str
    texts: int
    tokens: int
    """How many there were in all texts together, special ones included."""
    masked: int
    """How many of them were replaced by the mask."""
    ratios: Mapping[str, Ratio]
    """By the paper's names."""

    def __post_init__(self) -> None:
        """Lock the ratios."""
        object.__setattr__(self, "ratios", MappingProxyType(dict(self.ratios)))

    def __str__(self) -> str:
        """The table in per cent, as the paper prints it."""
        counted = f"{self.texts} texts, {self.tokens:,} tokens, {self.masked:,} of them masked"
        rows = [f"{'mixing ratio, %':<16} {'mean':>6} {'max':>6} {'min':>6}"]
        for name, ratio in self.ratios.items():
            percent = " ".join(f"{100 * value:>6.1f}" for value in asdict(ratio).values())
            rows.append(f"{name:<16} {percent}")
        return "\n".join([f"{self.model}: {counted}", *rows])

    __repr__ = __str__

    def to_dataframe(self) -> "pd.DataFrame":
        """One row for each ratio, between 0 and 1."""
        with require_packages("pandas", extra="tables"):
            import pandas as pd

        return pd.DataFrame(
            [{"ratio": name, **asdict(ratio)} for name, ratio in self.ratios.items()]
        )


def mixing(
    model: Any,
    texts: Iterable[Text],
    *,
    tokenizer: Any = None,
    masked: Any = 0.12,
    longest: int = 128,
    seed: int = 0,
    dtype: "str | torch.dtype | None" = None,
) -> Mixing:
    """Mixing ratios over many texts, by the protocol of Kobayashi et al. 2021 (Table 2).

    In every text 12% of the tokens that are not special, rounded down but at least one, are
    replaced by the mask (15% × 80%, as in BERT's training); then each token of each layer counts
    once. Published for BERT-base: 85.2 (ATTN-N), 22.3 (ATTNRES-N) and 18.8 (ATTNRESLN-N) per cent,
    over 992 sequences from Wikipedia. For the two ratios by weight the paper prints 97.1 and 48.6,
    and the authors' released notebook 96.4 and 48.2.

    Parameters
    ----------
    model, tokenizer
        As for `analyze`.
    texts
        Texts, or pairs of texts that are read together.
    masked
        Which share of the tokens is masked; 0 for models without a mask.
    longest
        After how many tokens a text is cut off.
    seed
        Where the random choice of masked tokens begins.
    dtype
        The precision to run in.
    """
    given = listed(texts, "mixing")
    if not (isinstance(masked, int | float) and 0 <= masked <= 1):
        raise BadInput(
            f"masked is {masked!r}.",
            "The share of tokens to mask is wanted, from 0 to 1.",
            "Write masked=0.12, as in the paper.",
        )
    loaded = load_model(model, tokenizer, dtype=dtype)
    draw = random.Random(seed)  # noqa: S311 (the paper's own choice, and no secret)
    found: dict[str, list[np.ndarray]] = {name: [] for name in PAPER}
    replaced = 0
    measures = ["weight", *(rung for rung in PAPER.values() if rung.startswith("attention"))]
    with track_progress("texts", len(given)) as step:
        for text in given:
            inputs, count = _masked(loaded.tokenizer, text, float(masked), longest, draw)
            flow = analyze(loaded.model, loaded.tokenizer, inputs=inputs, measures=measures)
            replaced += count
            for name, rung in PAPER.items():
                found[name].append(flow.mixing(rung))
            step()
    return _tabulated(loaded.name, found, replaced)


def _tabulated(model: str, found: Mapping[str, list[np.ndarray]], masked: int) -> Mixing:
    counts = [ratios.shape[1] for ratios in found["ATTN-W"]]
    pooled = {
        name: np.concatenate([r.ravel() for r in ratios]).astype(np.float64)
        for name, ratios in found.items()
    }
    ratios = {
        name: Ratio(float(all_.mean()), float(all_.max()), float(all_.min()))
        for name, all_ in pooled.items()
    }
    return Mixing(model, len(counts), sum(counts), masked, ratios)


def _masked(
    tokenizer: Any, text: Text, share: float, longest: int, draw: random.Random
) -> tuple[dict[str, Any], int]:
    """The model's inputs with some tokens replaced by the mask, and how many."""
    if tokenizer is None or (share and getattr(tokenizer, "mask_token_id", None) is None):
        raise BadInput(
            "There is no tokenizer." if tokenizer is None else "This tokenizer has no mask.",
            "The paper's protocol masks 12% of the tokens.",
            "Give tokenizer=…." if tokenizer is None else "Write masked=0 to leave texts whole.",
        )
    pair = (text,) if isinstance(text, str) else text
    inputs = tokenizer(
        *pair,
        truncation=True,
        max_length=longest,
        return_special_tokens_mask=True,
        return_tensors="pt",
    )
    special = inputs.pop("special_tokens_mask")[0]
    places = [place for place, flag in enumerate(special.tolist()) if not flag]
    count = min(len(places), max(1, int(len(places) * share))) if share else 0
    for place in draw.sample(places, count):
        inputs["input_ids"][0, place] = tokenizer.mask_token_id
    return dict(inputs), count
