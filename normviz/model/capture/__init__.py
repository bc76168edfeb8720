"""One forward pass, listened to at every attention; everything put back afterwards."""

from normviz.model.capture.layers import Taped
from normviz.model.capture.listener import Heard, capture

__all__ = ["Heard", "Taped", "capture"]
