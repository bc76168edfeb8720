"""Checking that what is pushed through the layers is the model's own derivative.

One random direction of the whole input is pushed through the layers one by one, through the model
as a whole, and back by the model's own backward pass: ⟨Jv, Jv⟩ must equal ⟨v, JᵀJv⟩.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from normviz.core.gradients import Origin
from normviz.errors import UnsupportedModel
from normviz.model.capture.recording import RecordedPass
from normviz.model.capture.rerun import rerun_model
from normviz.model.decompose.tape import SourceSequence
from normviz.model.measures.gradients.chain import (
    JvpStrategy,
    LayerEffect,
    WholeModelJvp,
    build_layerwise,
    input_of,
)

LAYERWISE_TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-3}
"""How far layer by layer may be from the whole model, relative to the largest number; else 0.1.

Some models compute in float32 whatever they are run in. Beyond this, the layers exchange something
on the side.
"""

LayerErrors = dict[tuple[SourceSequence, int], float]
"""By the sequence whose input is changed, and the number of the layer's call."""


@dataclass(frozen=True, eq=False)
class CheckedJvp:
    """A way of pushing directions, and how far it is from the model's own derivative."""

    strategy: JvpStrategy
    errors: LayerErrors


def check_jvp(
    recorded: RecordedPass, origin: Origin, batch_size: int, matrix_bytes: int, last: int
) -> CheckedJvp:
    """Return the fastest way of pushing that agrees with the model, up to the call `last`.

    At most `batch_size` directions are pushed at once, and the matrices of layers take at most
    `matrix_bytes`.
    """
    _refuse_quantized(recorded.model)
    try:
        return _choose_strategy(recorded, origin, batch_size, matrix_bytes, last)
    except (RuntimeError, NotImplementedError) as error:
        raise UnsupportedModel(
            f"{type(recorded.model).__name__} could not be differentiated: "
            f"{str(error).strip().splitlines()[0]}",
            "Attribution by gradients needs a derivative of every operation of the model.",
            "Load the model with plain kernels, or ask for measures that need no gradients.",
        ) from error


def _choose_strategy(
    recorded: RecordedPass, origin: Origin, batch_size: int, matrix_bytes: int, last: int
) -> CheckedJvp:
    whole = WholeModelJvp(recorded, origin)
    layerwise = build_layerwise(recorded, origin, batch_size, matrix_bytes, last)
    forward: LayerErrors = {}
    backward: LayerErrors = {}
    for sequence in recorded.sequences:
        direction = _random_direction(input_of(recorded, sequence, origin)[1])
        effects = list(whole.push(sequence, direction))
        for step, effect in zip(layerwise.push(sequence, direction), effects, strict=True):
            forward[sequence, effect.number] = _relative_distance(step.output, effect.output)
        errors = _backward_errors(whole, sequence, direction, effects)
        for effect, error in zip(effects, errors, strict=True):
            backward[sequence, effect.number] = error
    allowed = LAYERWISE_TOLERANCE.get(recorded.calls[0].output.dtype, 0.1)
    if max(forward.values()) > allowed:
        return CheckedJvp(whole, backward)
    return CheckedJvp(layerwise, {key: max(forward[key], backward[key]) for key in backward})


def _random_direction(vectors: Tensor) -> Tensor:
    """Return one random direction of all tokens, always the same."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, *vectors.shape, generator=generator, dtype=torch.float64).to(vectors)


def _relative_distance(tensor: Tensor, expected: Tensor) -> float:
    size = expected.abs().max().clamp(min=torch.finfo(expected.dtype).tiny)
    return float((tensor - expected).abs().max() / size)


def _backward_errors(
    whole: WholeModelJvp,
    sequence: SourceSequence,
    direction: Tensor,
    effects: Sequence[LayerEffect],
) -> Iterator[float]:
    """Yield how far ⟨v, JᵀJv⟩, by a backward pass, is from ⟨Jv, Jv⟩ at each layer."""
    point, vectors = input_of(whole.recorded, sequence, whole.origin)
    with torch.enable_grad():
        vectors = vectors.detach().clone().requires_grad_()
        outputs = rerun_model(whole.recorded, point, vectors).outputs
        for effect in effects:
            output, tangent = outputs[effect.number], effect.output[0]
            (back,) = torch.autograd.grad(output, vectors, tangent, retain_graph=True)
            size = tangent.double().square().sum()
            missed = (back.double() * direction[0].double()).sum() - size
            yield float(missed.abs() / size.clamp(min=torch.finfo(size.dtype).tiny))


def _refuse_quantized(model: nn.Module) -> None:
    """Refuse quantized weights: rounding has no meaningful derivative."""
    for name, module in model.named_modules():
        packed = any(not p.is_floating_point() for p in module.parameters(recurse=False))
        if packed or ".quantized" in type(module).__module__:
            raise UnsupportedModel(
                f"{name} ({type(module).__name__}) is quantized.",
                "Attribution by gradients needs weights in floating point: rounding has no slope.",
                "Load the model without quantization for these measures.",
            )
