"""Keywords that a function does not have, refused with the nearest one it has."""

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar

from normviz.errors import UnknownKeyword

P = ParamSpec("P")
R = TypeVar("R")


def refuse_unknown_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function so that a misspelled keyword is answered with the right one."""
    known = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        require_keywords(function.__name__, kwargs, known)
        return function(*args, **kwargs)

    return checked


def require_keywords(caller: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise `UnknownKeyword` for the first keyword that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, n=1, cutoff=0.5)
            raise UnknownKeyword(
                f"{caller} has no keyword {name!r}.",
                f"The keywords are: {', '.join(names)}.",
                f"Write {near[0]}=… instead." if near else "Use one of these.",
            )
