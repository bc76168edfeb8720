"""The result that people keep: what attention moved in one text. Plain numpy, no torch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from normviz.core.axes import STREAM_KINDS, Array
from normviz.core.catalog import require_known
from normviz.core.chart import Chart
from normviz.core.flow_output import FlowOutput
from normviz.core.gold import Gold
from normviz.core.keywords import refuse_unknown_keywords
from normviz.core.receipt import Receipt
from normviz.core.stream import Stream
from normviz.core.tokens import Tokens
from normviz.errors import UnknownName

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from normviz.alignment.words import Words
    from normviz.core.axes import StreamName
    from normviz.core.catalog import MeasureId
    from normviz.core.words import MixingId


def _spell_access(names: Iterable[str]) -> str:
    """Return how the streams of a flow are reached in Python, for an error message."""
    spelled = [f"flow.{n}[...]" if n in STREAM_KINDS else f"flow.stream({n!r})[...]" for n in names]
    return " or ".join(spelled[:3])


@dataclass(frozen=True, eq=False, repr=False)
class Flow(FlowOutput):
    """What attention moved in one text: measures by stream, tokens, and a receipt.

    `flow["weight"]` where the model has one stream; `flow.cross["weight"]`, `flow.encoder[...]`
    and `flow.decoder[...]` where it has several. A notebook displays a flow as a widget.
    """

    streams: Mapping[str, Stream]
    receipt: Receipt
    title: str = ""
    charts: tuple[Chart, ...] = ()
    """Curves over the layers that the profile view also shows, such as those of a study."""
    gold: Gold | None = None
    """Which words of a translation people aligned; the alignment view shows them."""

    def __post_init__(self) -> None:
        """Put the streams in order and lock them; refuse gold links to words that are not here."""
        order = sorted(self.streams, key=lambda name: STREAM_KINDS.index(self.streams[name].kind))
        ordered = {name: self.streams[name] for name in order}
        object.__setattr__(self, "streams", MappingProxyType(ordered))
        if self.gold is not None:
            from normviz.alignment.overlay import check_gold

            check_gold(self, self.gold)

    def stream(self, name: "StreamName | str | None" = None) -> Stream:
        """Return a stream by name, or the only one."""
        if name is None:
            return self._only_stream("flow")
        require_known(name, self.streams, "stream")
        return self.streams[name]

    def _only_stream(self, requested: str) -> Stream:
        if len(self.streams) != 1:
            names = ", ".join(self.streams)
            raise UnknownName(
                f"This flow has {len(self.streams)} streams ({names}), so {requested!r} is "
                "ambiguous.",
                "Expected the name of a stream.",
                f"Write {_spell_access(self.streams)}; or pass stream=….",
            )
        return next(iter(self.streams.values()))

    def __getitem__(self, measure: "MeasureId | str") -> Array:
        """Return a measure of the only stream as a float32 array."""
        return self._only_stream(measure)[measure]

    def _ipython_key_completions_(self) -> list[str]:
        """Return what a notebook offers after `flow["`; nothing where a stream must be named."""
        return list(self.measures) if len(self.streams) == 1 else []

    def __contains__(self, measure: object) -> bool:
        """Whether any stream holds this measure."""
        return any(measure in stream for stream in self.streams.values())

    @property
    def encoder(self) -> Stream:
        """Self-attention in both directions."""
        return self.stream("encoder")

    @property
    def decoder(self) -> Stream:
        """Causal self-attention."""
        return self.stream("decoder")

    @property
    def cross(self) -> Stream:
        """Attention of the decoder (queries) to the encoder (keys)."""
        return self.stream("cross")

    @property
    def tokens(self) -> Tokens:
        """The tokens of the only stream."""
        return self._only_stream("tokens").tokens

    @property
    def layers(self) -> dict[int, str]:
        """What each layer has, by the model's own numbers: `attention`, or what it has instead."""
        return self._only_stream("layers").layer_contents

    @property
    def measures(self) -> tuple[str, ...]:
        """The ids of all measures held."""
        return tuple(dict.fromkeys(name for stream in self.streams.values() for name in stream))

    @property
    def headline(self) -> str:
        """The main finding in one sentence, which the view shows in large type.

        It is about the layer where attention weight and what attention moves differ most.
        """
        from normviz.derived.headline import find_headline

        found = find_headline(self)
        return "" if found is None else str(found)

    def with_chart(self, chart: Chart) -> "Flow":
        """Return the flow with a chart for its profile view; it replaces one of the same title."""
        others = tuple(held for held in self.charts if held.title != chart.title)
        return replace(self, charts=(*others, chart))

    @refuse_unknown_keywords
    def with_gold(
        self,
        gold: Gold | Iterable[Sequence[int]],
        *,
        source: "Words | None" = None,
        target: "Words | None" = None,
        prefix: str = "",
    ) -> "Flow":
        """Return the flow with a gold alignment, for its alignment view.

        Parameters
        ----------
        gold
            A `Gold` with sure and possible links; or pairs of a source and a target word, all sure.
        source, target
            The words that the links count in: a string cut at spaces or a list, by default the
            tokenizer's words.
        prefix
            What stood before the source, such as a language tag.
        """
        from normviz.alignment.overlay import add_gold

        return add_gold(self, gold, source=source, target=target, prefix=prefix)

    def words(self) -> "Flow":
        """Return the flow between words: added up over keys, averaged over queries."""
        return replace(self, streams={name: s.words() for name, s in self.streams.items()})

    def nearest_layers(self, layer: int, count: int) -> tuple["Flow", tuple[int, ...]]:
        """Return the flow with only the `count` layers nearest to one, and the layers left out."""
        every = self.streams.items()
        held = sorted({n for _, stream in every for n in stream.layers})
        kept = set(sorted(held, key=lambda other: (abs(other - layer), other))[:count])
        streams = {
            name: s.select_layers(tuple(n for n in s.layers if n in kept)) for name, s in every
        }
        return replace(self, streams=streams), tuple(n for n in held if n not in kept)

    def mixing(self, rung: "MixingId", *, stream: "StreamName | None" = None) -> Array:
        """Return the mixing ratio of each token [layer query]: eq. 18 of Kobayashi et al. 2021.

        ‖Σ_(key≠query) v‖ / (‖Σ_(key≠query) v‖ + ‖v_(key=query)‖), where v is what each key
        contributes on this rung: the norm of the *sum* over the context, not the sum of norms.

        Parameters
        ----------
        rung
            A rung of the ladder (`attention` is the paper's ATTN-N, `attention-residual` ATTNRES-N,
            `attention-block` ATTNRESLN-N); or by weight alone, averaged over heads: `weight`
            (ATTN-W: the weight on other tokens) and `weight-residual` (ATTNRES-W: half of it).
        stream
            Which self-attention, where there are several.
        """
        from normviz.derived.mixing import mixing_ratio

        return mixing_ratio(self.stream(stream), rung)

    def null_space(self, *, stream: "StreamName | None" = None) -> Array:
        """Return how many dimensions of α cannot reach a head's output [layer head].

        After Brunner et al. 2020, in the row that has most of them; 0 where `effective-weight` is
        α itself.
        """
        return self.stream(stream).statistic("null-space", "effective-weight")

    def contextualization_change(
        self, before: "MeasureId", after: "MeasureId", *, stream: "StreamName | None" = None
    ) -> Array:
        """Return how differently two rungs rank the pairs of tokens [layer]: 1 − Spearman's ρ.

        After Kobayashi et al. 2024, who compare maps before and after a component in this way. The
        rows of our maps are not normalized first (the paper does not say what it does), and pairs
        that are zero in both maps, such as those that a mask forbids, are left out. Ties share
        their mean rank. NaN where there is nothing to rank.
        """
        from normviz.derived.mixing import contextualization_change

        return contextualization_change(self.stream(stream), before, after)

    @refuse_unknown_keywords
    def to_dataframe(
        self,
        measure: "MeasureId",
        *,
        stream: "StreamName | None" = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> "pd.DataFrame":
        """Return one row for each number, with the axis words and the pieces as columns."""
        from normviz.io.tables import to_dataframe

        return to_dataframe(self.stream(stream), measure, layer=layer, head=head)

    @refuse_unknown_keywords
    def to_xarray(
        self, measure: "MeasureId", *, stream: "StreamName | None" = None
    ) -> "xr.DataArray":
        """Return a measure as a labeled array, with the axis words as dimensions."""
        from normviz.io.tables import to_xarray

        return to_xarray(self.stream(stream), measure)

    def __repr__(self) -> str:
        """Return what the flow holds, and whether its receipt is good."""
        lines = [f"Flow of {self.receipt.model}" + (f": {self.title!r}" if self.title else "")]
        lines += [repr(stream) for stream in self.streams.values()]
        lines += [f"chart: {chart.title}" for chart in self.charts]
        failures = [f"✗ {failure}" for failure in self.receipt.failures]
        return "\n  ".join([*lines, *(failures or [self.receipt.headline()])])
