"""The notebook view of a flow. The picture is drawn by `js`; Python holds the choices."""

from typing import TYPE_CHECKING, Any

import anywidget
import traitlets
from comm import DummyComm

from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.errors import NormvizError
from normviz.view.assets import bundle
from normviz.view.encoding import PRECISIONS
from normviz.view.payload import pack
from normviz.view.state import ACROSS, CHOICES, OTHER, BadChoice, check, defaults, resolve, split
from normviz.view.tiles import size, tile

if TYPE_CHECKING:
    import pandas as pd

WHOLE = 2 * 10**6
"""Up to how many numbers a flow is sent whole; larger ones are asked for tile by tile."""

MESSAGE = 4 * 2**20
"""The most bytes in one message: a larger tile comes in several."""


class FlowWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """A flow drawn in a notebook; every choice can be read and set from Python.

    Assigning what the flow does not have is refused with a list of what it has. With
    NORMVIZ_STATIC=1 in the environment, or where nothing carries messages to a front end, it shows
    itself as the page in a frame, as it is at that moment.
    """

    _esm = bundle("widget.js")
    _css = bundle("widget.css")
    _header = traitlets.Dict().tag(sync=True)
    _data = traitlets.Bytes().tag(sync=True)

    view = traitlets.Any().tag(sync=True)
    """The kind of picture: `flow`, `stack`, `grid`, `matrix`, `profile` or `alignment`."""
    stream = traitlets.Any().tag(sync=True)
    """Which attention: `encoder`, `decoder` or `cross`."""
    measure = traitlets.Any().tag(sync=True)
    """The id of the measure shown, such as `weight` or `weighted-norm`."""
    compare = traitlets.Any().tag(sync=True)
    """What stands beside it: another measure's id, another layer's number, `other` for the other
    flow the widget was made with, or None."""
    layer = traitlets.Any().tag(sync=True)
    """The layer shown, numbered from 0 as in the model."""
    heads = traitlets.Any().tag(sync=True)
    """The heads shown, numbered from 0 as in the model; None for all."""
    token = traitlets.Any().tag(sync=True)
    """The pinned token, counted from 0 on its side; None when none is pinned."""
    side = traitlets.Any().tag(sync=True)
    """Whether the pinned token is a `query` (it receives) or a `key` (it is read from)."""
    normalize = traitlets.Any().tag(sync=True)
    """What a full row stands for: `absolute`, the `layer`'s largest, or each `query`'s whole."""
    words = traitlets.Any().tag(sync=True)
    """Whether pieces are merged to words: added up over keys, averaged over queries."""
    special = traitlets.Any().tag(sync=True)
    """Whether special tokens are `shown`, `dimmed` or `hidden`."""
    threshold = traitlets.Any().tag(sync=True)
    """Nothing below this part of the largest number is drawn, from 0 to 1."""
    color = traitlets.Any().tag(sync=True)
    """What the grid is colored by: how far the measure agrees with the one it is compared with, by
    `rank`, `overlap` or `distance`; or `none`."""
    setting = traitlets.Any().tag(sync=True)
    """Which row of a translation stands for a word: the one whose `input` it is, or the one whose
    `output` it is."""
    theme = traitlets.Any().tag(sync=True)
    """`auto` follows the host; `light` and `dark` do not."""

    def __init__(self, flow: Flow, *, precision: str = "log16", **choice: Any) -> None:
        require_known(precision, PRECISIONS, "precision")
        choice, others = split(choice)
        self._flow = flow
        self._flows = (flow, *others)
        self._precision = precision
        first = resolve(flow, choice)
        self._has_other(first["compare"])
        payload = pack(*self._flows, precision=precision, whole=size(self._flows) <= WHOLE)
        super().__init__(_header=payload.header, _data=payload.data, **first)
        self.on_msg(self._asked)

    @property
    def selection(self) -> "pd.DataFrame":
        """What is pinned, as a tidy table: one row for each number of the pinned token.

        With nothing pinned it is the whole layer. Only the chosen heads are in it, and words in
        place of pieces where the view shows words.
        """
        from normviz.io.tables import dataframe

        stream, token = self._flow.stream(self.stream), self.token
        if self.words:
            pieces = stream.queries if self.side == "query" else stream.keys
            token = None if token is None else pieces.words[token]
            stream = stream.words()
        table = dataframe(stream, self.measure, layer=self.layer)
        if self.heads is not None and "head" in table:
            table = table[table["head"].isin(self.heads)]
        if token is not None and self.side in table:
            table = table[table[self.side] == token]
        return table.reset_index(drop=True)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        from normviz.view.page import static

        if static() or isinstance(self.comm, DummyComm):
            return {"text/plain": repr(self._flow), "text/html": self._frame()}, {}
        shown: tuple[dict[str, Any], dict[str, Any]] = super()._repr_mimebundle_()
        return shown

    def _frame(self) -> str:
        from normviz.view.display import frame

        chosen = {name: getattr(self, name) for name in CHOICES}
        if self.compare == OTHER:
            chosen["compare"] = self._flows[1]
        return frame(self._flow, precision=self._precision, **chosen).html

    def _asked(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Answer a view that asks for a tile; what cannot be given is refused with a sentence."""
        name = content.get("want") if isinstance(content, dict) else None
        if not isinstance(name, str):
            return
        try:
            made = tile(self._flows, name, self._precision)
        except NormvizError as error:
            self.send({"tile": name, "refused": str(error)})
            return
        count = max(1, -(-len(made.data) // MESSAGE))
        for part in range(count):
            about = {"tile": name, "dtype": made.dtype, "about": made.about}
            chunk = made.data[part * MESSAGE : (part + 1) * MESSAGE]
            self.send({**about, "part": part, "parts": count}, buffers=[chunk])

    def _has_other(self, compare: Any) -> None:
        if compare == OTHER and len(self._flows) == 1:
            raise BadChoice(
                "There is no other flow here.",
                "Another flow is given when the widget is made.",
                "Make it with flow.widget(compare=other).",
            )

    @traitlets.validate(
        *("view", "measure", "compare", "layer", "heads", "token", "side"),
        *("normalize", "words", "special", "threshold", "color", "setting", "theme"),
    )
    def _checked(self, proposal: dict[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if name == "compare":
            self._has_other(value)
        if name == "view" and value == ACROSS and "cross" in self._flow.streams:
            self.stream = "cross"
        return check(name, value, self._flow.stream(self.stream), self.side)

    @traitlets.validate("stream")
    def _known_stream(self, proposal: dict[str, Any]) -> Any:
        return resolve(self._flow, {"stream": proposal["value"]})["stream"]

    @traitlets.observe("stream", "side")
    def _fit(self, _change: dict[str, Any]) -> None:
        """Let go of choices that the new stream or side does not have."""
        stream = self._flow.stream(self.stream)
        for name, default in defaults(stream).items():
            try:
                fit = check(name, getattr(self, name), stream, self.side)
            except BadChoice:
                fit = default
            setattr(self, name, fit)
