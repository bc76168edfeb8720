"""Where the project's own files are, for tests that read them."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
