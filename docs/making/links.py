"""Turns links between files of the repository into links between pages of the site."""

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
    """Change a Markdown text outside code; code is kept, or code blocks are replaced."""
    pieces, end = [], 0
    for match in CODE.finditer(text):
        kept = match["code"] if code is None or not match["fence"] else code
        pieces += [change(text[end : match.start()]), kept]
        end = match.end()
    return "".join([*pieces, change(text[end:])])


@dataclass
class Links:
    """Maps files of the repository to pages and files of the site."""

    pages: dict[str, str]
    """From a path in the repository to the path of a page."""
    headings: Mapping[str, str] = field(default_factory=dict)
    """The page of each README heading, by its anchor."""
    sources: set[str] = field(default_factory=set)
    """Source files that some page links to: each gets its own page."""
    files: set[str] = field(default_factory=set)
    """Pictures and other files that some page needs."""

    def rewrite(self, text: str, *, source: str, page: str) -> str:
        """Return the Markdown of a file of the repository with links for a page of the site."""

        def rewrite_links(piece: str) -> str:
            # The text of a link may be code, so its opening bracket may be in another piece.
            return LINK.sub(lambda match: self._link(match["link"], source, page), piece)

        return outside_code(text, rewrite_links)

    def _link(self, link: str, source: str, page: str) -> str:
        if re.match(r"[a-z]+:", link):
            return link
        path, _, anchor = link.partition("#")
        path = normpath(join(dirname(source), path)) if path else source
        target = self.headings.get(anchor) if path == "README.md" else None
        target = target or self._target(path, source)
        relative = relpath(target, dirname(page) or ".")
        return f"{relative}#{anchor}" if anchor else relative

    def _target(self, path: str, source: str) -> str:
        """Return the page or file of the site for a path in the repository."""
        file = ROOT / path
        if path in self.pages:
            return self.pages[path]
        if not file.exists():
            raise FileNotFoundError(f"{source} links to {path}, which is not in the repository.")
        if file.is_dir():
            return self._target(join(path, "README.md"), source)
        if file.suffix in {".py", ".ts", ".toml"} or file.name == "Makefile":
            self.sources.add(path)
            return f"source/{path}.md"
        self.files.add(path)
        return path
