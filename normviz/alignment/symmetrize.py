"""Links of two translation directions combined (Och and Ney 2003; Koehn et al. 2003)."""

from collections.abc import Callable, Iterable
from typing import Literal

from normviz.alignment.align import Alignment
from normviz.alignment.formats import PairLinks, as_gold
from normviz.core.catalog import require_known
from normviz.core.gold import Link
from normviz.core.keywords import refuse_unknown_keywords
from normviz.errors import BadInput

Links = frozenset[Link]
Method = Literal["intersection", "union", "grow-diag-final-and"]
NEIGHBORS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


@refuse_unknown_keywords
def symmetrize(
    forward: "PairLinks", backward: "PairLinks", method: Method = "grow-diag-final-and"
) -> Links:
    """Combine the links of two translation models, one for each direction.

    Parameters
    ----------
    forward, backward
        Alignments, or pairs (source, target), both from the same source to the same target: those
        of the model that translates back are swapped first (`alignment.swapped()`).
    method
        `"intersection"`: links in both. `"union"`: links in either.
        `"grow-diag-final-and"`: starts with the intersection, adds neighbors from the union as
        long as they link a word without a link, then adds links between two words without links.
    """
    require_known(method, METHODS, "method")
    sizes = [
        (len(links.source), len(links.target))
        for links in (forward, backward)
        if isinstance(links, Alignment)
    ]
    if len(set(sizes)) > 1:
        raise BadInput(
            f"One alignment has {sizes[0]} source and target words, the other {sizes[1]}.",
            "Expected both from the same source to the same target.",
            "Swap the other direction: symmetrize(forward, backward.swapped()).",
        )
    return METHODS[method](as_gold(forward).sure, as_gold(backward).sure)


def _grow_diag_final_and(forward: Links, backward: Links) -> Links:
    """Koehn's grow-diag, repeated over the words in order, then final-and."""
    union = forward | backward
    links = set(forward & backward)
    size = -1
    while size < len(links):
        size = len(links)
        for link in sorted(union):
            if link in links:
                _add_neighbors(links, link, union)
    for link in (*sorted(forward), *sorted(backward)):
        if all(_are_unlinked(links, link)):
            links.add(link)
    return frozenset(links)


def _add_neighbors(links: set[Link], link: Link, union: Links) -> None:
    """Add the neighbors of a link that are in the union and link a word without a link."""
    for down, right in NEIGHBORS:
        neighbor = link[0] + down, link[1] + right
        if neighbor in union and any(_are_unlinked(links, neighbor)):
            links.add(neighbor)


def _are_unlinked(links: Iterable[Link], link: Link) -> tuple[bool, bool]:
    """Return whether the source word, and whether the target word, has no link yet."""
    linked = list(zip(*links, strict=True)) or [(), ()]
    return link[0] not in linked[0], link[1] not in linked[1]


METHODS: dict[str, Callable[[Links, Links], Links]] = {
    "intersection": lambda forward, backward: forward & backward,
    "union": lambda forward, backward: forward | backward,
    "grow-diag-final-and": _grow_diag_final_and,
}
"""Ways to combine two sets of links."""
