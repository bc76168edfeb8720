"""The panes of a figure: what each shows, and the words that tell them apart."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from normviz.core.catalog import MEASURES, Measure
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.view.figures.picture import Picture, make_picture
from normviz.view.state import CROSS_ONLY_VIEW, OTHER_FLOW, ViewState

WITHIN = ("grid", "profile")
"""The views that compare two measures within one pane."""

FEW_HEADS = 4


@dataclass(frozen=True)
class Pane:
    """A flow in a state, and what its picture is called beside another."""

    flow: Flow
    state: ViewState
    title: str = ""
    """What tells it apart from the other pane; empty where there is only one."""
    note: str = ""
    """A few plain words after the title."""

    @cached_property
    def picture(self) -> Picture:
        """The layer of the measure that the state shows."""
        return make_picture(self.flow, self.state)

    @property
    def measure(self) -> Measure:
        """The measure shown."""
        return MEASURES[self.state.measure]

    @property
    def stream(self) -> Stream:
        """The attention shown, token by token."""
        return self.flow.stream(self.state.stream)

    @property
    def one_hue(self) -> bool:
        """Whether the picture has the hue of its measure: no single heads and no signs."""
        by_head = self.state.heads is not None and "head" in self.measure.axes
        return not by_head and not self.measure.signed

    @property
    def where(self) -> str:
        """The layer and the heads, in words."""
        return f"layer {self.state.layer}, {self.heads}"

    @property
    def heads(self) -> str:
        """The heads shown, in words."""
        heads, held = self.state.heads, len(self.stream.heads)
        if "head" not in self.measure.axes:
            return "all heads together"
        if heads is None:
            return f"mean of {held} heads" if held > 1 else f"head {self.stream.heads[0]}"
        if len(heads) == 1:
            return f"head {heads[0]}"
        if len(heads) <= FEW_HEADS:
            return f"mean of heads {', '.join(map(str, heads))}"
        return f"mean of {len(heads)} of {held} heads"


def make_panes(flows: Sequence[Flow], state: ViewState, view: str | None = None) -> list[Pane]:
    """Return one pane, or two where the state compares."""
    if (view or state.view) == CROSS_ONLY_VIEW:
        held = flows[0].stream(state.stream)
        state = replace(state, measure=_alignment_measure(state.measure, held, state))
        if isinstance(state.compare, str) and state.compare != OTHER_FLOW:
            state = replace(state, compare=_alignment_measure(state.compare, held, state))
    flow, compare = flows[0], state.compare
    measure = MEASURES[state.measure]
    if compare == OTHER_FLOW:
        same_model = len({flow.receipt.model for flow in flows}) == 1
        titles = [flow.title if same_model else flow.receipt.model for flow in flows]
        return [Pane(one, state, title) for one, title in zip(flows, titles, strict=True)]
    if compare is None or (view or state.view) in WITHIN:
        return [Pane(flow, state)]
    if isinstance(compare, str):
        other = MEASURES[compare]
        return [
            Pane(flow, state, measure.label, measure.short),
            Pane(flow, replace(state, measure=compare), other.label, other.short),
        ]
    second = replace(state, layer=compare)
    return [
        Pane(flow, state, f"layer {state.layer}"),
        Pane(flow, second, f"layer {compare}"),
    ]


def _alignment_measure(measure: str, stream: Stream, state: ViewState) -> str:
    """Return what an alignment is read from: of all heads, ‖αf(x)‖ is the norm of their sum."""
    is_sum = measure == "weighted-norm" and state.heads is None and "attention" in stream
    return "attention" if is_sum else measure


def common_phrases(panes: Sequence[Pane], view: str) -> list[str]:
    """Return what all panes of a figure have in common: model, stream, measure, layer, heads."""
    every_layer = view in ("stack", *WITHIN)
    compared = panes[0].state.compare
    both = isinstance(compared, str) and compared in MEASURES and len(panes) == 1
    columns = [
        [pane.flow.receipt.model for pane in panes],
        [pane.state.stream if len(pane.flow.streams) > 1 else "" for pane in panes],
        ["" if both else _measure_phrase(pane.measure) for pane in panes],
        ["" if every_layer else f"layer {pane.state.layer}" for pane in panes],
        ["every head" if view == "grid" else pane.heads for pane in panes],
    ]
    if view == "profile":
        columns[-1] = [""]
    return [column[0] for column in columns if column[0] and len(set(column)) == 1]


def _measure_phrase(measure: Measure) -> str:
    return f"{measure.label} ({measure.short})" if measure.short else measure.label
