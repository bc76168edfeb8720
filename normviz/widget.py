"""The notebook view of a flow. The picture is drawn by `js`; Python holds the choices."""

from typing import Any

import anywidget
import traitlets

from normviz.bundle import bundle
from normviz.choice import BadChoice, check, defaults, resolve
from normviz.flow import Flow
from normviz.payload import pack


class FlowWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """A flow drawn in a notebook; every choice can be read and set from Python.

    Assigning what the flow does not have is refused with a list of what it has.
    """

    _esm = bundle("widget.js")
    _css = bundle("widget.css")
    _header = traitlets.Dict().tag(sync=True)
    _data = traitlets.Bytes().tag(sync=True)

    view = traitlets.Any().tag(sync=True)
    """The kind of picture: `flow`."""
    stream = traitlets.Any().tag(sync=True)
    """Which attention: `encoder`, `decoder` or `cross`."""
    measure = traitlets.Any().tag(sync=True)
    """The id of the measure shown, such as `weight` or `weighted-norm`."""
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
    theme = traitlets.Any().tag(sync=True)
    """`auto` follows the host; `light` and `dark` do not."""

    def __init__(self, flow: Flow, *, precision: str = "log16", **choice: Any) -> None:
        self._flow = flow
        first = resolve(flow, choice)
        payload = pack(flow, precision=precision)
        super().__init__(_header=payload.header, _data=payload.data, **first)

    @traitlets.validate("view", "measure", "layer", "heads", "token", "side", "normalize", "theme")
    def _checked(self, proposal: dict[str, Any]) -> Any:
        name = proposal["trait"].name
        return check(name, proposal["value"], self._flow.stream(self.stream), self.side)

    @traitlets.validate("stream")
    def _known_stream(self, proposal: dict[str, Any]) -> Any:
        return resolve(self._flow, {"stream": proposal["value"]})["stream"]

    @traitlets.observe("stream", "side")
    def _fit(self, _change: dict[str, Any]) -> None:
        """Let go of choices that the new stream or side does not have."""
        stream = self._flow.stream(self.stream)
        for name, default in defaults(stream).items():
            try:
                check(name, getattr(self, name), stream, self.side)
            except BadChoice:
                setattr(self, name, default)
