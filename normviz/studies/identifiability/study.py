"""Token identifiability (Brunner et al. 2020, §4): is a hidden state nearest to its own token?"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from normviz.core.catalog import require_known
from normviz.core.keywords import refuse_unknown_keywords
from normviz.corpus.arguments import require_at_least, require_model_and_texts, require_text_list
from normviz.errors import BadInput
from normviz.model.batches import batched
from normviz.model.inputs import has_encoder
from normviz.model.limits import MaxTokens, require_max_tokens
from normviz.model.loading import load_model
from normviz.studies.identifiability.documents import (
    Document,
    States,
    document_states,
    read_documents,
)
from normviz.studies.identifiability.mlp import Probe
from normviz.studies.identifiability.nearest import (
    DISTANCES,
    Distance,
    identical_inputs,
    nearest_is_own,
)
from normviz.studies.identifiability.probes import ProbeTrainer, sample_tokens
from normviz.studies.identifiability.result import Counts, Identifiability
from normviz.system.progress import track_progress

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from normviz.corpus.sources import Text
    from normviz.model.types import Model, Tokenizer

ProbeName = Literal["naive", "linear", "mlp"]
PROBES: tuple[ProbeName, ...] = get_args(ProbeName)


@refuse_unknown_keywords
def identifiability(
    model: "Model",
    texts: "Iterable[Text]",
    *,
    tokenizer: "Tokenizer | str | Path | None" = None,
    probes: "ProbeName | Iterable[ProbeName]" = PROBES,
    distances: "Distance | Iterable[Distance]" = ("cosine", "l2"),
    layers: Collection[int] | None = None,
    max_tokens: "MaxTokens | None" = 128,
    batch_size: int = 16,
    folds: int = 4,
    ridge: float | None = None,
    epochs: int = 20,
    mlp_tokens: int = 20_000,
    seed: int = 0,
    dtype: "str | torch.dtype | None" = None,
) -> Identifiability:
    """Measure how often a hidden state is nearest to its own token's input, layer by layer.

    A probe maps the hidden state of every token (the output of a layer) back to the input of the
    first layer, after any embedding norm. The token is found if the result is nearer to its own
    input than to every other input vector of the same text; a tie is a miss. (In the input itself
    every token is found, so it has no row.) Each position counts, special tokens too, padding does
    not. If a model adds positions to its input, they help to tell tokens apart; if it adds none,
    all occurrences of a token have one input vector and count as one answer, and the chance level
    takes this into account. For an encoder–decoder, the encoder is studied.

    Trained probes are tested on documents they have not seen, a fold at a time; texts with equal
    tokens are in one fold. The paper's naive probe is the identity. The paper does not give all
    details of how it trains the others; the training here is our own.

    Parameters
    ----------
    model, tokenizer
        As for `analyze`.
    texts
        Texts, or pairs of texts that are read together; each is a document.
    probes
        `naive`, the hidden state itself; `linear`, ridge regression with an intercept, in closed
        form; `mlp`, one hidden layer of the model's width, trained by Adam.
    distances
        `cosine`, which depends on the angle alone, and `l2`.
    layers
        Which layers, numbered from 0; all by default. The linear probe needs
        folds × layers × 2 × model² × 8 bytes: few layers of a wide model at a time.
    max_tokens
        Where longer texts are truncated: a number of tokens, or `"model"` for the model's limit.
        None refuses a text that the model cannot take.
    batch_size
        How many texts run at once; it does not affect the result.
    folds
        The number of folds that the documents are divided into.
    ridge
        The linear probe's penalty, in units of the states' mean variance. By default the best
        of 1e-5, 1e-4 … 10 by squared error on one more fold, held out of the training.
    epochs, mlp_tokens
        How often the MLP sees its training tokens, and how many tokens are kept for it, drawn
        evenly from the folds: mlp_tokens × layers × model × 4 bytes.
    seed
        Decides folds, sampled tokens and the MLP's initial weights. torch's own random numbers are
        not affected.
    dtype
        The precision to run the model in; distances are compared in float64.

    Returns
    -------
    Identifiability
        An accuracy for each layer, probe and distance, with a table and a chart.
    """
    require_model_and_texts("identifiability", model, texts, tokenizer)
    text_list = require_text_list("identifiability", texts)
    plan = Plan(
        _parse_names(probes, PROBES, "probe"), _parse_names(distances, DISTANCES, "distance"),
        None if layers is None else tuple(sorted(set(layers))), max_tokens, batch_size, folds,
        ridge, epochs, mlp_tokens,
    )  # fmt: skip
    loaded = load_model(model, tokenizer, dtype=dtype)
    studied = loaded.model.get_encoder() if has_encoder(loaded.model) else loaded.model  # type: ignore[operator]
    documents = read_documents(
        studied, loaded.tokenizer, text_list, max_tokens=max_tokens, folds=plan.used_folds,
        seed=seed,
    )  # fmt: skip
    hits = HitCounter(documents, plan.distances)
    samples = sample_tokens(documents, mlp_tokens // folds, seed) if "mlp" in plan.probes else []
    trainer = ProbeTrainer(plan.trained_probes, folds, samples)

    def run_documents() -> Iterator[tuple[int, States]]:
        """Run the model over all documents; done twice, so that no states need to be kept."""
        numbers = iter(range(len(documents)))
        with track_progress("texts", len(documents)) as step:
            for batch in batched(documents, batch_size):
                for states in document_states(studied, loaded.tokenizer, batch, plan.layers):
                    number = next(numbers)
                    hits.start_document(number, states)
                    yield number, states
                    step()

    for number, states in run_documents():
        trainer.add(documents[number], number, states)
        if "naive" in plan.probes:
            hits.add(number, states, "naive", dict.fromkeys(states.layers, _identity))
    trained = trainer.train(ridge=ridge, epochs=epochs, seed=seed)
    for number, states in run_documents() if plan.trained_probes else ():
        fold = documents[number].fold
        for probe in plan.trained_probes:
            hits.add(number, states, probe, {n: trained[probe, n][fold] for n in states.layers})
    name = loaded.name if studied is loaded.model else f"{loaded.name} (encoder)"
    return Identifiability.from_hits(
        hits.sorted_by_layer(plan.probes), hits.tokens, model=name, folds=plan.used_folds,
        chance=hits.chance, ridges=trainer.ridges,
    )  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """The arguments of a study, checked."""

    probes: tuple[str, ...]
    distances: tuple[str, ...]
    layers: tuple[int, ...] | None
    max_tokens: Any
    batch_size: Any
    folds: Any
    ridge: Any
    epochs: Any
    mlp_tokens: Any

    def __post_init__(self) -> None:
        """Refuse values that cannot be used."""
        require_max_tokens(self.max_tokens)
        chooses_ridge = "linear" in self.probes and self.ridge is None
        require_at_least(3 if chooses_ridge else 2, folds=self.folds)
        require_at_least(1, batch_size=self.batch_size, epochs=self.epochs)
        require_at_least(self.folds, mlp_tokens=self.mlp_tokens)
        if self.ridge is not None and not self.ridge > 0:
            raise BadInput(
                f"ridge is {self.ridge!r}.",
                "Expected a positive number, in units of the states' mean variance.",
                "Write ridge=1e-4, or leave it out to have it chosen.",
            )

    @property
    def trained_probes(self) -> tuple[str, ...]:
        """The probes that are trained."""
        return tuple(probe for probe in self.probes if probe != "naive")

    @property
    def used_folds(self) -> int:
        """The number of folds: one if no probe is trained."""
        return int(self.folds) if self.trained_probes else 1


def _identity(states: Any) -> Any:
    return states


class HitCounter:
    """How many tokens of each document were found, by layer, probe and distance."""

    def __init__(self, documents: Sequence[Document], distances: Sequence[str]) -> None:
        self.tokens: Counts = np.array([len(document) for document in documents], dtype=np.float64)
        self.expected: Counts = np.zeros(len(documents))
        """How many tokens of each document a random guess would find."""
        self.distances = distances
        self.hits: dict[tuple[int, str, str], Counts] = {}

    def start_document(self, number: int, states: States) -> None:
        """Find the inputs of a document that are the same vector."""
        self.same = identical_inputs(states.inputs)
        self.expected[number] = float(self.same.double().mean(dim=-1).sum())

    def add(self, number: int, states: States, name: str, probes: dict[int, Probe]) -> None:
        """Count the tokens that a probe finds in each layer of a document."""
        for layer, probe in probes.items():
            guesses = probe(states.layers[layer])
            for distance in self.distances:
                hits = self.hits.setdefault(
                    (layer, name, distance), np.zeros(len(self.tokens), dtype=np.float64)
                )
                own = nearest_is_own(guesses, states.inputs, self.same, distance)
                hits[number] = float(own.sum())

    @property
    def chance(self) -> float:
        """The share of tokens that a random guess would find."""
        return float(self.expected.sum() / self.tokens.sum())

    def sorted_by_layer(self, probes: Sequence[str]) -> dict[tuple[int, str, str], Counts]:
        """Return the hits sorted by layer, then by probe."""
        order = sorted(self.hits, key=lambda key: (key[0], probes.index(key[1])))
        return {key: self.hits[key] for key in order}


def _parse_names(names: str | Iterable[str], known: Iterable[str], kind: str) -> tuple[str, ...]:
    """Return one or several names, each once, in the order of the known ones."""
    requested = [names] if isinstance(names, str) else list(names)
    for name in requested or ["none"]:
        require_known(name, known, kind)
    return tuple(name for name in known if name in requested)
