"""The documented tables of outages; measuring them is a long command."""

import pytest

from .. import outages

pytestmark = pytest.mark.full


HUNG = ["database", "cache", "object store", "mail"]


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


@pytest.mark.parametrize(("number", "components"), [(0, [*HUNG, "worker"]), (1, HUNG)])
def test_documented_outage_table_is_complete_and_its_cells_are_yes_or_503(number: int, components: list[str]) -> None:
    head, rule, *table = rows(outages.documented().split("\n\n")[number])
    assert head[1:] == components
    assert all(len(row) == len(head) == len(rule) for row in table)
    assert {cell for row in table for cell in row[1:]} <= {"yes", "503", "yes, mail is sent later"}
