"""Whether a vector is nearer to its own token's input than to any other of the same text."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize

Guesses = Float[Tensor, "query model"]
"""What a probe makes of the hidden states of a text."""
Inputs = Float[Tensor, "key model"]
"""What enters the first layer."""
Closeness = Float[Tensor, "query key"]
"""Greater where a guess is nearer to an input."""


def _by_angle(guesses: Guesses, inputs: Inputs) -> Closeness:
    return normalize(guesses, dim=-1) @ normalize(inputs, dim=-1).T


def _by_distance(guesses: Guesses, inputs: Inputs) -> Closeness:
    """Half the squared distance, negative, without what is the same for all inputs."""
    return guesses @ inputs.T - inputs.square().sum(dim=-1) / 2


DISTANCES: dict[str, Callable[[Guesses, Inputs], Closeness]] = {
    "cosine": _by_angle,
    "l2": _by_distance,
}


def alike(inputs: Inputs) -> Bool[Tensor, "key another"]:
    """Which inputs are the very same vector.

    A model that adds no positions to its input has one vector for all occurrences of a token.
    """
    which: Tensor = torch.unique(inputs, dim=0, return_inverse=True)[1]
    return which[:, None] == which[None, :]


def found(
    guesses: Guesses, inputs: Inputs, same: Bool[Tensor, "key another"], distance: str
) -> Bool[Tensor, " query"]:
    """Which guesses are nearer to their own input than to any other vector; a tie is a miss."""
    near = DISTANCES[distance](guesses, inputs)
    return near.diagonal() > near.masked_fill(same, -float("inf")).amax(dim=-1)
