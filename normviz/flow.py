"""The result people keep: what a model did with one text, measured. Plain numpy, no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from normviz.axes import STREAMS, Array
from normviz.catalog import one_of
from normviz.errors import UnknownName
from normviz.receipt import Receipt
from normviz.stream import Stream
from normviz.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from normviz.widget import FlowWidget


@dataclass(frozen=True, eq=False, repr=False)
class Flow:
    """What attention moved, for one text: measures by stream, tokens, and a receipt.

    `flow["weight"]` where the model has one stream; `flow.cross["weight"]`, `flow.encoder[...]`
    and `flow.decoder[...]` where it has several. In a notebook a flow shows itself as a widget.
    """

    streams: Mapping[str, Stream]
    receipt: Receipt
    title: str = ""

    def __post_init__(self) -> None:
        """Put the streams in their order and lock them."""
        ordered = {name: self.streams[name] for name in STREAMS if name in self.streams}
        for name in self.streams:
            one_of(name, STREAMS, "stream")
        object.__setattr__(self, "streams", MappingProxyType(ordered))

    def stream(self, name: str | None = None) -> Stream:
        """A stream by name, or the only one."""
        if name is None:
            return self._only("flow")
        one_of(name, self.streams, "stream")
        return self.streams[name]

    def _only(self, what: str) -> Stream:
        if len(self.streams) != 1:
            names = ", ".join(self.streams)
            raise UnknownName(
                f"This flow has {len(self.streams)} streams ({names}), so {what!r} is ambiguous.",
                "A stream must be named.",
                "Write flow.cross[...], flow.encoder[...] or flow.decoder[...].",
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

    def words(self) -> "Flow":
        """The same flow between words: added up over keys, averaged over queries."""
        return replace(self, streams={name: s.words() for name, s in self.streams.items()})

    def to_dataframe(
        self,
        measure: str,
        *,
        stream: str | None = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> "pd.DataFrame":
        """One row for each number, with the axis words as columns and the pieces beside them."""
        from normviz.tables import dataframe

        return dataframe(self.stream(stream), measure, layer=layer, head=head)

    def to_xarray(self, measure: str, *, stream: str | None = None) -> "xr.DataArray":
        """A measure as a labelled array, with the axis words as dimensions."""
        from normviz.tables import dataarray

        return dataarray(self.stream(stream), measure)

    def save(self, path: str | Path) -> Path:
        """Write the flow to one file that `normviz.load` opens, without torch."""
        from normviz.storage import save

        return save(self, path)

    def widget(self, **choice: Any) -> "FlowWidget":
        """The flow as a notebook widget that opens with this choice of measure, layer, and so on.

        Parameters
        ----------
        **choice
            `view`, `stream`, `measure`, `layer`, `heads`, `token`, `side`, `normalize`, `theme`;
            each can be set on the widget later.
        """
        from normviz.widget import FlowWidget

        return FlowWidget(self, **choice)

    def to_html(self, path: str | Path, **choice: Any) -> Path:
        """Write the picture to one file that opens anywhere, with no kernel and no network.

        Parameters
        ----------
        path
            Where to write; returned as a `Path`.
        **choice
            What the picture opens with, as for `widget`; `precision="float32"` keeps every bit.
        """
        from normviz.snapshot import to_html

        return to_html(self, path, **choice)

    def __repr__(self) -> str:
        """What is inside, and whether it adds up."""
        lines = [f"Flow of {self.receipt.model}" + (f": {self.title!r}" if self.title else "")]
        lines += [f"  {stream!r}" for stream in self.streams.values()]
        if self.receipt.ok:
            return "\n".join([*lines, f"  {self.receipt.headline()}"])
        return "\n".join([*lines, *(f"  ✗ {failure}" for failure in self.receipt.failures)])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from normviz.snapshot import mimebundle

        return mimebundle(self)
