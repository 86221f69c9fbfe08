"""The safeguards of `python -m tests.wallet.mutants` are there, and so are the tests that must miss them."""

import pytest

from tests import ROOT

from .mutants import LOCKS, SAFEGUARDS, TRANSACTION, drop


@pytest.mark.postgres
@pytest.mark.django_db
@pytest.mark.parametrize("safeguard", sorted({name for name, _ in SAFEGUARDS} - {LOCKS, TRANSACTION}))
def test_trigger_or_constraint_of_the_mutants_exists_in_the_database(safeguard: str) -> None:
    drop(safeguard)


@pytest.mark.parametrize("test", sorted({test for _, test in SAFEGUARDS}))
def test_tests_that_the_mutants_name_exist(test: str) -> None:
    path, _, name = test.partition("::")
    assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")
