"""Where the built JavaScript lies."""

from pathlib import Path

from normviz.errors import MissingPackage

STATIC = Path(__file__).parents[1] / "static"


def bundle(name: str) -> Path:
    """The path of a built file, or a sentence on how to build it."""
    path = STATIC / name
    if not path.is_file():
        raise MissingPackage(
            f"The picture's code is missing: there is no {name} among normviz's files.",
            "It is built when normviz is installed.",
            "Install normviz again, or run `npm ci && npm run build` in its js folder.",
        )
    return path
