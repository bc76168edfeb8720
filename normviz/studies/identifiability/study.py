"""Token identifiability (Brunner et al. 2020, §4): can a token be told from its hidden state?"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from normviz.core.catalog import require_known
from normviz.errors import BadInput
from normviz.model.inputs import has_encoder
from normviz.model.loading import load_model
from normviz.studies.identifiability.documents import (
    Document,
    States,
    Text,
    documents,
    listed,
    states_of,
)
from normviz.studies.identifiability.nearest import DISTANCES, alike, found
from normviz.studies.identifiability.probes import Learner, Probe, sampled
from normviz.studies.identifiability.result import Counts, Identifiability
from normviz.system.progress import track_progress

if TYPE_CHECKING:
    import torch

PROBES = ("naive", "linear", "mlp")


def identifiability(
    model: Any,
    texts: Iterable[Text],
    *,
    tokenizer: Any = None,
    probes: str | Iterable[str] = PROBES,
    distances: str | Iterable[str] = tuple(DISTANCES),
    layers: Collection[int] | None = None,
    longest: int = 128,
    batch_size: int = 16,
    folds: int = 4,
    ridge: float | None = None,
    epochs: int = 20,
    most: int = 20_000,
    seed: int = 0,
    dtype: "str | torch.dtype | None" = None,
) -> Identifiability:
    """How often a hidden state is nearest to its own token's input, layer by layer.

    A probe maps the hidden state of every token (what leaves a layer) back to what entered the
    first layer, after any embedding norm. The token is found if the result is nearer to its own
    input than to every other input vector of the same text; a tie is a miss. (In the input itself
    every token is found, so it has no row.) Each position counts, special tokens too, padding does
    not. Where a model adds positions to its input, they help to tell tokens apart; where it adds
    none, all occurrences of a token have one input vector and are one answer, and the chance level
    knows it. Of an encoder–decoder, the encoder is studied.

    Probes that learn are tested on documents they have not seen, a fold at a time, and never the
    same text twice: texts with equal tokens are in one fold. What the paper calls naive is the
    identity; how it trains the others is not known to us in detail, and what stands here is ours.

    Parameters
    ----------
    model, tokenizer
        As for `analyze`.
    texts
        Texts, or pairs of texts that are read together; each is a document.
    probes
        `naive`, the state as it is; `linear`, ridge regression with an intercept, in closed form;
        `mlp`, one hidden layer of the model's width, trained by Adam for a fixed time.
    distances
        `cosine`, which sees the angle alone, and `l2`.
    layers
        Which layers, numbered from 0; all by default. The linear probe needs
        folds × layers × 2 × model² × 8 bytes: few layers of a wide model at a time.
    longest
        After how many tokens a text is cut off.
    batch_size
        How many texts run at once; no matter for the result.
    folds
        How many parts the documents are dealt into.
    ridge
        The linear probe's penalty, in units of the states' mean variance. By default the best
        of 1e-5, 1e-4 … 10 by squared error on one more fold, held out of the training.
    epochs, most
        How often the MLP sees its training tokens, and how many tokens are kept for it, drawn
        evenly from the folds: most × layers × model × 4 bytes.
    seed
        Decides folds, drawn tokens and the MLP's beginnings. The model's own random numbers and
        torch's are left alone.
    dtype
        The precision to run the model in; what is near is decided in float64.
    """
    given = listed(texts, "identifiability")
    plan = Plan(
        _names(probes, PROBES, "probe"), _names(distances, DISTANCES, "distance"),
        None if layers is None else tuple(sorted(set(layers))), longest, batch_size, folds, ridge,
        epochs, most, seed,
    )  # fmt: skip
    loaded = load_model(model, tokenizer, dtype=dtype)
    studied = loaded.model.get_encoder() if has_encoder(loaded.model) else loaded.model  # type: ignore[operator]
    corpus = documents(
        studied, loaded.tokenizer, given, longest=longest, folds=plan.parts, seed=seed
    )
    tally = Tally(corpus, plan.distances)
    chosen = sampled(corpus, most // folds, seed) if "mlp" in plan.probes else []
    learner = Learner(plan.learned, folds, chosen)

    def passing() -> Iterator[tuple[int, States]]:
        """Run the model over all documents; twice, so that no state need be kept."""
        with track_progress("texts", len(corpus)) as step:
            for start in range(0, len(corpus), batch_size):
                batch = corpus[start : start + batch_size]
                states = states_of(studied, loaded.tokenizer, batch, plan.layers)
                for place, one in enumerate(states, start):
                    tally.meets(place, one)
                    yield place, one
                    step()

    for place, states in passing():
        learner.takes(corpus[place], place, states)
        if "naive" in plan.probes:
            tally.notes(place, states, "naive", dict.fromkeys(states.layers, _identity))
    ready = learner.learned(ridge=ridge, epochs=epochs, seed=seed)
    for place, states in passing() if plan.learned else ():
        for probe in plan.learned:
            fold = corpus[place].fold
            tally.notes(place, states, probe, {n: ready[probe, n][fold] for n in states.layers})
    name = loaded.name if studied is loaded.model else f"{loaded.name} (encoder)"
    return tally.result(plan.probes, model=name, folds=plan.parts, ridges=learner.ridges)


@dataclass(frozen=True)
class Plan:
    """What is asked of a study, within reason."""

    probes: tuple[str, ...]
    distances: tuple[str, ...]
    layers: tuple[int, ...] | None
    longest: int
    batch_size: int
    folds: int
    ridge: float | None
    epochs: int
    most: int
    seed: int

    def __post_init__(self) -> None:
        """Refuse what cannot be studied."""
        chooses = "linear" in self.probes and self.ridge is None
        bounds = {"folds": 3 if chooses else 2, "longest": 1, "batch_size": 1, "epochs": 1}
        for name, least in (bounds | {"most": self.folds}).items():
            value = getattr(self, name)
            if value < least:
                raise BadInput(
                    f"{name} is {value!r}.",
                    f"A whole number is wanted, {least} or more.",
                    f"Write {name}={least}, or more.",
                )
        if self.ridge is not None and not self.ridge > 0:
            raise BadInput(
                f"ridge is {self.ridge!r}.",
                "A positive number is wanted, in units of the states' mean variance.",
                "Write ridge=1e-4, or leave it out to have it chosen.",
            )

    @property
    def learned(self) -> tuple[str, ...]:
        """The probes that learn."""
        return tuple(probe for probe in self.probes if probe != "naive")

    @property
    def parts(self) -> int:
        """How many folds there are: one where nothing is learned."""
        return self.folds if self.learned else 1


def _identity(states: Any) -> Any:
    return states


class Tally:
    """How many tokens of each document were found, by layer, probe and distance."""

    def __init__(self, corpus: Sequence[Document], distances: Sequence[str]) -> None:
        self.tokens: Counts = np.array([len(document) for document in corpus], dtype=np.float64)
        self.chances: Counts = np.zeros(len(corpus))
        self.distances = distances
        self.hits: dict[tuple[int, str, str], Counts] = {}

    def meets(self, place: int, states: States) -> None:
        """Begin with a document: which of its inputs are the same vector?"""
        self.same = alike(states.inputs)
        self.chances[place] = float(self.same.double().mean(dim=-1).sum())

    def notes(self, place: int, states: States, name: str, probes: dict[int, Probe]) -> None:
        """Count what a probe finds in each layer of a document."""
        for layer, probe in probes.items():
            guesses = probe(states.layers[layer])
            for distance in self.distances:
                hits = self.hits.setdefault(
                    (layer, name, distance), np.zeros(len(self.tokens), dtype=np.float64)
                )
                hits[place] = float(found(guesses, states.inputs, self.same, distance).sum())

    def result(self, probes: Sequence[str], **about: Any) -> Identifiability:
        """Everything counted, layer by layer and probe by probe."""
        order = sorted(self.hits, key=lambda key: (key[0], probes.index(key[1])))
        chance = float(self.chances.sum() / self.tokens.sum())
        hits = {key: self.hits[key] for key in order}
        return Identifiability.counted(hits, self.tokens, chance=chance, **about)


def _names(asked: str | Iterable[str], known: Iterable[str], kind: str) -> tuple[str, ...]:
    """Names that were asked for, each once, in the order of the known ones."""
    wanted = [asked] if isinstance(asked, str) else list(asked)
    for name in wanted or ["none"]:
        require_known(name, known, kind)
    return tuple(name for name in known if name in wanted)
