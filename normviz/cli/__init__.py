"""The `normviz` command: arguments in, files and findings out."""

from normviz.cli.main import main

__all__ = ["main"]
