"""What the tests of the zoo share: quarters of its types, and the comparison with the table."""

from zoo.results import read_table


def quarter(number: int) -> list[str]:
    """Return every fourth type, from the first, second, third or fourth on."""
    return sorted(read_table())[number - 1 :: 4]


def check_outcome(name: str, family: str) -> None:
    """Measure a type, and compare what became of it with the table."""
    from zoo.outcomes import find_outcome

    expected = read_table()[name][family]
    found = find_outcome(name, family)
    assert found.kind == expected.partition(":")[0], f"{found}, not {expected}. {found.detail}"
