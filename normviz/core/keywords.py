"""Misspelled keywords and names: refused with the nearest right one."""

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar, no_type_check

from normviz.errors import UnknownKeyword

P = ParamSpec("P")
R = TypeVar("R")

SIMILAR = 0.55
"""How alike two names must be, from 0 to 1, for one to be offered in place of the other."""


def refuse_unknown_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function so that its error for a misspelled keyword names the right one."""
    no_type_check(function)  # it checks its arguments itself, and answers in a sentence
    known = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and name != "self"
    ]
    caller = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        require_keywords(caller, kwargs, known)
        return function(*args, **kwargs)

    return call


def require_keywords(caller: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise `UnknownKeyword` for the first keyword that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
            near = nearest_name(name, names)
            raise UnknownKeyword(
                f"{caller} has no keyword {name!r}.",
                f"The keywords are: {', '.join(names)}.",
                f"Write {near}=… instead." if near else "Use one of these.",
            )


def nearest_name(name: object, names: Iterable[object]) -> str | None:
    """Return the known name that a misspelled one resembles most; None where none is similar."""
    words = [known for known in names if isinstance(known, str)]
    near = get_close_matches(name, words, n=1, cutoff=SIMILAR) if isinstance(name, str) else []
    return near[0] if near else None
