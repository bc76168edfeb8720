"""Reading products that are written in letters."""

import string
from collections.abc import Sequence


def read_product(equation: str, dimensions: Sequence[int]) -> tuple[list[str], str]:
    """Return the letters of each factor and of the result, with letters in place of an ellipsis.

    `dimensions` has the number of axes of each factor. The result of an equation without an arrow
    is empty.
    """
    terms, _, target = equation.replace(" ", "").partition("->")
    factors = terms.split(",")
    free = [letter for letter in string.ascii_letters if letter not in equation]
    longest = ""
    letters = []
    for factor, count in zip(factors, dimensions, strict=True):
        hidden = "".join(free[: count - len(factor.replace("...", ""))]) if "..." in factor else ""
        longest = max(longest, hidden, key=len)
        letters.append(factor.replace("...", hidden))
    return letters, target.replace("...", longest)
