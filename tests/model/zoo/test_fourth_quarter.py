"""The fourth quarter of the zoo; four files, so that two processes share the load."""

import pytest
from zoo.cases import check_outcome, quarter


@pytest.mark.parametrize("name", quarter(4))
def test_the_four_attention_measures_have_the_outcome_in_the_table(name):
    check_outcome(name, "attention")
