"""The documented tables of outages; measuring them is a long command."""

import pytest

from .. import outages

pytestmark = pytest.mark.full
COMPONENTS = ["database", "cache", "object store", "mail"]


def test_documented_outage_tables_are_complete_and_their_cells_are_yes_or_503() -> None:
    for text, components in zip(outages.documented().split("\n\n"), ([*COMPONENTS, "worker"], COMPONENTS), strict=True):
        head, _, *table = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines())
        assert head[1:] == components
        assert {len(row) for row in table} == {len(head)}
        assert {cell for row in table for cell in row[1:]} <= {"yes", "503", "yes, mail is sent later"}
