"""Links between the words of a sentence and of its translation; plain Python."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from normviz.errors import BadInput

Link = tuple[int, int]
"""A source word and a target word, both counted from 0."""


@dataclass(frozen=True, init=False)
class Gold:
    """What people say is aligned: surely, or possibly; what is sure is possible too."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    def __init__(self, sure: Iterable[Any], possible: Iterable[Any] = ()) -> None:
        """Take links from any iterables of pairs."""
        object.__setattr__(self, "sure", linked(sure))
        object.__setattr__(self, "possible", self.sure | linked(possible))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Gold":
        """Links as JSON held them; what is sure is possible too."""
        return cls(plain["sure"], plain.get("possible", ()))

    def to_dict(self) -> dict[str, list[list[int]]]:
        """The links as JSON can hold them, in order; what is possible without what is sure."""
        kinds = {"sure": self.sure, "possible": self.possible - self.sure}
        return {kind: [list(link) for link in sorted(links)] for kind, links in kinds.items()}

    def swapped(self) -> "Gold":
        """The same read from the other side: the target is the source."""
        return Gold(swapped(self.sure), swapped(self.possible))


def swapped(links: Iterable[Link]) -> frozenset[Link]:
    """Links read from the other side."""
    return frozenset((target, source) for source, target in links)


def linked(pairs: Iterable[Any]) -> frozenset[Link]:
    """Pairs of whole numbers as links, or an error that names the first that is none."""
    found = set()
    for pair in pairs:
        if not _is_link(pair):
            raise BadInput(
                f"{pair!r} is given as a link.",
                "A pair of whole numbers from 0 on is wanted: a source word and a target word.",
                "Write (0, 2), or give lines of a file such as '0-2 1-1'.",
            )
        source, target = pair
        found.add((int(source), int(target)))
    return frozenset(found)


def _is_link(pair: Any) -> bool:
    """Whether this is a pair of whole numbers that count from 0."""
    try:
        source, target = pair
        return all(int(number) == number >= 0 for number in (source, target))
    except (TypeError, ValueError, OverflowError):
        return False
