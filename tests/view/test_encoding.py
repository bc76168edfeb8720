"""Numbers in one byte each, as the page shows them."""

import pytest
from flows import random_flow


@pytest.mark.parametrize("measure", ["weight", "value-norm", "weighted-norm"])
def test_numbers_in_one_byte_are_shown_within_their_promise(show, measure):
    flow = random_flow()
    tab = show(flow, precision="uint8", measure=measure, layer=1)
    shown = float(tab.locator("tbody tr").first.locator("td").nth(3).inner_text())
    values = flow[measure][1].mean(axis=0)  # over heads
    most = values.max() if measure == "value-norm" else values.mean(axis=0).max()
    # The product of two such numbers may be twice as far off.
    assert shown == pytest.approx(
        most, rel=0.037 * (2 if measure == "weighted-norm" else 1) + 0.003
    )
