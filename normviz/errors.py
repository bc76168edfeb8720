"""What normviz says when something is wrong: what was found, what was wanted, what to do."""


class NormvizError(Exception):
    """The base of every error normviz raises on purpose."""

    def __init__(self, found: str, expected: str, do: str) -> None:
        self.found = found
        self.expected = expected
        self.do = do
        super().__init__(found, expected, do)

    def __str__(self) -> str:
        """The three sentences in a row."""
        return f"{self.found} {self.expected} {self.do}"


class UnsupportedModel(NormvizError):
    """The model computes attention in a way normviz cannot listen to."""


class ModelNotFound(NormvizError):
    """No model by that name could be loaded."""


class BadInput(NormvizError, ValueError):
    """The text or the model inputs cannot be analyzed as they are."""


class TextTooLong(BadInput):
    """The text has more tokens than the model has positions."""


class TokenizerMismatch(BadInput):
    """The tokenizer makes ids that the model has no embedding for."""


class NotFinite(NormvizError, ArithmeticError):
    """The model produced NaN or infinite numbers."""


class UnknownName(NormvizError, ValueError):
    """A measure, stream, layer or head that the flow or the model does not have."""


class UnknownKeyword(UnknownName, TypeError):
    """A keyword that the function does not have; a `TypeError`, as Python itself would raise."""


class BadArrays(NormvizError, ValueError):
    """Arrays whose shapes or values cannot be an attention."""


class BadFile(NormvizError, ValueError):
    """A file that is not a readable normviz file."""


class LostWorkers(NormvizError, RuntimeError):
    """The workers that were to measure a corpus are gone."""


class MissingPackage(NormvizError, ImportError):
    """An optional package is needed for what was asked."""
