"""What happens without a token: its value vectors set to zero in one layer (Mohebbi et al. 2023).

The weights stay what they are, so a head's output loses α times the token's value, and the model's
own code does the rest. How far a vector turns is the cosine distance to what it was.
"""

from collections.abc import Callable, Collection, Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.core.catalog import ZEROINGS
from normviz.model.capture import CapturedAttention
from normviz.model.capture.recording import AttentionCall, LayerCall, RecordedPass, Where
from normviz.model.capture.rerun import HookPoint, rerun_layer, rerun_model
from normviz.model.measures.ladder.measure import budget
from normviz.model.types import at_least_single, shares
from normviz.system.progress import track_progress

HERE, AT_THE_END = ZEROINGS
HELD = 8
"""How many tensors of the widest kind are held at a time."""
ROUNDING = 16
"""How many units in the last place a vector may turn by rounding alone."""


def zeroed(
    recorded: RecordedPass,
    measures: Collection[str],
    wanted: Collection[Where],
    *,
    normalized: bool = True,
    memory: int | None = None,
) -> list[dict[str, Tensor]]:
    """For every attention of a pass in order, the measures of those wanted; of others, nothing.

    All that was heard must have been kept.
    """
    found: list[dict[str, Tensor]] = []
    with track_progress("attention layers", len(wanted)) as step:
        for number, place in recorded.attentions:
            if (number, place) not in wanted:
                found.append({})
                continue
            most = _at_once(recorded.calls[number], memory)
            maps = _turned(recorded, number, place, measures, most)
            found.append({n: shares(m)[None] if normalized else m[None] for n, m in maps})
            step()
    return found


def _turned(
    recorded: RecordedPass, number: int, place: int, measures: Collection[str], most: int
) -> Iterator[tuple[str, Float[Tensor, "query key"]]]:
    """How far each query's vector turns without each key, here and at the end."""
    call = recorded.calls[number]
    count = _heard(call.attended[place]).weight.shape[-1]
    # Nothing is taken away, then one key after the other: all are rounded alike.
    keys = torch.eye(count + 1, device=call.left.device)[:, 1:]
    changed = mapped(lambda key: _without(call, place, key), keys, most)
    if HERE in measures:
        yield HERE, _distance(changed)
    if AT_THE_END in measures:
        end = max(n for n, other in enumerate(recorded.calls) if other.side == call.side)
        if number != end:
            changed = mapped(lambda left: _at_end(recorded, number, end, left), changed, most)
        yield AT_THE_END, _distance(changed)


def _without(call: LayerCall, place: int, key: Float[Tensor, " key"]) -> Tensor:
    """What leaves a layer when an attention in it gets nothing from one key."""
    heard = _heard(call.attended[place])
    weight, value = heard.weight[0], heard.value[0]

    def into(number: int, context: Tensor) -> Tensor:
        if number != place:
            return context
        lost = (weight * key.to(weight)) @ value
        return context - lost.transpose(0, 1).reshape(context.shape)

    _, left = rerun_layer(call, call.entered, call.read, into=into)
    assert left is not None  # noqa: S101 - the layer was run to its end
    return left


def _at_end(recorded: RecordedPass, number: int, end: int, left: Tensor) -> Tensor:
    """What leaves the last layer of a stack, when something else leaves one below."""
    after = end + 1 if end + 1 < len(recorded.calls) else None
    return rerun_model(recorded, HookPoint("leaves", number), left, until=after).left[end]


def mapped(run: Callable[[Tensor], Tensor], given: Tensor, most: int) -> Tensor:
    """A function of each tensor along the first axis: all at once where its code allows it.

    Code that looks at numbers to decide what to do, as a router does, takes them one by one.
    """
    try:
        return torch.cat(
            [torch.vmap(run, randomness="same")(some) for some in torch.split(given, most)]
        )
    except RuntimeError:
        return torch.stack([run(one) for one in given])


def _distance(vectors: Tensor) -> Float[Tensor, "query key"]:
    """How far vectors turned from the first: 1 - cos, as half the square between unit vectors.

    Nothing, where it is less than rounding can tell: a router's experts round otherwise in other
    company, and what came before a token would seem to know of it.
    """
    turned = torch.nn.functional.normalize(at_least_single(vectors).flatten(1, -2), dim=-1)
    distance: Tensor = (turned[1:] - turned[0]).square().sum(dim=-1) / 2
    noise = (ROUNDING * torch.finfo(vectors.dtype).eps) ** 2 / 2
    return distance.masked_fill(distance < noise, 0).T


def _heard(attended: AttentionCall) -> CapturedAttention:
    assert attended.heard is not None  # noqa: S101 - it was recorded to be kept
    return attended.heard


def _at_once(call: LayerCall, memory: int | None) -> int:
    """How many keys are taken away at a time."""
    widest = 4 * call.left.numel() * call.left.element_size()
    return max(1, budget(call.left.device, memory) // (HELD * widest))
