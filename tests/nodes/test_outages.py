"""The documented table of outages is what is measured; the measuring itself is a long command."""

import pytest

from .. import outages

pytestmark = pytest.mark.full


def rows() -> list[list[str]]:
    lines = outages.documented().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_documented_table_is_complete_and_knows_two_words_only() -> None:
    head, rule, *table = rows()
    assert head[1:] == ["database", "cache", "object store", "mail", "worker"]
    assert all(len(row) == len(head) == len(rule) for row in table)
    assert {cell for row in table for cell in row[1:]} <= {"yes", "503", "yes, mail is sent later"}


def test_measured_words_become_a_table() -> None:
    table = {"database": {"Buy": "503"}, "mail": {"Buy": "yes"}}
    assert outages.as_markdown(table).splitlines()[2] == "| Buy | 503 | yes |"
