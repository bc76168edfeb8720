"""A layer's derivative, folded: past the attention, every token goes its own way.

What follows the output projection acts on each token alone, so its derivative is one matrix for
each token. They are found by as many pushes as the model is wide, with the same change at every
token at once; without them, the feed-forward block would be run for every token of the input again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.model.capture.recording import LayerCall
from normviz.model.capture.rerun import rerun_layer
from normviz.model.measures.gradients.jvp import pushed

Matrices = Float[Tensor, "position before after"]
"""For each token, what becomes of a change of its vector."""

ROUNDING = 100
"""How many units in the last place two matrices may be apart and still count as one."""


@dataclass(frozen=True, eq=False)
class Folded:
    """One layer with one attention, as what its heads do and a matrix for each token."""

    call: LayerCall
    context: Tensor
    """What the output projection was given."""
    from_output: Matrices
    from_entered: Tensor | None
    """The same for what entered; None where the layer adds both up first, and one serves."""

    def push(self, own: Tensor | None, other: Tensor | None) -> tuple[list[Tensor], Tensor]:
        """What changes of the layer's input do to its heads and to its output."""
        assert own is not None and other is None  # noqa: S101, PT018 - it reads nothing else
        (context,) = pushed(self._heads, (self.call.entered,), (own,))
        (output,) = pushed(self._projected, (self.context,), (context,))
        count, places = len(own), len(self.from_output)
        moved, kept = (one.reshape(count, places, -1).transpose(0, 1) for one in (output, own))
        if self.from_entered is None:
            left = (moved + kept) @ self.from_output
        else:
            left = moved @ self.from_output + kept @ self.from_entered
        return [context], left.transpose(0, 1).reshape(count, *self.call.left.shape)

    def _heads(self, entered: Tensor) -> tuple[Tensor, ...]:
        return tuple(rerun_layer(self.call, entered, until=0)[0])

    def _projected(self, context: Tensor) -> tuple[Tensor]:
        return (self.call.attended[0].projection(context),)


def weight_of(call: LayerCall) -> int:
    """How many bytes a layer's matrices take at most."""
    width, places = call.entered.shape[-1], call.entered.numel() // call.entered.shape[-1]
    return 2 * places * width * width * call.entered.element_size()


def folded(call: LayerCall, most: int) -> Folded | None:
    """A layer folded, or None where its tokens meet elsewhere than in one attention.

    At most so many changes are pushed at a time.
    """
    if len(call.attended) != 1 or call.read is not None:
        return None
    outputs: list[Tensor] = []

    def note(_number: int, output: Tensor) -> Tensor:
        outputs.append(output)
        return output

    (context,), _ = rerun_layer(call, call.entered, out_of=note)
    (output,) = outputs

    def after(output: Tensor, entered: Tensor) -> tuple[Tensor]:
        return (_left(call, entered, output),)

    from_output = _matrices(lambda one: after(one, call.entered), output, most)
    from_entered = _matrices(lambda one: after(output, one), call.entered, most)
    both = None if _same(from_output, from_entered) else from_entered
    return Folded(call, context, from_output, both)


def _left(call: LayerCall, entered: Tensor, output: Tensor) -> Tensor:
    """What leaves a layer whose projection is made to give something."""
    _, left = rerun_layer(call, entered, out_of=lambda _number, _output: output)
    assert left is not None  # noqa: S101 - the layer was run to its end
    return left


def _matrices(run: Callable[[Tensor], tuple[Tensor]], vectors: Tensor, most: int) -> Matrices:
    """The derivative of what acts on each token alone: the same change at all tokens at once."""
    width = vectors.shape[-1]
    unit = torch.eye(width, dtype=vectors.dtype, device=vectors.device)
    unit = unit.reshape(width, *(1 for _ in vectors.shape[:-1]), width)
    rows = [
        pushed(run, (vectors,), (some.expand(-1, *vectors.shape),))[0]
        for some in torch.split(unit, most)
    ]
    found = torch.cat(rows)
    return found.reshape(width, -1, found.shape[-1]).transpose(0, 1).contiguous()


def _same(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape:
        return False
    allowed = ROUNDING * torch.finfo(one.dtype).eps * one.abs().max()
    return bool((one - other).abs().max() <= allowed)
