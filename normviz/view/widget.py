"""The notebook widget of a flow: JavaScript draws it, Python holds its state."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Unpack

import anywidget
import traitlets
from comm import DummyComm

from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.errors import NormvizError
from normviz.view.assets import asset_path
from normviz.view.encoding import PRECISIONS
from normviz.view.frame import frame_flow, frames_requested
from normviz.view.payload import pack
from normviz.view.state import (
    CROSS_ONLY_VIEW,
    OTHER_FLOW,
    STATE_NAMES,
    BadChoice,
    WidgetOptions,
    check_value,
    default_state,
    first_cross_name,
    require_options,
    require_other_flow,
    resolve_state,
    split_flows,
)
from normviz.view.tiles import TileKey, count_numbers, make_tile

if TYPE_CHECKING:
    import pandas as pd

SEND_WHOLE_LIMIT = 2 * 10**6
"""A flow of at most so many numbers is sent whole; of a larger one, the view asks for tiles."""

MESSAGE_BYTES = 4 * 2**20
"""The most bytes in one message: a larger tile comes in several."""

CALL = "flow.widget(compare=other)"


class FlowWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """A flow drawn in a notebook; its state can be read and set from Python.

    Assigning a value that the flow does not have is refused with a list of those it has. With
    NORMVIZ_STATIC=1 in the environment, or without a live kernel to carry its messages, the widget
    displays itself as the page in a frame, in its present state.
    """

    _esm = asset_path("widget.js")
    _css = asset_path("widget.css")
    _header = traitlets.Dict().tag(sync=True)
    _data = traitlets.Bytes().tag(sync=True)

    view = traitlets.Any().tag(sync=True)
    """The kind of picture: `flow`, `stack`, `grid`, `matrix`, `profile`, `alignment` or `text`."""
    stream = traitlets.Any().tag(sync=True)
    """Which attention: `encoder`, `decoder`, `cross`, or the name of a tower such as `vision`."""
    measure = traitlets.Any().tag(sync=True)
    """The id of the measure shown, such as `weight` or `weighted-norm`."""
    compare = traitlets.Any().tag(sync=True)
    """What is shown beside it: another measure by id, another layer by number, `other` for the
    second flow that the widget was created with, or None."""
    layer = traitlets.Any().tag(sync=True)
    """The layer shown, numbered from 0 as in the model."""
    heads = traitlets.Any().tag(sync=True)
    """The heads shown, numbered from 0 as in the model; None for all."""
    token = traitlets.Any().tag(sync=True)
    """The pinned token, counted from 0 among the queries or keys (see `role`); None for none."""
    role = traitlets.Any().tag(sync=True)
    """Whether the pinned token is a `query` (it receives) or a `key` (it is read from)."""
    normalize = traitlets.Any().tag(sync=True)
    """What a full row stands for: the largest of all layers (`absolute`), the largest of this
    `layer`, or the sum of each `query`."""
    words = traitlets.Any().tag(sync=True)
    """Whether tokens are merged to words: added up over keys, averaged over queries."""
    special = traitlets.Any().tag(sync=True)
    """Whether special tokens are `shown`, `dimmed` or `hidden`."""
    threshold = traitlets.Any().tag(sync=True)
    """Nothing below this share of the largest number is drawn, from 0 to 1."""
    color_by = traitlets.Any().tag(sync=True)
    """What the grid is colored by: how far the measure agrees with the one it is compared with, by
    `rank`, `overlap` or `distance`; or `none`."""
    target_row = traitlets.Any().tag(sync=True)
    """The row of a target word in an alignment: the one whose `input` it is, or the one whose
    `output` it is."""
    difference = traitlets.Any().tag(sync=True)
    """Whether two measures are shown as one picture of their difference: the share by the measure
    in `compare` minus the share by `measure`, of what each query takes."""
    theme = traitlets.Any().tag(sync=True)
    """`auto` follows the notebook; `light` and `dark` do not."""

    def __init__(self, flow: Flow, **options: Unpack[WidgetOptions]) -> None:
        require_options("widget", options, WidgetOptions.__annotations__)
        self._precision = options.pop("precision", "log16")
        require_known(self._precision, PRECISIONS, "precision")
        self._flow = flow
        self._flows, for_view = split_flows(flow, options)
        state = resolve_state(flow, for_view)
        require_other_flow(state.compare, self._flows, CALL)
        whole = count_numbers(self._flows) <= SEND_WHOLE_LIMIT
        payload = pack(*self._flows, precision=self._precision, whole=whole)
        super().__init__(_header=payload.header, _data=payload.data, **asdict(state))
        self.on_msg(self._send_tile)

    @property
    def selection(self) -> "pd.DataFrame":
        """The numbers of the pinned token as a tidy table, one row for each.

        Without a pinned token it holds the whole layer. It has only the chosen heads, and words in
        place of tokens where the view shows words.
        """
        from normviz.io.tables import to_dataframe

        stream, token = self._flow.stream(self.stream), self.token
        if self.words:
            tokens = stream.queries if self.role == "query" else stream.keys
            token = None if token is None else tokens.words[token]
            stream = stream.words()
        table = to_dataframe(stream, self.measure, layer=self.layer)
        if self.heads is not None and "head" in table:
            table = table[table["head"].isin(self.heads)]
        if token is not None and self.role in table:
            table = table[table[self.role] == token]
        return table.reset_index(drop=True)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        if frames_requested() or isinstance(self.comm, DummyComm):
            return {"text/plain": repr(self._flow), "text/html": self._frame_html()}, {}
        bundle: tuple[dict[str, Any], dict[str, Any]] = super()._repr_mimebundle_()
        return bundle

    def _frame_html(self) -> str:
        state = {name: getattr(self, name) for name in STATE_NAMES}
        if self.compare == OTHER_FLOW:
            state["compare"] = self._flows[1]
        return frame_flow(self._flow, precision=self._precision, **state).html

    def _send_tile(self, _widget: object, content: object, _buffers: object) -> None:
        """Send the tile that a view asks for, or the sentence that says why there is none."""
        name = content.get("want") if isinstance(content, dict) else None
        if not isinstance(name, str):
            return
        try:
            tile = make_tile(self._flows, TileKey.parse(name), self._precision)
        except NormvizError as error:
            self.send({"tile": name, "refused": str(error)})
            return
        count = max(1, -(-len(tile.data) // MESSAGE_BYTES))
        for part in range(count):
            message = {"tile": name, "dtype": tile.dtype, "about": tile.about}
            chunk = tile.data[part * MESSAGE_BYTES : (part + 1) * MESSAGE_BYTES]
            self.send({**message, "part": part, "parts": count}, buffers=[chunk])

    @traitlets.validate(*(name for name in STATE_NAMES if name != "stream"))
    def _validate_value(self, proposal: dict[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if name == "compare":
            require_other_flow(value, self._flows, CALL)
        if name == "view" and value == CROSS_ONLY_VIEW:
            self._go_to_cross_stream()
        return check_value(name, value, self._flow.stream(self.stream), self.role)

    def _go_to_cross_stream(self) -> None:
        """Choose the first cross-attention, unless one is chosen already or there is none."""
        first = first_cross_name(self._flow)
        if first is not None and self._flow.stream(self.stream).kind != "cross":
            self.stream = first

    @traitlets.validate("stream")
    def _validate_stream(self, proposal: dict[str, Any]) -> str:
        return resolve_state(self._flow, {"stream": proposal["value"]}).stream

    @traitlets.observe("stream", "role")
    def _fit_state(self, _change: dict[str, Any]) -> None:
        """Replace the values that the new stream or role does not have by their defaults."""
        stream = self._flow.stream(self.stream)
        for name, default in asdict(default_state(stream)).items():
            try:
                value = check_value(name, getattr(self, name), stream, self.role)
            except BadChoice:
                value = default
            setattr(self, name, value)
