"""Links of two directions made one (Och and Ney 2003; Koehn et al. 2003)."""

from collections.abc import Callable, Iterable
from typing import Any

from normviz.alignment.formats import as_gold
from normviz.core.catalog import require_known
from normviz.core.gold import Link
from normviz.errors import BadInput

Links = frozenset[Link]
NEIGHBORS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrize(forward: Any, backward: Any, method: str = "grow-diag-final-and") -> Links:
    """Links of two translation models, one for each direction, made one.

    Parameters
    ----------
    forward, backward
        Alignments, or pairs (source, target); both read the same way: those of the model that
        translates back are turned round first (`alignment.swapped()`).
    method
        `"intersection"`: what both say. `"union"`: what one of them says.
        `"grow-diag-final-and"`: from the intersection to its neighbors in the union, as long as
        they bring in a word that has no link; then links between two words that both have none.
    """
    require_known(method, METHODS, "method")
    sizes = [(len(a.source), len(a.target)) for a in (forward, backward) if hasattr(a, "source")]
    if len(set(sizes)) > 1:
        raise BadInput(
            f"One alignment is of {sizes[0]} source and target words, the other of {sizes[1]}.",
            "Both must read from the same source to the same target.",
            "Turn the other direction round: symmetrize(forward, backward.swapped()).",
        )
    return METHODS[method](as_gold(forward).sure, as_gold(backward).sure)


def _grown(forward: Links, backward: Links) -> Links:
    """Koehn's grow-diag, then final-and; words are gone through in order, again and again."""
    union = forward | backward
    links = set(forward & backward)
    size = -1
    while size < len(links):
        size = len(links)
        for link in sorted(union):
            if link in links:
                _grow(links, link, union)
    for link in (*sorted(forward), *sorted(backward)):
        if all(_free(links, link)):
            links.add(link)
    return frozenset(links)


def _grow(links: set[Link], link: Link, union: Links) -> None:
    """Add the neighbors of a link that either direction knows, if they bring in a new word."""
    for down, right in NEIGHBORS:
        beside = link[0] + down, link[1] + right
        if beside in union and any(_free(links, beside)):
            links.add(beside)


def _free(links: Iterable[Link], link: Link) -> tuple[bool, bool]:
    """Whether the source word, and whether the target word, has no link yet."""
    taken = list(zip(*links, strict=True)) or [(), ()]
    return link[0] not in taken[0], link[1] not in taken[1]


METHODS: dict[str, Callable[[Links, Links], Links]] = {
    "intersection": lambda forward, backward: forward & backward,
    "union": lambda forward, backward: forward | backward,
    "grow-diag-final-and": _grown,
}
"""Ways to make one set of links of two."""
