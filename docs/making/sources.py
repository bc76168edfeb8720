"""Turns source files into pages, with an anchor for every definition."""

import ast
from collections.abc import Iterator
from pathlib import Path

LANGUAGES = {".py": "python", ".ts": "typescript", ".toml": "toml"}
FENCE = "~~~~~~"


def page(path: str, text: str) -> str:
    """Return a source file as a Markdown page that is excluded from the search."""
    language = LANGUAGES.get(Path(path).suffix, "makefile")
    pieces = list(_pieces(text)) if language == "python" else [("", text)]
    page = ["---\nsearch:\n  exclude: true\n---\n", f"# `{path}`\n"]
    for name, piece in pieces:
        anchor = f'<a id="{name}"></a>\n\n' if name else ""
        page.append(f"{anchor}{FENCE}{language}\n{piece.strip(chr(10))}\n{FENCE}\n")
    return "\n".join(page)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield a Python file in pieces, split before each function, class and method, with names."""
    lines = text.splitlines(keepends=True)
    start, name = 0, ""
    for node in _definitions(ast.parse(text)):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
        if "".join(lines[start:first]).strip():
            yield name, "".join(lines[start:first])
        start, name = first, node.name
    yield name, "".join(lines[start:])


def _definitions(
    tree: ast.Module | ast.ClassDef,
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield node
            yield from _definitions(node)
