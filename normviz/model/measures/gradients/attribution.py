"""How much every token's vectors depend on every input token: norms of derivatives.

`hidden-attribution` is the derivative of what leaves a layer (Brunner et al. 2020),
`head-attribution` that of what a head puts out before W_O, both by the model's input; by the
layer's own input, the latter is `head-attribution-local` (Pascual et al. 2021).
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial

from torch import Tensor

from normviz.core.catalog import ATTRIBUTIONS
from normviz.model.capture.recording import LayerCall, RecordedPass, Where
from normviz.model.capture.rerun import rerun_layer
from normviz.model.decompose.tape import SourceSequence
from normviz.model.measures.gradients.chain import Effect, start
from normviz.model.measures.gradients.check import Errors, sound
from normviz.model.measures.gradients.jacobian_norms import (
    Changes,
    Directions,
    GradientOptions,
    Lengths,
    changes,
    in_rows,
    relative,
)
from normviz.model.measures.gradients.jvp import pushed
from normviz.model.measures.ladder.measure import SHARE, budget, free_memory
from normviz.system.progress import track_progress

HIDDEN, GLOBAL, LOCAL = ATTRIBUTIONS
HELD = 8
"""How many tensors of the widest kind are held at a time."""


@dataclass(frozen=True)
class Attributed:
    """What was found of one attention, and of the layer it belongs to."""

    numbers: dict[str, Tensor] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    """How far the derivative is from the model's own, by measure; none where it is not checked."""
    standard: dict[str, float] = field(default_factory=dict)
    """By measure, the standard error beside the numbers; nothing where all was worked out."""
    directions: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By measure, how many directions were pushed for each token, and how many there are."""


def attributed(
    recorded: RecordedPass,
    measures: Collection[str],
    slope: GradientOptions,
    wanted: Collection[Where],
) -> list[Attributed]:
    """For every attention of a pass in order, the measures of those wanted; of others, nothing."""
    work = _Work(recorded, measures, slope, wanted)
    with track_progress("tokens", work.tokens()) as step:
        if {HIDDEN, GLOBAL} & set(measures):
            work.globally(step)
        if LOCAL in measures:
            work.locally(step)
    return [work.finished(*where) for where in recorded.attentions]


class _Work:
    """Derivatives of one pass, as they grow."""

    def __init__(
        self,
        recorded: RecordedPass,
        measures: Collection[str],
        slope: GradientOptions,
        wanted: Collection[Where],
    ) -> None:
        self.recorded = recorded
        self.measures = measures
        self.slope = slope
        self.wanted = wanted
        self.last = max((number for number, _ in wanted), default=-1)
        self.device = recorded.calls[0].left.device
        run = budget(self.device, slope.memory)
        self.most = max(1, run // (HELD * max(map(_widest, recorded.calls))))
        self.errors: Errors = {}
        self.lengths: dict[Where, dict[str, Lengths]] = {where: {} for where in recorded.attentions}

    def tokens(self) -> int:
        """How many tokens' vectors are to be changed, all in all."""
        found: list[Tensor] = []
        if {HIDDEN, GLOBAL} & set(self.measures):
            found += self.inputs().values()
        if LOCAL in self.measures:
            found += [_base(self.recorded.calls[number], place) for number, place in self.wanted]
        return sum(one.numel() // one.shape[-1] for one in found)

    def inputs(self) -> dict[SourceSequence, Tensor]:
        """The input of each side."""
        sides = self.recorded.sides
        return {side: start(self.recorded, side, self.slope.origin)[1] for side in sides}

    def matrices(self) -> int:
        """How many bytes folded layers may take: none, where too little is pushed to be worth it.

        To fold a layer takes about two pushes for each coordinate.
        """
        counts = [
            one.numel() // one.shape[-1] * self.directions(one).count / (2 * one.shape[-1])
            for one in self.inputs().values()
        ]
        if max(counts) <= 1:
            return 0
        return self.slope.memory or int(SHARE * free_memory(self.device))

    def directions(self, given: Tensor) -> Directions:
        """In which directions vectors are changed."""
        return Directions(given.shape[-1], self.slope.samples, self.slope.seed)

    def globally(self, step: Callable[[int], object]) -> None:
        """Change every token of the input, and see what becomes of every layer."""
        checked = sound(self.recorded, self.slope.origin, self.most, self.matrices(), self.last)
        self.errors = checked.errors
        for side, given in self.inputs().items():
            for some in self.changes(given, step):
                for effect in checked.pusher.push(side, some.vectors):
                    if effect.number > self.last:
                        break
                    self.enter(side, some, effect)

    def enter(self, side: SourceSequence, some: Changes, effect: Effect) -> None:
        """Add what some changes do to a layer, for each attention that reads from their side."""
        call = self.recorded.calls[effect.number]
        for place, attended in enumerate(call.attended):
            if (effect.number, place) in self.wanted and call.side_of(attended.stream) == side:
                heads = _by_head(effect.contexts[place], attended.heads)
                vectors = effect.left.flatten(1, -2)
                for name, moved in ((HIDDEN, vectors), (GLOBAL, heads)):
                    self.add(effect.number, place, name, some, moved)

    def locally(self, step: Callable[[int], object]) -> None:
        """Change every token as it enters a layer, and see what becomes of the layer's heads."""
        for number, place in self.wanted:
            call = self.recorded.calls[number]
            given, run = _base(call, place), partial(_heads, call, place)
            for some in self.changes(given, step):
                (context,) = pushed(run, (given,), (some.vectors,))
                moved = _by_head(context, call.attended[place].heads)
                self.add(number, place, LOCAL, some, moved)

    def changes(self, given: Tensor, step: Callable[[int], object]) -> Iterator[Changes]:
        """All changes of some vectors, told as they are done with."""
        together = self.slope.norm == "spectral"
        for some in changes(given, self.directions(given), self.most, together=together):
            yield some
            step(len(some.sources) if some.ends else 0)

    def add(self, number: int, place: int, name: str, some: Changes, moved: Tensor) -> None:
        """Enter the effects of some changes in one of the measures, if it is wanted."""
        if name in self.measures:
            held = self.lengths[number, place]
            if name not in held:
                held[name] = Lengths(some.directions, self.slope.norm)
            held[name].add(some.sources, moved)

    def finished(self, number: int, place: int) -> Attributed:
        """What was found of one attention."""
        call = self.recorded.calls[number]
        side = call.side_of(call.attended[place].stream)
        found = Attributed()
        for name, lengths in self.lengths[number, place].items():
            numbers, error = lengths.raw(), lengths.error()
            if self.slope.rows == "normalized":
                numbers, error = in_rows(numbers, error)
            found.numbers[name] = numbers[None]
            found.directions[name] = (lengths.directions.count, lengths.directions.width)
            if name != LOCAL:
                found.errors[name] = self.errors[side, number]
            if not lengths.directions.exact:
                found.numbers[f"error:{name}"] = error[None]
                found.standard[name] = relative(numbers, error)
        return found


def _base(call: LayerCall, place: int) -> Tensor:
    """The vectors that an attention's keys and values are made of, as the layer was given them."""
    read = call.read if call.attended[place].stream == "cross" else None
    return call.entered if read is None else read


def _heads(call: LayerCall, place: int, vectors: Tensor) -> tuple[Tensor]:
    """What the heads of one attention put out, when the vectors they read are others."""
    crossed = call.attended[place].stream == "cross"
    entered, read = (call.entered, vectors) if crossed else (vectors, call.read)
    contexts, _ = rerun_layer(call, entered, read, until=place)
    return (contexts[place],)


def _by_head(contexts: Tensor, heads: int) -> Tensor:
    """What each head put out: [change, query, head, dim]."""
    return contexts.reshape(len(contexts), -1, heads, contexts.shape[-1] // heads)


def _widest(call: LayerCall) -> int:
    """About how many bytes the widest tensor of a layer takes for one change."""
    tokens = max(one.shape[-2] for one in (call.entered, call.read) if one is not None)
    scores = max(one.heads for one in call.attended) * tokens * call.entered.shape[-2]
    return max(scores, 4 * call.entered.numel()) * call.entered.element_size()
