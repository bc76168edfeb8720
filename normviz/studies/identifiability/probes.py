"""Trained probes: what is collected from the hidden states, and one probe for every fold."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from normviz.studies.identifiability.documents import Document, States
from normviz.studies.identifiability.mlp import Probe, train_mlp
from normviz.studies.identifiability.ridge import RegressionSums, fit_without_fold
from normviz.system.progress import track_progress

TokenSample = Bool[np.ndarray, " _"]
"""Which tokens of a document are kept for training."""


def sample_tokens(documents: Sequence[Document], quota: int, seed: int) -> list[TokenSample]:
    """Return the tokens of each document to train on: at most `quota` from each fold."""
    generator = np.random.default_rng(seed)
    samples = [np.zeros(len(document), dtype=bool) for document in documents]
    for fold in sorted({document.fold for document in documents}):
        tokens = [
            (number, token)
            for number, document in enumerate(documents)
            if document.fold == fold
            for token in range(len(document))
        ]
        for chosen in generator.permutation(len(tokens))[:quota]:
            number, token = tokens[chosen]
            samples[number][token] = True
    return samples


class ProbeTrainer:
    """Collects the states of each document once, then trains a probe for every layer and fold."""

    def __init__(self, probes: Sequence[str], folds: int, samples: Sequence[TokenSample]) -> None:
        self.probes = probes
        self.folds = folds
        self.samples = samples
        self.sums: dict[int, list[RegressionSums]] = {}
        """By layer and fold."""
        self.kept: dict[int | None, list[list[Tensor]]] = {}
        """By layer (None: the inputs) and fold: the states of the sampled tokens."""
        self.ridges: dict[int, tuple[float, ...]] = {}
        """By layer: the strength of the ridge in each fold."""

    def add(self, document: Document, number: int, states: States) -> None:
        """Add the states of one document."""
        if "linear" in self.probes:
            model, device = states.inputs.shape[1], states.inputs.device
            for layer, vectors in states.layers.items():
                if layer not in self.sums:
                    self.sums[layer] = [
                        RegressionSums.zeros(model, device) for _ in range(self.folds)
                    ]
                self.sums[layer][document.fold].add(vectors, states.inputs)
        if "mlp" in self.probes:
            sample = torch.from_numpy(self.samples[number]).to(states.inputs.device)
            for key, vectors in ((None, states.inputs), *states.layers.items()):
                kept = self.kept.setdefault(key, [[] for _ in range(self.folds)])
                kept[document.fold].append(vectors[sample].float())

    def train(
        self, *, ridge: float | None, epochs: int, seed: int
    ) -> dict[tuple[str, int], list[Probe]]:
        """Return by probe and layer: for each fold a probe trained on all the others."""
        layers = [*self.sums] or [layer for layer in self.kept if layer is not None]
        trained: dict[tuple[str, int], list[Probe]] = {}
        with track_progress("probes", len(layers) * len(self.probes)) as step:
            for layer in layers:
                if "linear" in self.probes:
                    sums = self.sums.pop(layer)
                    linear = [fit_without_fold(sums, fold, ridge) for fold in range(self.folds)]
                    self.ridges[layer] = tuple(probe.strength for probe in linear)
                    trained["linear", layer] = [*linear]
                    step()
                if "mlp" in self.probes:
                    trained["mlp", layer] = [
                        train_mlp(
                            self._without(fold, layer),
                            self._without(fold, None),
                            epochs=epochs,
                            seed=seed,
                        )
                        for fold in range(self.folds)
                    ]
                    step()
        return trained

    def _without(self, fold: int, layer: int | None) -> Float[Tensor, "query model"]:
        """Return the kept states of all folds except one."""
        others = (kept for number, kept in enumerate(self.kept[layer]) if number != fold)
        return torch.cat([vectors for kept in others for vectors in kept])
