"""Paths of the built JavaScript and CSS."""

from pathlib import Path

from normviz.errors import MissingPackage

STATIC = Path(__file__).parents[1] / "static"


def asset_path(name: str) -> Path:
    """Return the path of a built file; raise `MissingPackage` where it was not built."""
    path = STATIC / name
    if not path.is_file():
        raise MissingPackage(
            f"The code of the view is missing: there is no {name} among normviz's files.",
            "It is built when normviz is installed.",
            "Install normviz again, or run `npm ci && npm run build` in its js folder.",
        )
    return path
