"""The errors that normviz raises: each says what it found, what it expected and what to do."""


class NormvizError(Exception):
    """Base class: `found`, `expected` and `do` are one plain sentence each."""

    def __init__(self, found: str, expected: str, do: str) -> None:
        self.found = found
        self.expected = expected
        self.do = do
        super().__init__(found, expected, do)

    def __str__(self) -> str:
        """Return the three sentences in a row."""
        return f"{self.found} {self.expected} {self.do}"


class UnsupportedModel(NormvizError):
    """The model computes attention in a way that normviz cannot capture."""


class ModelNotFound(NormvizError):
    """No model of that name could be loaded."""


class BadInput(NormvizError, ValueError):
    """The text, or another argument, cannot be used as it is."""


class TextTooLong(BadInput):
    """The text has more tokens than the model has positions."""


class TokenizerMismatch(BadInput):
    """The tokenizer produces ids that the model has no embedding for."""


class NotFinite(NormvizError, ArithmeticError):
    """The model produced NaN or infinite numbers."""


class UnknownName(NormvizError, ValueError):
    """The flow or the model has no measure, stream, layer or head of that name."""


class UnknownKeyword(UnknownName, TypeError):
    """The function has no such keyword; also a `TypeError`, as Python itself would raise."""


class BadArrays(NormvizError, ValueError):
    """The shapes or values of these arrays cannot be those of an attention."""


class BadFile(NormvizError, ValueError):
    """The file is not a readable normviz file."""


class LostWorkers(NormvizError, RuntimeError):
    """The worker processes that were measuring a corpus are gone."""


class MissingPackage(NormvizError, ImportError):
    """An optional package that this function needs is not installed."""
