"""The Jacobian of a layer after its attention: one matrix for each token.

What follows the output projection acts on each token alone, so its derivative is one matrix for
each token. It takes as many Jacobian-vector products as the model is wide, with the same direction
at every token at once; without it, the feed-forward block would run again for every input token.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.model.capture.recording import LayerCall
from normviz.model.capture.rerun import rerun_layer
from normviz.model.measures.gradients.jvp import batched_jvp

Matrices = Float[Tensor, "position before after"]
"""For each token, the transposed Jacobian of its output vector."""

ROUNDING = 100
"""How many units in the last place two matrices may be apart and still count as equal."""


@dataclass(frozen=True, eq=False)
class TokenwiseJacobian:
    """One layer with one attention: its heads are run, the rest is a matrix for each token."""

    call: LayerCall
    context: Tensor
    """The input of the output projection."""
    from_projection: Matrices
    """The derivative by what the output projection gives."""
    from_input: Tensor | None
    """The derivative by the layer's input; None where it equals `from_projection`."""

    def push(self, own: Tensor | None, cross: Tensor | None) -> tuple[list[Tensor], Tensor]:
        """Return the derivatives of the heads and of the output in directions of the input."""
        assert own is not None and cross is None  # noqa: S101, PT018 - it has no cross-attention
        (context,) = batched_jvp(self._run_heads, (self.call.input,), (own,))
        (projected,) = batched_jvp(self._project, (self.context,), (context,))
        count, positions = len(own), len(self.from_projection)
        moved, residual = (
            tangents.reshape(count, positions, -1).transpose(0, 1) for tangents in (projected, own)
        )
        if self.from_input is None:
            output = (moved + residual) @ self.from_projection
        else:
            output = moved @ self.from_projection + residual @ self.from_input
        return [context], output.transpose(0, 1).reshape(count, *self.call.output.shape)

    def _run_heads(self, vectors: Tensor) -> tuple[Tensor, ...]:
        return tuple(rerun_layer(self.call, vectors, until=0)[0])

    def _project(self, context: Tensor) -> tuple[Tensor]:
        return (self.call.attentions[0].projection(context),)


def jacobian_bytes(call: LayerCall) -> int:
    """Return how many bytes a layer's matrices take at most."""
    width, positions = call.input.shape[-1], call.input.numel() // call.input.shape[-1]
    return 2 * positions * width * width * call.input.element_size()


def fold_layer(call: LayerCall, batch_size: int) -> TokenwiseJacobian | None:
    """Return the layer's Jacobian, or None where its tokens meet elsewhere than in one attention.

    At most `batch_size` directions are pushed at a time.
    """
    if len(call.attentions) != 1 or call.cross_input is not None:
        return None
    outputs: list[Tensor] = []

    def keep_output(_number: int, output: Tensor) -> Tensor:
        outputs.append(output)
        return output

    (context,), _ = rerun_layer(call, call.input, edit_output=keep_output)
    (projected,) = outputs

    def by_projection(output: Tensor) -> tuple[Tensor]:
        return (_rerun_with(call, call.input, output),)

    def by_input(vectors: Tensor) -> tuple[Tensor]:
        return (_rerun_with(call, vectors, projected),)

    from_projection = _matrices(by_projection, projected, batch_size)
    from_input = _matrices(by_input, call.input, batch_size)
    equal = _nearly_equal(from_projection, from_input)
    return TokenwiseJacobian(call, context, from_projection, None if equal else from_input)


def _rerun_with(call: LayerCall, vectors: Tensor, projected: Tensor) -> Tensor:
    """Return the output of a layer whose output projection is made to return a tensor."""
    _, output = rerun_layer(call, vectors, edit_output=lambda _number, _output: projected)
    assert output is not None  # noqa: S101 - the layer was run to its end
    return output


def _matrices(
    function: Callable[[Tensor], tuple[Tensor]], vectors: Tensor, batch_size: int
) -> Matrices:
    """Return the Jacobian at each token of a function that acts on each token alone."""
    width = vectors.shape[-1]
    unit = torch.eye(width, dtype=vectors.dtype, device=vectors.device)
    unit = unit.reshape(width, *(1 for _ in vectors.shape[:-1]), width)
    rows = [
        batched_jvp(function, (vectors,), (directions.expand(-1, *vectors.shape),))[0]
        for directions in torch.split(unit, batch_size)
    ]
    matrices = torch.cat(rows)
    return matrices.reshape(width, -1, matrices.shape[-1]).transpose(0, 1).contiguous()


def _nearly_equal(first: Tensor, second: Tensor) -> bool:
    if first.shape != second.shape:
        return False
    allowed = ROUNDING * torch.finfo(first.dtype).eps * first.abs().max()
    return bool((first - second).abs().max() <= allowed)
