"""Whether a vector is nearer to its own token's input than to any other of the same text."""

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import normalize

Guesses = Float[Tensor, "query model"]
"""The hidden states of a text, as a probe maps them back."""
Inputs = Float[Tensor, "key model"]
"""The input of the first layer."""
Closeness = Float[Tensor, "query key"]
"""Greater where a guess is nearer to an input."""
Distance = Literal["cosine", "l2"]


def _cosine(guesses: Guesses, inputs: Inputs) -> Closeness:
    return normalize(guesses, dim=-1) @ normalize(inputs, dim=-1).T


def _negative_l2(guesses: Guesses, inputs: Inputs) -> Closeness:
    """Return half the negative squared distance, without terms that are equal for all inputs."""
    return guesses @ inputs.T - inputs.square().sum(dim=-1) / 2


DISTANCES: dict[str, Callable[[Guesses, Inputs], Closeness]] = {
    "cosine": _cosine,
    "l2": _negative_l2,
}


def identical_inputs(inputs: Inputs) -> Bool[Tensor, "key another"]:
    """Return which inputs are the same vector.

    A model that adds no positions to its input has one vector for all occurrences of a token.
    """
    index: Tensor = torch.unique(inputs, dim=0, return_inverse=True)[1]
    return index[:, None] == index[None, :]


def nearest_is_own(
    guesses: Guesses, inputs: Inputs, same: Bool[Tensor, "key another"], distance: str
) -> Bool[Tensor, " query"]:
    """Return which guesses are nearer to their own input than to any other; a tie is a miss."""
    closeness = DISTANCES[distance](guesses, inputs)
    return closeness.diagonal() > closeness.masked_fill(same, -float("inf")).amax(dim=-1)
