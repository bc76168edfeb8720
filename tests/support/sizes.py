"""Lists long files and functions, as a reminder to look again; never a failure."""

import ast
from collections.abc import Iterator
from pathlib import Path

from paths import ROOT

FILE, FUNCTION = 300, 40
"""From how many lines on a file or a function is listed."""


def long_files(root: Path = ROOT) -> Iterator[str]:
    """Yield each source file that is long, with its length."""
    for path in sorted([*root.glob("normviz/**/*.py"), *root.glob("js/src/**/*.ts")]):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > FILE:
            yield f"{path.relative_to(root)}: {lines} lines"


def long_functions(root: Path = ROOT) -> Iterator[str]:
    """Yield each Python function whose body, without its docstring, is long."""
    for path in sorted(root.glob("normviz/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                documented = ast.get_docstring(node) is not None and len(node.body) > 1
                lines = (node.end_lineno or 0) - node.body[int(documented)].lineno + 1
                if lines > FUNCTION:
                    yield f"{path.relative_to(root)}: {node.name} has {lines} lines"


if __name__ == "__main__":
    for line in (*long_files(), *long_functions()):
        print(f"· long: {line}")
