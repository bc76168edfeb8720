"""A probe with one hidden layer, trained for a fixed number of epochs; the seed decides all."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import gelu, linear, mse_loss

RATE = 3e-3
"""Adam's learning rate at the beginning; it falls to nothing in a straight line."""
BATCH = 256

Probe = Callable[[Float[Tensor, "query model"]], Float[Tensor, "query model"]]


def perceptron(
    states: Float[Tensor, "query model"],
    inputs: Float[Tensor, "query model"],
    *,
    epochs: int,
    seed: int,
) -> Probe:
    """Learn inputs from states by least squares: as many hidden units as the model is wide, GELU.

    States and inputs are standardized by the training tokens, in float32.
    """
    center, scale = states.mean(dim=0), states.std(dim=0, correction=0).clamp(min=1e-6)
    goal, size = inputs.mean(dim=0), inputs.std(correction=0).clamp(min=1e-6)
    learned, wanted = ((states - center) / scale).float(), ((inputs - goal) / size).float()
    chance = torch.Generator().manual_seed(seed)
    parts = _drawn(states.shape[1], chance, states.device)
    adam = torch.optim.Adam(parts, lr=RATE)
    steps = epochs * -(-len(states) // BATCH)
    slower = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 1e-3, total_iters=steps)
    with torch.enable_grad():
        for _ in range(epochs):
            for some in torch.split(torch.randperm(len(states), generator=chance), BATCH):
                adam.zero_grad()
                mse_loss(_through(learned[some], parts), wanted[some]).backward()  # type: ignore[no-untyped-call]
                adam.step()
                slower.step()
    ready = [part.detach() for part in parts]
    return lambda seen: _through(((seen - center) / scale).float(), ready).double() * size + goal


def _through(states: Tensor, parts: list[Tensor]) -> Tensor:
    first, first_bias, second, second_bias = parts
    return linear(gelu(linear(states, first, first_bias)), second, second_bias)


def _drawn(model: int, chance: torch.Generator, device: torch.device) -> list[Tensor]:
    """Weights drawn on the host, so that they are the same on every device; no biases yet."""
    weights = (torch.randn(model, model, generator=chance) * model**-0.5 for _ in range(2))
    parts = [part for weight in weights for part in (weight, torch.zeros(model))]
    return [part.to(device).requires_grad_() for part in parts]
