"""How much every token's vectors depend on every input token: norms of derivatives.

`hidden-attribution` is the derivative of a layer's output (Brunner et al. 2020), `head-attribution`
that of a head's output before W_O, both by the model's input; by the layer's own input, the latter
is `head-attribution-local` (Pascual et al. 2021).
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from torch import Tensor

from normviz.core.catalog import ATTRIBUTIONS, statistic_id
from normviz.core.gradients import Gradients
from normviz.model.capture.recording import AttentionIndex, LayerCall, RecordedPass
from normviz.model.capture.rerun import rerun_layer
from normviz.model.decompose.tape import SourceSequence
from normviz.model.measures.gradients.chain import LayerEffect, input_of
from normviz.model.measures.gradients.check import LayerErrors, check_jvp
from normviz.model.measures.gradients.jacobian_norms import (
    DirectionBatch,
    Directions,
    NormAccumulator,
    direction_batches,
    normalize_rows,
    relative_error,
)
from normviz.model.measures.gradients.jvp import batched_jvp
from normviz.model.measures.ladder.measure import MEMORY_SHARE, byte_budget, free_memory
from normviz.model.types import AttentionKey
from normviz.system.progress import track_progress

HIDDEN, GLOBAL, LOCAL = ATTRIBUTIONS
TENSORS_HELD = 8
"""How many tensors of the widest kind are held at a time."""


@dataclass(frozen=True)
class Attribution:
    """The attributions of one attention, and of the layer it belongs to."""

    numbers: dict[str, Tensor] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    """By measure, how far the derivative is from the model's own; absent where not checked."""
    standard_errors: dict[str, float] = field(default_factory=dict)
    """By measure, the relative standard error; absent where every direction was tried."""
    directions: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By measure, how many directions were tried for each token, and how many there are."""
    dtype: str = "float32"
    """The least precise type that any number of the pass had."""


def measure_attribution(
    recorded: RecordedPass,
    measures: Collection[str],
    gradients: Gradients,
    asked_for: Mapping[AttentionKey, AttentionIndex],
    memory: int | None,
) -> dict[AttentionKey, Attribution]:
    """Return the attributions of each attention that is asked for."""
    run = _AttributionRun(recorded, measures, gradients, [*asked_for.values()], memory)
    with track_progress("tokens", run.token_count()) as step:
        if {HIDDEN, GLOBAL} & set(measures):
            run.push_through_model(step)
        if LOCAL in measures:
            run.push_through_layers(step)
    return {key: run.result(*index) for key, index in asked_for.items()}


class _AttributionRun:
    """The derivatives of one pass, as they are accumulated."""

    def __init__(
        self,
        recorded: RecordedPass,
        measures: Collection[str],
        gradients: Gradients,
        asked_for: Collection[AttentionIndex],
        memory: int | None,
    ) -> None:
        self.recorded = recorded
        self.measures = measures
        self.gradients = gradients
        self.asked_for = asked_for
        self.memory = memory
        self.last = max((number for number, _ in asked_for), default=-1)
        self.device = recorded.calls[0].output.device
        run_bytes = byte_budget(self.device, memory)
        widest = max(map(_widest_bytes, recorded.calls))
        self.batch_size = max(1, run_bytes // (TENSORS_HELD * widest))
        self.errors: LayerErrors = {}
        self.accumulators: dict[AttentionIndex, dict[str, NormAccumulator]] = {
            i: {} for i in asked_for
        }

    def token_count(self) -> int:
        """Return how many tokens' vectors will be changed in total."""
        vectors: list[Tensor] = []
        if {HIDDEN, GLOBAL} & set(self.measures):
            vectors += self.inputs().values()
        if LOCAL in self.measures:
            vectors += [_key_input(self.recorded.calls[n], at) for n, at in self.asked_for]
        return sum(tensor.numel() // tensor.shape[-1] for tensor in vectors)

    def inputs(self) -> dict[SourceSequence, Tensor]:
        """Return the model's input of each sequence."""
        return {
            sequence: input_of(self.recorded, sequence, self.gradients.origin)[1]
            for sequence in self.recorded.sequences
        }

    def matrix_bytes(self) -> int:
        """Return how many bytes the layers' matrices may take: 0 where they do not pay off.

        To compute a layer's matrices takes about two pushes for each coordinate.
        """
        pushes = [
            vectors.numel()
            // vectors.shape[-1]
            * self.directions(vectors).count
            / (2 * vectors.shape[-1])
            for vectors in self.inputs().values()
        ]
        if max(pushes) <= 1:
            return 0
        return self.memory or int(MEMORY_SHARE * free_memory(self.device))

    def directions(self, vectors: Tensor) -> Directions:
        """Return the directions in which vectors are changed."""
        return Directions(vectors.shape[-1], self.gradients.samples, self.gradients.seed)

    def push_through_model(self, step: Callable[[int], object]) -> None:
        """Change every token of the input, and add what becomes of every layer."""
        checked = check_jvp(
            self.recorded, self.gradients.origin, self.batch_size, self.matrix_bytes(), self.last
        )
        self.errors = checked.errors
        for sequence, vectors in self.inputs().items():
            for batch in self.batches(vectors, step):
                for effect in checked.strategy.push(sequence, batch.vectors):
                    if effect.number > self.last:
                        break
                    self.add_effect(sequence, batch, effect)

    def add_effect(
        self, sequence: SourceSequence, batch: DirectionBatch, effect: LayerEffect
    ) -> None:
        """Add the effect on a layer, for each attention whose keys are the changed tokens."""
        call = self.recorded.calls[effect.number]
        for at, attention in enumerate(call.attentions):
            index = effect.number, at
            if index in self.asked_for and call.key_sequence(attention) == sequence:
                self.add(index, HIDDEN, batch, effect.output.flatten(1, -2))
                self.add(index, GLOBAL, batch, effect.contexts[at].flatten(1, 2))

    def push_through_layers(self, step: Callable[[int], object]) -> None:
        """Change every token as it enters a layer, and add what becomes of the layer's heads."""
        for number, at in self.asked_for:
            call = self.recorded.calls[number]
            vectors, run = _key_input(call, at), partial(_run_heads, call, at)
            for batch in self.batches(vectors, step):
                (context,) = batched_jvp(run, (vectors,), (batch.vectors,))
                self.add((number, at), LOCAL, batch, context.flatten(1, 2))

    def batches(self, vectors: Tensor, step: Callable[[int], object]) -> Iterator[DirectionBatch]:
        """Yield all directions of some vectors, and report progress after each batch."""
        together = self.gradients.norm == "spectral"
        directions = self.directions(vectors)
        for batch in direction_batches(vectors, directions, self.batch_size, together=together):
            yield batch
            step(len(batch.sources) if batch.is_last else 0)

    def add(
        self, index: AttentionIndex, measure: str, batch: DirectionBatch, effects: Tensor
    ) -> None:
        """Add the effects of some directions to one of the measures, if it is asked for."""
        if measure in self.measures:
            by_measure = self.accumulators[index]
            if measure not in by_measure:
                by_measure[measure] = NormAccumulator(batch.directions, self.gradients.norm)
            by_measure[measure].add(batch.sources, effects)

    def result(self, number: int, at: int) -> Attribution:
        """Return the attributions of one attention."""
        call = self.recorded.calls[number]
        sequence = call.key_sequence(call.attentions[at])
        result = Attribution(dtype=str(self.recorded.dtype).removeprefix("torch."))
        for name, accumulator in self.accumulators[number, at].items():
            directions = accumulator.directions
            numbers, errors = accumulator.norms(), accumulator.standard_errors()
            if self.gradients.rows == "normalized":
                numbers, errors = normalize_rows(numbers, errors)
            result.numbers[name] = numbers[None]
            result.directions[name] = (directions.count, directions.width)
            if name != LOCAL:
                result.errors[name] = self.errors[sequence, number]
            if not directions.exact:
                result.numbers[statistic_id("error", name)] = errors[None]
                result.standard_errors[name] = relative_error(numbers, errors)
        return result


def _key_input(call: LayerCall, at: int) -> Tensor:
    """Return the layer's input that an attention's keys and values are made of."""
    cross_input = call.cross_input if call.attentions[at].is_cross else None
    return call.input if cross_input is None else cross_input


def _run_heads(call: LayerCall, at: int, vectors: Tensor) -> tuple[Tensor]:
    """Return the heads' outputs of one attention that reads other vectors."""
    is_cross = call.attentions[at].is_cross
    own, cross = (call.input, vectors) if is_cross else (vectors, call.cross_input)
    contexts, _ = rerun_layer(call, own, cross, until=at)
    return (contexts[at],)


def _widest_bytes(call: LayerCall) -> int:
    """Return about how many bytes the widest tensor of a layer takes for one direction."""
    tokens = max(
        vectors.shape[-2] for vectors in (call.input, call.cross_input) if vectors is not None
    )
    scores = (
        max((attention.heads for attention in call.attentions), default=1)
        * tokens
        * call.input.shape[-2]
    )
    return max(scores, 4 * call.input.numel()) * call.input.element_size()
