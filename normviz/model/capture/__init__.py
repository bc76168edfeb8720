"""Run a model unchanged and capture what its attentions and layers compute.

In: a torch model and its inputs, as keyword arguments of `forward`. Out: one `CapturedAttention`
per attention, in the order they run (`listener`), one `LayerTrace` per layer, recorded on a tape
(`tape`), or a `RecordedPass` (`recording`) that can be run again on other vectors (`rerun`).
normviz listens, it does not fork: hooks, a registered attention function and torch function modes
observe the model's own code, and everything is put back afterwards (`patching`, `hooks`).
"""

from normviz.model.capture.listener import CapturedAttention, capture
from normviz.model.capture.tape import LayerTrace

__all__ = ["CapturedAttention", "LayerTrace", "capture"]
