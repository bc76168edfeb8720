"""Tables of measured numbers, kept in a text between two marks."""

from pathlib import Path


def write(readme: Path, name: str, markdown: str) -> None:
    """Put Markdown where a text has `<!-- name -->` and `<!-- /name -->`, in place of the old."""
    first, last = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = readme.read_text(encoding="utf-8").partition(first)
    _, ended, after = rest.partition(last)
    if not found or not ended:
        raise ValueError(f"{readme.name} has no {first} … {last}: put both where the table goes.")
    text = f"{before}{first}\n{markdown.strip()}\n{last}{after}"
    readme.write_text(text, encoding="utf-8")
