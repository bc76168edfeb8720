"""Splits the README into pages: the home page for newcomers, and one page per other section."""

import re

from pymdownx.slugs import slugify

from making.links import outside_code

HOME_SECTIONS = ("Two commands", "Three lines", "Notebooks", "Documentation", "More")
"""Sections that stay on the home page."""

slug = slugify(case="lower")


def pages(text: str) -> dict[str, str]:
    """Return pages by path, in order; headings move up one level except on the home page."""
    first, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    pages = {"index.md": first}
    for section in sections:
        title = _title(section)
        if title in HOME_SECTIONS:
            pages["index.md"] += section
        else:
            pages[f"guide/{slug(title, '-')}.md"] = outside_code(section, _raise_headings)
    return pages


def headings(pages: dict[str, str]) -> dict[str, str]:
    """Return the page of each heading, by its anchor."""
    return {slug(title, "-"): page for page, text in pages.items() for title in titles(text)}


def titles(text: str) -> list[str]:
    """Return the headings of a page as text."""
    return re.findall(r"^#+ (.+)$", outside_code(text, lambda part: part, code=""), re.MULTILINE)


def _title(section: str) -> str:
    return section.partition("\n")[0].removeprefix("## ").strip()


def _raise_headings(part: str) -> str:
    return re.sub(r"^#(?=#+ )", "", part, flags=re.MULTILINE)
