"""The papers' formulas as they stand, written for the benchmarks: every vector is built.

The attention measures are there for BERT, GPT-2 and Llama. The ladder is there for post-norm
models, as the papers write it, and so is effective attention, whose null space the paper takes for
models that read every key.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

MOST = 5 * 10**9
"""How many bytes a single tensor may have; beyond, the formulas are not tried."""


@dataclass(frozen=True)
class Attention:
    """One attention as the formulas want it."""

    weight: Tensor
    """α: head query key."""
    moved: Tensor
    """f(x): head key model."""


def needed(model: nn.Module, tokens: int) -> int:
    """The bytes of one layer's weighted vectors, head query key model."""
    config = model.config
    return 4 * config.num_attention_heads * tokens**2 * config.hidden_size


def _split(vectors: Tensor, heads: int) -> Tensor:
    """Heads first: head key dim."""
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
    few = _split(value, value.shape[-1] // attention.head_dim)
    shared = few.repeat_interleave(heads // len(few), dim=0)
    return shared, attention.o_proj.weight.T.unflatten(0, (heads, -1))


FAMILIES = {"bert": _bert, "gpt2": _gpt2, "llama": _llama}


def _layers(model: Any) -> Any:
    return {
        "bert": lambda: model.encoder.layer,
        "gpt2": lambda: model.h,
        "llama": lambda: model.layers,
    }[model.config.model_type]()


def attentions(model: Any, inputs: dict[str, Tensor]) -> Iterator[tuple[Any, Tensor, Attention]]:
    """Each layer with what enters it, and its attention; after the model's own pass."""
    out = model(**inputs, output_attentions=True, output_hidden_states=True)
    heads = model.config.num_attention_heads
    parts = FAMILIES[model.config.model_type]
    *entering, _ = out.hidden_states
    for layer, weight, states in zip(_layers(model), out.attentions, entering, strict=True):
        value, dense = parts(layer, states[0], heads)
        yield layer, states[0], Attention(weight[0], torch.einsum("hkd,hdm->hkm", value, dense))


@torch.no_grad()
def four(model: Any, inputs: dict[str, Tensor]) -> list[tuple[Tensor, ...]]:
    """‖f(x)‖, ‖αf(x)‖ and ‖Σ αf(x)‖ of every layer (Kobayashi et al. 2020)."""
    results = []
    for _, _, found in attentions(model, inputs):
        weighted = found.weight[..., None] * found.moved[:, None]  # head query key model
        norms = found.moved.norm(dim=-1), weighted.norm(dim=-1), weighted.sum(dim=0).norm(dim=-1)
        results.append(norms)
    return results


def _normed(vectors: Tensor, whole: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Each part centered by itself, all scaled by the deviation of the whole."""
    deviation = (whole.var(dim=-1, unbiased=False) + norm.eps).sqrt()
    centered = vectors - vectors.mean(dim=-1, keepdim=True)
    return centered / deviation[:, None, None] * norm.weight


@torch.no_grad()
def ladder(model: Any, inputs: dict[str, Tensor], *, whole: bool) -> list[tuple[Tensor, ...]]:
    """The rungs of every post-norm layer (Kobayashi et al. 2021), or all six (2024)."""
    results = []
    for layer, states, found in attentions(model, inputs):
        output = layer.attention.output
        parts = (found.weight[..., None] * found.moved[:, None]).sum(dim=0)  # query key model
        residual = parts + torch.diag_embed(states.T).permute(1, 2, 0)
        own = residual.sum(dim=1) + output.dense.bias
        block = _normed(residual, own, output.LayerNorm)
        rungs = [parts, residual, block]
        if whole:
            rungs += _forward(layer, block, output.LayerNorm(own))
        results.append(tuple(rung.norm(dim=-1) for rung in rungs))
    return results


def _forward(layer: Any, block: Tensor, before: Tensor) -> list[Tensor]:
    """The three rungs behind the activation; a bias is a source of its own."""
    inner = block @ layer.intermediate.dense.weight.T  # query key inner
    entering = layer.intermediate.dense(before)
    factor = layer.intermediate.intermediate_act_fn(entering) / entering
    after = (inner * factor[:, None]) @ layer.output.dense.weight.T
    past = after + block
    own = layer.output.dense(factor * entering) + before
    return [after, past, _normed(past, own, layer.output.LayerNorm)]


@torch.no_grad()
def effective(model: Any, inputs: dict[str, Tensor]) -> list[Tensor]:
    """α⊥ = α − α U₀U₀ᵀ, U₀ the left null space of f(x), head by head (Brunner et al. 2020)."""
    results = []
    for _, _, found in attentions(model, inputs):
        rows = []
        for weight, moved in zip(found.weight, found.moved, strict=True):
            vectors, sizes, _ = torch.linalg.svd(moved, full_matrices=True)
            slack = torch.finfo(sizes.dtype).eps * max(moved.shape) * sizes[0]
            lost = vectors[:, int((sizes > slack).sum()) :]
            rows.append(weight - weight @ lost @ lost.T)
        results.append(torch.stack(rows))
    return results


def backward_seconds(model: Any, inputs: dict[str, Tensor], each: int) -> list[float]:
    """Seconds of single backward passes, from so many coordinates of every layer, after a first.

    ∂e/∂x is usually had by one for every coordinate of every layer's output: these are a sample.
    """
    model.set_attn_implementation("eager")
    vectors = model.embeddings(inputs["input_ids"]).detach().requires_grad_()
    ends: list[Tensor] = []
    hooks = [
        layer.register_forward_hook(lambda _, __, out: ends.append(out))
        for layer in model.encoder.layer
    ]
    model.encoder(vectors)
    for hook in hooks:
        hook.remove()
    seconds = []
    for end in ends:
        flat = end.flatten()
        places = torch.linspace(0, len(flat) - 1, each + 1).long().tolist()
        for turn, place in enumerate(places):
            start = time.perf_counter()
            torch.autograd.grad(flat[place], vectors, retain_graph=True)
            if turn:
                seconds.append(time.perf_counter() - start)
    return seconds
