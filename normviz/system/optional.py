"""Optional packages: what to install when one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from normviz.errors import MissingPackage


@contextmanager
def require_packages(*packages: str, extra: str) -> Iterator[None]:
    """Raise `MissingPackage`, with the command to install it, where one of these is missing."""
    try:
        yield
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in packages:
            raise
        raise MissingPackage(
            f"The package {missing} is not installed.",
            f"This part of normviz needs {', '.join(packages)}.",
            f'Run: pip install "normviz[{extra}]"',
        ) from error
