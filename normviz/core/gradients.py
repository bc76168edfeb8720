"""How derivatives are taken and measured: the options of the attributions by gradient."""

from dataclasses import dataclass
from typing import Literal, get_args, no_type_check

from normviz.core.catalog import require_known
from normviz.core.keywords import refuse_unknown_keywords
from normviz.errors import BadInput

Norm = Literal["frobenius", "spectral"]
"""Which norm of a derivative is taken."""
Origin = Literal["after-norm", "before-norm"]
"""Where the model's input is taken: after or before the norm of the embeddings."""
Rows = Literal["normalized", "raw"]
"""Whether each query's numbers add up to one."""

MIN_SAMPLES = 2
"""The fewest random directions whose standard error can be estimated."""


@no_type_check  # at run time it checks its values itself, and answers in a sentence
@dataclass(frozen=True)
class Gradients:
    """Options of the attributions by gradient; `rows` also applies to value zeroing.

    Parameters
    ----------
    samples
        How many random directions to try for each token; None tries every coordinate. The squared
        norm is estimated without bias, and the receipt states the standard error.
    seed
        The seed of the random directions.
    norm
        `"frobenius"`, or `"spectral"` (slow: one singular value for each pair of tokens).
    origin
        `"after-norm"`, what enters the first layer, or `"before-norm"`, what enters the norm of the
        embeddings, where the model has one.
    rows
        `"normalized"`, so that each query's numbers add up to one, or `"raw"`.
    """

    samples: int | None = None
    seed: int = 0
    norm: Norm = "frobenius"
    origin: Origin = "after-norm"
    rows: Rows = "normalized"

    def __post_init__(self) -> None:
        """Refuse values that make no sense."""
        for name, values in (("norm", Norm), ("origin", Origin), ("rows", Rows)):
            require_known(getattr(self, name), get_args(values), name)
        samples, seed = self.samples, self.seed
        if samples is not None and not (_is_whole(samples) and samples >= MIN_SAMPLES):
            raise BadInput(
                f"samples is {samples!r}.",
                "Expected a whole number of random directions for each token, at least 2 (one "
                "alone has no standard error), or None for every direction.",
                "Write samples=64.",
            )
        if samples is not None and self.norm == "spectral":
            raise BadInput(
                "Both samples and norm='spectral' are given.",
                "Random directions estimate the Frobenius norm; the spectral norm needs all.",
                "Leave out one of the two.",
            )
        if not _is_whole(seed):
            raise BadInput(f"seed is {seed!r}.", "Expected a whole number.", "Write seed=0.")


Gradients.__init__ = refuse_unknown_keywords(Gradients.__init__)  # type: ignore[method-assign]


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)
