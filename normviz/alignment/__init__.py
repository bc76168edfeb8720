"""Word alignment: links read off cross-attention, and how well they agree with people's."""

from normviz.alignment.formats import read, write
from normviz.core.gold import Gold, Link

__all__ = ["Gold", "Link", "read", "write"]
