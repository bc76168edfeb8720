"""Numbers in one byte each, as the page shows them."""

import re

import pytest
from flows import random_flow


@pytest.mark.parametrize("measure", ["weight", "value-norm", "weighted-norm"])
def test_numbers_in_one_byte_are_shown_within_their_promise(show, measure):
    flow = random_flow()
    tab = show(flow, precision="uint8", measure=measure, layer=1)
    shown = float(re.search(r"\(([\d.]+)\)", tab.locator(".nv-sentence").inner_text()).group(1))
    values = flow[measure][1]
    most = values.sum(axis=0).max() if measure == "value-norm" else values.max()
    # The product of two such numbers may be twice as far off.
    assert shown == pytest.approx(
        most, rel=0.037 * (2 if measure == "weighted-norm" else 1) + 0.003
    )
