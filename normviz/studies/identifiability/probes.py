"""Probes that learn: what they keep of the states that pass, and one of each for every fold."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from normviz.studies.identifiability.documents import Document, States
from normviz.studies.identifiability.mlp import perceptron
from normviz.studies.identifiability.ridge import Moments, fitted
from normviz.system.progress import track_progress

Probe = Callable[[Float[Tensor, "query model"]], Float[Tensor, "query model"]]
Chosen = Bool[np.ndarray, " _"]


def sampled(corpus: Sequence[Document], quota: int, seed: int) -> list[Chosen]:
    """For each document the tokens that are kept to learn from: so many of a fold at most."""
    draw = np.random.default_rng(seed)
    chosen = [np.zeros(len(document), dtype=bool) for document in corpus]
    for fold in sorted({document.fold for document in corpus}):
        mine = [place for place, document in enumerate(corpus) if document.fold == fold]
        places = [(place, token) for place in mine for token in range(len(corpus[place]))]
        for at in draw.permutation(len(places))[:quota]:
            place, token = places[at]
            chosen[place][token] = True
    return chosen


class Learner:
    """Takes in the states of each document once, then has a probe for every layer and fold."""

    def __init__(self, names: Sequence[str], folds: int, chosen: Sequence[Chosen]) -> None:
        self.names = names
        self.folds = folds
        self.chosen = chosen
        self.moments: dict[int, list[Moments]] = {}
        self.kept: dict[int | None, list[list[Tensor]]] = {}
        """By layer (None: the inputs) and fold: the states of the tokens that are kept."""
        self.ridges: dict[int, tuple[float, ...]] = {}

    def takes(self, document: Document, place: int, states: States) -> None:
        """Take in the states of one document."""
        if "linear" in self.names:
            model, device = states.inputs.shape[1], states.inputs.device
            for layer, vectors in states.layers.items():
                if layer not in self.moments:
                    self.moments[layer] = [Moments.none(model, device) for _ in range(self.folds)]
                self.moments[layer][document.fold].take(vectors, states.inputs)
        if "mlp" in self.names:
            mine = torch.from_numpy(self.chosen[place]).to(states.inputs.device)
            for place_of, vectors in ((None, states.inputs), *states.layers.items()):
                kept = self.kept.setdefault(place_of, [[] for _ in range(self.folds)])
                kept[document.fold].append(vectors[mine].float())

    def learned(
        self, *, ridge: float | None, epochs: int, seed: int
    ) -> dict[tuple[str, int], list[Probe]]:
        """By probe and layer: for each fold a probe that has seen all the others."""
        layers = [*self.moments] or [layer for layer in self.kept if layer is not None]
        found: dict[tuple[str, int], list[Probe]] = {}
        with track_progress("probes", len(layers) * len(self.names)) as step:
            for layer in layers:
                if "linear" in self.names:
                    seen = self.moments.pop(layer)
                    linear = [fitted(seen, fold, ridge) for fold in range(self.folds)]
                    self.ridges[layer] = tuple(probe.strength for probe in linear)
                    found["linear", layer] = [*linear]
                    step()
                if "mlp" in self.names:
                    found["mlp", layer] = [
                        perceptron(
                            self._but(fold, layer), self._but(fold, None), epochs=epochs, seed=seed
                        )
                        for fold in range(self.folds)
                    ]
                    step()
        return found

    def _but(self, fold: int, layer: int | None) -> Float[Tensor, "query model"]:
        """What is kept of all folds but one."""
        others = (kept for place, kept in enumerate(self.kept[layer]) if place != fold)
        return torch.cat([vectors for kept in others for vectors in kept])
