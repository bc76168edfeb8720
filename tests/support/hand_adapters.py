"""Adapters on output projections as people write them by hand, and the same models merged."""

import copy
import types
from collections.abc import Callable
from typing import Any

import torch
from adapters import OUTPUT, fill, outputs
from architectures import ALL
from torch import Tensor, nn
from transformers.models.llama import modeling_llama
from transformers.pytorch_utils import Conv1D


class LowRankBranch(nn.Module):
    """An adapter written by hand: a projection, and a low-rank branch called before or after it."""

    def __init__(self, projection: nn.Module, *, branch_first: bool) -> None:
        super().__init__()
        width, out = shape_of(projection)
        self.main = projection
        self.down = nn.Linear(width, 3, bias=False)
        self.up = nn.Linear(3, out, bias=False)
        self.branch_first = branch_first

    def forward(self, context: Tensor) -> Tensor:
        if self.branch_first:
            branch = self.up(self.down(context))
            return self.main(context) + branch
        return self.main(context) + self.up(self.down(context))

    def merge(self) -> nn.Module:
        """Return the projection with the branch added to its matrix."""
        with torch.no_grad():
            return add_to_matrix(self.main, self.up.weight @ self.down.weight)


class LowRankLinear(nn.Linear):
    """The same as a kind of linear module, as many libraries write it."""

    def __init__(self, projection: nn.Linear, *, branch_first: bool) -> None:
        super().__init__(projection.in_features, projection.out_features)
        self.weight, self.bias = projection.weight, projection.bias
        self.down = nn.Linear(projection.in_features, 3, bias=False)
        self.up = nn.Linear(3, projection.out_features, bias=False)
        self.branch_first = branch_first

    def forward(self, context: Tensor) -> Tensor:
        if self.branch_first:
            branch = self.up(self.down(context))
            return super().forward(context) + branch
        main = super().forward(context)
        return main + self.up(self.down(context))

    def merge(self) -> nn.Module:
        """Return a plain linear module with the branch added to its matrix."""
        plain = nn.Linear(self.in_features, self.out_features, bias=self.bias is not None)
        plain.weight, plain.bias = self.weight, self.bias
        with torch.no_grad():
            return add_to_matrix(plain, self.up.weight @ self.down.weight)


class ScaledContext(nn.Module):
    """A learned factor for each feature of the context, before the output projection."""

    def __init__(self, projection: nn.Module) -> None:
        super().__init__()
        self.main = projection
        self.factor = nn.Parameter(torch.ones(shape_of(projection)[0]))

    def forward(self, context: Tensor) -> Tensor:
        return self.main(context * self.factor)

    def merge(self) -> nn.Module:
        """Return the projection with the factor in its matrix."""
        with torch.no_grad():
            matrix = self.main.weight.T if isinstance(self.main, Conv1D) else self.main.weight
            return add_to_matrix(self.main, matrix * self.factor - matrix)


class Bottleneck(nn.Module):
    """A Houlsby adapter: what comes in, plus a small network with a nonlinearity of it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.down = nn.Linear(width, 5)
        self.up = nn.Linear(5, width)

    def forward(self, hidden: Tensor) -> Tensor:
        return hidden + self.up(torch.relu(self.down(hidden)))


class BottleneckAfter(nn.Module):
    """A projection followed by a bottleneck."""

    def __init__(self, projection: nn.Module) -> None:
        super().__init__()
        self.main = projection
        self.bottleneck = Bottleneck(shape_of(projection)[1])

    def forward(self, context: Tensor) -> Tensor:
        return self.bottleneck(self.main(context))


def shape_of(projection: nn.Module) -> tuple[int, int]:
    """Return how many features enter a projection, and how many leave it."""
    if isinstance(projection, Conv1D):
        return projection.weight.shape[0], projection.weight.shape[1]
    return projection.in_features, projection.out_features


def add_to_matrix(projection: nn.Module, change: Tensor) -> nn.Module:
    """Return a copy of a projection with a matrix `out in` added to its own."""
    changed = copy.deepcopy(projection)
    changed.weight = nn.Parameter(
        projection.weight + (change.T if isinstance(projection, Conv1D) else change)
    )
    return changed


def replace_output(model: nn.Module, name: str, change: Callable[[nn.Module], nn.Module]) -> None:
    """Replace the output projections of both layers by what a function makes of them."""
    for layer in range(2):
        path = OUTPUT[name].format(layer)
        parent, _, last = path.rpartition(".")
        setattr(model.get_submodule(parent), last, change(model.get_submodule(path)))


def adapt_by_hand(
    name: str, adapter: Callable[[nn.Module], nn.Module]
) -> tuple[nn.Module, nn.Module]:
    """Return a model whose output projections have an adapter, and the model merged."""
    torch.manual_seed(0)
    model = ALL[name].build()
    replace_output(model, name, adapter)
    fill(model.double()).eval()
    merged = copy.deepcopy(model)
    replace_output(merged, name, lambda adapted: adapted.merge())
    torch.testing.assert_close(outputs(model, name), outputs(merged, name), rtol=1e-6, atol=1e-6)
    return model, merged


def read_by_two(name: str, *, second_first: bool) -> tuple[nn.Module, nn.Module]:
    """Return a model with a second linear module that reads the context, and it merged.

    Both modules are called by the attention block itself, whose `forward` is patched.
    """
    torch.manual_seed(0)
    model = ALL[name].build()
    patch = {"bert": _patch_bert, "llama": _patch_llama}[name]
    path, _, last = OUTPUT[name].rpartition(".")
    for layer in range(2):
        model.get_submodule(path.format(layer)).second = nn.Linear(32, 32)
    patch(model, second_first=second_first)
    fill(model.double()).eval()
    merged = copy.deepcopy(model)
    for layer in range(2):
        block = merged.get_submodule(path.format(layer))
        projection, second = getattr(block, last), block.second
        bias = 0 if projection.bias is None else projection.bias
        projection.weight.data += second.weight.data
        projection.bias = nn.Parameter((bias + second.bias).detach())
        block.second = None
    torch.testing.assert_close(outputs(model, name), outputs(merged, name), rtol=1e-6, atol=1e-6)
    return model, merged


def _read(main: nn.Module, second: nn.Module | None, context: Tensor, *, first: bool) -> Tensor:
    """Return the sum of what two modules make of the context; `first` is when the second runs."""
    if second is None:
        return main(context)
    if first:
        other = second(context)
        return main(context) + other
    return main(context) + second(context)


def _patch_bert(model: nn.Module, *, second_first: bool) -> None:
    def forward(self: Any, hidden_states: Tensor, input_tensor: Tensor) -> Tensor:
        moved = _read(self.dense, self.second, hidden_states, first=second_first)
        return self.LayerNorm(moved + input_tensor)

    for layer in model.encoder.layer:
        layer.attention.output.forward = types.MethodType(forward, layer.attention.output)


def _patch_llama(model: nn.Module, *, second_first: bool) -> None:
    """Let each attention be one without rotary positions, which are of no interest here."""

    def forward(self: Any, hidden_states: Tensor, attention_mask: Any = None, **_: Any) -> Any:
        heads = (*hidden_states.shape[:-1], -1, self.head_dim)
        query, key, value = (
            projection(hidden_states).view(heads).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        attend = modeling_llama.ALL_ATTENTION_FUNCTIONS.get_interface(
            self.config._attn_implementation, modeling_llama.eager_attention_forward
        )
        context, weights = attend(self, query, key, value, attention_mask, scaling=self.scaling)
        return _read(self.o_proj, self.second, context.flatten(-2), first=second_first), weights

    for layer in model.layers:
        layer.self_attn.forward = types.MethodType(forward, layer.self_attn)
