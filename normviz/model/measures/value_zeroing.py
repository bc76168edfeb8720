"""Value zeroing: what changes when a token's value vectors are zero in one layer.

The weights stay what they are, so a head's output loses α times the token's value, and the model's
own code does the rest. How far a vector turns is its cosine distance from what it was (Mohebbi et
al. 2023).
"""

from collections.abc import Callable, Collection, Iterator, Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.core.catalog import ZEROINGS
from normviz.model.capture import CapturedAttention
from normviz.model.capture.recording import AttentionCall, AttentionIndex, LayerCall, RecordedPass
from normviz.model.capture.rerun import HookPoint, rerun_layer, rerun_model
from normviz.model.measures.ladder.measure import byte_budget
from normviz.model.types import AttentionKey, at_least_single, row_shares
from normviz.system.progress import track_progress

AFTER_LAYER, AFTER_MODEL = ZEROINGS
TENSORS_HELD = 8
"""How many tensors of the widest kind are held at a time."""
ROUNDING = 16
"""How many units in the last place a vector may turn by rounding alone."""


def measure_value_zeroing(
    recorded: RecordedPass,
    measures: Collection[str],
    asked_for: Mapping[AttentionKey, AttentionIndex],
    *,
    normalized: bool = True,
    memory: int | None = None,
) -> dict[AttentionKey, dict[str, Tensor]]:
    """Return the distances of each attention that is asked for, by measure.

    The pass must have been recorded with its captured attentions.
    """
    results: dict[AttentionKey, dict[str, Tensor]] = {}
    with track_progress("attention layers", len(asked_for)) as step:
        for key, index in asked_for.items():
            maps = _distance_maps(recorded, index, measures, memory)
            results[key] = {n: row_shares(m)[None] if normalized else m[None] for n, m in maps}
            step()
    return results


def _distance_maps(
    recorded: RecordedPass, index: AttentionIndex, measures: Collection[str], memory: int | None
) -> Iterator[tuple[str, Float[Tensor, "query key"]]]:
    """Yield how far each query's vector turns without each key, after the layer and the model."""
    number, at = index
    call = recorded.calls[number]
    batch_size = _batch_size(call, memory)
    count = _require_captured(call.attentions[at]).weight.shape[-1]
    # First nothing is removed, then one key after the other: all are rounded alike.
    keys = torch.eye(count + 1, device=call.output.device)[:, 1:]
    outputs = map_over_first_axis(lambda key: _output_without(call, at, key), keys, batch_size)
    if AFTER_LAYER in measures:
        yield AFTER_LAYER, _cosine_distance(outputs)
    if AFTER_MODEL in measures:
        last = max(n for n, other in enumerate(recorded.calls) if other.sequence == call.sequence)
        if number != last:
            rerun = lambda output: _last_output(recorded, number, last, output)  # noqa: E731
            outputs = map_over_first_axis(rerun, outputs, batch_size)
        yield AFTER_MODEL, _cosine_distance(outputs)


def _output_without(call: LayerCall, at: int, key: Float[Tensor, " key"]) -> Tensor:
    """Return a layer's output when one of its attentions gets nothing from one key."""
    captured = _require_captured(call.attentions[at])
    weight, value = captured.weight[0], captured.value[0]

    def remove_key(number: int, context: Tensor) -> Tensor:
        if number != at:
            return context
        lost = (weight * key.to(weight)) @ value
        return context - lost.transpose(0, 1)

    _, output = rerun_layer(call, call.input, call.cross_input, edit_context=remove_key)
    assert output is not None  # noqa: S101 - the layer was run to its end
    return output


def _last_output(recorded: RecordedPass, number: int, last: int, output: Tensor) -> Tensor:
    """Return the output of a stack's last layer when another tensor leaves a layer below."""
    after = last + 1 if last + 1 < len(recorded.calls) else None
    return rerun_model(recorded, HookPoint("output", number), output, until=after).outputs[last]


def map_over_first_axis(
    function: Callable[[Tensor], Tensor], tensors: Tensor, batch_size: int
) -> Tensor:
    """Return a function of each tensor along the first axis, by `vmap` where its code allows it.

    Code that looks at numbers to decide what to do, as a router does, takes them one by one.
    """
    batched = torch.vmap(function, randomness="same")
    try:
        return torch.cat([batched(chunk) for chunk in torch.split(tensors, batch_size)])
    except RuntimeError:
        return torch.stack([function(tensor) for tensor in tensors])


def _cosine_distance(vectors: Tensor) -> Float[Tensor, "query key"]:
    """Return how far vectors turned from the first: 1 - cos, from distances of unit vectors.

    Distances below what rounding can cause become 0: a router's experts round differently in
    another batch, and tokens before a key would seem to depend on it.
    """
    unit = torch.nn.functional.normalize(at_least_single(vectors).flatten(1, -2), dim=-1)
    distance: Tensor = (unit[1:] - unit[0]).square().sum(dim=-1) / 2
    noise = (ROUNDING * torch.finfo(vectors.dtype).eps) ** 2 / 2
    return distance.masked_fill(distance < noise, 0).T


def _require_captured(attention: AttentionCall) -> CapturedAttention:
    assert attention.captured is not None  # noqa: S101 - the pass was recorded with `keep`
    return attention.captured


def _batch_size(call: LayerCall, memory: int | None) -> int:
    """Return how many keys are removed at a time."""
    widest = 4 * call.output.numel() * call.output.element_size()
    return max(1, byte_budget(call.output.device, memory) // (TENSORS_HELD * widest))
