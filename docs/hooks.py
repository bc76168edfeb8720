"""What mkdocs asks for while it builds: pages made of the README, the notebooks and the catalog."""

import logging
import re
from pathlib import Path
from typing import Any

import nbformat
from making import gallery, measures, readme, running, sources, stories
from making.links import ROOT, Links
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.docs")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
AS_THEY_ARE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks/README.md",
    "notebooks/data/README.md": "notebooks/data/README.md",
    "notebooks/models/es-en/README.md": "notebooks/models/es-en/README.md",
}
"""Files of the repository that are pages of the site."""
STORIES: dict[str, stories.Story] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put what is made into the table of contents, in the places that `mkdocs.yml` keeps for it."""
    made = {
        "README": [page for page in readme.pages(_read("README.md")) if page != "index.md"],
        "NOTEBOOKS": [f"notebooks/{path.stem}.md" for path in NOTEBOOKS],
    }
    config.nav = _with(config.nav, made)
    return config


def _with(nav: Any, made: dict[str, list[str]]) -> Any:
    """A table of contents in which names in capitals are replaced by the pages they stand for."""
    if isinstance(nav, dict):
        return {title: _with(below, made) for title, below in nav.items()}
    if isinstance(nav, list):
        return [entry for item in nav for entry in made.get(str(item), [_with(item, made)])]
    return nav


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add all pages that are made of something else, and whatever they link to."""
    home = readme.pages(_read("README.md"))
    links = Links({"README.md": "index.md", **AS_THEY_ARE}, readme.headings(home))
    links.pages |= {f"docs/pages/{file.src_uri}": file.src_uri for file in files}
    links.pages |= {f"notebooks/{p.name}": f"notebooks/{p.stem}.md" for p in NOTEBOOKS}
    links.pages |= {"docs/measures.toml": "measures.md"}
    for page, text in home.items():
        _add(files, config, page, links.rewritten(text, at="README.md", page=page))
    for path, page in AS_THEY_ARE.items():
        _add(files, config, page, links.rewritten(_read(path), at=path, page=page))
    for path in NOTEBOOKS:
        _add_story(files, config, path, links)
    _add(files, config, "measures.md", measures.page())
    for file in [file for file in files.documentation_pages() if not file.generated_by]:
        at = f"docs/pages/{file.src_uri}"
        text = links.rewritten(_read(at), at=at, page=file.src_uri)
        if file.src_uri == "gallery.md":
            text += gallery.markdown()
        _add(files, config, file.src_uri, text)
    for name, content in gallery.pages().items():
        _add(files, config, f"gallery/{name}", content)
    for path in sorted(links.sources):
        _add(files, config, f"source/{path}.md", sources.page(path, _read(path)))
    for path in sorted(links.files):
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def _add_story(files: Files, config: MkDocsConfig, path: Path, links: Links) -> None:
    """A notebook as a page, the pages in its frames, and the notebook itself to take away."""
    run = running.is_wanted()
    if run:
        log.info("notebook: %s", path.name)
    notebook = running.ran(path) if run else nbformat.read(path, as_version=4)
    story = stories.told(notebook, path.stem, ran=run)
    page = f"notebooks/{path.stem}.md"
    own = Links({**links.pages, f"notebooks/{path.name}": f"notebooks/{path.name}"})
    own.sources, own.files = links.sources, links.files
    _add(files, config, page, own.rewritten(story.markdown, at=f"notebooks/{path.name}", page=page))
    STORIES[page] = story
    for name, content in story.frames.items():
        _add(files, config, f"notebooks/{name}", content)
    name = f"notebooks/{path.name}"
    files.append(File.generated(config, name, abs_src_path=str(path)))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put what the cells of a notebook showed into its page; let wide tables scroll."""
    del config, files
    if story := STORIES.get(page.file.src_uri):
        html = stories.filled(html, story)
    return re.sub(r"<img (?![^>]*loading=)", '<img loading="lazy" ', html)


def _add(files: Files, config: MkDocsConfig, path: str, content: str) -> None:
    if held := files.get_file_from_path(path):
        files.remove(held)
    files.append(File.generated(config, path, content=content))


def _read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
