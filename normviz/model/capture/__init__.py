"""One forward pass, listened to at every attention; everything put back afterwards."""

from normviz.model.capture.layers import LayerTrace
from normviz.model.capture.listener import CapturedAttention, capture

__all__ = ["CapturedAttention", "LayerTrace", "capture"]
