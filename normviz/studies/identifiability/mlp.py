"""A probe with one hidden layer, trained for a fixed number of epochs; the seed decides all."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import gelu, linear, mse_loss

LEARNING_RATE = 3e-3
"""Adam's learning rate at the start; it falls linearly to nearly zero."""
BATCH_SIZE = 256

Probe = Callable[[Float[Tensor, "query model"]], Float[Tensor, "query model"]]
"""Maps hidden states back to inputs."""


def train_mlp(
    states: Float[Tensor, "query model"],
    inputs: Float[Tensor, "query model"],
    *,
    epochs: int,
    seed: int,
) -> Probe:
    """Train a probe by least squares: as many hidden units as the model is wide, with GELU.

    States and inputs are standardized by the training tokens, in float32.
    """
    center, scale = states.mean(dim=0), states.std(dim=0, correction=0).clamp(min=1e-6)
    goal, size = inputs.mean(dim=0), inputs.std(correction=0).clamp(min=1e-6)
    features, targets = ((states - center) / scale).float(), ((inputs - goal) / size).float()
    generator = torch.Generator().manual_seed(seed)
    parameters = _initial_parameters(states.shape[1], generator, states.device)
    adam = torch.optim.Adam(parameters, lr=LEARNING_RATE)
    steps = epochs * -(-len(states) // BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 1e-3, total_iters=steps)
    with torch.enable_grad():
        for _ in range(epochs):
            order = torch.randperm(len(states), generator=generator)
            for batch in torch.split(order, BATCH_SIZE):
                adam.zero_grad()
                mse_loss(_forward(features[batch], parameters), targets[batch]).backward()  # type: ignore[no-untyped-call]
                adam.step()
                schedule.step()
    trained = [parameter.detach() for parameter in parameters]
    return lambda seen: _forward(((seen - center) / scale).float(), trained).double() * size + goal


def _forward(states: Tensor, parameters: list[Tensor]) -> Tensor:
    first, first_bias, second, second_bias = parameters
    return linear(gelu(linear(states, first, first_bias)), second, second_bias)


def _initial_parameters(
    model: int, generator: torch.Generator, device: torch.device
) -> list[Tensor]:
    """Return random weights, drawn on the CPU to be the same on every device, and zero biases."""
    weights = (torch.randn(model, model, generator=generator) * model**-0.5 for _ in range(2))
    parameters = [part for weight in weights for part in (weight, torch.zeros(model))]
    return [parameter.to(device).requires_grad_() for parameter in parameters]
