"""Gold alignments: links that people drew between the words of a sentence and its translation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from normviz.errors import BadInput

Link = tuple[int, int]
"""A source word and a target word, both counted from 0."""


@dataclass(frozen=True, init=False)
class Gold:
    """The sure and the possible links of one sentence pair; sure links are possible too."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    def __init__(self, sure: Iterable[Any], possible: Iterable[Any] = ()) -> None:
        """Parse links from any iterables of pairs."""
        object.__setattr__(self, "sure", freeze_links(sure))
        object.__setattr__(self, "possible", self.sure | freeze_links(possible))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Gold":
        """Return the links that `to_dict` wrote."""
        return cls(plain["sure"], plain.get("possible", ()))

    def to_dict(self) -> dict[str, list[list[int]]]:
        """Return the links as JSON can hold them, sorted; `possible` without the sure ones."""
        kinds = {"sure": self.sure, "possible": self.possible - self.sure}
        return {kind: [list(link) for link in sorted(links)] for kind, links in kinds.items()}

    def swapped(self) -> "Gold":
        """Return the links of the other translation direction: source and target exchanged."""
        return Gold(swap_links(self.sure), swap_links(self.possible))


def swap_links(links: Iterable[Link]) -> frozenset[Link]:
    """Return the links with source and target exchanged."""
    return frozenset((target, source) for source, target in links)


def freeze_links(pairs: Iterable[Any]) -> frozenset[Link]:
    """Return pairs of whole numbers as links; raise `BadInput` for the first that is not one."""
    links = set()
    for pair in pairs:
        if not _is_link(pair):
            raise BadInput(
                f"{pair!r} is not a link.",
                "Expected a pair of whole numbers from 0 on: a source word and a target word.",
                "Write (0, 2), or pass lines of a file such as '0-2 1-1'.",
            )
        source, target = pair
        links.add((int(source), int(target)))
    return frozenset(links)


def _is_link(pair: Any) -> bool:
    """Whether this is a pair of whole numbers from 0 on."""
    try:
        source, target = pair
        return all(int(number) == number >= 0 for number in (source, target))
    except (TypeError, ValueError, OverflowError):
        return False
