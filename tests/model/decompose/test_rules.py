"""The laws of the decomposition, for every rule in the table and every form of parts."""

from typing import get_args

import numpy as np
import pytest
import reference
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.model.decompose import (
    BiasPart,
    DecomposedTensor,
    NoRule,
    Replay,
    SourceRange,
    track,
    unwrap,
)
from normviz.model.decompose.rules import table
from normviz.model.decompose.rules.elementwise import FUNCTIONS
from normviz.model.decompose.tape import BiasHandling, LinearRecord, SourceRecord
from normviz.model.decompose.vectors import LowRankParts, PerHeadParts

TOKENS, HEADS, DIM = 5, 2, 3
WIDTH = HEADS * DIM
OTHERS = 4


class Tensors:
    """Tensors whose parts have each of the possible forms, from one seed."""

    def __init__(self, seed, tokens=TOKENS):
        self.draw = torch.Generator().manual_seed(seed)
        self.tokens = tokens
        self.own = track(self.random(1, tokens, WIDTH))
        self.other = track(self.random(1, OTHERS, WIDTH), "other")
        self.heads = self.attend(self.own, tokens)
        self.low_rank = (
            F.linear(self.heads, self.random(WIDTH, WIDTH), self.random(WIDTH)) + self.own
        )
        cross = self.attend(self.other, OTHERS)
        self.both = F.linear(cross, self.random(WIDTH, WIDTH)) + self.low_rank
        self.dense = F.linear(F.gelu(self.both), self.random(WIDTH, WIDTH), self.random(WIDTH))
        self.activated = F.silu(self.both)

    def random(self, *shape):
        return torch.randn(*shape, generator=self.draw, dtype=torch.float64)

    def attend(self, x, keys):
        value = x.view(1, keys, HEADS, DIM).transpose(1, 2)
        weight = self.random(1, HEADS, self.tokens, keys).softmax(-1)
        return (weight @ value).transpose(1, 2).reshape(1, self.tokens, WIDTH)


FORMS = ("own", "heads", "low_rank", "both", "dense", "activated")


def parts_of(x, tensors, bias_handling="source"):
    """Return the part of every source, own sources first, and the bias part."""
    bias_part = BiasPart(bias_handling)
    sources = (SourceRange("own", 0, tensors.tokens), SourceRange("other", 0, OTHERS))
    replays = [Replay(run, bias_part) for run in sources]
    bias_part.replays = replays
    parts = []
    for replay in replays:
        dense = replay.dense(x.record)
        empty = x.plain.new_zeros(len(replay.sources), *x.shape)
        parts.append(empty if dense is None else dense)
    bias = bias_part.of(x.record)
    return torch.cat(parts), torch.zeros_like(x.plain) if bias is None else bias


def assert_adds_up(x, tensors, bias_handling="source"):
    parts, bias = parts_of(x, tensors, bias_handling)
    torch.testing.assert_close(parts.sum(dim=0) + bias, x.plain, rtol=1e-9, atol=1e-10)


def scatter_rows(x, tensors):
    """Take rows out and put them back, as mixtures of experts do."""
    rows = x[0]
    chosen = torch.tensor([0, 2])
    base = torch.zeros(tensors.tokens, WIDTH, dtype=torch.float64)
    base.index_add_(0, chosen, F.linear(rows[chosen], torch.ones(WIDTH, WIDTH).double()))
    return base


def write_feature(x, _example):
    y = x * 1
    y[..., 0] = 2.0
    return y


EXAMPLES = {
    "linear": lambda x, t: F.linear(x, t.random(4, WIDTH), t.random(4)),
    "addmm": lambda x, t: torch.addmm(t.random(4), x[0], t.random(WIDTH, 4)),
    "matmul": lambda x, t: x @ t.random(WIDTH, 4),
    "bmm": lambda x, t: torch.bmm(x, t.random(1, WIDTH, 4)),
    "einsum": lambda x, t: torch.einsum("btd,df->bft", x, t.random(WIDTH, 4)).mT,
    "add": lambda x, t: x + t.random(WIDTH) + t.low_rank,
    "sub": lambda x, t: t.low_rank - x - 2.0,
    "rsub": lambda x, t: torch.rsub(x, 3.0),
    "minus_from": lambda x, t: 3.0 - x,
    "mul": lambda x, t: 2.0 * x * t.random(WIDTH) * t.random(t.tokens, 1),
    "multiply": lambda x, t: torch.multiply(x, t.random(1, t.tokens, WIDTH)),
    "div": lambda x, t: x / t.random(WIDTH).abs(),
    "true_divide": lambda x, t: torch.true_divide(x, 3.0),
    "neg": lambda x, t: -x,
    "negative": lambda x, t: torch.negative(x),
    "layer_norm": lambda x, t: F.layer_norm(x, (WIDTH,), t.random(WIDTH), t.random(WIDTH)),
    "rms_norm": lambda x, t: F.rms_norm(x, (WIDTH,), t.random(WIDTH)),
    "mean": lambda x, t: F.linear(x, t.random(4, WIDTH)).mean(dim=-1, keepdim=True),
    "pow": lambda x, t: F.relu(x).pow(2),
    "square": lambda x, t: torch.square(F.relu(x)),
    "clamp": lambda x, t: x.clamp(-0.5, 0.5),
    "clip": lambda x, t: torch.clip(x, -100, 100),
    "clamp_min": lambda x, t: x.clamp(min=-0.1),
    "clamp_max": lambda x, t: x.clamp(max=0.1),
    "view": lambda x, t: x.contiguous().view(1, t.tokens, HEADS, DIM),
    "view_as": lambda x, t: x.contiguous().view_as(torch.empty(t.tokens, WIDTH)),
    "reshape": lambda x, t: x.reshape(-1, WIDTH),
    "transpose": lambda x, t: x.transpose(1, 2),
    "swapaxes": lambda x, t: x.swapaxes(1, 2),
    "swapdims": lambda x, t: x.swapdims(1, 2),
    "permute": lambda x, t: x.permute(1, 0, 2),
    "movedim": lambda x, t: x.movedim(1, 0),
    "unsqueeze": lambda x, t: x.unsqueeze(0),
    "squeeze": lambda x, t: x.squeeze(0),
    "flatten": lambda x, t: x.view(1, t.tokens, HEADS, DIM).flatten(2),
    "unflatten": lambda x, t: x.unflatten(-1, (HEADS, DIM)),
    "expand": lambda x, t: x[None].expand(2, -1, -1, -1),
    "expand_as": lambda x, t: x.expand_as(torch.empty(3, t.tokens, WIDTH)),
    "broadcast_to": lambda x, t: torch.broadcast_to(x, (3, t.tokens, WIDTH)),
    "getitem": lambda x, t: x[..., 1:4],
    "index_select": lambda x, t: x.index_select(1, torch.tensor([0, t.tokens - 1])),
    "narrow": lambda x, t: x.narrow(-1, 1, 2),
    "select": lambda x, t: x.select(0, 0),
    "repeat": lambda x, t: x.repeat(2, 1, 1),
    "repeat_interleave": lambda x, t: x.repeat_interleave(2, dim=-1),
    "tile": lambda x, t: x.tile(1, 1, 2),
    "flip": lambda x, t: x.flip(-1),
    "roll": lambda x, t: x.roll(1, -1),
    "gather": lambda x, t: x.gather(-1, torch.zeros(1, t.tokens, 2, dtype=torch.long)),
    "T": lambda x, t: x[0].T,
    "mT": lambda x, t: x.mT,
    "t": lambda x, t: x[0].t(),
    "chunk": lambda x, t: x.chunk(2, dim=-1)[1],
    "split": lambda x, t: x.split(4, dim=-1)[1],
    "split_with_sizes": lambda x, t: x.split([2, 4], dim=-1)[0],
    "tensor_split": lambda x, t: x.tensor_split(2, dim=-1)[0],
    "unbind": lambda x, t: x.unbind(0)[0],
    "cat": lambda x, t: torch.cat([x, t.random(1, t.tokens, 2), t.low_rank], dim=-1),
    "concat": lambda x, t: torch.concat([x, x], dim=-1),
    "concatenate": lambda x, t: torch.concatenate([x, t.low_rank], dim=-1),
    "stack": lambda x, t: torch.stack([x, t.low_rank], dim=-1),
    "index_add": scatter_rows,
    "setitem": write_feature,
    "where": lambda x, t: torch.where(x > 0, x, 0.5 * x),
    "masked_fill": lambda x, t: x.masked_fill(torch.eye(t.tokens, WIDTH) > 0, 2.0),
    "to": lambda x, t: x.to(torch.float64),
    "type": lambda x, t: x.type(torch.float64),
    "type_as": lambda x, t: x.type_as(t.random(1)),
    "double": lambda x, t: x.double(),
    "contiguous": lambda x, t: x.contiguous(),
    "clone": lambda x, t: x.clone(),
    "detach": lambda x, t: x.detach(),
    "dropout": lambda x, t: F.dropout(x, 0.5, training=False),
    "cpu": lambda x, t: x.cpu(),
    "data": lambda x, t: x.data,
    "rdiv": lambda x, t: 2.0 / (x.abs() + 3.0),
    "rpow": lambda x, t: 2.0**x,
    "maximum": lambda x, t: torch.maximum(x, t.random(WIDTH)),
    "minimum": lambda x, t: torch.minimum(x, t.random(WIDTH)),
    "log": lambda x, t: (x.abs() + 1).log(),
    "sqrt": lambda x, t: (x.abs() + 1).sqrt(),
    "rsqrt": lambda x, t: (x.abs() + 1).rsqrt(),
    "reciprocal": lambda x, t: (x.abs() + 1).reciprocal(),
    "log1p": lambda x, t: x.abs().log1p(),
}
EXAMPLES |= {
    name: (lambda x, t, f=function: f(x))
    for name, function in FUNCTIONS.items()
    if name not in EXAMPLES
}
READ = {
    "softmax": lambda x, t: x.softmax(-1),
    "log_softmax": lambda x, t: F.log_softmax(x, -1),
    "baddbmm": lambda x, t: torch.baddbmm(torch.zeros(1, 1, 1).double(), x, x.transpose(1, 2)),
    "var": lambda x, t: x.var(-1, keepdim=True),
    "std": lambda x, t: x.std(-1, keepdim=True),
    "norm": lambda x, t: x.norm(dim=-1, keepdim=True),
    "vector_norm": lambda x, t: torch.linalg.vector_norm(x, dim=-1, keepdim=True),
    "linalg_vector_norm": lambda x, t: torch.linalg.vector_norm(x, dim=-1, keepdim=True),
}
"""Rules whose result is read from the total, unless its argument is a token's own."""
CASTS = {"half", "bfloat16", "float", "cuda"}
"""Identities that would lose digits here, or need another device."""


def test_every_rule_has_an_example():
    assert set(table.RULES) - set(EXAMPLES) - set(READ) == CASTS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_parts_sum_to_the_total_that_the_model_would_have(name, form):
    for seed in range(2):
        tensors = Tensors(seed)
        before = tensors.draw.get_state()
        result = EXAMPLES[name](getattr(tensors, form), tensors)
        tensors.draw.set_state(before)
        plain = Tensors.__new__(Tensors)
        plain.__dict__ = {k: unwrap(v) for k, v in tensors.__dict__.items()}
        torch.testing.assert_close(result.plain, EXAMPLES[name](getattr(plain, form), plain))
        for bias_handling in get_args(BiasHandling):
            assert_adds_up(result, tensors, bias_handling)


def linear_records(x):
    """Yield every linear record that a tensor was computed from."""
    queue, seen = [x.record], set()
    while queue:
        record = queue.pop()
        if record not in seen:
            seen.add(record)
            queue += record.inputs
            if isinstance(record, LinearRecord):
                yield record


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_step_is_linear_keeps_sources_apart_and_maps_zero_to_zero(name, seed):
    tensors = Tensors(seed)
    for step in linear_records(EXAMPLES[name](tensors.dense, tensors)):
        shapes = [record.total.shape for record in step.operands]
        first, second = ([tensors.random(3, *shape) for shape in shapes] for _ in range(2))
        close = {"rtol": 1e-9, "atol": 1e-9}
        both = step.apply(*(a + 2 * b for a, b in zip(first, second, strict=True)))
        apart = step.apply(*first) + 2 * step.apply(*second)
        torch.testing.assert_close(both, apart, **close)
        order = torch.tensor([2, 0, 1])
        moved = step.apply(*(part[order] for part in first))
        torch.testing.assert_close(moved, step.apply(*first)[order], **close)
        image_of_zero = step.apply(*(torch.zeros_like(part) for part in first))
        assert not image_of_zero.any()


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), tokens=st.integers(1, 6))
def test_every_form_adds_up_at_every_length(seed, tokens):
    tensors = Tensors(seed, tokens)
    for form in FORMS:
        assert_adds_up(getattr(tensors, form), tensors)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), order=st.permutations(range(TOKENS)))
def test_permuting_the_sources_permutes_the_parts(seed, order):
    tensors = Tensors(seed)
    value = tensors.random(1, HEADS, TOKENS, DIM)
    weight = tensors.random(1, HEADS, TOKENS, TOKENS).softmax(-1)
    matrix = tensors.random(WIDTH, WIDTH)

    def parts(value, weight):
        x = track(value.transpose(1, 2).reshape(1, TOKENS, WIDTH))
        heads = weight @ x.view(1, TOKENS, HEADS, DIM).transpose(1, 2)
        x = F.gelu(F.linear(heads.transpose(1, 2).reshape(1, TOKENS, WIDTH), matrix))
        return parts_of(x, tensors)[0][:TOKENS]

    straight = parts(value, weight)
    moved = parts(value[:, :, order], weight[..., order])
    torch.testing.assert_close(moved, straight[list(order)], rtol=1e-9, atol=1e-10)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), token=st.integers(0, TOKENS - 1))
def test_a_source_whose_vector_is_zero_has_no_part(seed, token):
    tensors = Tensors(seed)
    hidden = tensors.random(1, TOKENS, WIDTH)
    hidden[:, token] = 0
    x = track(hidden)
    activated = F.silu(F.linear(tensors.attend(x, TOKENS), tensors.random(WIDTH, WIDTH)) + x)
    assert not parts_of(activated, tensors)[0][token].any()


@pytest.mark.parametrize("name", READ)
def test_choices_and_statistics_are_read_from_the_total(name):
    tensors = Tensors(0)
    assert type(READ[name](tensors.dense, tensors)) is torch.Tensor
    own = READ[name](tensors.own, tensors)
    assert name == "baddbmm" or isinstance(own.record, SourceRecord)


def test_scores_are_read_and_values_are_decomposed():
    tensors = Tensors(0)
    scores = tensors.own @ tensors.own.transpose(1, 2)
    assert type(scores) is torch.Tensor
    assert_adds_up(scores.softmax(-1) @ tensors.own, tensors)
    assert_adds_up(scores.softmax(-1) @ tensors.dense, tensors)


def test_own_vectors_stay_own_through_everything_that_keeps_tokens_apart():
    tensors = Tensors(0)
    matrix, vector = tensors.random(WIDTH, WIDTH), tensors.random(WIDTH)

    def activate(x):
        return F.gelu(F.linear(F.layer_norm(x, (WIDTH,), bias=vector), matrix, vector))

    x = activate(tensors.own)
    assert isinstance(x.record, SourceRecord)
    read, bias = parts_of(tensors.attend(x, TOKENS), tensors)
    assert not bias.any()  # what an attention reads is the token's own, biases included
    assert read.any()
    stepwise = activate(track(tensors.own.plain, stepwise=True))
    for bias_handling in ("source", "constant", "bias-token"):
        parts, bias = parts_of(x, tensors, bias_handling)
        wanted, apart = parts_of(stepwise, tensors, bias_handling)
        assert apart.any()  # anywhere else biases are no token's
        torch.testing.assert_close(bias, apart)
        torch.testing.assert_close(parts, wanted)
    parts, bias = parts_of(x, tensors, "decompx")
    assert not bias.any()  # there is only one token to share it with
    torch.testing.assert_close(parts, parts_of(stepwise, tensors, "decompx")[0])
    for token in range(TOKENS):
        torch.testing.assert_close(parts[token, 0, token], x.plain[0, token])


def halves(x):
    """Split, scale by a softmax that is only read, add in place, and put back together."""
    first, second = x.chunk(2, dim=-1)
    first = first * x.softmax(-1)[..., :1]
    first = first + second.mean(dim=-1, keepdim=True)
    first.mul_(2.0).add_(1.0)
    return torch.cat([second, first], dim=-1)


def test_the_steps_of_own_vectors_are_those_that_every_other_vector_takes():
    tensors = Tensors(0)
    stepwise = halves(track(tensors.own.plain, stepwise=True))
    x = halves(tensors.own)
    assert isinstance(x.record, SourceRecord)
    for one, other in zip(parts_of(x, tensors), parts_of(stepwise, tensors), strict=True):
        torch.testing.assert_close(one, other)


def test_biases_of_values_belong_to_the_token_that_is_read_in_its_own_order():
    tensors = Tensors(0)
    vector = tensors.random(WIDTH)
    start = track(tensors.own.plain, stepwise=True)
    entered = start + F.linear(start, tensors.random(WIDTH, WIDTH), tensors.random(WIDTH))
    matrix = tensors.random(WIDTH, WIDTH)
    order = torch.tensor([3, 0, 4, 1, 2])
    weight = tensors.random(1, TOKENS, TOKENS).softmax(-1)
    parts, left = {}, {}
    for name, bias in (("with", vector), ("without", torch.zeros_like(vector))):
        mixed = weight @ F.linear(entered, matrix, bias)[:, order]
        bias_part = BiasPart("source", {entered.record: "own"})
        parts[name] = Replay(SourceRange("own", 0, TOKENS), bias_part).dense(mixed.record)
        left[name] = bias_part.of(mixed.record)
        torch.testing.assert_close(parts[name].sum(dim=0) + left[name], mixed.plain)
    torch.testing.assert_close(left["with"], left["without"])  # only what entered the layer
    given = parts["with"] - parts["without"]
    for position, token in enumerate(order):
        wanted = weight[0, :, position, None] * vector
        torch.testing.assert_close(given[token, 0], wanted)


def test_a_bias_that_no_part_has_any_of_is_left_over():
    tensors = Tensors(0)
    along, across = torch.eye(WIDTH, dtype=torch.float64)[:2]
    matrix = torch.outer(along, tensors.random(WIDTH))
    result = F.linear(tensors.low_rank, matrix, across)
    parts, bias = parts_of(result, tensors, "decompx")
    torch.testing.assert_close(bias, across.expand_as(bias))
    torch.testing.assert_close(parts.sum(dim=0) + bias, result.plain)


def test_up_to_the_first_activation_parts_are_low_rank():
    tensors = Tensors(0)
    replay = Replay(SourceRange("own", 0, TOKENS), BiasPart())
    assert isinstance(replay.parts(tensors.heads.record), PerHeadParts)
    normed = F.layer_norm(tensors.low_rank, (WIDTH,)) * tensors.random(WIDTH)
    parts = replay.parts(normed.record)
    assert isinstance(parts, LowRankParts)
    assert len(parts.weight) == HEADS  # and the residual, which goes to the token itself alone
    assert parts.residual is not None
    assert isinstance(replay.parts(tensors.dense.record), torch.Tensor)


def manual_norm(x, gain):
    """RMS norm as model files write it."""
    wide = x.to(torch.float64)
    variance = wide.pow(2).mean(-1, keepdim=True)
    return gain * (wide * torch.rsqrt(variance + 1e-6))


def manual_layer_norm(x, gain):
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).pow(2).mean(-1, keepdim=True)
    return gain * ((x - mean) * torch.rsqrt(variance + 1e-5))


@pytest.mark.parametrize("form", ["low_rank", "dense"])
def test_norms_written_out_equal_norms_called(form):
    tensors = Tensors(0)
    x, gain = getattr(tensors, form), tensors.random(WIDTH)
    pairs = [
        (manual_norm(x, gain), F.rms_norm(x, (WIDTH,), gain, 1e-6)),
        (manual_layer_norm(x, gain), F.layer_norm(x, (WIDTH,), gain, None, 1e-5)),
    ]
    for written_out, called in pairs:
        pair = zip(parts_of(written_out, tensors), parts_of(called, tensors), strict=True)
        for actual, expected in pair:
            torch.testing.assert_close(actual, expected)


def test_an_activation_written_out_is_one_activation():
    """GELU by tanh: five operations are one expression, with the closed form of the whole."""
    tensors = Tensors(0)
    x = tensors.dense
    inner = 0.7978845608028654 * (x + 0.044715 * torch.pow(x, 3.0))
    written_out = 0.5 * x * (1.0 + torch.tanh(inner))
    called = F.gelu(x, approximate="tanh")
    pair = zip(parts_of(written_out, tensors), parts_of(called, tensors), strict=True)
    for actual, expected in pair:
        torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("activation", ["silu", "gelu", "sigmoid", "relu"])
def test_gated_units_equal_integrated_gradients_in_small_steps(activation):
    tensors = Tensors(0)
    into_gate, into_up = tensors.random(4, WIDTH), tensors.random(4, WIDTH)
    gate, up = F.linear(tensors.both, into_gate), F.linear(tensors.both, into_up)
    function = getattr(torch, activation, None) or getattr(F, activation)
    gated, _ = parts_of(function(gate) * up, tensors)
    numbers = [np.asarray(a) for a in (gate.plain[0], up.plain[0])]
    parts = [np.asarray(parts_of(x, tensors)[0][:, 0]) for x in (gate, up)]
    on_arrays = lambda values: np.asarray(function(torch.as_tensor(values)))  # noqa: E731
    expected = reference.gated(*numbers, *parts, on_arrays, steps=4000)
    np.testing.assert_allclose(gated[:, 0], expected, rtol=1e-4, atol=1e-5)


def test_an_activation_at_zero_uses_its_derivative():
    x = track(torch.zeros(1, 2, WIDTH, dtype=torch.float64))
    tensors = Tensors(0, 2)
    opposite = torch.tensor([[[[1.0, -1.0], [1.0, -1.0]]]], dtype=torch.float64)
    two = track(torch.ones(1, 2, WIDTH, dtype=torch.float64))
    canceled = opposite[0] @ two  # the two tokens' parts cancel: the total is zero
    parts, _ = parts_of(F.gelu(canceled), tensors)
    torch.testing.assert_close(parts[0, 0, 0], torch.full((WIDTH,), 0.5).double())
    assert not parts_of(F.gelu(x), tensors)[0].any()


def test_writing_in_place_keeps_the_tape_true():
    tensors = Tensors(0)
    x = tensors.low_rank.clone()
    y = F.linear(x, tensors.random(4, WIDTH))
    x += tensors.random(WIDTH)
    x.mul_(2.0)
    x /= 3.0
    x.relu_()
    assert_adds_up(y, tensors)
    assert_adds_up(x, tensors)
    torch.testing.assert_close(x.plain, unwrap(x))


def test_a_plain_tensor_that_is_written_to_has_parts_from_then_on():
    tensors = Tensors(0)
    base = torch.ones(TOKENS, WIDTH, dtype=torch.float64)
    base.index_add_(0, torch.tensor([1, 3]), tensors.dense[0][:2])
    assert isinstance(base, DecomposedTensor)
    assert_adds_up(base, tensors)


NOT_APPLICABLE = {
    "cumsum": (lambda x: torch.cumsum(x, 1), "it has no rule"),
    "mean": (lambda x: x.mean(dim=1), "not a mean over the features"),
    "cat": (lambda x: torch.cat([x, x], dim=1), "tokens behind tokens"),
    "reshape": (lambda x: x.reshape(1, 3, 10), "folds the tokens into another axis"),
    "linear": (lambda x: F.linear(x.mT, torch.ones(2, TOKENS).double()), "maps along the tokens"),
    "layer_norm": (lambda x: F.layer_norm(x, (TOKENS, WIDTH)), "several axes"),
}


@pytest.mark.parametrize("name", NOT_APPLICABLE)
def test_operations_that_mix_tokens_in_other_ways_are_refused_by_name(name):
    function, reason = NOT_APPLICABLE[name]
    tensors = Tensors(0)
    with pytest.raises(NoRule, match=reason) as caught:
        parts_of(function(tensors.dense) * 2, tensors)
    assert f"{name!r}" in str(caught.value)


def test_what_is_lost_may_be_read_as_scores():
    """Queries and keys need no rule: only their totals count."""
    tensors = Tensors(0)
    queries = torch.cumsum(tensors.dense, dim=1)
    weights = (queries @ queries.mT).softmax(dim=-1)
    assert not isinstance(weights, DecomposedTensor)
    assert_adds_up(weights @ tensors.dense, tensors)


def test_a_lost_factor_of_whole_tokens_is_held():
    """A router's weight scales what an expert returns; its parts are not asked for."""
    tensors = Tensors(0)
    weight = torch.cumsum(tensors.dense, dim=1)[..., :1]
    assert_adds_up(tensors.low_rank * weight, tensors)


def test_a_lost_gate_is_not_held():
    tensors = Tensors(0)
    gate = torch.cumsum(tensors.dense, dim=1)
    with pytest.raises(NoRule, match="cumsum"):
        parts_of(tensors.low_rank * gate, tensors)


def test_rounded_numbers_do_not_pass_for_constants():
    """A kernel that rounds to integers and back would leave everything to the biases."""
    tensors = Tensors(0)
    with pytest.raises(NoRule, match="'long'"):
        parts_of((tensors.dense * 10).long().double() / 10, tensors)


def test_products_in_letters_of_weights_and_values_keep_tokens_apart():
    tensors = Tensors(0)
    weights = tensors.random(2, tensors.tokens, tensors.tokens).softmax(dim=-1)
    values = tensors.dense[0].reshape(tensors.tokens, 2, -1)
    assert_adds_up(torch.einsum("hij,jhd->ihd", weights, values), tensors)
