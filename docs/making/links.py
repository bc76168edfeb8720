"""Links between files of the repository, turned into links between pages of the site."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

ROOT = Path(__file__).parents[2]
CODE = re.compile(
    r"(?P<code>^ *(?P<fence>```+|~~~+).*?^ *(?P=fence) *$|`[^`\n]+`)", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"(?<=\]\()(?P<link>[^)\s]+)(?=\))")


def outside_code(text: str, change: Callable[[str], str], *, code: str | None = None) -> str:
    """A text of Markdown, changed wherever it is not code; code stays, or is replaced."""
    made, end = [], 0
    for found in CODE.finditer(text):
        kept = found["code"] if code is None or not found["fence"] else code
        made += [change(text[end : found.start()]), kept]
        end = found.end()
    return "".join([*made, change(text[end:])])


@dataclass
class Links:
    """Which page or file of the site stands for which file of the repository."""

    pages: dict[str, str]
    """From a path in the repository to that of a page."""
    headings: Mapping[str, str] = field(default_factory=dict)
    """The pages on which headings of the README are now, by their anchors."""
    sources: set[str] = field(default_factory=set)
    """Programs that some page links to: each gets a page of its own."""
    files: set[str] = field(default_factory=set)
    """Pictures and other files that some page needs."""

    def rewritten(self, text: str, *, at: str, page: str) -> str:
        """Markdown that stood at a path in the repository, for a page of the site."""

        def changed(part: str) -> str:
            # A link may have code for its text, so that its bracket opens in another part.
            return LINK.sub(lambda found: self._link(found["link"], at, page), part)

        return outside_code(text, changed)

    def _link(self, link: str, at: str, page: str) -> str:
        if re.match(r"[a-z]+:", link):
            return link
        path, _, anchor = link.partition("#")
        place = normpath(join(dirname(at), path)) if path else at
        target = self.headings.get(anchor) if place == "README.md" else None
        target = target or self._target(place, at)
        to = relpath(target, dirname(page) or ".")
        return f"{to}#{anchor}" if anchor else to

    def _target(self, place: str, at: str) -> str:
        """The page or file of the site for a path in the repository."""
        found = ROOT / place
        if place in self.pages:
            return self.pages[place]
        if not found.exists():
            raise FileNotFoundError(f"{at} links to {place}, which is not in the repository.")
        if found.is_dir():
            return self._target(join(place, "README.md"), at)
        if found.suffix in {".py", ".ts", ".toml"} or found.name == "Makefile":
            self.sources.add(place)
            return f"source/{place}.md"
        self.files.add(place)
        return place
