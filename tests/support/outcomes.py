"""What a measurement may end in: right numbers, a red receipt or a refusal, each by name."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from normviz.core.flow import Flow
from normviz.errors import NormvizError

ATTENTION_MEASURES = ("weight", "value-norm", "weighted-norm", "attention")
FOUR = ("value-norm", "weighted-norm", "attention", "value-zeroing")
RTOL = 1e-5

Numbers = Mapping[str, np.ndarray]


def relative_error(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the largest difference, relative to each number; tiny ones count as rounding."""
    smallest = 1e-7 * np.abs(wanted).max()
    return float((np.abs(found - wanted) / np.maximum(np.abs(wanted), smallest)).max())


def assert_same_numbers(
    found: Flow, wanted: Flow | Numbers, measures: Iterable[str], *, rtol: float = RTOL
) -> None:
    """Assert that two results agree in every number of the measures; else say by how much."""
    errors = {}
    for measure in measures:
        one, other = np.asarray(found[measure]), np.asarray(wanted[measure])
        assert one.shape == other.shape, f"{measure}: {one.shape} instead of {other.shape}"
        errors[measure] = relative_error(one, other)
    wrong = {measure: f"{error:.2g}" for measure, error in errors.items() if not error <= rtol}
    receipt = "green" if found.receipt.ok else "red"
    assert not wrong, f"relative errors {wrong}, with a {receipt} receipt"


def assert_right_or_said(
    run: Callable[[], Flow],
    wanted: Flow | Numbers | None,
    places: Iterable[str],
    measures: Iterable[str] = ATTENTION_MEASURES,
) -> None:
    """Assert that a run gives the wanted numbers, or that receipt or refusal name a place.

    `wanted` is None where no numbers would be right, so that the receipt must not be green.
    """
    flow, refusal = run_or_refusal(run)
    if flow is not None and flow.receipt.ok:
        assert wanted is not None, "a green receipt, where no numbers can be right"
        assert_same_numbers(flow, wanted, measures)
        return
    said = refusal if flow is None else "\n".join(flow.receipt.failures)
    assert_names(said, places)


def assert_refused(run: Callable[[], Flow], places: Iterable[str]) -> None:
    """Assert that a run ends in a refusal that names one of the places."""
    flow, refusal = run_or_refusal(run)
    state = "" if flow is None else "a green" if flow.receipt.ok else "a red"
    assert flow is None, f"numbers and {state} receipt instead of a refusal"
    assert_names(refusal, places)


def run_or_refusal(run: Callable[[], Flow]) -> tuple[Flow | None, str]:
    """Return the flow of a run, or else the words in which it was refused."""
    try:
        return run(), ""
    except NormvizError as error:
        return None, str(error)


def assert_names(said: str, places: Iterable[str]) -> None:
    """Assert that a message contains one of the names."""
    places = tuple(places)
    assert any(place in said for place in places), f"none of {places} is named: {said}"
