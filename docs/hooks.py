"""Hooks of mkdocs, which add pages made from the README, the notebooks and the catalog."""

import logging
import re
from pathlib import Path
from typing import Any

import nbformat
from making import gallery, measures, models, readme, running, sources, stories
from making.links import ROOT, Links
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

log = logging.getLogger("mkdocs.docs")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MARKDOWN_FILES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks/README.md",
    "notebooks/data/README.md": "notebooks/data/README.md",
    "notebooks/models/es-en/README.md": "notebooks/models/es-en/README.md",
}
"""Markdown files of the repository that become pages of the site."""
STORIES: dict[str, stories.Story] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put generated pages into the navigation, at the placeholders in `mkdocs.yml`."""
    generated = {
        "README": [page for page in readme.pages(_read("README.md")) if page != "index.md"],
        "NOTEBOOKS": [f"notebooks/{path.stem}.md" for path in NOTEBOOKS],
    }
    config.nav = _expand(config.nav, generated)
    return config


def _expand(nav: Any, generated: dict[str, list[str]]) -> Any:
    """Return the navigation with placeholders in capitals replaced by generated pages."""
    if isinstance(nav, dict):
        return {title: _expand(below, generated) for title, below in nav.items()}
    if isinstance(nav, list):
        return [e for item in nav for e in generated.get(str(item), [_expand(item, generated)])]
    return nav


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add all generated pages, and the files they link to."""
    home = readme.pages(_read("README.md"))
    links = Links({"README.md": "index.md", **MARKDOWN_FILES}, readme.headings(home))
    links.pages |= {f"docs/pages/{file.src_uri}": file.src_uri for file in files}
    links.pages |= {f"notebooks/{p.name}": f"notebooks/{p.stem}.md" for p in NOTEBOOKS}
    links.pages |= {"docs/measures.toml": "measures.md"}
    links.pages |= {"tests/support/zoo/outcomes.json": "models.md"}
    for page, text in home.items():
        _add(files, config, page, links.rewrite(text, source="README.md", page=page))
    for path, page in MARKDOWN_FILES.items():
        _add(files, config, page, links.rewrite(_read(path), source=path, page=page))
    for path in NOTEBOOKS:
        _add_story(files, config, path, links)
    _add(files, config, "measures.md", measures.page())
    text = links.rewrite(models.page(), source="docs/pages/models.md", page="models.md")
    _add(files, config, "models.md", text)
    for file in [file for file in files.documentation_pages() if not file.generated_by]:
        source = f"docs/pages/{file.src_uri}"
        text = links.rewrite(_read(source), source=source, page=file.src_uri)
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
    """Add a notebook as a page, the pages in its frames, and the notebook itself for download."""
    execute = running.is_enabled()
    if execute:
        log.info("notebook: %s", path.name)
    notebook = running.run_notebook(path) if execute else nbformat.read(path, as_version=4)
    story = stories.convert(notebook, path.stem, executed=execute)
    page = f"notebooks/{path.stem}.md"
    own = Links({**links.pages, f"notebooks/{path.name}": f"notebooks/{path.name}"})
    own.sources, own.files = links.sources, links.files
    source = f"notebooks/{path.name}"
    _add(files, config, page, own.rewrite(story.markdown, source=source, page=page))
    STORIES[page] = story
    for name, content in story.frames.items():
        _add(files, config, f"notebooks/{name}", content)
    files.append(File.generated(config, source, abs_src_path=str(path)))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert the outputs of a notebook into its page, and load images lazily."""
    del config, files
    if story := STORIES.get(page.file.src_uri):
        html = stories.insert_outputs(html, story)
    return re.sub(r"<img (?![^>]*loading=)", '<img loading="lazy" ', html)


def _add(files: Files, config: MkDocsConfig, path: str, content: str) -> None:
    if existing := files.get_file_from_path(path):
        files.remove(existing)
    files.append(File.generated(config, path, content=content))


def _read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
