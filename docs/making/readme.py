"""The README as pages: what a newcomer needs at home, every other section on a page of its own."""

import re

from pymdownx.slugs import slugify

from making.links import outside_code

AT_HOME = ("Two commands", "Three lines", "Notebooks", "Documentation", "More")
"""Sections that stay together on the first page."""

slug = slugify(case="lower")


def pages(text: str) -> dict[str, str]:
    """Pages by their path, in the order of the README; all headings one level up but at home."""
    first, *sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    made = {"index.md": first}
    for section in sections:
        title = _title(section)
        if title in AT_HOME:
            made["index.md"] += section
        else:
            made[f"guide/{slug(title, '-')}.md"] = outside_code(section, _raised)
    return made


def headings(made: dict[str, str]) -> dict[str, str]:
    """The page of each heading, by its anchor."""
    return {slug(title, "-"): page for page, text in made.items() for title in titles(text)}


def titles(text: str) -> list[str]:
    """The headings of a page, as text."""
    return re.findall(r"^#+ (.+)$", outside_code(text, lambda part: part, code=""), re.MULTILINE)


def _title(section: str) -> str:
    return section.partition("\n")[0].removeprefix("## ").strip()


def _raised(part: str) -> str:
    return re.sub(r"^#(?=#+ )", "", part, flags=re.MULTILINE)
