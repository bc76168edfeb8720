"""Word alignment: links read from cross-attention, and scores against gold links.

In comes a `Flow` of a translation, or files of links; out come `Alignment`s, alignment error rates
and links in the formats of Pharaoh, Talp and NAACL. Nothing here needs torch.
"""

from normviz.alignment.formats import read_links, write_links
from normviz.core.gold import Gold, Link

__all__ = ["Gold", "Link", "read_links", "write_links"]
