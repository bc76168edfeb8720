"""Whether what is pushed through the layers is the model's own derivative.

One random change of the whole input is pushed through the chain of layers, pushed through the model
as a whole, and taken back by the model's own backward pass: ⟨Jv, Jv⟩ must equal ⟨v, JᵀJv⟩.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from normviz.errors import UnsupportedModel
from normviz.model.capture.recording import RecordedPass
from normviz.model.capture.rerun import rerun_model
from normviz.model.decompose.tape import SourceSequence
from normviz.model.measures.gradients.chain import (
    Effect,
    Origin,
    Pusher,
    Throughout,
    chained,
    start,
)

CHAINED = {torch.float64: 1e-6, torch.float32: 1e-3}
"""How far the chain may be from the whole model, relative to the largest number; in halves 0.1.

Some models compute in float32 whatever they are run in. Beyond this, layers meet elsewhere too.
"""

Errors = dict[tuple[SourceSequence, int], float]
"""By the side whose input is changed, and the number of the layer's call."""


@dataclass(frozen=True, eq=False)
class Sound:
    """A way of pushing changes, and how far it is from the model's own derivative."""

    pusher: Pusher
    errors: Errors


def sound(recorded: RecordedPass, origin: Origin, most: int, matrices: int, last: int) -> Sound:
    """The fastest way of pushing that does what the model does, up to the call of a number.

    At most so many changes go at once, and the matrices of folded layers take so many bytes.
    """
    _refuse_quantized(recorded.model)
    try:
        return _checked(recorded, origin, most, matrices, last)
    except (RuntimeError, NotImplementedError) as error:
        raise UnsupportedModel(
            f"{type(recorded.model).__name__} could not be differentiated: "
            f"{str(error).strip().splitlines()[0]}",
            "Attribution by gradients needs a derivative of every operation of the model.",
            "Load the model with plain kernels, or ask for measures that need no gradients.",
        ) from error


def _checked(recorded: RecordedPass, origin: Origin, most: int, matrices: int, last: int) -> Sound:
    whole = Throughout(recorded, origin)
    chain = chained(recorded, origin, most, matrices, last)
    joints: Errors = {}
    backs: Errors = {}
    for side in recorded.sides:
        change = _random(start(recorded, side, origin)[1])
        effects = list(whole.push(side, change))
        for step, effect in zip(chain.push(side, change), effects, strict=True):
            joints[side, effect.number] = _apart(step.left, effect.left)
        for effect, error in zip(effects, _taken_back(whole, side, change, effects), strict=True):
            backs[side, effect.number] = error
    allowed = CHAINED.get(recorded.calls[0].left.dtype, 0.1)
    if max(joints.values()) > allowed:
        return Sound(whole, backs)
    return Sound(chain, {place: max(joints[place], backs[place]) for place in backs})


def _random(given: Tensor) -> Tensor:
    """One random change of all tokens, always the same."""
    draw = torch.Generator().manual_seed(0)
    return torch.randn(1, *given.shape, generator=draw, dtype=torch.float64).to(given)


def _apart(one: Tensor, other: Tensor) -> float:
    size = other.abs().max().clamp(min=torch.finfo(other.dtype).tiny)
    return float((one - other).abs().max() / size)


def _taken_back(
    whole: Throughout, side: SourceSequence, change: Tensor, effects: Sequence[Effect]
) -> Iterator[float]:
    """For each layer, how far ⟨v, JᵀJv⟩ is from ⟨Jv, Jv⟩, the former by a backward pass."""
    place, given = start(whole.recorded, side, whole.origin)
    with torch.enable_grad():
        vectors = given.detach().clone().requires_grad_()
        left = rerun_model(whole.recorded, place, vectors).left
        for effect in effects:
            end, moved = left[effect.number], effect.left[0]
            (back,) = torch.autograd.grad(end, vectors, moved, retain_graph=True)
            size = moved.double().square().sum()
            missed = (back.double() * change[0].double()).sum() - size
            yield float(missed.abs() / size.clamp(min=torch.finfo(size.dtype).tiny))


def _refuse_quantized(model: nn.Module) -> None:
    """A quantized weight is rounded to, and rounding has no slope that means anything."""
    for name, module in model.named_modules():
        packed = any(not one.is_floating_point() for one in module.parameters(recurse=False))
        if packed or ".quantized" in type(module).__module__:
            raise UnsupportedModel(
                f"{name} ({type(module).__name__}) is quantized.",
                "Attribution by gradients needs weights in floating point: rounding has no slope.",
                "Load the model without quantization for these measures.",
            )
