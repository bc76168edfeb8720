"""The Jacobian of a layer after its attention: one matrix for each token.

What follows the heads acts on each token alone, so its derivative is one matrix for each token, by
the heads' outputs and by the layer's input. It takes as many Jacobian-vector products as these are
wide, with the same direction at every token at once; without it, the feed-forward block would run
again for every input token.
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


@dataclass(frozen=True, eq=False)
class TokenwiseJacobian:
    """One layer with one attention: its heads are run, the rest is a matrix for each token."""

    call: LayerCall
    from_heads: Float[Tensor, "position heads after"]
    """The derivative by the heads' outputs."""
    from_input: Matrices
    """The derivative by the layer's input, with the heads' outputs held."""

    def push(self, own: Tensor | None, cross: Tensor | None) -> tuple[list[Tensor], Tensor]:
        """Return the derivatives of the heads and of the output in directions of the input."""
        assert own is not None and cross is None  # noqa: S101, PT018 - it has no cross-attention
        (context,) = batched_jvp(self._run_heads, (self.call.input,), (own,))
        count, positions = len(own), len(self.from_input)
        moved, residual = (
            tangents.reshape(count, positions, -1).transpose(0, 1) for tangents in (context, own)
        )
        output = moved @ self.from_heads + residual @ self.from_input
        return [context], output.transpose(0, 1).reshape(count, *self.call.output.shape)

    def _run_heads(self, vectors: Tensor) -> tuple[Tensor, ...]:
        return tuple(rerun_layer(self.call, vectors, until=0)[0])


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
    (context,), _ = rerun_layer(call, call.input)
    if context.shape[:2].numel() != call.input.shape[:-1].numel():
        return None  # its attention sees the tokens in another order, in windows for example

    def by_heads(vectors: Tensor) -> tuple[Tensor]:
        return (_rerun_with(call, call.input, vectors.reshape(context.shape)),)

    def by_input(vectors: Tensor) -> tuple[Tensor]:
        return (_rerun_with(call, vectors, context),)

    joined = context.flatten(2)
    from_heads = _matrices(by_heads, joined, batch_size)
    return TokenwiseJacobian(call, from_heads, _matrices(by_input, call.input, batch_size))


def _rerun_with(call: LayerCall, vectors: Tensor, context: Tensor) -> Tensor:
    """Return the output of a layer whose heads are made to put out a tensor."""
    _, output = rerun_layer(call, vectors, edit_context=lambda _number, _context: context)
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
