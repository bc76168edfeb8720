"""Literal implementations of the papers' formulas, for the benchmarks: every vector is built.

The attention measures support BERT, GPT-2 and Llama. The ladder supports post-norm models, as in
the papers. Effective attention supports models that read every key, as in its paper.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

MAX_TENSOR_BYTES = 5 * 10**9
"""The largest tensor in bytes for which the formulas are tried."""


@dataclass(frozen=True)
class AttentionVectors:
    """The weights and transformed vectors of one attention."""

    weight: Tensor
    """α: head query key."""
    moved: Tensor
    """f(x): head key model."""


def weighted_vector_bytes(model: nn.Module, tokens: int) -> int:
    """Return the bytes of one layer's weighted vectors, head query key model."""
    config = model.config
    return 4 * config.num_attention_heads * tokens**2 * config.hidden_size


def _split(vectors: Tensor, heads: int) -> Tensor:
    """Return vectors by head: head key dim."""
    return vectors.unflatten(-1, (heads, -1)).transpose(0, 1)


def _bert(layer: Any, hidden: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    value = _split(layer.attention.self.value(hidden), heads)
    return value, layer.attention.output.dense.weight.T.unflatten(0, (heads, -1))


def _gpt2(layer: Any, hidden: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    value = layer.attn.c_attn(layer.ln_1(hidden)).chunk(3, dim=-1)[2]
    return _split(value, heads), layer.attn.c_proj.weight.unflatten(0, (heads, -1))


def _llama(layer: Any, hidden: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    attention = layer.self_attn
    value = attention.v_proj(layer.input_layernorm(hidden))
    groups = _split(value, value.shape[-1] // attention.head_dim)
    shared = groups.repeat_interleave(heads // len(groups), dim=0)
    return shared, attention.o_proj.weight.T.unflatten(0, (heads, -1))


FAMILIES = {"bert": _bert, "gpt2": _gpt2, "llama": _llama}


def _layers(model: Any) -> Any:
    return {
        "bert": lambda: model.encoder.layer,
        "gpt2": lambda: model.h,
        "llama": lambda: model.layers,
    }[model.config.model_type]()


def iterate_attentions(
    model: Any, inputs: dict[str, Tensor]
) -> Iterator[tuple[Any, Tensor, AttentionVectors]]:
    """Run the model, and yield each layer with its input and its attention."""
    out = model(**inputs, output_attentions=True, output_hidden_states=True)
    heads = model.config.num_attention_heads
    values_of = FAMILIES[model.config.model_type]
    *layer_inputs, _ = out.hidden_states
    for layer, weight, states in zip(_layers(model), out.attentions, layer_inputs, strict=True):
        value, dense = values_of(layer, states[0], heads)
        yield (
            layer,
            states[0],
            AttentionVectors(weight[0], torch.einsum("hkd,hdm->hkm", value, dense)),
        )


@torch.no_grad()
def compute_four(model: Any, inputs: dict[str, Tensor]) -> list[tuple[Tensor, ...]]:
    """Return ‖f(x)‖, ‖αf(x)‖ and ‖Σ αf(x)‖ of every layer (Kobayashi et al. 2020)."""
    results = []
    for _, _, attention in iterate_attentions(model, inputs):
        weighted = attention.weight[..., None] * attention.moved[:, None]  # head query key model
        norms = (
            attention.moved.norm(dim=-1),
            weighted.norm(dim=-1),
            weighted.sum(dim=0).norm(dim=-1),
        )
        results.append(norms)
    return results


def _apply_norm(vectors: Tensor, whole: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Center each part by its own mean, and scale all by the deviation of the whole vector."""
    deviation = (whole.var(dim=-1, unbiased=False) + norm.eps).sqrt()
    centered = vectors - vectors.mean(dim=-1, keepdim=True)
    return centered / deviation[:, None, None] * norm.weight


@torch.no_grad()
def compute_ladder(
    model: Any, inputs: dict[str, Tensor], *, whole: bool
) -> list[tuple[Tensor, ...]]:
    """Return the first three rungs of every post-norm layer (Kobayashi et al. 2021), or all six."""
    results = []
    for layer, states, attention in iterate_attentions(model, inputs):
        output = layer.attention.output
        parts = (attention.weight[..., None] * attention.moved[:, None]).sum(
            dim=0
        )  # query key model
        residual = parts + torch.diag_embed(states.T).permute(1, 2, 0)
        own = residual.sum(dim=1) + output.dense.bias
        block = _apply_norm(residual, own, output.LayerNorm)
        rungs = [parts, residual, block]
        if whole:
            rungs += _feed_forward_rungs(layer, block, output.LayerNorm(own))
        results.append(tuple(rung.norm(dim=-1) for rung in rungs))
    return results


def _feed_forward_rungs(layer: Any, block: Tensor, before: Tensor) -> list[Tensor]:
    """Return the three rungs after the activation; a bias is a separate source."""
    inner = block @ layer.intermediate.dense.weight.T  # query key inner
    pre_activation = layer.intermediate.dense(before)
    factor = layer.intermediate.intermediate_act_fn(pre_activation) / pre_activation
    after = (inner * factor[:, None]) @ layer.output.dense.weight.T
    past = after + block
    own = layer.output.dense(factor * pre_activation) + before
    return [after, past, _apply_norm(past, own, layer.output.LayerNorm)]


@torch.no_grad()
def compute_effective(model: Any, inputs: dict[str, Tensor]) -> list[Tensor]:
    """Return α⊥ = α − α U₀U₀ᵀ by head, U₀ the left null space of f(x) (Brunner et al. 2020)."""
    results = []
    for _, _, attention in iterate_attentions(model, inputs):
        rows = []
        for weight, moved in zip(attention.weight, attention.moved, strict=True):
            vectors, sizes, _ = torch.linalg.svd(moved, full_matrices=True)
            slack = torch.finfo(sizes.dtype).eps * max(moved.shape) * sizes[0]
            null = vectors[:, int((sizes > slack).sum()) :]
            rows.append(weight - weight @ null @ null.T)
        results.append(torch.stack(rows))
    return results


def time_backward_passes(model: Any, inputs: dict[str, Tensor], each: int) -> list[float]:
    """Return the seconds of single backward passes from a sample of each layer's coordinates.

    ∂e/∂x is usually computed with one for every coordinate of every layer's output. The first pass
    of each layer does not count.
    """
    model.set_attn_implementation("eager")
    vectors = model.embeddings(inputs["input_ids"]).detach().requires_grad_()
    outputs: list[Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda _, __, out: outputs.append(out))
        for layer in model.encoder.layer
    ]
    model.encoder(vectors)
    for hook in hooks:
        hook.remove()
    seconds = []
    for output in outputs:
        flat = output.flatten()
        coordinates = torch.linspace(0, len(flat) - 1, each + 1).long().tolist()
        for turn, coordinate in enumerate(coordinates):
            start = time.perf_counter()
            torch.autograd.grad(flat[coordinate], vectors, retain_graph=True)
            if turn:
                seconds.append(time.perf_counter() - start)
    return seconds
