"""The laws of the arithmetic, for every rule in the table and every form that parts can take."""

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
    Sources,
    track,
    unwrap,
)
from normviz.model.decompose.rules import table as room
from normviz.model.decompose.rules.elementwise import FUNCTIONS
from normviz.model.decompose.tape import LinearRecord, SourceRecord
from normviz.model.decompose.vectors import LowRankParts, PerHeadParts

TOKENS, HEADS, DIM = 5, 2, 3
WIDTH = HEADS * DIM
OTHERS = 4


class Stage:
    """Vectors in every form that parts can take, from one seed."""

    def __init__(self, seed, tokens=TOKENS):
        self.draw = torch.Generator().manual_seed(seed)
        self.tokens = tokens
        self.own = track(self.random(1, tokens, WIDTH))
        self.other = track(self.random(1, OTHERS, WIDTH), "other")
        self.heads = self.attended(self.own, tokens)
        self.mixed = F.linear(self.heads, self.random(WIDTH, WIDTH), self.random(WIDTH)) + self.own
        cross = self.attended(self.other, OTHERS)
        self.both = F.linear(cross, self.random(WIDTH, WIDTH)) + self.mixed
        self.dense = F.linear(F.gelu(self.both), self.random(WIDTH, WIDTH), self.random(WIDTH))
        self.activated = F.silu(self.both)

    def random(self, *shape):
        return torch.randn(*shape, generator=self.draw, dtype=torch.float64)

    def attended(self, x, keys):
        value = x.view(1, keys, HEADS, DIM).transpose(1, 2)
        weight = self.random(1, HEADS, self.tokens, keys).softmax(-1)
        return (weight @ value).transpose(1, 2).reshape(1, self.tokens, WIDTH)


FORMS = ("own", "heads", "mixed", "both", "dense", "activated")


def parts_of(x, stage, biases="source"):
    """Every part of a tensor, own sources first, and what comes from none."""
    free = BiasPart(biases)
    found = []
    for side, count in (("own", stage.tokens), ("other", OTHERS)):
        dense = Replay(Sources(side, 0, count), free).dense(x.record)
        found.append(x.bare.new_zeros(count, *x.shape) if dense is None else dense)
    from_none = free.of(x.record)
    return torch.cat(found), torch.zeros_like(x.bare) if from_none is None else from_none


def adds_up(x, stage, biases="source"):
    parts, from_none = parts_of(x, stage, biases)
    torch.testing.assert_close(parts.sum(dim=0) + from_none, x.bare, rtol=1e-9, atol=1e-10)


def put(x, stage):
    """Rows taken out and put back, as mixtures of experts do."""
    rows = x[0]
    chosen = torch.tensor([0, 2])
    base = torch.zeros(stage.tokens, WIDTH, dtype=torch.float64)
    base.index_add_(0, chosen, F.linear(rows[chosen], torch.ones(WIDTH, WIDTH).double()))
    return base


def written(x, stage):
    y = x * 1
    y[..., 0] = 2.0
    return y


EXAMPLES = {
    "linear": lambda x, s: F.linear(x, s.random(4, WIDTH), s.random(4)),
    "addmm": lambda x, s: torch.addmm(s.random(4), x[0], s.random(WIDTH, 4)),
    "matmul": lambda x, s: x @ s.random(WIDTH, 4),
    "bmm": lambda x, s: torch.bmm(x, s.random(1, WIDTH, 4)),
    "add": lambda x, s: x + s.random(WIDTH) + s.mixed,
    "sub": lambda x, s: s.mixed - x - 2.0,
    "rsub": lambda x, s: torch.rsub(x, 3.0),
    "minus_from": lambda x, s: 3.0 - x,
    "mul": lambda x, s: 2.0 * x * s.random(WIDTH) * s.random(s.tokens, 1),
    "multiply": lambda x, s: torch.multiply(x, s.random(1, s.tokens, WIDTH)),
    "div": lambda x, s: x / s.random(WIDTH).abs(),
    "true_divide": lambda x, s: torch.true_divide(x, 3.0),
    "neg": lambda x, s: -x,
    "negative": lambda x, s: torch.negative(x),
    "layer_norm": lambda x, s: F.layer_norm(x, (WIDTH,), s.random(WIDTH), s.random(WIDTH)),
    "rms_norm": lambda x, s: F.rms_norm(x, (WIDTH,), s.random(WIDTH)),
    "mean": lambda x, s: F.linear(x, s.random(4, WIDTH)).mean(dim=-1, keepdim=True),
    "pow": lambda x, s: F.relu(x).pow(2),
    "square": lambda x, s: torch.square(F.relu(x)),
    "clamp": lambda x, s: x.clamp(-0.5, 0.5),
    "clip": lambda x, s: torch.clip(x, -100, 100),
    "clamp_min": lambda x, s: x.clamp(min=-0.1),
    "clamp_max": lambda x, s: x.clamp(max=0.1),
    "view": lambda x, s: x.contiguous().view(1, s.tokens, HEADS, DIM),
    "view_as": lambda x, s: x.contiguous().view_as(torch.empty(s.tokens, WIDTH)),
    "reshape": lambda x, s: x.reshape(-1, WIDTH),
    "transpose": lambda x, s: x.transpose(1, 2),
    "swapaxes": lambda x, s: x.swapaxes(1, 2),
    "swapdims": lambda x, s: x.swapdims(1, 2),
    "permute": lambda x, s: x.permute(1, 0, 2),
    "movedim": lambda x, s: x.movedim(1, 0),
    "unsqueeze": lambda x, s: x.unsqueeze(0),
    "squeeze": lambda x, s: x.squeeze(0),
    "flatten": lambda x, s: x.view(1, s.tokens, HEADS, DIM).flatten(2),
    "unflatten": lambda x, s: x.unflatten(-1, (HEADS, DIM)),
    "expand": lambda x, s: x[None].expand(2, -1, -1, -1),
    "expand_as": lambda x, s: x.expand_as(torch.empty(3, s.tokens, WIDTH)),
    "broadcast_to": lambda x, s: torch.broadcast_to(x, (3, s.tokens, WIDTH)),
    "getitem": lambda x, s: x[..., 1:4],
    "index_select": lambda x, s: x.index_select(1, torch.tensor([0, s.tokens - 1])),
    "narrow": lambda x, s: x.narrow(-1, 1, 2),
    "select": lambda x, s: x.select(0, 0),
    "repeat": lambda x, s: x.repeat(2, 1, 1),
    "repeat_interleave": lambda x, s: x.repeat_interleave(2, dim=-1),
    "tile": lambda x, s: x.tile(1, 1, 2),
    "flip": lambda x, s: x.flip(-1),
    "roll": lambda x, s: x.roll(1, -1),
    "gather": lambda x, s: x.gather(-1, torch.zeros(1, s.tokens, 2, dtype=torch.long)),
    "T": lambda x, s: x[0].T,
    "mT": lambda x, s: x.mT,
    "t": lambda x, s: x[0].t(),
    "chunk": lambda x, s: x.chunk(2, dim=-1)[1],
    "split": lambda x, s: x.split(4, dim=-1)[1],
    "split_with_sizes": lambda x, s: x.split([2, 4], dim=-1)[0],
    "tensor_split": lambda x, s: x.tensor_split(2, dim=-1)[0],
    "unbind": lambda x, s: x.unbind(0)[0],
    "cat": lambda x, s: torch.cat([x, s.random(1, s.tokens, 2), s.mixed], dim=-1),
    "concat": lambda x, s: torch.concat([x, x], dim=-1),
    "concatenate": lambda x, s: torch.concatenate([x, s.mixed], dim=-1),
    "stack": lambda x, s: torch.stack([x, s.mixed], dim=-1),
    "index_add": put,
    "setitem": written,
    "where": lambda x, s: torch.where(x > 0, x, 0.5 * x),
    "masked_fill": lambda x, s: x.masked_fill(torch.eye(s.tokens, WIDTH) > 0, 2.0),
    "to": lambda x, s: x.to(torch.float64),
    "type": lambda x, s: x.type(torch.float64),
    "type_as": lambda x, s: x.type_as(s.random(1)),
    "double": lambda x, s: x.double(),
    "contiguous": lambda x, s: x.contiguous(),
    "clone": lambda x, s: x.clone(),
    "detach": lambda x, s: x.detach(),
    "dropout": lambda x, s: F.dropout(x, 0.5, training=False),
    "cpu": lambda x, s: x.cpu(),
    "data": lambda x, s: x.data,
    "rdiv": lambda x, s: 2.0 / (x.abs() + 3.0),
    "rpow": lambda x, s: 2.0**x,
    "maximum": lambda x, s: torch.maximum(x, s.random(WIDTH)),
    "minimum": lambda x, s: torch.minimum(x, s.random(WIDTH)),
    "log": lambda x, s: (x.abs() + 1).log(),
    "sqrt": lambda x, s: (x.abs() + 1).sqrt(),
    "rsqrt": lambda x, s: (x.abs() + 1).rsqrt(),
    "reciprocal": lambda x, s: (x.abs() + 1).reciprocal(),
    "log1p": lambda x, s: x.abs().log1p(),
}
EXAMPLES |= {
    name: (lambda x, s, f=function: f(x))
    for name, function in FUNCTIONS.items()
    if name not in EXAMPLES
}
READ = {
    "softmax": lambda x, s: x.softmax(-1),
    "log_softmax": lambda x, s: F.log_softmax(x, -1),
    "baddbmm": lambda x, s: torch.baddbmm(torch.zeros(1, 1, 1).double(), x, x.transpose(1, 2)),
    "var": lambda x, s: x.var(-1, keepdim=True),
    "std": lambda x, s: x.std(-1, keepdim=True),
    "norm": lambda x, s: x.norm(dim=-1, keepdim=True),
    "vector_norm": lambda x, s: torch.linalg.vector_norm(x, dim=-1, keepdim=True),
    "linalg_vector_norm": lambda x, s: torch.linalg.vector_norm(x, dim=-1, keepdim=True),
}
"""Rules whose result is read from the total, unless it is one token's own."""
CASTS = {"half", "bfloat16", "float", "cuda"}
"""Carries that would lose digits here, or need another device."""


def test_every_rule_has_an_example():
    assert set(room.RULES) - set(EXAMPLES) - set(READ) == CASTS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_parts_sum_to_the_total_that_the_model_would_have(name, form):
    for seed in range(2):
        stage = Stage(seed)
        before = stage.draw.get_state()
        found = EXAMPLES[name](getattr(stage, form), stage)
        stage.draw.set_state(before)
        bare = Stage.__new__(Stage)
        bare.__dict__ = {k: unwrap(v) for k, v in stage.__dict__.items()}
        torch.testing.assert_close(found.bare, EXAMPLES[name](getattr(bare, form), bare))
        for biases in ("source", "constant"):
            adds_up(found, stage, biases)


def steps_of(x):
    """Every linear step on the way to a tensor."""
    waiting, seen = [x.record], set()
    while waiting:
        record = waiting.pop()
        if record not in seen:
            seen.add(record)
            waiting += record.inputs
            if isinstance(record, LinearRecord):
                yield record


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_step_is_linear_keeps_sources_apart_and_makes_nothing_of_nothing(name, seed):
    stage = Stage(seed)
    for step in steps_of(EXAMPLES[name](stage.dense, stage)):
        shapes = [record.total.shape for record in step.of]
        first, second = ([stage.random(3, *shape) for shape in shapes] for _ in range(2))
        close = {"rtol": 1e-9, "atol": 1e-9}
        both = step.apply(*(a + 2 * b for a, b in zip(first, second, strict=True)))
        apart = step.apply(*first) + 2 * step.apply(*second)
        torch.testing.assert_close(both, apart, **close)
        order = torch.tensor([2, 0, 1])
        moved = step.apply(*(part[order] for part in first))
        torch.testing.assert_close(moved, step.apply(*first)[order], **close)
        nothing = step.apply(*(torch.zeros_like(part) for part in first))
        assert not nothing.any()


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), tokens=st.integers(1, 6))
def test_every_form_adds_up_at_every_length(seed, tokens):
    stage = Stage(seed, tokens)
    for form in FORMS:
        adds_up(getattr(stage, form), stage)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), order=st.permutations(range(TOKENS)))
def test_permuting_the_sources_permutes_the_parts(seed, order):
    stage = Stage(seed)
    value = stage.random(1, HEADS, TOKENS, DIM)
    weight = stage.random(1, HEADS, TOKENS, TOKENS).softmax(-1)
    matrix = stage.random(WIDTH, WIDTH)

    def parts(value, weight):
        x = track(value.transpose(1, 2).reshape(1, TOKENS, WIDTH))
        heads = weight @ x.view(1, TOKENS, HEADS, DIM).transpose(1, 2)
        found = F.gelu(F.linear(heads.transpose(1, 2).reshape(1, TOKENS, WIDTH), matrix))
        return parts_of(found, stage)[0][:TOKENS]

    straight = parts(value, weight)
    moved = parts(value[:, :, order], weight[..., order])
    torch.testing.assert_close(moved, straight[list(order)], rtol=1e-9, atol=1e-10)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), token=st.integers(0, TOKENS - 1))
def test_a_source_that_gives_nothing_has_no_part(seed, token):
    stage = Stage(seed)
    hidden = stage.random(1, TOKENS, WIDTH)
    hidden[:, token] = 0
    x = track(hidden)
    found = F.silu(F.linear(stage.attended(x, TOKENS), stage.random(WIDTH, WIDTH)) + x)
    assert not parts_of(found, stage)[0][token].any()


@pytest.mark.parametrize("name", READ)
def test_choices_and_statistics_are_read_from_the_total(name):
    stage = Stage(0)
    assert type(READ[name](stage.dense, stage)) is torch.Tensor
    mine = READ[name](stage.own, stage)
    assert name == "baddbmm" or isinstance(mine.record, SourceRecord)


def test_scores_are_read_and_values_are_followed():
    stage = Stage(0)
    scores = stage.own @ stage.own.transpose(1, 2)
    assert type(scores) is torch.Tensor
    adds_up(scores.softmax(-1) @ stage.own, stage)
    adds_up(scores.softmax(-1) @ stage.dense, stage)


def test_a_token_of_its_own_stays_so_through_everything_that_keeps_tokens_apart():
    stage = Stage(0)
    x = F.gelu(F.linear(F.layer_norm(stage.own, (WIDTH,)), stage.random(8, WIDTH), stage.random(8)))
    assert isinstance(x.record, SourceRecord)
    parts, from_none = parts_of(x, stage)
    assert not from_none.any()  # a token's own bias is its own
    for token in range(TOKENS):
        torch.testing.assert_close(parts[token, 0, token], x.bare[0, token])


def test_up_to_the_first_activation_parts_are_few_vectors():
    stage = Stage(0)
    replay = Replay(Sources("own", 0, TOKENS), BiasPart())
    assert isinstance(replay.parts(stage.heads.record), PerHeadParts)
    normed = F.layer_norm(stage.mixed, (WIDTH,)) * stage.random(WIDTH)
    found = replay.parts(normed.record)
    assert isinstance(found, LowRankParts)
    assert len(found.weight) == HEADS  # and the residual, which goes to the token itself alone
    assert found.own is not None
    assert isinstance(replay.parts(stage.dense.record), torch.Tensor)


def manual_norm(x, gain):
    """A norm as model files write it."""
    wide = x.to(torch.float64)
    variance = wide.pow(2).mean(-1, keepdim=True)
    return gain * (wide * torch.rsqrt(variance + 1e-6))


def manual_layer_norm(x, gain):
    mean = x.mean(-1, keepdim=True)
    variance = (x - mean).pow(2).mean(-1, keepdim=True)
    return gain * ((x - mean) * torch.rsqrt(variance + 1e-5))


@pytest.mark.parametrize("form", ["mixed", "dense"])
def test_norms_written_out_equal_norms_called(form):
    stage = Stage(0)
    x, gain = getattr(stage, form), stage.random(WIDTH)
    pairs = [
        (manual_norm(x, gain), F.rms_norm(x, (WIDTH,), gain, 1e-6)),
        (manual_layer_norm(x, gain), F.layer_norm(x, (WIDTH,), gain, None, 1e-5)),
    ]
    for written_out, called in pairs:
        for one, other in zip(parts_of(written_out, stage), parts_of(called, stage), strict=True):
            torch.testing.assert_close(one, other)


def test_an_activation_written_out_is_one_activation():
    """GELU by tanh: five operations, one expression, the closed form of the whole."""
    stage = Stage(0)
    x = stage.dense
    inner = 0.7978845608028654 * (x + 0.044715 * torch.pow(x, 3.0))
    found = 0.5 * x * (1.0 + torch.tanh(inner))
    wanted = F.gelu(x, approximate="tanh")
    for one, other in zip(parts_of(found, stage), parts_of(wanted, stage), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("activation", ["silu", "gelu", "sigmoid", "relu"])
def test_gated_units_equal_integrated_gradients_in_small_steps(activation):
    stage = Stage(0)
    into_gate, into_up = stage.random(4, WIDTH), stage.random(4, WIDTH)
    gate, up = F.linear(stage.both, into_gate), F.linear(stage.both, into_up)
    function = getattr(torch, activation, None) or getattr(F, activation)
    found, _ = parts_of(function(gate) * up, stage)
    numbers = [np.asarray(a) for a in (gate.bare[0], up.bare[0])]
    parts = [np.asarray(parts_of(x, stage)[0][:, 0]) for x in (gate, up)]
    plainly = lambda values: np.asarray(function(torch.as_tensor(values)))  # noqa: E731
    wanted = reference.gated(*numbers, *parts, plainly, steps=4000)
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-4, atol=1e-5)


def test_an_activation_at_zero_counts_with_its_slope():
    x = track(torch.zeros(1, 2, WIDTH, dtype=torch.float64))
    stage = Stage(0, 2)
    opposite = torch.tensor([[[[1.0, -1.0], [1.0, -1.0]]]], dtype=torch.float64)
    two = track(torch.ones(1, 2, WIDTH, dtype=torch.float64))
    canceled = opposite[0] @ two  # the two tokens' parts cancel: the total is zero
    found, _ = parts_of(F.gelu(canceled), stage)
    torch.testing.assert_close(found[0, 0, 0], torch.full((WIDTH,), 0.5).double())
    assert not parts_of(F.gelu(x), stage)[0].any()


def test_writing_in_place_keeps_the_tape_true():
    stage = Stage(0)
    x = stage.mixed.clone()
    y = F.linear(x, stage.random(4, WIDTH))
    x += stage.random(WIDTH)
    x.mul_(2.0)
    x /= 3.0
    x.relu_()
    adds_up(y, stage)
    adds_up(x, stage)
    torch.testing.assert_close(x.bare, unwrap(x))


def test_a_plain_tensor_that_is_written_on_has_parts_from_then_on():
    stage = Stage(0)
    base = torch.ones(TOKENS, WIDTH, dtype=torch.float64)
    base.index_add_(0, torch.tensor([1, 3]), stage.dense[0][:2])
    assert isinstance(base, DecomposedTensor)
    adds_up(base, stage)


UNRULY = {
    "cumsum": (lambda x: torch.cumsum(x, 1), "it has no rule"),
    "mean": (lambda x: x.mean(dim=1), "not a mean over the features"),
    "cat": (lambda x: torch.cat([x, x], dim=1), "tokens behind tokens"),
    "reshape": (lambda x: x.reshape(1, 3, 10), "folds the tokens into another axis"),
    "linear": (lambda x: F.linear(x.mT, torch.ones(2, TOKENS).double()), "maps along the tokens"),
    "layer_norm": (lambda x: F.layer_norm(x, (TOKENS, WIDTH)), "several axes"),
}


@pytest.mark.parametrize("name", UNRULY)
def test_what_mixes_tokens_otherwise_is_refused_by_name(name):
    function, reason = UNRULY[name]
    with pytest.raises(NoRule, match=reason) as caught:
        function(Stage(0).dense)
    assert f"{name!r}" in str(caught.value)
