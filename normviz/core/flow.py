"""The result people keep: what a model did with one text, measured. Plain numpy, no torch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from normviz.core.axes import STREAMS, Array
from normviz.core.catalog import require_known
from normviz.core.chart import Chart
from normviz.core.gold import Gold
from normviz.core.receipt import Receipt
from normviz.core.stream import Stream
from normviz.core.tokens import Tokens
from normviz.errors import UnknownName

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

    from normviz.view.display import Frame
    from normviz.view.widget import FlowWidget


@dataclass(frozen=True, eq=False, repr=False)
class Flow:
    """What attention moved, for one text: measures by stream, tokens, and a receipt.

    `flow["weight"]` where the model has one stream; `flow.cross["weight"]`, `flow.encoder[...]`
    and `flow.decoder[...]` where it has several. In a notebook a flow shows itself as a widget.
    """

    streams: Mapping[str, Stream]
    receipt: Receipt
    title: str = ""
    charts: tuple[Chart, ...] = ()
    """Curves over the layers that the profile view shows as well, such as those of a study."""
    gold: Gold | None = None
    """Which words of a translation people say are aligned; the alignment view shows them."""

    def __post_init__(self) -> None:
        """Put the streams in their order and lock them; refuse gold for words that are not here."""
        ordered = {name: self.streams[name] for name in STREAMS if name in self.streams}
        for name in self.streams:
            require_known(name, STREAMS, "stream")
        object.__setattr__(self, "streams", MappingProxyType(ordered))
        if self.gold is not None:
            from normviz.alignment.overlay import check

            check(self, self.gold)

    def stream(self, name: str | None = None) -> Stream:
        """A stream by name, or the only one."""
        if name is None:
            return self._only("flow")
        require_known(name, self.streams, "stream")
        return self.streams[name]

    def _only(self, what: str) -> Stream:
        if len(self.streams) != 1:
            names = ", ".join(self.streams)
            raise UnknownName(
                f"This flow has {len(self.streams)} streams ({names}), so {what!r} is ambiguous.",
                "A stream must be named.",
                "Write flow.cross[...], flow.encoder[...] or flow.decoder[...]; or give stream=….",
            )
        return next(iter(self.streams.values()))

    def __getitem__(self, measure: str) -> Array:
        """A measure of the only stream, as float32 numpy."""
        return self._only(measure)[measure]

    def __contains__(self, measure: object) -> bool:
        """Whether any stream holds this measure."""
        return any(measure in stream for stream in self.streams.values())

    @property
    def encoder(self) -> Stream:
        """Self-attention that looks both ways."""
        return self.stream("encoder")

    @property
    def decoder(self) -> Stream:
        """Self-attention that looks back only."""
        return self.stream("decoder")

    @property
    def cross(self) -> Stream:
        """Attention of the decoder (queries) to the encoder (keys)."""
        return self.stream("cross")

    @property
    def tokens(self) -> Tokens:
        """The tokens of the only stream."""
        return self._only("tokens").tokens

    @property
    def measures(self) -> tuple[str, ...]:
        """The ids of all measures held."""
        return tuple(dict.fromkeys(name for stream in self.streams.values() for name in stream))

    def with_chart(self, chart: Chart) -> "Flow":
        """The same flow with a chart for its profile view; one of the same title gives way."""
        others = tuple(held for held in self.charts if held.title != chart.title)
        return replace(self, charts=(*others, chart))

    def with_gold(self, gold: Gold | Iterable[Sequence[int]], **words: Any) -> "Flow":
        """The same flow with what people say is aligned, for its alignment view.

        Parameters
        ----------
        gold
            A `Gold` with sure and possible links; or pairs of a source and a target word, all sure.
        **words
            `source` and `target`, the words that the links count in: a string cut at spaces or a
            list, by default the tokenizer's; `prefix`, what stood before the source.
        """
        from normviz.alignment.overlay import overlaid

        return overlaid(self, gold, **words)

    def words(self) -> "Flow":
        """The same flow between words: added up over keys, averaged over queries."""
        return replace(self, streams={name: s.words() for name, s in self.streams.items()})

    def nearest_layers(self, layer: int, count: int) -> tuple["Flow", tuple[int, ...]]:
        """The flow with only so many layers, those nearest to one; and the layers left out."""
        every = self.streams.items()
        held = sorted({n for _, stream in every for n in stream.layers})
        kept = set(sorted(held, key=lambda other: (abs(other - layer), other))[:count])
        streams = {name: s.only(tuple(n for n in s.layers if n in kept)) for name, s in every}
        return replace(self, streams=streams), tuple(n for n in held if n not in kept)

    def mixing(self, rung: str, *, stream: str | None = None) -> Array:
        """How much of each token comes from other tokens [layer query]: eq. 18 of Kobayashi 2021.

        ‖Σ_(key≠query) v‖ / (‖Σ_(key≠query) v‖ + ‖v_(key=query)‖), where v is what each key gives
        on this rung: the length of the *sum* over the context, not the sum of lengths.

        Parameters
        ----------
        rung
            A rung of the ladder (`attention` is the paper's ATTN-N, `attention-residual` ATTNRES-N,
            `attention-block` ATTNRESLN-N); or by weight alone, averaged over heads: `weight`
            (ATTN-W: the weight on other tokens) and `weight-residual` (ATTNRES-W: half of it).
        stream
            Which self-attention, where there are several.
        """
        from normviz.derived.mixing import mixing

        return mixing(self.stream(stream), rung)

    def null_space(self, *, stream: str | None = None) -> Array:
        """How many dimensions of α cannot reach a head's output [layer head] (Brunner et al. 2020).

        In the row that has most of them; 0 where `effective-weight` is α itself.
        """
        return self.stream(stream).statistic("null-space", "effective-weight")

    def contextualization_change(
        self, before: str, after: str, *, stream: str | None = None
    ) -> Array:
        """How differently two rungs rank the pairs of tokens [layer]: 1 − Spearman's ρ.

        After Kobayashi et al. 2024, who compare maps before and after a component so. The rows
        of our maps are not normalized first (what the paper does there is not known to us), and
        pairs that are zero in both maps, as where a mask forbids them, are left out. Ties share
        their mean rank. NaN where there is nothing to rank.
        """
        from normviz.derived.mixing import change

        return change(self.stream(stream), before, after)

    def to_dataframe(
        self,
        measure: str,
        *,
        stream: str | None = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> "pd.DataFrame":
        """One row for each number, with the axis words as columns and the pieces beside them."""
        from normviz.io.tables import dataframe

        return dataframe(self.stream(stream), measure, layer=layer, head=head)

    def to_xarray(self, measure: str, *, stream: str | None = None) -> "xr.DataArray":
        """A measure as a labeled array, with the axis words as dimensions."""
        from normviz.io.tables import dataarray

        return dataarray(self.stream(stream), measure)

    def save(self, path: str | Path) -> Path:
        """Write the flow to one file that `normviz.load` opens, without torch."""
        from normviz.io.flow_file import save

        return save(self, path)

    def widget(self, **choice: Any) -> "FlowWidget":
        """The flow as a notebook widget that opens with this choice of measure, layer, and so on.

        Parameters
        ----------
        **choice
            `view stream measure compare layer heads token side normalize words special threshold
            color setting theme`, as `FlowWidget` says; each can be set on the widget later.
        """
        from normviz.view.widget import FlowWidget

        return FlowWidget(self, **choice)

    def show(self, *, static: bool = False, **choice: Any) -> None:
        """Display the flow in a notebook, here and now.

        Parameters
        ----------
        static
            False for the widget, whose choices Python can read and set. True for the same picture
            as a page in a frame: no kernel, no widget manager and no network, so it also works in
            hosts that would load widgets from elsewhere, and in a saved notebook.
        **choice
            What the picture opens with, as for `widget`; with `static`, also `height` in pixels.

        See Also
        --------
        widget, frame : the same two, to keep instead of to display.
        """
        from normviz.view.display import show

        show(self, static=static, **choice)

    def frame(self, **choice: Any) -> "Frame":
        """The picture as a page in an iframe, for any place that shows HTML.

        Parameters
        ----------
        **choice
            What the picture opens with, as for `to_html`; and `height`, in pixels.
        """
        from normviz.view.display import frame

        return frame(self, **choice)

    def to_html(self, path: str | Path, **options: Any) -> Path:
        """Write the picture to one file that opens anywhere, with no kernel and no network.

        Parameters
        ----------
        path
            Where to write; returned as a `Path`.
        **options
            `precision` (`log16`, `float32`, `uint8`), `max_mb`, and what the picture opens with, as
            for `widget`. `normviz.to_html` writes several flows to one file.
        """
        from normviz.view.page import to_html

        return to_html(self, path, **options)

    def to_svg(self, path: str | Path, **options: Any) -> Path:
        """Write a figure for a paper as SVG: vector text and marks, without a browser.

        Parameters
        ----------
        path
            Where to write; returned as a `Path`.
        **options
            `width_cm` (8.5, a column; 17 for two panes), `legend=False` to leave the line below
            out, and what is shown, as for `widget`; the views `flow` and `matrix` can be written.
        """
        from normviz.view.figures.files import to_svg

        return to_svg(self, path, **options)

    def to_png(self, path: str | Path, **options: Any) -> Path:
        """Write the same figure as PNG; `dpi` is 300. Needs matplotlib."""
        from normviz.view.figures.files import to_png

        return to_png(self, path, **options)

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the same figure on matplotlib axes, new ones where none are given."""
        from normviz.view.figures.files import plot

        return plot(self, ax, **options)

    def __repr__(self) -> str:
        """What is inside, and whether it adds up."""
        lines = [f"Flow of {self.receipt.model}" + (f": {self.title!r}" if self.title else "")]
        lines += [repr(stream) for stream in self.streams.values()]
        lines += [f"chart: {chart.title}" for chart in self.charts]
        ok, wrong = [self.receipt.headline()], [f"✗ {failure}" for failure in self.receipt.failures]
        return "\n  ".join([*lines, *(ok if self.receipt.ok else wrong)])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from normviz.view.page import mimebundle

        return mimebundle(self)
